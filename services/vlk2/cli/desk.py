"""Where a command of the team's administration is carried out: in the store itself, or at a team server."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from typing import Any

from vlk2.remote import connect, is_remote
from vlk2.settings import load


def perform(verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Does the verb of `vlk2.team` and gives its answer. At a server the token's scope decides."""
    settings = load()
    if is_remote(settings.store):
        return connect(settings.store, os.environ).verb(verb, arguments)
    from vlk2.bootstrap import open_store
    from vlk2.team import Desk
    from vlk2.team import perform as do

    store = open_store(settings.store)
    try:
        return do(Desk(store, f"cli {getpass.getuser()}"), verb, arguments)
    finally:
        store.close()
