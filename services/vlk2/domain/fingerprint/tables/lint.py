"""Linters of any language that print `file:line:column: CODE message` or end with `[rule]`."""

from __future__ import annotations

import re

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import UNCODED, Found, Row, Table


def _sqlfluff(page: Page) -> list[Found]:
    """`== [file] FAIL`, and below it `L: 1 | P: 8 | RULE | message` for each finding."""
    found: list[Found] = []
    pattern = re.compile(r"L: +\d+ \| P: +\d+ \| +(?P<type>\w+) \| (?P<message>.*?)\.?$")
    headings = [(index, line) for index, line in page.containing("== [")]
    for index, line in page.containing(" | P:"):
        if hit := pattern.match(line):
            heading = next((text for at, text in reversed(headings) if at < index), "")
            file = heading.partition("[")[2].partition("]")[0]
            found.append(
                Found(
                    "sqlfluff",
                    UNCODED + 1,
                    "sql",
                    hit["type"],
                    hit["message"],
                    index,
                    file=file,
                    specific=True,
                )
            )
    return found


TABLE = Table(
    "text",
    (
        Row("lint-code", ": ", r"(?P<file>[^\s:](?:[^:\n]|:[\\/]){0,200}):\d+(?::\d+)?: (?:\[?[EWCFRI]\]? )?(?:(?:error|warning|note|style|info)\W{0,3})?\[?(?P<type>[A-Z]{1,6}\d{2,5})\]?:? (?P<message>.*)", UNCODED + 1, specific=True),
        Row("lint-rule", " [", r"(?P<file>[^\s:](?:[^:\n]|:[\\/]){0,200}):\d+:\d+: (?:error|Error)[ :]+(?P<message>.*) \[(?P<type>[\w/@.-]+)\]$", UNCODED + 2, specific=True),
    ),
    finders=(_sqlfluff,),
)  # fmt: skip
