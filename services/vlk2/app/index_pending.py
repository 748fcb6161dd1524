"""Take into the search index what recording left for later."""

from __future__ import annotations

from vlk2.domain.recalling import index_text
from vlk2.ports import Owner, Store

AT_ONCE = 100


def index_pending(store: Store, owner: Owner, now: int, *, rounds: int | None = None) -> None:
    """Indexes contents in batches of 100, each in a transaction of its own so that recording goes on between
    two; `rounds` bounds the batches, None takes all. StoreUnavailable where the store cannot be written."""
    done = 0
    while rounds is None or done < rounds:
        with store.write(owner, now) as timeline:
            pending = timeline.take_pending(AT_ONCE)
            for content, body in pending:
                timeline.index(content, index_text(body))
        done += 1
        if len(pending) < AT_ONCE:
            return
