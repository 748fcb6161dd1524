"""What a table is made of: rows that recognise one line, and finders for shapes of several lines."""

from __future__ import annotations

from collections.abc import Callable

from vlk2.domain.fingerprint.page import Page
from vlk2.hints import NamedTuple

# Ranks: which of several recognised lines is the headline. The higher wins; within one rank the first.
CODED = 90  # a compiler's or checker's own code: error[E0277], TS2345, CS0019
CRASH = 80  # an uncaught exception, a panic, a sanitizer report
UNCODED = 70  # a located diagnostic without a code
TEST = 60  # a failed test or expectation
TOOL = 50  # a tool's own error line
SYSTEM = 40  # what the operating system or a server answered
WARNING = 30  # a warning: a failure only when the verdict says so
LOOSE = 20  # a line that merely reads like an error
TRAILER = 10  # the last words of a failing run; never a headline where there is anything else


class Row(NamedTuple):
    """One declarative pattern.

    `guard` is a literal that a line must contain before `pattern` is tried on it, at its start. Named groups
    of the pattern: `type` (the code or class), `message`, `file`, `test`, and `symbol`; the rest of the
    fingerprint is made from them. A row without a `type` group or a fixed `type` is named by its message.
    `strong` says that the line alone, with no verdict, is the print of a failing tool.
    """

    name: str
    guard: str
    pattern: str
    rank: int
    type: str = ""
    language: str = ""
    strong: bool = True
    specific: bool = False
    transient: bool = False
    fixed: bool = False  # the type says all: the message is for show and is not part of the template


class Found(NamedTuple):
    """One diagnostic of an output. `detail` completes the template where the message line does not."""

    row: str
    rank: int
    language: str
    type: str
    message: str
    line: int
    file: str = ""
    test: str = ""
    symbols: tuple[str, ...] = ()
    detail: str = ""
    strong: bool = True
    specific: bool = False
    transient: bool = False
    headline: str = ""


class Table(NamedTuple):
    """One language or tool family."""

    language: str
    rows: tuple[Row, ...] = ()
    finders: tuple[Callable[[Page], list[Found]], ...] = ()
