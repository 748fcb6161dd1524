"""What the network answered: HTTP statuses, names, connections, certificates, limits."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import SYSTEM, Row, Table

_STATUS = r"\bHTTP(?:S|/\d(?:\.\d)?)?(?:[ :]+|[ -](?:[Ee]rror|[Ss]tatus|[Cc]ode|[Rr]esponse)){1,4}[ :=]*"


_REASONS = (
    (400, "Bad Request"), (401, "Unauthorized"), (403, "Forbidden"), (404, "Not Found"), (405, "Method Not Allowed"),
    (408, "Request Timeout"), (409, "Conflict"), (413, "Payload Too Large"), (422, "Unprocessable"),
    (429, "Too Many Requests"), (500, "Internal Server Error"), (502, "Bad Gateway"), (503, "Service Unavailable"),
    (504, "Gateway Time"),
)  # fmt: skip


def _net(name: str, guard: str, what: str, *, transient: bool = True, rank: int = SYSTEM - 2) -> Row:
    return Row(
        name,
        guard,
        rf".*?{what}(?P<message>).*",
        rank,
        language="network",
        type=name,
        specific=True,
        transient=transient,
        strong=False,
        fixed=True,
    )


TABLE = Table(
    "http",
    (
        Row("http-line", "HTTP", r"(?:< )?(?:[A-Za-z]\w*(?:Error|Exception): )?(?:Error: |error: |ERROR: )?HTTP(?:/\d(?:\.\d)?)?(?:[ :]|[ -](?:[Ee]rror|[Ss]tatus|[Cc]ode|[Rr]esponse)){1,4} ?(?P<type>[45]\d\d)\b(?P<message>.*)", SYSTEM, specific=True),
        Row("http-status", "HTTP", r".*?" + _STATUS + r"(?P<type>[45]\d\d)\b(?P<message>.*)", SYSTEM - 1, specific=True, strong=False),
        Row("http-code", "status", r".*?\b[Ss]tatus(?:[ _-]?[Cc]ode)?[\"']?[ :=]+(?:of )?(?P<type>[45]\d\d)\b(?P<message>.*)", SYSTEM - 2, specific=True, strong=False),
        Row("http-requests", " Error: ", r"(?:.*?: )?(?P<type>[45]\d\d) (?:Client|Server) Error: (?P<message>.*?)(?: for url: .*)?$", SYSTEM, specific=True),
        Row("http-curl", "curl: (22)", r"curl: \(22\) .*?(?P<type>[45]\d\d)\b(?P<message>)", SYSTEM, specific=True),
        *(
            Row("http-reason", f"{status} {reason}", r"(?:.*?[Ee]rror:? |.*?[Ff]ailed:? |API Error:? )?\(?(?P<type>" + str(status) + " " + reason + r")\b(?P<message>.*)", SYSTEM, specific=True, strong=False)
            for status, reason in _REASONS
        ),
        Row("http-overloaded", "verloaded", r".*?(?P<message>\boverloaded_error\b|Overloaded).*", SYSTEM - 1, type="529", specific=True, transient=True, fixed=True, strong=False),
        Row("http-rate", "ate limit", r".*?[Rr]ate limit(?:ed| exceeded| reached)?(?P<message>).*", SYSTEM - 2, type="429", specific=True, transient=True, fixed=True, strong=False),
        Row("curl", "curl: (", r"curl: \((?P<type>\d+)\) (?P<message>.*)", SYSTEM - 1, language="curl", specific=True, transient=True),
        _net("dns", "ot resolve host", r"[Cc]ould not resolve host"),
        _net("dns", "ENOTFOUND", r"\b(?:ENOTFOUND|EAI_AGAIN)\b"),
        _net("dns", "ame resolution", r"[Tt]emporary failure in name resolution"),
        _net("dns", "no such host", r"no such host"),
        _net("dns", "ame or service not known", r"Name or service not known"),
        _net("connection-refused", "onnection refused", r"[Cc]onnection refused"),
        _net("connection-refused", "ECONNREFUSED", r"\bECONNREFUSED\b"),
        _net("connection-reset", "onnection reset", r"[Cc]onnection reset"),
        _net("connection-reset", "ECONNRESET", r"\bECONNRESET\b"),
        _net("connection-closed", "socket hang up", r"socket hang up"),
        _net("connection-timeout", "onnection timed out", r"[Cc]onnection timed out"),
        _net("connection-timeout", "ETIMEDOUT", r"\bETIMEDOUT\b"),
        _net("connection-timeout", "i/o timeout", r"i/o timeout"),
        _net("unreachable", "etwork is unreachable", r"[Nn]etwork is unreachable"),
        _net("tls", "certificate verify failed", r"certificate verify failed", transient=False),
        _net("tls", "SSL certificate problem", r"SSL certificate problem", transient=False),
        _net("tls", "x509: ", r"x509: ", transient=False),
        _net("address-in-use", "ddress already in use", r"[Aa]ddress already in use", transient=False),
        _net("address-in-use", "EADDRINUSE", r"\bEADDRINUSE\b", transient=False),
    ),
)  # fmt: skip
