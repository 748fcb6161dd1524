"""What is common to many tools: `file:line: error: …`, `error: …`, `FATAL: …`."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import LOOSE, TRAILER, UNCODED, Row, Table

TABLE = Table(
    "text",
    (
        Row(
            "gnu-error",
            "error: ",
            r"(?P<file>[^\s:][^:\n]*):\d+(?:[:.]\d+)?: (?:fatal )?error: (?P<message>.*)",
            UNCODED,
        ),
        Row(
            "exit-trailer",
            "xit ",
            r"(?:[Pp]rocess|[Ee]rror|make|npm|[Cc]ommand)?.*\b[Ee]xit (?:code|status)[ :]*\d+.*",
            TRAILER,
            type="exit",
            strong=False,
        ),
        Row(
            "error-line",
            "rror",
            r"\s*(?:[\w./-]+: )?(?:fatal |FATAL )?(?:[Ee]rror|ERROR)(?:\[[^\]]*\])?:? +(?P<message>.*)",
            LOOSE,
            strong=False,
        ),
    ),
)
