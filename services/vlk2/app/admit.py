"""Decide whether a token may come in."""

from __future__ import annotations

import contextlib

from vlk2.domain.credentials import Token, token_hash, token_like
from vlk2.domain.moments import MINUTE
from vlk2.errors import StoreUnavailable
from vlk2.ports import Store

USE_NOTED_EVERY = MINUTE


def admit(store: Store, text: str, *, now: int) -> Token | None:
    """The token behind the text, where it is good now; None where it is unknown, expired or revoked: which of
    them, the caller does not learn. Its use is noted once a minute."""
    if not token_like(text):
        return None
    with store.glance() as directory:
        token = directory.token_of(token_hash(text))
    if token is None or token.standing(now) != "active":
        return None
    if token.last_used_at is None or now - token.last_used_at > USE_NOTED_EVERY:
        with contextlib.suppress(StoreUnavailable), store.directory(write=True) as directory:
            directory.touch_token(token.id, now)
    return token
