"""One file a language or tool family; each holds a `TABLE`.

A table is imported only when one of its triggers stands in the text, so a new one costs nothing elsewhere.
To add a language: write `tables/NAME.py` with a `TABLE`, and name it here with a literal that its output
cannot do without.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from vlk2.domain.fingerprint.rows import Table

TRIGGERS: dict[str, tuple[str, ...]] = {
    "rust": ("error", "panicked at", "warning: "),
    "typescript": ("error TS",),
    "python": ("Traceback (most", "Error", "E   ", "FAILED ", "ERROR ", "python"),
    "pychecks": (": error: ", " - error: ", ".py:", ".pyi:", " --> ", ".ipynb:"),
    "packages": ("ERROR: ", "npm ERR!", "npm error", "error: ", "× ", "ERR_PNPM", "E: ", "YN0", "Could not find gem"),
    "javascript": ("Error", "Exception", "● ", "  error  ", "  warning  ", "ERROR", "FAIL ", "not ok ", "import", "Module not"),
    "go": (".go:", "panic: ", "fatal error: ", "--- FAIL", "go: ", "FAIL\t", "package "),
    "jvm": ("\tat ", " at ", ".java:", "[ERROR]", "[error]", "e: ", "-- ", " FAILED", "> ", ".scala:", "main class", "JVM"),
    "native": ("rror: ", "ERROR: ", "arning: ", "*** ", "undefined", "CMake Error", "error ", "FAILED", "ssertion", "ault", "terminat", "ninja: ", "LINK EXEC", "multiple def", "cannot find -l"),
    "dotnet": ("error ", "warning ", "nhandled ", "  Failed ", "Compilation failed", "FullyQualified"),
    "ruby": (".rb:", "-e:", "Failure/Error", "An error occurred", "rake aborted", "rspec ./", "Failure:"),
    "php": ("rror: ", "::", "Warning: ", "Notice: ", "Deprecated: ", ".php:"),
    "beam": ("** (", "error: ", ") test ", "exception error", "init terminating"),
    "functional": (": error:", "Error: ", "Fatal error: exception", "Syntax error "),
    "sql": ("ERROR", "FATAL:", "PANIC:", "Error: ", "rror near", "psql: "),
    "sanitizer": ("Sanitizer: ", "libFuzzer: ", "runtime error: ", "FATAL:", "# Fatal", "# Check", "# Debug", "# Runtime", "heap out of", ":ERROR:", "assertion failed", "Assertion failed", "BUG: ", "Kernel panic", "general protection", "signal ", "leak of ", "===BUG", "Crash reason", "==", "] "),
    "shell": ("not found", "not recognized", "syntax error", "unexpected EOF", "zsh:", "option", "No such", "ermission denied", "s a directory", "ot a directory", "exists", "not permitted", "Read-only", "No space", "Too many", "too long", "busy", "quota", "allocate", "nvalid arg", "Broken pipe", "Input/output", "Exec format", "temporarily", "Killed", "timed out", "sudo: ", "here-doc"),
    "git": ("fatal: ", "error: ", "CONFLICT (", "rejected]", "FAILED at", "Permission denied (", "hook declined", "gh: ", "GraphQL: "),
    "containers": ("Docker", "daemon", "failed to solve", "dockerfile", "non-zero code", "no such service", "Error from server", "The connection", "BackOff", "Error: ", "FAILED!", "An error occurred (", "Dockerfile"),
    "agents": ("not found", "did not", "could not find", "occurrences", "SEARCH", "Failed to find", "matches of", "exactly the same", "has not been", "modified since", "does not exist", "exceeds", "InputValid", "nvalid arg", "Missing req", "No such tool", "doesn't want", "ermission to use", "Sibling", "timed out", "<tool_use_error>"),
    "exceptions": ("Error", "Exception"),
    "http": ("HTTP", "status", " Error: ", "curl: (", "40", "42", "50", "verloaded", "ate limit", "resolve", "resolution", "ENOTFOUND", "such host", "not known", "onnection", "ECONN", "hang up", "ETIMEDOUT", "i/o timeout", "unreachable", "certificate", "x509", "ddress already", "EADDRINUSE"),
    "generic": ("rror", "ERROR", "FATAL", "ailed", "nable", "annot", "sage: ", "arning: ", "xit ", ":"),
}  # fmt: skip


@cache
def load(name: str) -> Table:
    """The table of that name; an unknown name is an ImportError."""
    module = import_module(f"{__name__}.{name}")
    return cast(Table, module.TABLE)


def relevant(text: str) -> list[Table]:
    """The tables that have anything to say about a text, in the order of the registry."""
    return [load(name) for name, triggers in TRIGGERS.items() if any(trigger in text for trigger in triggers)]
