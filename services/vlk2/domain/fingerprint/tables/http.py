"""HTTP statuses, connections, names and certificates."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import SYSTEM, Row, Table

TABLE = Table(
    "http",
    (
        Row(
            "http-transient",
            "HTTP",
            r".*?\bHTTP(?:/\d(?:\.\d)?)?[ :]+(?:(?:[Ee]rror|[Ss]tatus)(?: [Cc]ode)?[ :]+)?(?P<type>401|403|407|408|425|429|5\d\d)\b(?P<message>.*)",
            SYSTEM,
            specific=True,
            transient=True,
        ),
        Row(
            "http-status",
            "HTTP",
            r".*?\bHTTP(?:/\d(?:\.\d)?)?[ :]+(?:(?:[Ee]rror|[Ss]tatus)(?: [Cc]ode)?[ :]+)?(?P<type>4\d\d)\b(?P<message>.*)",
            SYSTEM,
            specific=True,
        ),
    ),
)
