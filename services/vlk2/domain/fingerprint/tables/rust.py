"""rustc, cargo, clippy and Rust panics."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CODED, CRASH, TRAILER, UNCODED, WARNING, Found, Row, Table

_TRAILERS = (
    "aborting due to ",
    "could not compile ",
    "build failed",
    "process didn't exit successfully",
    "test failed, to rerun",
    "failed to run custom build",
    "recipe for target",
)


def _location(page: Page, line: int) -> str:
    for index in range(line + 1, min(line + 12, len(page.lines))):
        text = page.lines[index].strip()
        if text.startswith("--> "):
            return text[4:]
        if not text:
            break
    return ""


def _lint(page: Page, line: int) -> str:
    """The lint that a block names in its note, `-D clippy::x` or `#[deny(x)]`."""
    for index in range(line + 1, min(line + 40, len(page.lines))):
        text = page.lines[index]
        if not text.strip():
            break
        for mark, end in (
            ("`-D ", "`"),
            ("`-W ", "`"),
            ("`#[deny(", ")"),
            ("`#[warn(", ")"),
            ("`#[forbid(", ")"),
        ):
            at = text.find(mark)
            if at != -1:
                name = text[at + len(mark) :].split(end, 1)[0]
                return name.removeprefix("clippy::").replace("-", "_")
    return ""


def _diagnostics(page: Page) -> list[Found]:
    found: list[Found] = []
    for literal, rank in (("error: ", UNCODED), ("warning: ", WARNING)):
        known: dict[str, str] = {}
        for index, line in page.containing(literal):
            if not line.startswith(literal):
                continue
            message = line[len(literal) :]
            if message.startswith(_TRAILERS):
                found.append(Found("rust-trailer", TRAILER, "rust", "aborted", message, index))
                continue
            place = _location(page, index)
            if not place:
                continue
            lint = _lint(page, index) or known.get(message, "")
            if lint:
                known[message] = lint
            found.append(
                Found(
                    "rust-lint" if lint else "rust-error",
                    rank + 5 if lint and rank == UNCODED else rank,
                    "rust",
                    lint,
                    message,
                    index,
                    file=place,
                    specific=bool(lint),
                    strong=rank == UNCODED,
                )
            )
    return found


def _coded(page: Page) -> list[Found]:
    found: list[Found] = []
    for index, line in page.containing("error[E"):
        if line.startswith("error[E") and line[7:11].isdigit() and line[11:13] == "]:":
            found.append(
                Found(
                    "rust-code",
                    CODED,
                    "rust",
                    line[6:11],
                    line[13:].strip(),
                    index,
                    file=_location(page, index),
                    specific=True,
                )
            )
    return found


def _panics(page: Page) -> list[Found]:
    found: list[Found] = []
    for index, line in page.containing("panicked at "):
        if not line.lstrip().startswith("thread '"):
            continue
        rest = line.split("panicked at ", 1)[1]
        if rest.startswith(("'", '"')):  # the form before Rust 1.73: the message, then the place
            message, _, place = rest[1:].rpartition("', ")
            if not message:
                message = rest.strip("'")
        else:
            place = rest.rstrip(":")
            message = page.lines[index + 1] if index + 1 < len(page.lines) else ""
        found.append(
            Found(
                "rust-panic", CRASH, "rust", "panic", message, index, file=place, headline=f"panic: {message}"
            )
        )
    return found


TABLE = Table(
    "rust",
    (
        Row(
            "rust-missing-crate",
            "error: no matching package",
            r"error: (?P<message>no matching package.*)",
            UNCODED,
            type="no-matching-package",
        ),
    ),
    finders=(_coded, _diagnostics, _panics),
)
