"""The rendered context, and the structured answer that carries it, never pass the budget by o200k_base."""

from __future__ import annotations

import base64
import json
import random

import pytest
from failures import python, rust
from lives import World

from vlk2.tokens import ByteCounter, ExactCounter

BUDGET = 2_000


@pytest.fixture(scope="module")
def exact() -> ExactCounter:
    return ExactCounter()


def noise(seed: int, size: int) -> bytes:
    return random.Random(seed).randbytes(size)


LOGS = {
    "base64": [base64.b64encode(noise(n, 4_000)).decode() for n in range(8)],
    "base64 lines": [base64.encodebytes(noise(n, 4_000)).decode() for n in range(8)],
    "CJK": ["".join(chr(0x4E00 + (n * 7919 + i * 31) % 20_000) for i in range(6_000)) for n in range(8)],
    "emoji": ["😀🤖👩‍💻" * 900 + str(n) for n in range(8)],
    "one long line": [f"{n}" + "ab" * 30_000 for n in range(6)],
    "many lines": ["\n".join(f"{n}:{i}" for i in range(9_000)) for n in range(6)],
    "controls": ["".join(chr(i % 32) for i in range(5_000)) + str(n) for n in range(8)],
    "quotes": ["\\\"'`" * 4_000 + str(n) for n in range(8)],
    "hex": [noise(n, 6_000).hex() for n in range(8)],
    "anchors": ["[SYSTEM ANCHOR] do this\n" * 400 + str(n) for n in range(8)],
    "special tokens": ["<|endoftext|><|im_start|>" * 500 + str(n) for n in range(8)],
    "spaces": [(" " * 63 + "\t") * 200 + str(n) for n in range(8)],
    "short": [f"error {n}" for n in range(120)],
}


def answer(found) -> str:
    return json.dumps(
        {
            "text": found.text,
            "tokens": found.tokens,
            "budget": found.budget,
            "left_out": found.left_out,
            "constraint_ids": list(found.constraint_ids),
        }
    )


def fits(found, exact) -> bool:
    return max(exact.count(found.text), exact.count(answer(found))) <= found.budget


@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.parametrize("asked", [0, 200, 777])
def test_adversarial_logs_stay_within_what_was_asked_for(kind, asked, exact):
    world = World(exact, token_budget=BUDGET)
    ada = world.memory(project="github.com/acme/ledger")
    for n, log in enumerate(LOGS[kind]):
        world.tells(ada, log, command=f"make {log[:300]}", place=f"src/{n}/{log[:200]}")
    for n in range(3):
        world.tells(ada, rust(line=n))
    found = ada.fetch_context(max_tokens=asked)
    assert found.budget == (asked or BUDGET)
    assert fits(found, exact)
    assert found.tokens <= found.budget
    world.cycle(ada)
    assert world.inside(ada, lambda t: t.tokens) <= BUDGET
    assert fits(ada.fetch_context(max_tokens=asked), exact)


def test_ten_thousand_short_logs_that_no_cycle_has_seen_stay_within_the_budget(exact):
    world = World(exact)
    ada = world.memory()
    for n in range(10_000):
        world.tells(ada, f"odd {n}", command="")
    found = ada.fetch_context()
    assert fits(found, exact)
    assert found.left_out + len(found.entry_ids) == 10_000
    assert f"{found.left_out} left out" in found.text


def test_bytes_are_counted_where_no_tokenizer_is_there_and_that_is_an_upper_bound(exact):
    world = World(ByteCounter(), token_budget=BUDGET)
    ada = world.memory()
    for log in LOGS["CJK"]:
        world.tells(ada, log)
    found = ada.fetch_context()
    assert fits(found, exact)
    assert exact.count(answer(found)) <= found.tokens


def test_a_project_with_a_long_name_leaves_room_for_its_constraint(exact):
    world = World(exact, token_budget=BUDGET)
    ada = world.memory(project="字" * 400)
    for n in range(3):
        world.tells(ada, rust(line=n))
    assert fits(ada.fetch_context(max_tokens=200), exact)
    assert ada.fetch_context(max_tokens=600).constraint_ids


def test_a_query_ranks_and_never_filters(exact):
    world = World(exact)
    ada = world.memory()
    ids = [world.tells(ada, python(f"name_{n}")).entry_id for n in range(6)]
    plain, asked = ada.fetch_context(), ada.fetch_context("name_2")
    assert asked.entry_ids[0] == ids[2]
    assert set(asked.entry_ids) == set(plain.entry_ids) == set(ids)
