"""A project's own rows."""

from __future__ import annotations

import pytest

from vlk2.domain.fingerprint import diagnose, explain, own_rows
from vlk2.errors import InvalidInput

ROW = {
    "name": "mill",
    "pattern": "MILL-{type} in {file}: stone {symbol} {message}",
    "language": "mill",
    "specific": True,
}


def test_a_row_gives_language_type_symbol_file_and_template():
    found = diagnose("MILL-M17 in gear.mill: stone upper worn by 12 mm\n", extra=own_rows([ROW]))
    one = found.fingerprint
    assert one is not None
    assert (one.language, one.type, one.symbols, one.specific) == ("mill", "M17", ("upper",), True)
    assert {member.file for member in found.failing} == {"gear.mill"}
    again = diagnose("MILL-M17 in other.mill: stone upper worn by 99 mm\n", extra=own_rows([ROW])).fingerprint
    assert again is not None
    assert again.key == one.key


def test_a_row_outranks_the_tables():
    rows = own_rows([{"pattern": "hull.c:{message}", "type": "ours"}])
    assert explain("hull.c:12:3: error: 'keel' undeclared\n", extra=rows).row == "own-1"


def test_a_warning_row_needs_a_verdict():
    rows = own_rows([{"pattern": "mill says {message}", "severity": "warning"}])
    assert diagnose("mill says dusty\n", extra=rows).fingerprint is None
    told = diagnose("mill says dusty\n", extra=rows, is_error=True).fingerprint
    assert told is not None
    assert told.language == "project"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"pattern": "{message}"}, "at least 3 characters"),
        ({"pattern": "stone {symbol}{file} x"}, "need text between"),
        ({"pattern": "stone {colour}"}, "unknown hole"),
        ({"pattern": "stone", "regex": "x"}, "unknown key"),
        ({"pattern": "stone worn"}, "give a type"),
        ({"pattern": "stone {message}", "severity": "fatal"}, "severity"),
        ({"pattern": 7}, "one line of text"),
        ({"pattern": "stone {message}", "transient": "yes"}, "true or false"),
        ({"pattern": "stone {message}", "language": "a b"}, "one word"),
    ],
)
def test_a_wrong_row_says_what_is_wrong(row: dict[str, object], says: str):
    with pytest.raises(InvalidInput, match="fingerprint row 1") as raised:
        own_rows([row])
    assert says in raised.value.message


def test_there_are_at_most_two_hundred_rows():
    with pytest.raises(InvalidInput, match="at most 200"):
        own_rows([{"pattern": "stone {message}"}] * 201)
