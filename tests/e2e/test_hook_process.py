"""`vlk2-hook` as clients start it: a process that always ends with 0, says little, imports little, loses nothing."""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest
from hook_events import CLIENTS, ClaudeCode, Codex, Cursor, Desk, environment_of_process, key_error

from vlk2.app.record import Recorded
from vlk2.bootstrap import Memory
from vlk2.ports import Owner
from vlk2.settings import Settings
from vlk2.spool import drain, waiting

HOOK = [sys.executable, "-m", "vlk2.hook"]
PATIENCE = 60


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path, ClaudeCode)


def start(
    desk: Desk, payload: object, *, client: str | None = None, **environ: str
) -> subprocess.CompletedProcess:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return subprocess.run(
        [*HOOK, client or desk.client.name],
        input=raw,
        capture_output=True,
        env=environment_of_process(desk) | environ,
        cwd=desk.work,
        timeout=PATIENCE,
    )


def memory(desk: Desk) -> Memory:
    settings = Settings(store=f"sqlite:///{desk.database}", agent="dev")
    return Memory(settings, Owner("default", "dev", str(desk.work)), actor="test")


def outcomes(desk: Desk) -> list[tuple]:
    with sqlite3.connect(desk.database) as connection:
        return connection.execute("SELECT outcome, at FROM observations ORDER BY seq").fetchall()


@pytest.mark.parametrize("client", CLIENTS, ids=lambda kind: kind.__name__)
def test_the_process_answers_as_the_client_needs_it(tmp_path, client):
    desk = Desk(tmp_path, client)
    for _ in range(2):
        desk.attempt()
    call = desk.client.new_call("make check")
    ended = start(desk, desk.client.before(call))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    ended = start(desk, desk.client.failed(call, key_error(), 2))
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert desk.client.read(ended.stdout.decode()).context.startswith(
        "[SYSTEM ANCHOR] KeyError has repeated 3 times."
    )


# input that nobody should send -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "nothing came"),
        (b"  \n", "nothing came"),
        (b"hello", "no JSON object"),
        (b"[1, 2]", "no JSON object"),
        (b'{"hook_event_name": "PreToolUse", "tool_name": "\xff\xfe"}', "no JSON object"),
        (b"[" * 100_000, "no JSON object"),
        (b'{"hook_event_name": "SomethingNew", "session_id": "s"}', "not known"),
        (b'{"foreign": true}', "not known"),
        (b'{"a": "' + b"x" * (17 * 1024 * 1024) + b'"}', "more than"),
    ],
    ids=["empty", "blank", "text", "array", "not-utf-8", "deep", "unknown-event", "foreign", "huge"],
)
def test_what_is_no_event_gets_silence_and_a_line_in_the_log(desk, raw, reason):
    ended = start(desk, raw, VLK2_HOOK_DEADLINE="30")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert reason in desk.log()
    assert len(desk.log().splitlines()) == 1


@pytest.mark.parametrize("client", CLIENTS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize(
    "change",
    [
        {"tool_input": None},
        {"tool_name": 7},
        {"cwd": None},
        {"session_id": []},
        {"tool_response": 3},
        {"args": 1},
    ],
)
def test_fields_of_a_wrong_type_never_fail_the_client(tmp_path, client, change):
    desk = Desk(tmp_path, client)
    call = desk.client.new_call("make check")
    for payload in (
        desk.client.before(call),
        desk.client.failed(call, key_error(), 2),
        desk.client.start("startup"),
    ):
        assert isinstance(desk.hear({**payload, **change}), str)


def test_an_unknown_client_gets_silence(desk):
    ended = start(desk, {}, client="emacs")
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert "unknown client" in desk.log()


def test_no_argument_gets_silence(desk):
    ended = subprocess.run(
        HOOK, input=b"{}", capture_output=True, env=environment_of_process(desk), timeout=PATIENCE
    )
    assert (ended.returncode, ended.stdout) == (0, b"")


def test_a_stdin_that_never_ends_does_not_hold_the_client(desk):
    read, write = os.pipe()
    try:
        env = environment_of_process(desk) | {"VLK2_HOOK_DEADLINE": "0.3"}
        process = subprocess.Popen([*HOOK, "claude-code"], stdin=read, stdout=subprocess.PIPE, env=env)
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        os.close(read)
        os.close(write)
    assert (process.returncode, out) == (0, b"")


def test_a_wrong_user_file_is_silence_and_a_line_in_the_log(desk):
    pathlib.Path(desk.environ["VLK2_CONFIG"]).write_text("{")
    ended = start(desk, desk.client.start("startup"))
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert "config.json" in desk.log()


# a store that is away --------------------------------------------------------------------------------


def tell_failures(desk: Desk, count: int = 3, **environ: str) -> None:
    for _ in range(count):
        call = desk.client.new_call("make check")
        for payload in (desk.client.before(call), desk.client.failed(call, key_error(), 2)):
            ended = start(desk, payload, **environ)
            assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_events_for_a_missing_store_wait_and_make_their_constraint_when_it_is_there(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False)
    tell_failures(desk)
    assert not desk.database.exists()
    times = [line["event"]["at"] for line in desk.spooled()]
    assert len(times) == 3
    assert drain(memory(desk), directory=str(desk.data)) == 3
    assert outcomes(desk) == [("failure", at) for at in times]
    assert desk.spooled() == []
    assert desk.attempt()[0].context.startswith("[SYSTEM ANCHOR] KeyError has repeated 3 times.")


def test_a_locked_store_delays_nobody_and_loses_nothing(desk):
    lock = sqlite3.connect(desk.database, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    tell_failures(desk, VLK2_HOOK_DEADLINE="0.5")
    lock.execute("ROLLBACK")
    lock.close()
    assert len(desk.spooled()) == 3
    assert drain(memory(desk), directory=str(desk.data)) == 3
    assert [outcome for outcome, _ in outcomes(desk)] == ["failure"] * 3


def test_past_its_deadline_the_client_is_let_go_and_the_event_is_kept_all_the_same(desk):
    call = desk.client.new_call("make check")
    ended = start(desk, desk.client.failed(call, key_error(), 2), VLK2_HOOK_DEADLINE="0.03")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    for _ in range(600):  # what was left to do is done by a process of its own
        if desk.spooled() or outcomes(desk):
            break
        threading.Event().wait(0.05)
    assert len(desk.spooled()) + len(outcomes(desk)) == 1


@pytest.mark.parametrize(
    "spoil",
    [
        lambda c: c.execute("PRAGMA user_version = 0"),
        lambda c: c.execute("UPDATE store_meta SET value = '99' WHERE name = 'min_writer'"),
        lambda c: c.execute("PRAGMA application_id = 7"),
    ],
    ids=["older", "newer", "foreign"],
)
def test_a_store_of_another_schema_is_left_as_it_is_and_the_event_waits(desk, spoil):
    with sqlite3.connect(desk.database) as connection:
        spoil(connection)
        before = list(connection.iterdump())
    tell_failures(desk, count=1)
    with sqlite3.connect(desk.database) as connection:
        assert list(connection.iterdump()) == before
    assert len(desk.spooled()) == 1


def test_a_broken_store_is_left_as_it_is_and_the_event_waits(desk):
    desk.database.write_bytes(b"no database at all" * 400)
    tell_failures(desk, count=1)
    assert desk.database.read_bytes() == b"no database at all" * 400
    assert len(desk.spooled()) == 1


def test_a_line_of_the_spool_is_masked_and_its_owners_alone(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False)
    token = "ghp_" + "Z9y8X7w6" * 4 + "V5u4"
    call = desk.client.new_call(f"curl -H 'Authorization: Bearer {token}' https://example.org")
    start(desk, desk.client.failed(call, f"denied for {token}\n{key_error()}", 22))
    (path,) = (desk.data / "spool").glob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    text = path.read_text()
    assert text.count("\n") == 1
    assert token not in text
    assert "digest" not in text


def test_prompts_and_session_ends_wait_too(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False)
    for payload in (desk.client.start("startup"), desk.client.prompt(), desk.client.end()):
        start(desk, payload)
    assert [line["kind"] for line in desk.spooled()] == ["session_start", "prompt", "session_end"]
    assert "go on" not in json.dumps(desk.spooled())


def test_each_line_is_drained_once_by_whoever_drains(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False)
    for number in range(40):
        call = desk.client.new_call(f"make check{number}")
        desk.hear(desk.client.failed(call, key_error(key=f"k{number}"), 2))
    assert waiting(str(desk.data))[0] == 40
    desk.make_store()
    memories = [memory(desk) for _ in range(6)]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda one: drain(one, directory=str(desk.data)), memories))
    assert sum(done) == 40
    assert len(outcomes(desk)) == 40
    assert waiting(str(desk.data)) == (0, 0)


def test_a_line_that_was_also_written_is_counted_once(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False)
    call = desk.client.new_call("make check")
    payload = desk.client.failed(call, key_error(), 2)
    desk.hear(payload)
    desk.make_store()
    desk.hear(payload)
    drain(memory(desk), directory=str(desk.data))
    assert len(outcomes(desk)) == 1


def test_a_line_that_a_drainer_left_behind_is_taken_up_again(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False)
    desk.hear(desk.client.failed(desk.client.new_call("make check"), key_error(), 2))
    (path,) = (desk.data / "spool").glob("*.json")
    left = path.with_name(path.stem + "~1-aa.taken")
    path.rename(left)
    desk.make_store()
    assert drain(memory(desk), directory=str(desk.data)) == 0
    os.utime(left, (1, 1))
    assert drain(memory(desk), directory=str(desk.data)) == 1
    assert len(outcomes(desk)) == 1


def test_a_line_that_cannot_be_read_is_set_aside_and_holds_up_no_other(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False)
    desk.hear(desk.client.failed(desk.client.new_call("make check"), key_error(), 2))
    (desk.data / "spool" / "00000000000000000000-1-aa.json").write_text("{broken")
    desk.make_store()
    assert drain(memory(desk), directory=str(desk.data)) == 1
    assert [path.suffix for path in (desk.data / "spool").iterdir()] == [".bad"]


def test_lines_of_another_store_stay(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False, VLK2_STORE=f"sqlite:///{tmp_path}/elsewhere.db")
    desk.hear(desk.client.failed(desk.client.new_call("make check"), key_error(), 2))
    desk.make_store()
    assert drain(memory(desk), directory=str(desk.data)) == 0
    assert len(desk.spooled()) == 1


def test_a_spool_that_cannot_be_written_is_said_in_the_log(tmp_path):
    desk = Desk(tmp_path, ClaudeCode, store=False)
    desk.data.mkdir()
    (desk.data / "spool").write_text("a file stands here")
    ended = start(desk, desk.client.failed(desk.client.new_call("make check"), key_error(), 2))
    assert (ended.returncode, ended.stdout) == (0, b"")
    assert "lost" in desk.log()


# what it costs ---------------------------------------------------------------------------------------

FORBIDDEN = [
    "pydantic",
    "pydantic_settings",
    "pydantic_core",
    "fastmcp",
    "mcp",
    "click",
    "celery",
    "redis",
    "rich",
    "psycopg",
    "httpx",
    "platformdirs",
    "dataclasses",
    "inspect",
    "hashlib",
    "pathlib",
    "asyncio",
    "logging",
    "subprocess",
    "threading",
    "importlib.metadata",
    "bpe_openai",
    "vlk2.settings",
    "vlk2.cli",
    "vlk2.mcp",
    "vlk2.stores.postgres",
    "vlk2.app.consolidate",
    "vlk2.app.recall",
]


@pytest.mark.parametrize("kind", ["before", "failed", "succeeded", "start"])
@pytest.mark.parametrize("client", [ClaudeCode, Codex, Cursor], ids=lambda kind: kind.__name__)
def test_it_imports_only_what_it_needs(tmp_path, client, kind):
    desk = Desk(tmp_path, client)
    call = desk.client.new_call("make check")
    payload = {
        "before": lambda: desk.client.before(call),
        "failed": lambda: desk.client.failed(call, key_error(), 2),
        "succeeded": lambda: desk.client.succeeded(call, "ok"),
        "start": lambda: desk.client.start("startup"),
    }[kind]()
    code = (
        "import os, sys\n"
        f"sys.argv = ['vlk2-hook', {desk.client.name!r}]\n"
        "leave = os._exit\n"
        "os._exit = lambda code: (sys.stderr.write(' '.join(sys.modules)), sys.stderr.flush(), leave(code))\n"
        "from vlk2.hook import main\nmain()\n"
    )
    environ = environment_of_process(desk)
    environ.pop("VLK2_CONFIG")
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(' '.join(sys.modules))"],
        capture_output=True,
        text=True,
        env=environ,
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(payload).encode(),
        capture_output=True,
        env=environ,
        timeout=PATIENCE,
    )
    loaded = set(ended.stderr.decode().split()) - set(bare.stdout.split())
    assert "vlk2.hearing" in loaded
    assert loaded.isdisjoint(FORBIDDEN), sorted(loaded.intersection(FORBIDDEN))


def test_its_bytecode_is_kept_even_where_python_is_told_to_write_none(tmp_path, desk):
    code = (
        "import os, sys\nassert sys.dont_write_bytecode\nsys.argv = ['vlk2-hook', 'claude-code']\n"
        "leave = os._exit\nos._exit = lambda code: leave(7 if not sys.dont_write_bytecode else 8)\n"
        "from vlk2.hook import main\nmain()\n"
    )
    env = environment_of_process(desk) | {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPYCACHEPREFIX": str(tmp_path / "pyc"),
    }
    ended = subprocess.run([sys.executable, "-c", code], input=b"{}", env=env, timeout=PATIENCE)
    assert ended.returncode == 7
    assert list((tmp_path / "pyc").rglob("hearing.*.pyc"))


def test_sixteen_hooks_at_once_lose_nothing_and_make_one_constraint(desk):
    calls = [desk.client.new_call("make check") for _ in range(48)]
    payloads = [desk.client.failed(call, key_error(), 2) for call in calls]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        ended = list(pool.map(lambda payload: start(desk, payload), payloads))
    assert all(one.returncode == 0 for one in ended)
    drain(memory(desk), directory=str(desk.data))
    assert len(outcomes(desk)) == 48
    with sqlite3.connect(desk.database) as connection:
        found = connection.execute("SELECT COUNT(*) FROM agent_timeline WHERE kind = 'loop'").fetchone()
    assert found == (1,)


def test_what_a_hook_recorded_is_not_counted_again_by_the_agents_own_record(desk):
    from vlk2.domain.event import Event, EventKind

    desk.attempt()
    explicit = Event(EventKind.RESULT, tool="", text=key_error(), explicit=True)
    told: Recorded = memory(desk).record(explicit)
    assert told.duplicate
    assert len(outcomes(desk)) == 1
