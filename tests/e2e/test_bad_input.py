"""Bad input gets a clear tool error that says what to do, and nothing is lost."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from agents import RUST, Agent, rows, run


def test_an_empty_log_says_what_to_pass(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        assert "raw_log is empty" in agent.refusal("vlk_record_state", {"raw_log": "  \n"})
        assert agent.record("", outcome="success")["entry_id"] is None


def test_wrong_types_are_named_without_repeating_the_input(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        refused = agent.refusal("vlk_record_state", {"raw_log": {"secret": "hunter2"}})
        assert "raw_log" in refused
        assert "hunter2" not in refused
        assert "max_tokens" in agent.refusal("vlk_fetch_context", {"max_tokens": "many"})
        assert "limit" in agent.refusal("vlk_recall", {"query": "x", "limit": 0})
        assert "entry_ids" in agent.refusal("vlk_time_travel", {"entry_ids": "e_a", "lesson": "x"})


def test_a_huge_log_keeps_its_head_and_tail_and_says_so(tmp_path: Path) -> None:
    log = "error[E0277]: head `Head`\n" + "filler line\n" * 400_000 + "the very tail\n"
    with Agent(tmp_path) as agent:
        done = agent.record(log)
        assert "64 KiB" in done["text"]
        assert done["type"] == "E0277"
    [(body,)] = rows(tmp_path, "SELECT body FROM memory_contents")
    assert len(body.encode()) <= 64 * 1024
    assert body.startswith("error[E0277]: head")
    assert body.rstrip().endswith("the very tail")
    assert "bytes left out" in body


def test_nul_surrogates_and_colour_are_normalised_in_the_one_documented_way(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        line = (
            b'{"jsonrpc":"2.0","id":"raw","method":"tools/call","params":{"name":"vlk_record_state","arguments":'
            b'{"raw_log":"\\u001b[31merror[E0277]\\u001b[0m: a\\u0000b \\ud800 c\\r\\n"}}}'
        )
        agent.send_raw(line)
        assert agent.answer("raw")["result"]["isError"] is False
    assert rows(tmp_path, "SELECT body FROM memory_contents") == [("error[E0277]: a\u2400b \ufffd c\n",)]


def test_extreme_depth_is_answered_with_an_error_that_bears_the_id(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        deep = b"[" * 5_000 + b"]" * 5_000
        agent.send_raw(b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"x":' + deep + b"}}")
        assert agent.answer(77)["error"]["code"] in (-32600, -32700)
        assert agent.record(RUST.format(line=1))["repeats"] == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("vlk_revoke_future", {"constraint_id": "e_aaaaaaaaaaaa", "reason": "x"}),
        ("vlk_pin_memory", {"entry_id": "nonsense"}),
        ("vlk_time_travel", {"entry_ids": ["e_aaaaaaaaaaaa"], "lesson": "x"}),
        ("vlk_forget", {"entry_id": "", "reason": "x"}),
    ],
)
def test_an_unknown_id_says_where_ids_come_from(
    tmp_path: Path, name: str, arguments: dict[str, object]
) -> None:
    with Agent(tmp_path) as agent:
        assert "no entry" in agent.refusal(name, arguments)


def test_a_plain_entry_is_no_constraint(tmp_path: Path) -> None:
    with Agent(tmp_path) as agent:
        entry = agent.record(RUST.format(line=1))["entry_id"]
        assert "not a constraint" in agent.refusal(
            "vlk_revoke_future", {"constraint_id": entry, "reason": "x"}
        )


def test_a_corrupt_store_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    store.write_bytes(b"this is no database" * 100)
    before = store.read_bytes()
    with Agent(tmp_path) as agent:
        said = agent.refusal("vlk_record_state", {"raw_log": RUST})
        assert str(store) in said
        assert "VLK2_STORE" in said
    assert store.read_bytes() == before


def test_a_database_of_another_program_is_left_as_it_is(tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "memory.db") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = (tmp_path / "memory.db").read_bytes()
    with Agent(tmp_path) as agent:
        assert "another program" in agent.refusal("vlk_fetch_context", {})
    assert (tmp_path / "memory.db").read_bytes() == before


def test_a_store_that_cannot_be_made_says_what_to_do_and_the_server_lives(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("x")
    with Agent(tmp_path, VLK2_STORE=f"sqlite:///{blocker}/memory.db") as agent:
        for _ in range(2):
            said = agent.refusal("vlk_record_state", {"raw_log": RUST})
            assert "VLK2_STORE" in said


def test_a_newer_schema_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    import sqlite3

    with Agent(tmp_path) as agent:
        agent.record(RUST.format(line=1))
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        connection.execute("UPDATE store_meta SET value = '99' WHERE name = 'min_writer'")
    with Agent(tmp_path) as agent:
        assert "newer" in agent.refusal("vlk_record_state", {"raw_log": RUST})


def test_a_wrong_setting_names_its_source(tmp_path: Path) -> None:
    done = run(tmp_path, "status", VLK2_TOKEN_BUDGET="many")
    assert done.returncode == 1
    assert "VLK2_TOKEN_BUDGET" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_store_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    store = tmp_path / "new" / "memory.db"
    with Agent(tmp_path, VLK2_STORE=f"sqlite:///{store}") as agent:
        agent.record(RUST.format(line=1))
        for name in os.listdir(store.parent):  # noqa: PTH208
            assert stat.S_IMODE((store.parent / name).stat().st_mode) == 0o600, name
        assert stat.S_IMODE(store.parent.stat().st_mode) == 0o700
