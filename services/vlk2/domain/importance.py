"""Recency, frequency, connectivity, use and outcome -> one number between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Callable

from vlk2.domain.entry import Kind
from vlk2.domain.moments import DAY, HOUR
from vlk2.frozen import dataclass

HALF_LIFE = {Kind.LOG: 36 * HOUR, Kind.LOOP: 14 * DAY, Kind.LESSON: 30 * DAY}
STALE_BELOW = 0.12
"""What is PRESENT and less important goes to PAST."""
FORGET_BELOW = 0.02
"""What is PAST, less important and connected to nothing is forgotten."""
WEIGHTS = (0.45, 0.20, 0.15, 0.15, 0.05)
_FADE = 8


@dataclass(frozen=True, slots=True)
class Life:
    """What is known of an entry's life. `at` and `now` in microseconds UTC.

    `at` is the entry's own time, for a constraint that of its failure's last occurrence. `repeats` is how often
    its failure came in the timeline, `ties` how many live entries share its fingerprint, file or run, or rest
    on it, and whether a fact speaks of it; `uses` how often it was recalled or shown, `used_at` when last.
    `failed` says that it is a failure and not merely unknown.
    """

    kind: Kind
    at: int
    repeats: int
    ties: int
    uses: int
    used_at: int | None
    failed: bool = True


@dataclass(frozen=True, slots=True)
class Importance:
    """The five parts, each 0 to 1, their weighted sum, and when (microseconds UTC) the sum will fall below
    the threshold that was asked for; None where that is too far away to plan for."""

    recency: float
    frequency: float
    connectivity: float
    use: float
    outcome: float
    total: float
    review_at: int | None


def importance(life: Life, *, now: int, below: float = STALE_BELOW) -> Importance:
    """importance = 0.45 · recency + (0.20 · frequency + 0.15 · connectivity + 0.15 · use + 0.05 · outcome) · fade

    recency = 2^(-age/half-life): exponential forgetting (Ebbinghaus 1885, as a half-life regression), with a
    half-life by kind: 36 h for a log, 14 days for a constraint, 30 days for a lesson. age counts from the later
    of the entry's time and its last use, so that a recall renews it (the testing effect). The others saturate:
    frequency = n/(n+2) of the repeats beyond the first, connectivity = n/(n+3) of the ties, use = n/(n+2) of the
    uses, outcome = 1 for a failure, else 0. fade = 2^(-age/(8 · half-life)): what was frequent or connected fades
    too, eight times slower, so that nothing stays for ever by its past alone. The weights and half-lives are our
    own choice: a lone failure is stale after 4 days and forgotten after 17, one met ten times and tied to three others
    after 15 and 49. `below` is the threshold whose crossing `review_at` names.
    """
    half_life = HALF_LIFE[life.kind]
    anchor = max(life.at, life.used_at or 0)
    age = max(0, now - anchor)
    repeats = max(0, life.repeats - 1)
    parts = (
        repeats / (repeats + 2),
        life.ties / (life.ties + 3),
        life.uses / (life.uses + 2),
        float(life.failed),
    )
    earned = sum(weight * part for weight, part in zip(WEIGHTS[1:], parts, strict=True))

    def total(at_age: int) -> float:
        return WEIGHTS[0] * math.exp2(-at_age / half_life) + earned * math.exp2(-at_age / (_FADE * half_life))

    return Importance(
        math.exp2(-age / half_life), *parts, total(age), _crossing(total, below, anchor, age, 64 * half_life)
    )


def _crossing(total: Callable[[int], float], below: float, anchor: int, age: int, horizon: int) -> int | None:
    """The first moment at which the falling `total` is under `below`, to the hour, by bisection."""
    if total(age) < below:
        return anchor + age
    low, high = age, age + horizon
    if total(high) >= below:
        return None
    while high - low > HOUR:
        middle = (low + high) // 2
        low, high = (low, middle) if total(middle) < below else (middle, high)
    return anchor + high
