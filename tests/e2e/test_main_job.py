"""The main job over raw JSON-RPC: the same failure three times, and the agent is told to stop."""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import RUST, Agent, rows, run
from jsonrpc import HANDSHAKE_ERA, MODERN_ERA

from vlk2 import __version__

ERAS = [HANDSHAKE_ERA, MODERN_ERA]


@pytest.mark.parametrize("era", ERAS)
def test_three_repeats_become_a_constraint_that_the_very_answer_carries(tmp_path: Path, era: str) -> None:
    with Agent(tmp_path, era=era) as agent:
        seen = [agent.record(RUST.format(line=line)) for line in (0, 10, 20)]
        assert [one["repeats"] for one in seen] == [1, 2, 3]
        assert [one["loop"] for one in seen] == [False, False, True]
        assert {(one["language"], one["type"]) for one in seen} == {("rust", "E0277")}
        assert seen[2]["text"].startswith("[SYSTEM ANCHOR] error[E0277] has repeated 3 times.")
        context = agent.tool("vlk_fetch_context")
        assert "SYSTEM ANCHOR" in context["text"]
        assert "E0277" in context["text"]
        assert "3 times" in context["text"]
        assert context["constraint_ids"] == [seen[2]["constraint_id"]]
    states = rows(tmp_path, "SELECT state FROM agent_timeline WHERE kind = 'log'")
    assert states == [("PAST",)] * 3


@pytest.mark.parametrize("era", ERAS)
def test_a_revoked_constraint_is_gone_and_two_more_repeats_do_not_bring_it_back(
    tmp_path: Path, era: str
) -> None:
    with Agent(tmp_path, era=era) as agent:
        done = [agent.record(RUST.format(line=line)) for line in (0, 10, 20)][-1]
        revoked = agent.tool(
            "vlk_revoke_future", constraint_id=done["constraint_id"], reason="the image was broken"
        )
        assert revoked["state"] == "PAST"
        assert agent.tool("vlk_fetch_context")["constraint_ids"] == []
        for line in (30, 40):
            assert agent.record(RUST.format(line=line))["loop"] is False
        assert "SYSTEM ANCHOR" not in agent.tool("vlk_fetch_context")["text"]
        for line in (50, 60, 70):
            assert agent.record(RUST.format(line=line))["loop"] is False
        assert agent.record(RUST.format(line=80))["loop"] is True


def test_the_story_holds_when_the_server_is_killed_and_started_between_any_two_calls(tmp_path: Path) -> None:
    for line in (0, 10, 20):
        with Agent(tmp_path) as agent:
            done = agent.record(RUST.format(line=line))
            agent.process.kill()
    with Agent(tmp_path) as agent:
        assert agent.tool("vlk_fetch_context")["constraint_ids"] == [done["constraint_id"]]
        agent.process.kill()
    with Agent(tmp_path) as agent:
        agent.tool("vlk_revoke_future", constraint_id=done["constraint_id"], reason="wrong")
        agent.process.kill()
    with Agent(tmp_path) as agent:
        assert agent.tool("vlk_fetch_context")["constraint_ids"] == []


def test_three_different_codes_never_add_up(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        for code in ("E0277", "E0308", "E0599"):
            done = agent.record(f"error[{code}]: something is wrong with `Ledger`\n  --> src/lib.rs:3:5\n")
            assert done["loop"] is False
        assert agent.tool("vlk_fetch_context")["constraint_ids"] == []


def test_one_code_in_two_projects_never_adds_up(tmp_path: Path) -> None:
    for line, project in ((0, "a"), (10, "b"), (20, "a"), (30, "b")):
        with Agent(tmp_path, VLK2_PROJECT=f"example.test/team/{project}") as agent:
            done = agent.record(RUST.format(line=line))
            assert done["loop"] is False
            assert len(agent.tool("vlk_fetch_context")["constraint_ids"]) == 0
    with Agent(tmp_path, VLK2_PROJECT="example.test/team/a") as agent:
        assert agent.record(RUST.format(line=40))["loop"] is True


def test_another_projects_entry_reads_like_one_that_does_not_exist(tmp_path: Path) -> None:
    with Agent(tmp_path, VLK2_PROJECT="example.test/team/a") as agent:
        mine = agent.record(RUST.format(line=1))["entry_id"]
    with Agent(tmp_path, VLK2_PROJECT="example.test/team/b") as agent:
        foreign = agent.refusal("vlk_forget", {"entry_id": mine, "reason": "x"})
        missing = agent.refusal("vlk_forget", {"entry_id": "e_aaaaaaaaaaaa", "reason": "x"})
    assert foreign.replace(mine, "ID") == missing.replace("e_aaaaaaaaaaaa", "ID")


def test_a_success_of_the_same_command_retires_the_constraint(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        for line in (0, 10, 20):
            done = agent.record(RUST.format(line=line), tool_payload="cargo check", outcome="failure")
        assert done["loop"]
        success = agent.record("", tool_payload="cargo check", outcome="success")
        assert success["entry_id"] is None
        assert done["constraint_id"] in success["text"]
        assert agent.tool("vlk_fetch_context")["constraint_ids"] == []


def test_further_repeats_go_to_past_and_are_told_again_only_when_the_count_doubles(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        told = []
        for number in range(1, 13):
            done = agent.record(RUST.format(line=number))
            if done["text"].startswith("[SYSTEM ANCHOR]"):
                told.append(done["repeats"])
            if number >= 3:
                assert done["state"] == "PAST"
        assert told == [3, 6, 12]


def test_seven_tools_with_all_hints_and_output_schemas_within_their_token_ceilings(tmp_path: Path) -> None:
    import json

    from vlk2.tokens import ExactCounter

    with Agent(tmp_path) as agent:
        assert agent.hello["serverInfo"]["name"] == "vlk2"
        assert agent.hello["serverInfo"]["version"] == __version__
        listed = agent.ask("tools/list")["result"]
    tools = listed["tools"]
    assert [tool["name"] for tool in tools] == [
        "vlk_record_state",
        "vlk_fetch_context",
        "vlk_revoke_future",
        "vlk_pin_memory",
        "vlk_time_travel",
        "vlk_recall",
        "vlk_forget",
    ]
    read_only = {"vlk_fetch_context", "vlk_recall"}
    for tool in tools:
        hints = tool["annotations"]
        assert {"title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(hints)
        assert hints["readOnlyHint"] is (tool["name"] in read_only)
        assert tool["outputSchema"]["properties"]["text"] == {"type": "string"}
    count = ExactCounter().count
    asked = [{k: tool[k] for k in ("name", "description", "inputSchema")} for tool in tools]
    assert count(json.dumps(asked)) <= 1_000
    assert count(json.dumps(listed)) <= 2_500


def test_the_agent_pins_travels_recalls_and_forgets(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        first = agent.record("TypeError: cannot unpack `total` in src/cart_totals.py\n")["entry_id"]
        assert agent.tool("vlk_pin_memory", entry_id=first)["pinned"] is True
        assert agent.tool("vlk_pin_memory", entry_id=first, pinned=False)["pinned"] is False
        done = agent.tool("vlk_time_travel", entry_ids=[first], lesson="unpacking totals never worked here")
        assert done["archived"] == [first]
        assert "unpacking totals never worked here" in agent.tool("vlk_fetch_context")["text"]
        for query in ("cart_totals", "src/cart_totals.py", "TypeError"):
            assert first in agent.tool("vlk_recall", query=query)["ids"], query
        blocked = agent.refusal("vlk_forget", {"entry_id": first, "reason": "a secret"})
        assert "revoke" in blocked
        agent.tool("vlk_revoke_future", constraint_id=done["constraint_id"], reason="it works")
        assert agent.tool("vlk_forget", entry_id=first, reason="a secret")["state"] == "PURGED"
        assert agent.tool("vlk_recall", query="cart_totals")["ids"] == []


def test_resources_show_context_timeline_and_entry(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        done = [agent.record(RUST.format(line=line)) for line in (0, 10, 20)][-1]

        def read(uri: str) -> str:
            return agent.ask("resources/read", {"uri": uri})["result"]["contents"][0]["text"]

        assert "SYSTEM ANCHOR" in read("vlk://context")
        assert done["entry_id"] in read("vlk://timeline/PAST")
        assert "PRESENT -> PAST" in read(f"vlk://entry/{done['entry_id']}")


def test_commands_of_the_same_verbs_work_on_the_same_memory(tmp_path: Path) -> None:
    import json

    def answer(*arguments: str, text: str = "") -> dict[str, object]:
        done = run(tmp_path, *arguments, "--json", text=text)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    for line in (0, 10, 20):
        recorded = answer("record", "--command", "cargo check", text=RUST.format(line=line))
    assert recorded["loop"] is True
    with Agent(tmp_path) as agent:
        assert agent.tool("vlk_fetch_context")["constraint_ids"] == [recorded["constraint_id"]]
    assert answer("context")["constraint_ids"] == [recorded["constraint_id"]]
    assert answer("status")["states"] == {"PRESENT": 0, "PAST": 3, "FUTURE": 1, "PURGED": 0}
    assert answer("pin", str(recorded["constraint_id"]))["pinned"] is True
    assert answer("unpin", str(recorded["constraint_id"]))["pinned"] is False
    assert answer("recall", "E0277")["ids"]
    assert answer("revoke", str(recorded["constraint_id"]), "--reason", "wrong")["state"] == "PAST"
    entry = str(recorded["entry_id"])
    lesson = answer("time-travel", entry, "--lesson", "adding text to numbers never compiles")
    assert answer("revoke", str(lesson["constraint_id"]), "--reason", "done")["state"] == "PAST"
    assert answer("forget", entry, "--reason", "noise")["state"] == "PURGED"
    assert len(answer("timeline")["PURGED"]) == 1  # type: ignore[arg-type]
