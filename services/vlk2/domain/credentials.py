"""Tokens: their shape, their hash, and whether one is good now."""

from __future__ import annotations

import base64
from enum import StrEnum

from vlk2.domain.digests import sha256
from vlk2.frozen import dataclass

PREFIX = "vlk2_"
RANDOM_BYTES = 32
LENGTH = len(PREFIX) + 43


class Scope(StrEnum):
    """`AGENT` uses its own memory; `ADMIN` also creates, revokes and pins for its team."""

    AGENT = "agent"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Token:
    """What a store knows of a token; the token itself it does not know. Times in microseconds UTC."""

    id: str
    team: str
    agent: str
    scope: Scope
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None

    def standing(self, now: int) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "active"


def token_text(random: bytes) -> str:
    """The token made of 32 random bytes: the prefix and 43 characters of URL-safe base64."""
    if len(random) != RANDOM_BYTES:
        raise ValueError("a token needs 32 random bytes")
    return PREFIX + base64.urlsafe_b64encode(random).decode().rstrip("=")


def token_hash(token: str) -> str:
    """SHA-256, hex. A token holds 256 random bits: a slow hash would add nothing."""
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def token_like(text: str) -> bool:
    """Whether the text has the form of a token, so that it is worth asking the store."""
    return len(text) == LENGTH and text.startswith(PREFIX) and text.isascii()
