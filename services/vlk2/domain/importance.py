"""Recency, frequency, connectivity and use -> one number between 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from vlk2.domain.entry import Kind
from vlk2.domain.moments import DAY, HOUR

HALF_LIFE = {Kind.LOG: 36 * HOUR, Kind.LOOP: 14 * DAY, Kind.LESSON: 30 * DAY}
STALE_BELOW = 0.12
_WEIGHTS = (0.45, 0.25, 0.15, 0.15)


@dataclass(frozen=True, slots=True)
class Life:
    """What is known of an entry's life. `at` and `now` in microseconds UTC.

    `repeats` is how often its failure came in the timeline, `ties` how many live entries or constraints
    share its fingerprint, file or run, `uses` how often it was recalled or shown, `used_at` when last.
    """

    kind: Kind
    at: int
    repeats: int
    ties: int
    uses: int
    used_at: int | None


@dataclass(frozen=True, slots=True)
class Importance:
    """The four parts, each 0 to 1, their weighted sum, and when (microseconds UTC) the sum will fall below
    `STALE_BELOW`; None where it never will."""

    recency: float
    frequency: float
    connectivity: float
    use: float
    total: float
    review_at: int | None


def importance(life: Life, *, now: int) -> Importance:
    """importance = 0.45 · 2^(-age/half-life) + (0.25 · frequency + 0.15 · connectivity + 0.15 · use) · fade

    Exponential forgetting (Ebbinghaus) with a half-life by kind: 36 h for a log, 14 days for a constraint,
    30 days for a lesson; age counts from the later of the entry and its last use. frequency is n/(n+2) of
    the repeats beyond the first, connectivity n/(n+3), use n/(n+2). fade is 2^(-age/(8 · half-life)): what
    was frequent or connected fades too, eight times slower, so that nothing stays for ever by its past.
    """
    half_life = HALF_LIFE[life.kind]
    anchor = max(life.at, life.used_at or 0)
    age = max(0, now - anchor)
    repeats = max(0, life.repeats - 1)
    parts = (repeats / (repeats + 2), life.ties / (life.ties + 3), life.uses / (life.uses + 2))
    earned = sum(weight * part for weight, part in zip(_WEIGHTS[1:], parts, strict=True))

    def total(at_age: int) -> float:
        return _WEIGHTS[0] * math.exp2(-at_age / half_life) + earned * math.exp2(-at_age / (8 * half_life))

    return Importance(
        math.exp2(-age / half_life), *parts, total(age), _crossing(total, anchor, age, 64 * half_life)
    )


def _crossing(total: Callable[[int], float], anchor: int, age: int, horizon: int) -> int | None:
    """The first moment at which the falling `total` is below STALE_BELOW, to the hour, by bisection."""
    if total(age) < STALE_BELOW:
        return anchor + age
    low, high = age, age + horizon
    if total(high) >= STALE_BELOW:
        return None
    while high - low > HOUR:
        middle = (low + high) // 2
        low, high = (low, middle) if total(middle) < STALE_BELOW else (middle, high)
    return anchor + high
