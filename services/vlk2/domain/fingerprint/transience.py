"""Rule 5: which failures waiting may cure."""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.fingerprint.rows import TEST, Found

_STATUSES = frozenset(["401", "403", "407", "408", "425", "429"])
_SAYS = (
    "too many requests",
    "rate limit",
    "rate-limit",
    "ratelimit",
    "overloaded",
    "quota exceeded",
    "resource exhausted",
    "service unavailable",
    "bad gateway",
    "gateway timeout",
    "gateway time-out",
    "internal server error",
    "connection reset",
    "connection refused",
    "connection aborted",
    "connection timed out",
    "operation timed out",
    "read timed out",
    "request timed out",
    "failed to establish a new connection",
    "max retries exceeded",
    "could not connect to server",
    "connection to server",
    "too many connections",
    "the database system is",
    "econnreset",
    "econnrefused",
    "etimedout",
    "enotfound",
    "eai_again",
    "socket hang up",
    "i/o timeout",
    "handshake timeout",
    "temporary failure",
    "could not resolve host",
    "name or service not known",
    "no such host",
    "network is unreachable",
    "no route to host",
    "no space left on device",
    "enospc",
    "disk quota exceeded",
    "docker daemon",
    "unauthorized",
    "token expired",
    "token has expired",
    "expired token",
    "credentials have expired",
    "bad credentials",
    "authentication failed",
    "permission denied (publickey",
)


@cache
def _words() -> re.Pattern[str]:
    return re.compile(r"(?<![a-z])(?:" + "|".join(map(re.escape, _SAYS)) + ")")


def says(line: str) -> bool:
    """Whether the words of `line` are of a class that waiting may cure."""
    return _words().search(line.lower()) is not None


def waits(one: Found, line: str) -> bool:
    """Whether `one`, printed on `line`, is of a class that waiting may cure.

    A row may say so itself; an HTTP status does (429, 5xx and what asks for a valid token); else the words of
    the line do, but never those of a test's expectation or of a compiler's coded diagnostic.
    """
    if one.transient:
        return True
    if one.language == "http":
        return one.type[:3] in _STATUSES or one.type[:1] == "5"
    if one.rank == TEST or one.type.startswith(("Assert", "expect", "test")):
        return False
    if one.specific and one.language not in (
        "network",
        "curl",
        "npm",
        "pip",
        "docker",
        "kubernetes",
        "aws",
        "git",
        "shell",
    ):
        return False
    return says(line)
