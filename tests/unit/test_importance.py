"""Claims about importance: its parts, its fall, and when it is looked at again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlk2.domain.entry import Kind
from vlk2.domain.importance import FORGET_BELOW, HALF_LIFE, STALE_BELOW, WEIGHTS, Life, importance
from vlk2.domain.moments import DAY, HOUR

NOW = 20_000 * DAY
FRESH = Life(Kind.LOG, NOW, repeats=1, ties=0, uses=0, used_at=None, failed=True)
lives = st.builds(
    Life,
    kind=st.sampled_from(list(Kind)),
    at=st.integers(NOW - 900 * DAY, NOW),
    repeats=st.integers(1, 200),
    ties=st.integers(0, 40),
    uses=st.integers(0, 60),
    used_at=st.none() | st.integers(NOW - 900 * DAY, NOW),
    failed=st.booleans(),
)


@given(life=lives)
def test_every_part_lies_between_0_and_1_and_so_does_the_sum(life):
    value = importance(life, now=NOW)
    parts = (value.recency, value.frequency, value.connectivity, value.use, value.outcome, value.total)
    assert all(0 <= part <= 1 for part in parts)
    assert sum(WEIGHTS) == pytest.approx(1)


@given(life=lives, later=st.integers(0, 400 * DAY))
def test_it_only_falls_with_age(life, later):
    assert importance(life, now=NOW + later).total <= importance(life, now=NOW).total + 1e-12


@given(life=lives, below=st.sampled_from([STALE_BELOW, FORGET_BELOW]))
def test_it_is_looked_at_again_within_an_hour_of_falling_under_the_threshold(life, below):
    value = importance(life, now=NOW, below=below)
    if value.review_at is None:
        assert importance(life, now=NOW + 30 * HALF_LIFE[life.kind], below=below).total >= 0
    elif value.review_at > NOW:
        assert importance(life, now=value.review_at).total < below
        assert importance(life, now=value.review_at - 2 * HOUR).total >= below
    else:
        assert value.total < below


@pytest.mark.parametrize(
    ("field", "more"), [("repeats", 9), ("ties", 3), ("uses", 4), ("at", NOW + DAY), ("kind", Kind.LOOP)]
)
def test_each_of_what_it_is_made_of_raises_it(field, more):
    at = NOW + 2 * DAY
    assert importance(replace(FRESH, **{field: more}), now=at).total > importance(FRESH, now=at).total


def test_a_failure_is_worth_more_than_an_unknown():
    assert importance(FRESH, now=NOW).total > importance(replace(FRESH, failed=False), now=NOW).total


def test_a_use_renews_it_and_its_own_time_is_left_alone():
    old = replace(FRESH, at=NOW - 20 * DAY)
    used = replace(old, uses=1, used_at=NOW)
    assert importance(old, now=NOW).total < STALE_BELOW < importance(used, now=NOW).total
    assert used.at == old.at


def test_a_half_life_halves_recency():
    for kind, half_life in HALF_LIFE.items():
        life = replace(FRESH, kind=kind)
        assert importance(life, now=NOW + half_life).recency == pytest.approx(0.5)


def test_a_lone_failure_is_stale_after_four_days_and_forgotten_after_seventeen():
    assert importance(FRESH, now=NOW).review_at - NOW == pytest.approx(3.8 * DAY, abs=0.2 * DAY)
    forgotten = importance(FRESH, now=NOW, below=FORGET_BELOW).review_at
    assert forgotten - NOW == pytest.approx(16.5 * DAY, abs=1 * DAY)
