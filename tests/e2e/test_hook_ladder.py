"""The hook of every client, told what the client tells it: it records, speaks at the third, refuses at the fourth."""

from __future__ import annotations

import json
import sqlite3

import pytest
from hook_events import CLIENTS, ClaudeCode, Codex, CursorThatFails, Desk, key_error

from vlk2.domain.speaking import LIMIT
from vlk2.project_file import file_of, trust

ANCHOR = "[SYSTEM ANCHOR]"
every_client = pytest.mark.parametrize("client", CLIENTS, ids=lambda kind: kind.__name__)


@pytest.fixture
def desk(tmp_path, client):
    return Desk(tmp_path, client)


@pytest.fixture
def claude(tmp_path):
    return Desk(tmp_path, ClaudeCode)


def rows(desk: Desk, query: str) -> list[tuple]:
    with sqlite3.connect(desk.database) as connection:
        return connection.execute(query).fetchall()


def third_failure(desk: Desk):
    """Three failures; what was said after the third."""
    for _ in range(2):
        before, after = desk.attempt()
        assert before.silent, before
        assert after.silent, after
    before, after = desk.attempt()
    assert before.silent, before
    return after


# the ladder ------------------------------------------------------------------------------------------


@every_client
def test_the_constraint_is_told_with_the_third_failure(desk):
    told = third_failure(desk)
    assert told.context.startswith(f"{ANCHOR} KeyError has repeated 3 times.")
    assert "vlk2 revoke e_" in told.context
    assert "vlk2 pause" in told.context
    assert "VLK2_ENFORCE=off" in told.context
    assert len(told.context) <= LIMIT


@every_client
def test_the_fourth_identical_call_is_refused_once_and_the_fifth_is_an_override(desk):
    third_failure(desk)
    fourth, _ = desk.attempt()
    assert fourth.refused.startswith(f"{ANCHOR} Not run: this identical call failed 3 times with KeyError")
    assert "vlk2 revoke e_" in fourth.refused
    assert "vlk2 pause" in fourth.refused
    before, after = desk.attempt()
    assert before.silent
    assert after.silent
    assert rows(desk, "SELECT count, overrides FROM anchors") == [(4, 1)]
    assert rows(desk, "SELECT kind, count FROM sayings ORDER BY pk") == [
        ("context", 3),
        ("refusal", 3),
        ("override", 3),
    ]


@every_client
def test_after_an_edit_the_call_is_advised_and_not_refused(desk):
    third_failure(desk)
    desk.succeed("sed -i s/a/b/ stock.py", "")
    before, after = desk.attempt()
    assert not before.refused
    advice = before.context if desk.client.advises else after.context
    assert advice.startswith(f"{ANCHOR} KeyError has repeated"), (before, after)
    assert "This very call was" in advice
    again = desk.attempt()
    assert all(said.silent or said.refused for said in again), again


@every_client
def test_after_a_success_nothing_is_said(desk):
    third_failure(desk)
    desk.succeed("touch north", "")
    desk.succeed()
    before, after = desk.succeed()
    assert before.silent
    assert after.silent
    assert rows(desk, "SELECT state FROM agent_timeline WHERE kind = 'loop'") == [("PAST",)]


@every_client
def test_it_is_told_again_only_when_its_count_has_doubled(desk):
    told = [third_failure(desk).context]
    for number in range(4, 13):
        before, after = desk.attempt(text=key_error(number))
        if before.refused:
            before, after = desk.attempt(text=key_error(number))
        if after.context:
            told.append(after.context)
    firsts = [text.partition(".")[0] for text in told]
    assert firsts == [f"{ANCHOR} KeyError has repeated {count} times" for count in (3, 6, 12)]


@every_client
def test_a_new_session_begins_with_the_active_constraints_and_a_resumed_one_does_not_repeat_them(desk):
    assert desk.start().silent
    third_failure(desk)
    desk.hear(desk.client.end())
    later = type(desk.client)(desk.client.folder, "s2")
    desk.client = later
    told = desk.start()
    assert "1 active constraint" in told.context
    assert f"{ANCHOR} KeyError has repeated 3 times" in told.context
    assert len(told.context) <= LIMIT
    if later.name not in ("opencode", "hermes", "cursor"):
        assert desk.start("resume").silent


@pytest.mark.parametrize(
    "client", [c for c in CLIENTS if c.name not in ("hermes", "cursor")], ids=lambda c: c.__name__
)
def test_after_compaction_the_active_constraints_are_told_again(desk):
    third_failure(desk)
    assert f"{ANCHOR} KeyError has repeated 3 times" in desk.start("compact").context


def test_what_cannot_be_answered_to_a_failure_is_told_with_the_next_result(tmp_path):
    desk = Desk(tmp_path, CursorThatFails)
    for _ in range(3):
        assert all(said.silent for said in desk.attempt())
    _, after = desk.succeed("ls", "stock.py")
    assert after.context.startswith(f"{ANCHOR} KeyError has repeated 3 times.")
    _, again = desk.succeed("ls", "stock.py")
    assert again.silent


# what is needed for a refusal ------------------------------------------------------------------------


def test_no_refusal_after_the_user_spoke(claude):
    third_failure(claude)
    claude.hear(claude.client.prompt())
    before, _ = claude.attempt()
    assert not before.refused
    assert "This very call was 3 of them" in before.context


def test_no_refusal_where_a_file_that_the_failure_names_has_changed(claude):
    third_failure(claude)
    (claude.work / "stock.py").write_text("shelves = {'north': 1}  # by somebody else\n")
    before, _ = claude.attempt()
    assert not before.refused
    assert before.context


def test_no_refusal_where_a_lockfile_has_changed(claude):
    third_failure(claude)
    (claude.work / "uv.lock").write_text("version = 1\n")
    before, _ = claude.attempt()
    assert not before.refused


def test_reading_between_does_not_hinder_a_refusal(claude):
    third_failure(claude)
    claude.succeed("cat stock.py", "shelves = {}")
    before, _ = claude.attempt()
    assert before.refused


def test_another_call_is_not_refused(claude):
    third_failure(claude)
    before, _ = claude.attempt("make check VERBOSE=1")
    assert not before.refused


def test_the_same_call_of_another_session_is_not_refused_and_is_told_what_was_learned(claude):
    third_failure(claude)
    claude.client = ClaudeCode(str(claude.work), "s2")
    before, after = claude.attempt()
    assert not before.refused
    assert before.context.startswith(f"{ANCHOR} KeyError has repeated 3 times.")
    assert after.silent


def test_what_waiting_may_cure_is_never_refused(claude):
    text = "curl: (22) The requested URL returned error: 503 Service Unavailable"
    for _ in range(3):
        claude.attempt("curl -f https://example.org/x", text, 22)
    before, _ = claude.attempt("curl -f https://example.org/x", text, 22)
    assert not before.refused


# what counts -----------------------------------------------------------------------------------------


def test_calls_in_flight_together_are_one_observation_of_a_failure(claude):
    calls = [claude.client.new_call("make check") for _ in range(3)]
    for call in calls:
        claude.say(claude.client.before(call))
    told = [claude.say(claude.client.failed(call, key_error(), 2)) for call in calls]
    assert all(said.silent for said in told)
    assert rows(claude, "SELECT COUNT(DISTINCT batch), COUNT(*) FROM observations") == [(1, 3)]


def test_a_call_that_was_never_run_does_not_join_later_ones(claude):
    claude.say(claude.client.before(claude.client.new_call("rm -rf build")))  # the user said no
    told = [claude.attempt()[1] for _ in range(3)]
    assert told[-1].context.startswith(ANCHOR)


def test_a_second_report_of_one_call_counts_once_and_says_nothing(claude):
    third_failure(claude)
    call = claude.client.new_call("make test")
    for _ in range(3):
        assert claude.say(claude.client.failed(call, key_error(key="south"), 2)).silent
    assert rows(claude, "SELECT COUNT(*) FROM observations") == [(4,)]


def test_subagents_are_kept_apart(claude):
    for number in range(4):
        call = claude.client.new_call("make check")
        payload = {
            **claude.client.failed(call, key_error(), 2),
            "agent_id": f"a{number % 2}",
            "agent_type": "x",
        }
        assert claude.say(payload).silent
    assert rows(claude, "SELECT subagent, COUNT(*) FROM runs GROUP BY 1") == [("a0", 1), ("a1", 1)]


def test_two_worktrees_of_one_repository_make_no_false_sum(tmp_path):
    desk = Desk(tmp_path, ClaudeCode)
    git = desk.work / ".git"
    (git / "worktrees" / "other").mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/trunk\n")
    (git / "worktrees" / "other" / "commondir").write_text("../..\n")
    (git / "worktrees" / "other" / "HEAD").write_text("ref: refs/heads/other\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").write_text(f"gitdir: {git / 'worktrees' / 'other'}\n")
    for folder in (desk.work, other):
        desk.client = ClaudeCode(str(folder), "s-" + folder.name)
        for _ in range(2):
            assert desk.attempt()[1].silent
    assert rows(desk, "SELECT COUNT(*) FROM timelines") == [(1,)]
    assert rows(desk, "SELECT COUNT(*) FROM agent_timeline WHERE kind = 'loop'") == [(0,)]


@pytest.mark.parametrize(
    "change",
    [
        {"is_interrupt": True},
        {"error": "The user doesn't want to proceed with this tool use. The tool use was rejected"},
        {"error": "<tool_use_error>Cancelled: parallel tool call Bash(make check) errored</tool_use_error>"},
        {"error": "<tool_use_error>Sibling tool call errored</tool_use_error>"},
    ],
)
def test_interrupts_rejections_and_sibling_cancellations_are_no_failures(claude, change):
    for _ in range(4):
        payload = {**claude.client.failed(claude.client.new_call("make check"), key_error(), 2), **change}
        assert claude.say(payload).silent
    assert rows(claude, "SELECT COUNT(*) FROM observations") == [(0,)]


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("mcp__vlk2__vlk_record_state", {"raw_log": key_error()}),
        ("mcp__vlk2__vlk_recall", {"query": "x"}),
        ("Bash", {"command": "vlk2 run -- make check"}),
        ("Bash", {"command": "cd src && VLK2_TEAM=a vlk2 timeline --json"}),
    ],
)
def test_our_own_tools_and_commands_are_not_recorded(claude, tool, given):
    payload = claude.client.base(
        "PostToolUseFailure",
        tool_name=tool,
        tool_input=given,
        tool_use_id="u1",
        error=f"Exit code 1\n{key_error()}",
    )
    assert claude.say(payload).silent
    assert rows(claude, "SELECT COUNT(*) FROM observations") == [(0,)]


def test_a_success_is_a_row_without_text_and_an_unknown_outcome_keeps_its_text(claude):
    claude.succeed("make check", "a secret recipe")
    call = claude.client.new_call("make serve &")
    payload = claude.client.succeeded(call, "listening")
    payload["tool_input"]["run_in_background"] = True
    claude.say(payload)
    assert rows(claude, "SELECT outcome FROM observations ORDER BY seq") == [("success",), ("unknown",)]
    assert rows(claude, "SELECT body FROM memory_contents") == [("listening",)]


def test_a_failure_behind_a_pipe_counts_although_its_status_is_a_success(claude):
    told = [claude.succeed("make check | tail -5", key_error())[1] for _ in range(3)]
    assert told[-1].context.startswith(f"{ANCHOR} KeyError has repeated 3 times.")


def test_secrets_never_reach_the_disk(claude):
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    claude.attempt(f"deploy --token {token}", f"error: bad credentials {token}\n{key_error()}")
    claude.environ["VLK2_STORE"] = "sqlite:////nowhere/at/all.db"
    claude.attempt(f"deploy --token {token}", f"error: bad credentials {token}\n{key_error()}")
    assert claude.spooled()
    held = b"".join(path.read_bytes() for path in claude.data.rglob("*") if path.is_file())
    assert token.encode() not in held


# settings --------------------------------------------------------------------------------------------


def test_enforce_advise_tells_and_never_refuses(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, VLK2_ENFORCE="advise")
    assert third_failure(desk).context
    before, _ = desk.attempt()
    assert not before.refused
    assert "This very call was 3 of them" in before.context


def test_enforce_off_records_and_says_nothing(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, VLK2_ENFORCE="off")
    assert third_failure(desk).silent
    assert desk.attempt()[0].silent
    assert rows(desk, "SELECT count FROM anchors") == [(4,)]
    assert rows(desk, "SELECT COUNT(*) FROM sayings") == [(0,)]


def test_a_trusted_project_file_sets_threshold_and_exclusions_and_an_untrusted_one_nothing(tmp_path):
    desk = Desk(tmp_path, ClaudeCode)
    file = desk.work / "vlk2.toml"
    file.write_text('loop_threshold = 2\nexclude = ["make flaky*"]\n')
    assert desk.attempt()[1].silent
    assert desk.attempt()[1].silent
    trust(file_of(str(desk.work)), str(desk.data))
    assert "has repeated 3 times" in desk.attempt()[1].context
    for _ in range(4):
        before, after = desk.attempt("make flaky-net", text="OSError: the net is away\n")
        assert before.silent
        assert after.silent
    assert rows(desk, "SELECT COUNT(*) FROM agent_timeline WHERE kind = 'log'") == [(3,)]


def test_a_pause_silences_until_its_time_is_over(claude):
    claude.data.joinpath("paused.json").write_text(json.dumps({"until": 1 << 60}))
    assert third_failure(claude).silent
    claude.data.joinpath("paused.json").write_text(json.dumps({"until": 1}))
    before, _ = claude.attempt()
    assert before.context or before.refused


def test_observing_says_nothing_and_keeps_what_it_would_have_said(tmp_path):
    desk = Desk(tmp_path, ClaudeCode)
    (tmp_path / "config.json").write_text(json.dumps({"observe": True}))
    assert third_failure(desk).silent
    assert all(said.silent for said in desk.attempt())
    kept = rows(desk, "SELECT kind, count, said FROM sayings ORDER BY pk")
    assert kept == [("context", 3, 0), ("refusal", 3, 0)]


def test_the_threshold_of_the_user_file_holds(tmp_path):
    desk = Desk(tmp_path, ClaudeCode)
    (tmp_path / "config.json").write_text(json.dumps({"loop_threshold": 5}))
    said = [desk.attempt()[1] for _ in range(5)]
    assert [bool(answer.context) for answer in said] == [False, False, False, False, True]


# Codex' rollout --------------------------------------------------------------------------------------


def test_codex_hears_a_verdict_that_comes_late_with_the_next_event(tmp_path):
    desk = Desk(tmp_path, Codex)
    client = desk.client
    assert isinstance(client, Codex)
    for _ in range(3):
        call = client.new_call("make check")
        desk.say(client.before(call))
        assert desk.say(client.shell("PostToolUse", call, tool_response=key_error())).silent
        output = f"Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n{key_error()}\n"
        row = {"type": "function_call_output", "call_id": call["id"], "output": output}
        client.write({"type": "response_item", "payload": row})
    before, _ = desk.attempt()
    assert before.refused or before.context
    assert rows(desk, "SELECT outcome, COUNT(*) FROM observations GROUP BY 1") == [("failure", 3)]


def test_codex_text_without_any_verdict_is_no_success(tmp_path):
    desk = Desk(tmp_path, Codex)
    client = desk.client
    call = client.new_call("make check")
    payload = {**client.shell("PostToolUse", call, tool_response="something"), "transcript_path": None}
    desk.say(payload)
    assert rows(desk, "SELECT outcome FROM observations") == [("unknown",)]


def test_codex_is_answered_at_stop_as_it_demands(tmp_path):
    desk = Desk(tmp_path, Codex)
    assert desk.hear(desk.client.base("Stop", stop_hook_active=False)) == "{}"
