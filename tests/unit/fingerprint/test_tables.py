"""The registry: every table is reached, by single lines too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vlk2.domain.fingerprint import tables


def test_every_file_is_registered():
    files = {path.stem for path in Path(str(tables.__file__)).parent.glob("*.py")} - {"__init__"}
    assert files == set(tables.TRIGGERS)


@pytest.mark.parametrize("name", tables.TRIGGERS)
def test_a_line_with_a_rows_guard_reaches_its_table(name: str):
    table = tables.load(name)
    for row in table.rows:
        re.compile(row.pattern)
        assert any(trigger in row.guard for trigger in tables.TRIGGERS[name]), (
            f"{row.name}: no trigger is part of {row.guard!r}"
        )
        # a guard may leave out its first letter; a linter's line is known by its place
        starts = ["", "a.x:1:2: ", *"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"]
        assert any(table in tables.relevant(f"{start}{row.guard}") for start in starts), row.guard


@pytest.mark.parametrize("name", tables.TRIGGERS)
def test_row_names_tell_their_table(name: str):
    table = tables.load(name)
    assert table.language
    assert all(row.name and row.guard for row in table.rows)


def test_an_ordinary_line_of_a_log_meets_no_table():
    assert tables.relevant("worker 17 took 20 ms for job 99") == []


def test_every_line_of_our_own_cases_meets_the_same_tables_alone_and_in_company(cases):
    for case in cases:
        for line in case.text.splitlines():
            alone = set(map(id, tables.relevant(line)))
            company = set(map(id, tables.relevant(line + "\n")))
            missing = [name for name in tables.TRIGGERS if id(tables.load(name)) in company - alone]
            # in company a part of a word is enough; what is missing alone must then have no row that matches
            for name in missing:
                assert not any(
                    row.guard in line and re.match(row.pattern, line) for row in tables.load(name).rows
                ), line
