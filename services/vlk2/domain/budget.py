"""Which entries leave so that PRESENT + FUTURE fit the token budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from vlk2.frozen import dataclass

DEFAULT_BUDGET = 8_000
ENTRY_LIMIT = 600


@dataclass(frozen=True, slots=True)
class Costed:
    """One live entry as the budget sees it: its cost in tokens, whether it is a constraint, its importance."""

    pk: int
    seq: int
    tokens: int
    constraint: bool
    pinned: bool
    importance: float


@dataclass(frozen=True, slots=True)
class BudgetPlan:
    """`leave` are the keys of the entries to archive, in order; `tokens` is the sum that then remains."""

    leave: tuple[int, ...]
    tokens: int


def fit(entries: Iterable[Costed], budget: int) -> BudgetPlan:
    """The fewest entries that have to leave: logs before constraints, least important first, pins never.

    Of equal importance the older leaves first. Where pins alone pass the budget they stay, and the sum says so.
    """
    rows = list(entries)
    total = sum(row.tokens for row in rows)
    leave: list[int] = []
    movable = sorted(
        (row for row in rows if not row.pinned), key=lambda row: (row.constraint, row.importance, row.seq)
    )
    for row in movable:
        if total <= budget:
            break
        leave.append(row.pk)
        total -= row.tokens
    return BudgetPlan(tuple(leave), total)


def pins_fit(pinned: Iterable[int], candidate: int, budget: int) -> int | None:
    """None where the pinned costs and the candidate fit the budget, else the sum that they would make."""
    total = sum(pinned) + candidate
    return None if total <= budget else total


def cost(text: str, count: Callable[[str], int]) -> int:
    """What `text` costs an agent: the larger of the text and of its JSON form, since clients show either."""
    return max(count(text), count(json.dumps(text)))
