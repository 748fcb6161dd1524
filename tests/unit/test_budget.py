"""Claims about the token budget: who leaves, in which order, and what a text costs."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from vlk2.domain.budget import Costed, cost, fit, pins_fit
from vlk2.tokens import ByteCounter

entries = st.lists(
    st.builds(
        Costed,
        pk=st.integers(1, 100_000),
        seq=st.integers(1, 100_000),
        tokens=st.integers(1, 600),
        constraint=st.booleans(),
        pinned=st.booleans(),
        importance=st.floats(0, 1),
    ),
    max_size=60,
    unique_by=lambda e: e.pk,
)


@given(live=entries, budget=st.integers(0, 9000))
def test_what_stays_fits_or_is_pinned(live, budget):
    plan = fit(live, budget)
    stays = [e for e in live if e.pk not in plan.leave]
    assert plan.tokens == sum(e.tokens for e in stays)
    assert plan.tokens <= budget or all(e.pinned for e in stays)


@given(live=entries, budget=st.integers(0, 9000))
def test_pins_never_leave(live, budget):
    pinned = {e.pk for e in live if e.pinned}
    assert pinned.isdisjoint(fit(live, budget).leave)


@given(live=entries, budget=st.integers(0, 9000))
def test_logs_leave_before_constraints_and_the_least_important_first(live, budget):
    by_pk = {e.pk: e for e in live}
    order = [(by_pk[pk].constraint, by_pk[pk].importance, by_pk[pk].seq) for pk in fit(live, budget).leave]
    assert order == sorted(order)
    left = {e.pk for e in live} - set(fit(live, budget).leave)
    if any(by_pk[pk].constraint for pk in fit(live, budget).leave):
        assert not [e for e in live if e.pk in left and not e.constraint and not e.pinned]


@given(live=entries, budget=st.integers(0, 9000))
def test_nobody_leaves_without_need(live, budget):
    plan = fit(live, budget)
    if plan.leave:
        last = next(e for e in live if e.pk == plan.leave[-1])
        assert plan.tokens + last.tokens > budget


@given(live=entries, budget=st.integers(0, 9000))
def test_a_second_plan_finds_nothing_to_do(live, budget):
    left = [e for e in live if e.pk not in fit(live, budget).leave]
    assert fit(left, budget).leave == ()


@given(text=st.text(max_size=300))
def test_a_text_costs_what_its_dearer_form_costs(text):
    count = ByteCounter().count
    assert cost(text, count) == max(count(text), count(json.dumps(text)))


def test_pins_that_fit_say_nothing_and_others_say_their_sum():
    assert pins_fit([100, 200], 200, 500) is None
    assert pins_fit([100, 200], 201, 500) == 501
