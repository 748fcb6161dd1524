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
    "rust": ("error", "panicked at", "warning"),
    "typescript": ("error TS",),
    "python": ("Traceback (most", "Error", "E   ", "FAILED ", "error:", "Exception", "Exit", "Interrupt"),
    "javascript": ("Error", "npm", "node:", "●", "✖", "error "),
    "go": (".go:", "panic: ", "fatal error: ", "--- FAIL"),
    "generic": ("rror", "RROR", "atal", "ATAL", "ailed", "AILED", "denied", "not found", "No such", "annot"),
    "http": ("HTTP", "http", "status", "Connection", "connection", "ECONN", "ETIMEDOUT", "curl: ("),
}


@cache
def load(name: str) -> Table:
    """The table of that name; an unknown name is an ImportError."""
    module = import_module(f"{__name__}.{name}")
    return cast(Table, module.TABLE)


def relevant(text: str) -> list[Table]:
    """The tables that have anything to say about a text, in the order of the registry."""
    return [load(name) for name, triggers in TRIGGERS.items() if any(trigger in text for trigger in triggers)]
