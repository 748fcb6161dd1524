"""Haskell and OCaml, Clojure and Racket's kin."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CODED, CRASH, UNCODED, Found, Row, Table


def _ghc(page: Page) -> list[Found]:
    """GHC: `File.hs:3:5: error: [GHC-88464]`, and the message on the indented lines below."""
    found: list[Found] = []
    for index, line in page.containing(": error:"):
        place, _, rest = line.partition(": error:")
        file = place.partition(":")[0]
        if not file.endswith((".hs", ".lhs")) or (rest.strip() and not rest.strip().startswith("[")):
            continue
        code = rest.strip().partition("]")[0].lstrip("[")
        code = code if code.startswith("GHC-") else ""
        said: list[str] = []
        for below in page.lines[index + 1 : index + 4]:
            text = below.strip()
            if not text or "|" in text[:8]:
                break
            said.append(text.removeprefix("• "))
        found.append(
            Found(
                "ghc",
                CODED if code else UNCODED,
                "haskell",
                code,
                " ".join(said[:1]),
                index,
                file=file,
                specific=bool(code),
            )
        )
    return found


def _ocaml(page: Page) -> list[Found]:
    """OCaml: the place on one line, the source below it, and then `Error: message`."""
    found: list[Found] = []
    for index, line in page.containing("Error: "):
        if not line.startswith("Error: "):
            continue
        place = next(
            (text for text in reversed(page.lines[max(0, index - 8) : index]) if text.startswith('File "')),
            "",
        )
        if place and "characters" in place:
            found.append(Found("ocaml", UNCODED, "ocaml", "", line[7:], index, file=place.split('"')[1]))
    return found


TABLE = Table(
    "haskell",
    (
        Row("ocaml-exception", "Fatal error: exception ", r"Fatal error: exception (?P<type>[\w.]+)(?P<message>.*)", CRASH, language="ocaml"),
        Row("cabal", "Error: ", r"Error: (?:\[Cabal-(?P<type>\d+)\]|cabal: (?P<message>.*))", UNCODED - 5),
        Row("clojure", "Syntax error ", r"(?P<message>Syntax error (?:compiling|reading|macroexpanding)[^(]*)\((?P<file>[^:)]+).*", UNCODED, language="clojure"),
    ),
    finders=(_ghc, _ocaml),
)  # fmt: skip
