"""Linters of any language that print `file:line:column: CODE message` or end with `[rule]`."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import UNCODED, Row, Table

TABLE = Table(
    "text",
    (
        Row("sqlfluff", " | P:", r"L: +\d+ \| P: +\d+ \| +(?P<type>\w+) \| (?P<message>.*?)\.?$", UNCODED + 1, language="sql", specific=True),
        Row("lint-code", ": ", r"(?P<file>[^\s:](?:[^:\n]|:[\\/]){0,200}):\d+(?::\d+)?: (?:\[?[EWCFRI]\]? )?(?:(?:error|warning|note|style|info)\W{0,3})?\[?(?P<type>[A-Z]{1,6}\d{2,5})\]?:? (?P<message>.*)", UNCODED + 1, specific=True),
        Row("lint-rule", " [", r"(?P<file>[^\s:](?:[^:\n]|:[\\/]){0,200}):\d+:\d+: (?:error|Error)[ :]+(?P<message>.*) \[(?P<type>[\w/@.-]+)\]$", UNCODED + 2, specific=True),
    ),
)  # fmt: skip
