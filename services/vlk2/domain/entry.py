"""An entry of a timeline, and what a constraint knows beside it."""

from __future__ import annotations

from enum import StrEnum

from vlk2.domain.observation import Fingerprint
from vlk2.domain.states import State
from vlk2.frozen import dataclass


class Kind(StrEnum):
    """`LOG` holds a content; `LOOP` is a constraint learned from a loop, `LESSON` one declared by time travel."""

    LOG = "log"
    LOOP = "loop"
    LESSON = "lesson"


@dataclass(frozen=True, slots=True)
class Entry:
    """One slot of a timeline.

    `pk` and `content` are keys of the store; `id` is what leaves it. `at` is event time in microseconds
    UTC. `tokens` is the cost of the rendered form, exact where `counted`, else an upper bound.
    """

    pk: int
    id: str
    seq: int
    at: int
    run: int
    kind: Kind
    state: State
    content: int | None
    fingerprint: Fingerprint | None
    outcome: str
    headline: str
    file: str
    command: str
    tokens: int
    counted: bool
    pinned: bool
    lesson: str | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One thing that was tried: the command and the place, as the evidence has them."""

    at: int
    command: str
    file: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint and its evidence.

    `count` is how often the failure has come, `shown` the count at which the agent was last told.
    `marks` are the same-command keys and the identical-call hashes of what failed, the newest last. `expires_at` (microseconds UTC) is set for
    transient failures. `stamps` holds the branch, HEAD, lockfile and toolchain of the evidence as JSON.
    `ended` says when and by what it was contradicted, `before` how an earlier constraint of the same failure had
    ended, both as JSON, or None.
    """

    entry: Entry
    count: int
    shown: int
    threshold: int
    first_at: int
    last_at: int
    marks: tuple[str, ...]
    expires_at: int | None
    stamps: str
    overrides: int
    ended: str | None
    attempts: tuple[Attempt, ...] = ()
    before: str | None = None

    @property
    def live(self) -> bool:
        return self.entry.state is State.FUTURE
