"""One file a language or tool family; each holds a `TABLE`.

A table is imported only when one of its triggers stands in the text, so a new one costs nothing elsewhere.
To add a language: write `tables/NAME.py` with a `TABLE`, and name it here with a literal that its output
cannot do without.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

from vlk2.domain.fingerprint.rows import Row, Table
from vlk2.domain.gist import Gist, Sign, sign
from vlk2.hints import cast

TRIGGERS: dict[str, tuple[str, ...]] = {
    "rust": ("error", "panicked at", "warning: "),
    "typescript": ("error TS",),
    "python": ("module specification", "Sorry: ", "Fatal Python", "No module named", "can't open file", "Traceback (most", "Error", "\nE  ", "FAILED ", "ERROR ", "python", "FAIL: ", "ERROR: "),
    "pychecks": (".toml:", ": error: ", " - error: ", " - warning: ", ".py:", ".pyi:", "\n --> ", "\n  --> ", "\n   --> ", ".ipynb:"),
    "packages": ("ERROR: ", "npm ERR!", "npm error", "error: ", "× ", "ERR_PNPM", "E: ", "YN0", "Could not find gem", "error Command", "error Could", "error An ", "error Your", "error Found", "error The ", "error Rec"),
    "javascript": ("Uncaught", "Error", "Exception", "● ", "  error  ", "  warning  ", "ERROR", "FAIL ", "not ok ", "resolve import", "Module not", "[vite", "(Use `node"),
    "go": (".go:", "panic: ", "fatal error: ", "--- FAIL", "go: ", "FAIL\t", "is not in ", "no required module"),
    "jvm": ("<<< ", "Build file '", "> Could not ", "> Cannot ", "> A problem", "> Unsupported class", "> No such prop", "> Plugin ", "\n\tat ", "\n    at ", "\n at ", "\n  at ", ".java:", "[ERROR]", "[error]", ".kt", "-- [E", "-- Error: ", "Error: ", "Exception", " FAILED", ".scala:", "main class", "the Java", "Execution failed", "root project"),
    "native": ("too many errors", "ld returned", "No rule to make", "rror: ", "ERROR: ", "arning: ", "*** ", "undefined", "ndefined symbol", "CMake Error", "error C", "error LNK", "error D", "error RC", "error U", "FAILED", "ssertion", ": Failure", "egmentation fault", "terminat", "ninja: ", "LINK EXEC", "multiple def", "cannot find -l", "shared libraries", "unimplemented: "),
    "dotnet": ("error CS", "error FS", "error BC", "error CA", "error IDE", "error SA", "error xUnit", "error NUnit", "error RZ", "error MSB", "error NETSDK", "error NU", "error MC", "error APT", "error XA", "warning CS", "warning FS", "warning CA", "warning MSB", "warning NU", "warning NETSDK", "warning SA", "nhandled ", "  Failed ", "Compilation failed", "FullyQualified"),
    "ruby": (".rb:", "-e:", "Failure/Error", "An error occurred", "rake aborted", "rspec ./", "Failure:"),
    "php": ("Test::", "rror: ", "Warning: ", "Notice: ", "Deprecated: ", ".php", "Uncaught "),
    "beam": (".ex:", ".exs:", "== Compilation", "** (", "error: ", ") test ", "exception error", "init terminating"),
    "functional": (": error:", "Error: ", "Fatal error: exception", "Syntax error "),
    "sql": ("connection to server", "ERROR", "FATAL:", "PANIC:", "Error: ", "rror near", "psql: "),
    "sanitizer": ("Invalid free", "Use of uninit", "Process terminating", "Sanitizer: ", "libFuzzer: ", "runtime error: ", "FATAL:", "# Fatal", "# Check", "# Debug", "# Runtime", "heap out of", ":ERROR:", "ssertion failed", "BUG", "Kernel panic", "general protection", "signal ", "leak of ", "Crash reason", "F0", "F1", "Invalid read", "Invalid write", "Conditional jump", "uninit"),
    "shell": ("sed: -e", "env: ", "Text file busy", "not found", "not recognized", "syntax error", "unexpected EOF", "zsh:", "(eval):", "invalid option", "unrecognized option", "unknown option", "illegal option", "No such file", "ermission denied", "s a directory", "ot a directory", "File exists", "not empty", "not permitted", "Read-only", "No space", "Too many", "too long", "resource busy", "file busy", "quota exceeded", "allocate memory", "nvalid argument", "Broken pipe", "Input/output", "Exec format", "temporarily unavail", "Killed", "timed out after", "sudo: ", "here-doc", "cd: "),
    "git": ("malformed patch", "does not apply", "corrupt patch", "failed to push", "fatal: ", "error: ", "CONFLICT (", "rejected]", "FAILED at", "Permission denied (", "hook declined", "gh: ", "GraphQL: "),
    "containers": ("INSTALLATION FAILED", "UPGRADE FAILED", " DL3", " DL4", " SC1", " SC2", "Docker", "from daemon", "failed to solve", "dockerfile", "non-zero code", "no such service", "from server", "The connection to the server", "BackOff", "ErrImage", "OOMKilled", "Error: ", "FAILED!", "An error occurred ("),
    "agents": ("No replacement was", "is required for command", "introduced new syntax", "NOT been applied", "EXACTLY ONE", "not found", "did not appear", "could not find", "occurrences", "SEARCH", "Failed to find", "matches of", "exactly the same", "has not been read", "modified since", "does not exist", "exceeds maximum", "InputValid", "nvalid arguments", "Missing required", "No such tool", "doesn't want", "ermission to use", "Sibling", "timed out", "tool_use_error"),
    "exceptions": ("Error", "Exception"),
    "http": ("Payload Too", "Gateway Time", "HTTP", "tatus", " Error: ", "curl: (", "Bad Request", "Unauthorized", "Forbidden", "Not Found", "Not Allowed", "Timeout", "Time-out", "409 Conflict", "Unprocessable", "Too Many Requests", "Internal Server Error", "Bad Gateway", "Unavailable", "verloaded", "ate limit", "resolve host", "resolution", "ENOTFOUND", "EAI_AGAIN", "such host", "not known", "onnection refused", "onnection reset", "onnection timed", "ECONN", "hang up", "ETIMEDOUT", "i/o timeout", "unreachable", "certificate", "x509", "E: ", "e: file", "e: /", "F0", "F1", "ddress already", "EADDRINUSE"),
    "generic": ("rror", "ERROR", "FATAL", "ailed", "nable to ", "annot ", "sage: ", "arning: ", "xit ", "xited ", "task failed"),
    "lint": (" | P:", " [", ": ", "]"),
}  # fmt: skip


@cache
def load(name: str) -> Table:
    """The table of that name; an unknown name is an ImportError."""
    module = import_module(f"{__name__}.{name}")
    return cast(Table, module.TABLE)


# A single line without any of these words and marks is met by no trigger. It spares most lines of a log the
# triggers one by one; a test holds it against every trigger.
_WORDS = frozenset(
    "aborted malformed sorry sed allocate root returncode compilation corrupt env open plugin problem toml unsupported already cannot daemon fault option want appear argument arguments assertion bad been broken bug busy certificate check cmake "  # noqa: SIM905
    "conditional conflict could crash curl denied deprecated directory docker dockerfile document enotfound eai "
    "error errors etimedout eval exactly exceeded exceeds exec execution exist exists exit exited fail failed failure "
    "fatal find forbidden found gateway general gh go graphql hang heap hook http input internal invalid ipynb java "
    "kernel kill killed kt leak limit link main many matches missing modified module multiple ninja no not notice npm "
    "occurred occurrences only out panic panicked payload permission permitted php pnpm protection psql py pyi python "
    "quota rb read refused rejected request requests required reset resolution resolve rspec scala search segmentation "
    "server service shared sibling signal space status such sudo symbol syntax temporarily terminate terminating timed "
    "timeout too traceback unable unauthorized unavailable uncaught undefined unexpected unhandled unimplemented uninit "
    "unprocessable unreachable retries route temporary token credentials authentication network exhausted device overloaded ratelimit enospc database econnreset econnrefused usage vite warning xit yn zero zsh cd".split()
)
_MARKS = (
    "Build file",
    "ld returned",
    "-e:",
    "Test::",
    "# D",
    "# R",
    " DL",
    " SC",
    "InputVal",
    "<<< ",
    "rror",
    "xcept",
    "ECONN",
    "anitizer",
    "Fuzzer",
    "Image",
    "Killed",
    "BackOff",
    "EADDR",
    "verload",
    "x509",
    "E: ",
    "e: file",
    "e: /",
    "F0",
    "F1",
    "**",
    "-- [",
    "FullyQ",
    "uninit",
)
_LETTERS = bytes(code if code > 127 or chr(code).isalpha() else 32 for code in range(256))
_WORDS_AS_BYTES = frozenset(word.encode() for word in _WORDS)


@cache
def _place() -> re.Pattern[str]:
    """`file.ext:12:` or `file.ext:12:3:`, by which any linter's line is known."""
    return re.compile(r"\.[A-Za-z]\w{0,9}:\d+: |:\d+:\d+: ")


def _located(line: str) -> bool:
    """Whether a place in a file stands in a line."""
    return ": " in line and _place().search(line) is not None


@cache
def _met_by() -> dict[str, tuple[tuple[str, str], ...]]:
    """For each word and mark, the triggers that a line with it may hold, each with its table."""
    triggers = [(trigger, name) for name, ones in TRIGGERS.items() for trigger in ones if "\n" not in trigger]
    met: dict[str, tuple[tuple[str, str], ...]] = {}
    for mark in _MARKS:
        met[mark] = tuple(one for one in triggers if mark in one[0] or one[0] in mark)
    for word in _WORDS:
        met[word] = tuple(
            one
            for one in triggers
            if any(
                word == part or (len(part) > 2 and (word.endswith(part) or word.startswith(part)))
                for part in _parts(one[0].lower())
            )
        )
    return met


def _parts(text: str) -> list[str]:
    return text.encode().translate(_LETTERS).decode().split()


def _hits(line: str) -> set[str]:
    """The words and marks of a single line by which a table may be met."""
    words = _WORDS_AS_BYTES.intersection(line.lower().encode().translate(_LETTERS).split())
    hits = {word.decode() for word in words}
    hits.update([mark for mark in _MARKS if mark in line])
    return hits


def ordinary(text: str, *, unless: Callable[[str], bool]) -> bool:
    """Whether `text` is a single line that no table has anything to say about, as most lines of a log are.

    `unless` is asked of the few lines that hold a telling word and yet no trigger.
    """
    if len(text) >= 2_000 or "\n" in text or not text.isascii() or _located(text):
        return False
    hits = _hits(text)
    if not hits:
        return True
    met = _met_by()
    for hit in hits:
        for trigger, _ in met[hit]:
            if trigger in text:
                return False
    return not unless(text)


@cache
def _signs() -> tuple[tuple[str, tuple[tuple[str, Sign], ...]], ...]:
    """Every trigger with its table, by the word that a text with it cannot be without."""
    by_word: dict[str, list[tuple[str, Sign]]] = {}
    for name, triggers in TRIGGERS.items():
        for trigger in triggers:
            made = sign(trigger)
            by_word.setdefault(made.word, []).append((name, made))
    return tuple((word, tuple(signs)) for word, signs in by_word.items())


@cache
def guards(name: str) -> tuple[tuple[Row, Sign], ...]:
    """The rows of the table of that name, each with the sign of its guard."""
    return tuple((row, sign(row.guard)) for row in load(name).rows)


def met(text: str, gist: Gist | None = None) -> list[str]:
    """The names of the tables that have anything to say about a text, in the order of the registry. `gist` is the
    text's, where the caller has made it."""
    if len(text) < 2_000 and "\n" not in text and text.isascii():
        hits = _hits(text)
        if not hits and not _located(text):
            return []
        met_by = _met_by()
        names = {name for hit in hits for trigger, name in met_by[hit] if trigger in text}
        names.add("lint")
        return [name for name in TRIGGERS if name in names]
    gist = gist or Gist(text)
    words = gist.words
    chosen: set[str] = set()
    for word, signs in _signs():
        if word in words:
            for name, trigger in signs:
                if name not in chosen and gist.has(trigger):
                    chosen.add(name)
    return [name for name in TRIGGERS if name in chosen]


def relevant(text: str) -> list[Table]:
    """The tables that have anything to say about a text, in the order of the registry."""
    return [load(name) for name in met(text)]
