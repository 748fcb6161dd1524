"""PHP: uncaught throwables, fatal and parse errors, PHPUnit."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import CODED, CRASH, TEST, WARNING, Row, Table

_PLACE = r"(?: in (?P<file>[^\n]*?)(?::\d+| on line \d+))?$"

TABLE = Table(
    "php",
    (
        Row("php-uncaught", "Uncaught ", r"(?:PHP )?Fatal error: +Uncaught (?:\w+\\)*(?P<type>[A-Za-z_]\w*)(?:: (?P<message>.*?))?" + _PLACE, CRASH),
        Row("php-error", "rror: ", r"(?:PHP )?(?P<type>Fatal error|Parse error|Recoverable fatal error): +(?!Uncaught )(?P<message>.*?)" + _PLACE, CRASH - 1),
        *(
            Row("php-warning", f"{kind}: ", rf"(?:PHP )?(?P<type>{kind}): +(?P<message>.*?) in (?P<file>\S[^\n]*?) on line \d+$", WARNING, strong=False)
            for kind in ("Warning", "Notice", "Deprecated")
        ),
        Row("phpunit", "Test::", r"\d+\) (?P<test>(?:\w+\\)*\w+::\w+.*)", TEST, type="test", fixed=True),
        Row("phpstan", ".php:", r"(?P<file>\S+\.php):\d+(?::\d+)?:(?:error - )?(?P<type>[A-Z]\w+): (?P<message>.*)", CODED, specific=True),
    ),
)  # fmt: skip
