"""What is to be said to an agent about one event: nothing, a word, or a refusal of the call."""

from __future__ import annotations

from vlk2.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing is to be said."""


@dataclass(frozen=True, slots=True)
class Tell:
    """The text is to be put in front of the agent."""

    text: str


@dataclass(frozen=True, slots=True)
class Hold:
    """The call is not to be run, for the reason that `text` gives."""

    text: str


Said = Silence | Tell | Hold
