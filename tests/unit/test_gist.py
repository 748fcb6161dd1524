"""A gist answers as a search of the whole text would, and a page leaves out no line that a pattern matches."""

from __future__ import annotations

import random
import re

import pytest

from vlk2.domain.fingerprint import tables
from vlk2.domain.fingerprint.page import Page
from vlk2.domain.gist import Gist

LITERALS = sorted({trigger for ones in tables.TRIGGERS.values() for trigger in ones})
PIECES = [
    *(
        "step 1 of 20 done",
        "F0312 check",
        "E    assert 3",
        "error[E7]: no",
        "● one › two",
        "x509: bad",
        "naïve: 7",
    ),
    *(
        "  at run (a.js:3:4)",
        "FAILED b",
        "",
        " ",
        "error: 12",
        "warning: unused",
        "terror: x",
        "409 Conflict",
        "É1",
    ),
]


def texts() -> list[str]:
    chance = random.Random(4)
    return [
        *("", "\n", "error: 1\nerror: 2", "a\nerror: 1\na", "E  x", "x\nE  x"),
        *("\n".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 40))) for _ in range(60)),
    ]


@pytest.mark.parametrize("text", texts())
def test_a_gist_holds_a_literal_exactly_where_it_stands_in_the_text(text: str):
    gist = Gist(text)
    literals = [
        *LITERALS,
        "12",
        "F0",
        "1 of 2",
        "\n",
        "x\ny",
        "error: 1\n",
        "\nerror: 1",
        "\n  at",
        "naïve",
        "ï",
    ]
    assert [one for one in literals if gist.holds(one)] == [one for one in literals if one in text]


@pytest.mark.parametrize("text", texts())
@pytest.mark.parametrize(
    ("literal", "pattern"),
    [("error", r"error(?:\[\w+\])?: (.*)"), ("step", r"step \d+ of 20"), ("1", r".*1"), ("E", r"(\w)\d+\1?")],
)
def test_candidates_are_all_lines_that_the_pattern_matches(text: str, literal: str, pattern: str):
    compiled = re.compile(pattern)
    page = Page(text)

    def matched(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
        return [(at, line) for at, line in lines if compiled.match(line)]

    assert matched([*page.candidates(literal, compiled)]) == matched([*page.containing(literal)])


def test_of_more_than_a_thousand_lines_with_a_literal_only_the_first_thousand_are_candidates():
    text = "\n".join(
        f"error: {number}" if number % 2 else f"warning or error: {number}" for number in range(3_000)
    )
    page = Page(text)
    pattern = re.compile(r"error: \d+")
    found = [*page.candidates("error: ", pattern)]
    assert [one.at for one in found] == [
        one.at for one in page.containing("error: ") if pattern.match(one.text)
    ]
    assert found[-1].at == 999
