"""What a team or an agent may be called."""

from __future__ import annotations

from vlk2.errors import InvalidInput

LONGEST = 100


def team_name(name: str) -> str:
    """The name of a team as it is stored."""
    return _name("team", name)


def agent_name(name: str) -> str:
    """The name of an agent as it is stored."""
    return _name("agent", name)


def _name(what: str, name: str) -> str:
    found = name.strip()
    if not found or len(found) > LONGEST or not found.isprintable():
        raise InvalidInput(f"the name of the {what} must be 1 to {LONGEST} printable characters.")
    return found
