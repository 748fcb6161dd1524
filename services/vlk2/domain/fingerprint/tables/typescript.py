"""The TypeScript compiler, in its plain, pretty and watch forms."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import CODED, Row, Table

TABLE = Table(
    "typescript",
    (
        Row(
            "tsc",
            "error TS",
            r"(?:(?P<file>[^\s(][^(\n]*?)(?:\(\d+,\d+\)|:\d+:\d+)(?: - |: ))?(?:!!! )?error (?P<type>TS\d{3,6}): (?P<message>.*)",
            CODED,
            specific=True,
        ),
    ),
)
