"""One file a language or tool family; each holds a `TABLE`.

A table is imported only when one of its triggers stands in the text, so a new one costs nothing elsewhere.
To add a language: write `tables/NAME.py` with a `TABLE`, and name it here with a literal that its output
cannot do without.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import cast

from vlk2.domain.fingerprint.rows import Table

TRIGGERS: dict[str, tuple[str, ...]] = {
    "rust": ("error", "panicked at", "warning: "),
    "typescript": ("error TS",),
    "python": ("Traceback (most", "Error", "\nE  ", "FAILED ", "ERROR ", "python", "FAIL: ", "ERROR: "),
    "pychecks": (": error: ", " - error: ", " - warning: ", ".py:", ".pyi:", "\n --> ", "\n  --> ", "\n   --> ", ".ipynb:"),
    "packages": ("ERROR: ", "npm ERR!", "npm error", "error: ", "× ", "ERR_PNPM", "E: ", "YN0", "Could not find gem", "error "),
    "javascript": ("Error", "Exception", "● ", "  error  ", "  warning  ", "ERROR", "FAIL ", "not ok ", "resolve import", "Module not", "[vite", "(Use `node"),
    "go": (".go:", "panic: ", "fatal error: ", "--- FAIL", "go: ", "FAIL\t", "is not in ", "no required module"),
    "jvm": ("\n\tat ", "\n    at ", "\n at ", "\n  at ", ".java:", "[ERROR]", "[error]", ".kt", "-- [E", "-- Error: ", "Error: ", "Exception", " FAILED", "\n> ", ".scala:", "main class", "the Java", "Execution failed", "root project"),
    "native": ("rror: ", "ERROR: ", "arning: ", "*** ", "undefined", "ndefined symbol", "CMake Error", "error ", "FAILED", "ssertion", ": Failure", "egmentation fault", "terminat", "ninja: ", "LINK EXEC", "multiple def", "cannot find -l", "shared libraries", "unimplemented: "),
    "dotnet": ("error ", "warning ", "nhandled ", "  Failed ", "Compilation failed", "FullyQualified"),
    "ruby": (".rb:", "-e:", "Failure/Error", "An error occurred", "rake aborted", "rspec ./", "Failure:"),
    "php": ("rror: ", "Warning: ", "Notice: ", "Deprecated: ", ".php", "Uncaught "),
    "beam": ("** (", "error: ", ") test ", "exception error", "init terminating"),
    "functional": (": error:", "Error: ", "Fatal error: exception", "Syntax error "),
    "sql": ("ERROR", "FATAL:", "PANIC:", "Error: ", "rror near", "psql: "),
    "sanitizer": ("Sanitizer: ", "libFuzzer: ", "runtime error: ", "FATAL:", "# Fatal", "# Check", "# Debug", "# Runtime", "heap out of", ":ERROR:", "ssertion failed", "BUG", "Kernel panic", "general protection", "signal ", "leak of ", "Crash reason", "F0", "F1", "Invalid read", "Invalid write", "Conditional jump", "uninit"),
    "shell": ("not found", "not recognized", "syntax error", "unexpected EOF", "zsh:", "(eval)", " option", "No such file", "ermission denied", "s a directory", "ot a directory", "File exists", "not empty", "not permitted", "Read-only", "No space", "Too many", "too long", "resource busy", "file busy", "quota exceeded", "allocate memory", "nvalid argument", "Broken pipe", "Input/output", "Exec format", "temporarily unavail", "Killed", "timed out after", "sudo: ", "here-doc", "cd: "),
    "git": ("fatal: ", "error: ", "CONFLICT (", "rejected]", "FAILED at", "Permission denied (", "hook declined", "gh: ", "GraphQL: "),
    "containers": ("Docker", "from daemon", "failed to solve", "dockerfile", "non-zero code", "no such service", "from server", "The connection", "BackOff", "ErrImage", "OOMKilled", "Error: ", "FAILED!", "An error occurred ("),
    "agents": ("not found", "did not appear", "could not find", "occurrences", "SEARCH", "Failed to find", "matches of", "exactly the same", "has not been read", "modified since", "does not exist", "exceeds maximum", "InputValid", "nvalid arguments", "Missing required", "No such tool", "doesn't want", "ermission to use", "Sibling", "timed out", "tool_use_error"),
    "exceptions": ("Error", "Exception"),
    "http": ("HTTP", "tatus", " Error: ", "curl: (", "Bad Request", "Unauthorized", "Forbidden", "Not Found", "Not Allowed", "Timeout", "Time-out", "409 Conflict", "413 ", "Unprocessable", "Too Many Requests", "Internal Server Error", "Bad Gateway", "Unavailable", "verloaded", "ate limit", "resolve host", "resolution", "ENOTFOUND", "EAI_AGAIN", "such host", "not known", "onnection refused", "onnection reset", "onnection timed", "ECONN", "hang up", "ETIMEDOUT", "i/o timeout", "unreachable", "certificate", "x509", "ddress already", "EADDRINUSE"),
    "generic": ("rror", "ERROR", "FATAL", "ailed", "nable to ", "annot ", "sage: ", "arning: ", "xit ", "xited ", "task failed"),
    "lint": (": ", "]"),
}  # fmt: skip


@cache
def _load(name: str) -> Table:
    module = import_module(f"{__name__}.{name}")
    return cast(Table, module.TABLE)


@cache
def _any() -> re.Pattern[str]:
    """One search that most single lines of a log fail, so that they never meet the tables one by one."""
    literals = sorted(
        {one for name, triggers in TRIGGERS.items() if name != "lint" for one in triggers if "\n" not in one}
    )
    return re.compile("|".join(map(re.escape, literals)) + r"|:\d+:")


def relevant(text: str) -> list[Table]:
    """The tables that have anything to say about a text, in the order of the registry."""
    if len(text) < 2_000 and "\n" not in text and _any().search(text) is None:
        return []
    chosen: list[Table] = []
    for name, triggers in TRIGGERS.items():
        for trigger in triggers:
            if trigger in text:
                chosen.append(_load(name))
                break
    return chosen
