"""Node, npm, bundlers, ESLint and Jest."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import CRASH, TEST, Row, Table

TABLE = Table(
    "javascript",
    (
        Row(
            "node-error",
            "Error",
            r"(?:Uncaught )?(?P<type>[A-Z]\w*Error)(?: \[(?P<symbol>\w+)\])?(?:: (?P<message>.*))?$",
            CRASH,
        ),
        Row("jest", "●", r"\s+● (?P<test>.*)", TEST, type="test"),
    ),
)
