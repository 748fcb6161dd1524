"""Where a command of the team's administration is carried out: in the store itself, or at a team server."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from typing import Any

from vlk2.settings import load


def perform(verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Does the verb of `vlk2.team` and gives its answer."""
    from vlk2.bootstrap import open_store
    from vlk2.team import Desk
    from vlk2.team import perform as do

    settings = load()
    store = open_store(settings.store)
    try:
        return do(Desk(store, f"cli {getpass.getuser()}"), verb, arguments)
    finally:
        store.close()
