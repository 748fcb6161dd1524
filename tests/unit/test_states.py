"""The state machine: what product.md allows, and nothing else."""

from __future__ import annotations

import itertools

from vlk2.domain.states import TRANSITIONS, Reason, State, allowed


def test_only_the_transitions_of_the_table_are_allowed() -> None:
    ways = {
        (source, target)
        for source, target in itertools.product(State, State)
        if any(allowed(source, target, reason) for reason in Reason)
    }
    new, present, past, future, purged = State
    assert ways == {
        (new, present),
        (new, future),
        (new, past),
        (present, past),
        (present, purged),
        (past, purged),
        (future, past),
        (past, future),
        (purged, past),
        (future, purged),
    }


def test_a_constraint_is_purged_by_erasing_alone() -> None:
    assert TRANSITIONS[State.FUTURE, State.PURGED] == {Reason.ERASED}


def test_nothing_becomes_new_again() -> None:
    assert not any(allowed(state, State.NEW, reason) for state in State for reason in Reason)
