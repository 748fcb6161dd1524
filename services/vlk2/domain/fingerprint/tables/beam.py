"""Elixir and Erlang."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CRASH, TEST, TOOL, TRAILER, UNCODED, Found, Row, Table


def _compiler(page: Page) -> list[Found]:
    """Elixir's framed diagnostics: `error: message`, and the place after `└─`."""
    found: list[Found] = []
    for index, line in page.containing("error: "):
        if not line.lstrip().startswith("error: "):
            continue
        place = next(
            (
                text.strip()[3:]
                for text in page.lines[index + 1 : index + 8]
                if text.strip().startswith("└─ ")
            ),
            "",
        )
        if place:
            found.append(
                Found(
                    "elixir-error", UNCODED, "elixir", "", line.strip()[7:], index, file=place.split(":")[0]
                )
            )
    return found


def _dialyzer(page: Page) -> list[Found]:
    """Dialyxir's findings: `lib/file.ex:57:13:pattern_match`, and the sentence below it."""
    found: list[Found] = []
    for index, line in page.containing(".ex"):
        place, _, kind = line.strip().rpartition(":")
        file, mark, position = place.partition(":")
        if not (mark and file.endswith((".ex", ".exs")) and kind.isidentifier() and kind.islower()):
            continue
        if not position.replace(":", "").isdigit():
            continue
        message = page.lines[index + 1].strip() if index + 1 < len(page.lines) else ""
        found.append(
            Found(
                "dialyzer", UNCODED, "elixir", kind, message, index, file=file, headline=f"{kind}: {message}"
            )
        )
    return found


def _exunit(page: Page) -> list[Found]:
    """ExUnit's numbered failures: `1) test name (Module)`, the place, then what failed."""
    found: list[Found] = []
    for index, line in page.containing(") test "):
        number, _, rest = line.strip().partition(") ")
        if not number.isdigit():
            continue
        body = [text.strip() for text in page.lines[index + 1 : index + 8] if text.strip()]
        message = body[1] if len(body) > 1 else ""
        found.append(
            Found("exunit", TEST, "elixir", "test", message, index, test=rest, headline=f"{rest}: {message}")
        )
    return found


TABLE = Table(
    "elixir",
    (
        Row("elixir-exception", "** (", r"\s*(?:\*\* \(EXIT[^)]*\) )?(?:an exception was raised: )?\*\* \((?P<type>[A-Z][\w.]*)\)(?: (?P<message>.*))?$", CRASH),
        Row("elixir-exit", "** (exit)", r"\s*\*\* \((?P<type>exit|throw|stop)\) (?P<message>.*)", CRASH - 1),
        Row("mix-trailer", "== Compilation error", r"== Compilation error in file (?P<file>\S+) ==", TRAILER, type="compilation-error", fixed=True),
        Row("erlang", "exception error: ", r"\*\* exception (?P<type>error|exit|throw): (?P<message>.*)", CRASH, language="erlang"),
        Row("erlang-crash", "{\"init terminating", r"\{\"init terminating in do_boot\",(?P<message>.*)", TOOL, language="erlang", type="init-terminating"),
    ),
    finders=(_compiler, _dialyzer, _exunit),
)  # fmt: skip
