"""The main job over raw JSON-RPC with two front-ends that take turns on one store."""

from __future__ import annotations

import pytest
from agents import RUST, Agent
from jsonrpc import HANDSHAKE_ERA, MODERN_ERA


@pytest.mark.parametrize("era", [HANDSHAKE_ERA, MODERN_ERA])
def test_two_front_ends_that_take_turns_are_one_memory(nothing_yet, tmp_path, era):
    with (
        Agent(tmp_path, era=era, VLK2_STORE=nothing_yet.address) as left,
        Agent(tmp_path, era=era, VLK2_STORE=nothing_yet.address) as right,
    ):
        turns = [left, right, left]
        seen = [agent.record(RUST.format(line=line)) for agent, line in zip(turns, (0, 10, 20), strict=True)]
        assert [one["repeats"] for one in seen] == [1, 2, 3]
        assert [one["loop"] for one in seen] == [False, False, True]
        assert seen[2]["text"].startswith("[SYSTEM ANCHOR] error[E0277] has repeated 3 times.")
        for agent in (left, right):
            context = agent.tool("vlk_fetch_context")
            assert context["constraint_ids"] == [seen[2]["constraint_id"]]
            assert "3 times" in context["text"]
            assert set(agent.tool("vlk_recall", query="E0277")["ids"]) >= {one["entry_id"] for one in seen}
        revoked = right.tool("vlk_revoke_future", constraint_id=seen[2]["constraint_id"], reason="the cache")
        assert revoked["state"] == "PAST"
        assert left.tool("vlk_fetch_context")["constraint_ids"] == []
        more = [agent.record(RUST.format(line=line)) for line, agent in enumerate([right, left] * 3)]
        assert [one["loop"] for one in more] == [False] * 5 + [True]
        assert "no entry" in left.refusal("vlk_forget", {"entry_id": "e_aaaaaaaaaaaa", "reason": "x"})


def test_front_ends_of_two_agents_on_one_store_keep_apart(nothing_yet, tmp_path):
    with (
        Agent(tmp_path, VLK2_STORE=nothing_yet.address) as ann,
        Agent(tmp_path, VLK2_STORE=nothing_yet.address, VLK2_AGENT="bob") as bob,
    ):
        for line in range(3):
            made = ann.record(RUST.format(line=line))
        assert made["loop"]
        assert bob.record(RUST.format(line=5))["repeats"] == 1
        assert bob.tool("vlk_fetch_context")["constraint_ids"] == []
        for act in ("vlk_forget", "vlk_revoke_future"):
            named = {"vlk_forget": "entry_id", "vlk_revoke_future": "constraint_id"}[act]
            of_ann = bob.refusal(act, {named: made["constraint_id"], "reason": "x"})
            of_nobody = bob.refusal(act, {named: "e_aaaaaaaaaaaa", "reason": "x"})
            assert of_ann.replace(made["constraint_id"], "ID") == of_nobody.replace("e_aaaaaaaaaaaa", "ID")
