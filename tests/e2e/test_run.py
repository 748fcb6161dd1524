"""`vlk2 run --`: the command is as it would be alone, and its third failure is told on stderr."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import sqlite3
import struct
import subprocess
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

import pytest
from agents import BIN, environment
from httprpc import HttpServer

from vlk2.bootstrap import open_store
from vlk2.project_file import file_of, trust
from vlk2.team import Desk, perform

SHELL = ["/bin/sh", "-c"]
RUST = "error[E0277]: the trait bound `Foo: Bar` is not satisfied\n --> src/main.rs:{line}:5"


def _environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "VLK2_DATA": str(home / "data"),
        "VLK2_CONFIG": str(home / "config.json"),
        **more,
    }


def _words(*command: str) -> list[str]:
    return [sys.executable, "-m", "vlk2", "run", "--", *command]


def _run(home: Path, *command: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    home.mkdir(exist_ok=True)
    return subprocess.run(
        _words(*command), cwd=home, env=_environ(home, **more), capture_output=True, timeout=60
    )


def _rows(home: Path, query: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(home / "data/memory.db") as base:
        return base.execute(query).fetchall()


def _makefile(home: Path) -> None:
    (home / "Makefile").write_text(
        "check:\n\t@date +%s%N >> tries\n"
        '\t@echo "error[E0277]: the trait bound \\`Foo: Bar\\` is not satisfied" >&2\n'
        '\t@echo " --> src/main.rs:$$(wc -l < tries):5" >&2\n\t@exit 1\n'
    )


def test_a_failing_make_target_is_told_at_the_third_time_and_ends_as_it_would(tmp_path: Path) -> None:
    _makefile(tmp_path)
    alone = subprocess.run(["make", "check"], cwd=tmp_path, capture_output=True, env=_environ(tmp_path))
    runs = [_run(tmp_path, "make", "check") for _ in range(4)]
    assert {run.returncode for run in runs} == {alone.returncode} == {2}
    assert {run.stdout for run in runs} == {alone.stdout}
    told = [b"[SYSTEM ANCHOR]" in run.stderr for run in runs]
    assert told == [False, False, True, False], "once, and not at every turn"
    assert b"has repeated 3 times" in runs[2].stderr
    assert b"vlk2 revoke" in runs[2].stderr
    assert b"VLK2_ENFORCE=off" in runs[2].stderr
    assert runs[2].stderr.startswith(b"error[E0277]"), "the command's own words come first, unchanged"
    assert _rows(tmp_path, "SELECT DISTINCT source FROM observations") == [("run",)]


def test_a_success_after_it_retires_the_constraint(tmp_path: Path) -> None:
    _makefile(tmp_path)
    for _ in range(3):
        _run(tmp_path, "make", "check")
    (tmp_path / "Makefile").write_text("check:\n\t@echo fine\n")
    assert _run(tmp_path, "make", "check").stdout == b"fine\n"
    assert _rows(tmp_path, "SELECT state FROM agent_timeline WHERE kind = 'loop'") == [("PAST",)]


@pytest.mark.parametrize("code", [0, 1, 7, 42, 255])
def test_the_exit_code_passes_through(tmp_path: Path, code: int) -> None:
    assert _run(tmp_path, *SHELL, f"exit {code}").returncode == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_the_signal_that_ended_the_command_ends_us_too(tmp_path: Path, number: signal.Signals) -> None:
    assert _run(tmp_path, *SHELL, f"kill -{number.value} $$").returncode == -number


def test_a_command_that_is_not_there_ends_as_in_a_shell(tmp_path: Path) -> None:
    run = _run(tmp_path, "no-such-program-here", "x")
    assert run.returncode == 127
    assert b"no-such-program-here: command not found" in run.stderr
    (tmp_path / "plain").write_text("x")
    assert _run(tmp_path, "./plain").returncode == 126


def test_bytes_pass_unchanged_on_their_own_streams(tmp_path: Path) -> None:
    program = (
        "import sys, os; os.write(1, bytes(range(256))); os.write(2, b'\\xff\\x00err\\r\\n'); sys.exit(3)"
    )
    run = _run(tmp_path, sys.executable, "-c", program)
    assert (run.returncode, run.stdout, run.stderr) == (3, bytes(range(256)), b"\xff\x00err\r\n")


def test_a_long_output_passes_whole_and_its_head_and_tail_are_kept(tmp_path: Path) -> None:
    program = "print('begin');\nfor i in range(400000): print('line', i)\nprint('ValueError: the end'); raise SystemExit(1)"
    run = _run(tmp_path, sys.executable, "-c", program)
    assert run.stdout.count(b"\n") == 400_002
    (body,) = _rows(tmp_path, "SELECT body FROM memory_contents")[0]
    assert isinstance(body, str)
    assert body.startswith("begin\nline 0\n")
    assert body.rstrip().endswith("ValueError: the end")
    assert len(body.encode()) <= 64 * 1024


def test_standard_input_reaches_the_command(tmp_path: Path) -> None:
    run = subprocess.run(
        _words("cat"),
        input=b"\x00in\n",
        cwd=tmp_path,
        env=_environ(tmp_path),
        capture_output=True,
        timeout=60,
    )
    assert run.stdout == b"\x00in\n"


def test_both_streams_in_one_pipe_keep_their_order(tmp_path: Path) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done"
    run = subprocess.run(
        _words(*SHELL, script),
        cwd=tmp_path,
        env=_environ(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
    )
    assert run.stdout == b"".join(b"out %d\nerr %d\n" % (i, i) for i in range(1, 10))


def test_a_reader_that_goes_away_ends_an_endless_command(tmp_path: Path) -> None:
    process = subprocess.Popen(_words("yes"), cwd=tmp_path, env=_environ(tmp_path), stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read(4) == b"y\ny\n"
    process.stdout.close()
    assert process.wait(60) == -signal.SIGPIPE


def test_a_signal_to_us_reaches_the_command(tmp_path: Path) -> None:
    script = "trap 'echo caught; exit 9' TERM; echo ready; while :; do sleep 0.1; done"
    process = subprocess.Popen(
        _words(*SHELL, script), cwd=tmp_path, env=_environ(tmp_path), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.terminate()
    assert process.stdout.read() == b"caught\n"
    assert process.wait(60) == 9


def test_what_a_command_leaves_in_the_background_neither_holds_us_nor_is_cut_off(tmp_path: Path) -> None:
    script = f"(read go < {tmp_path}/gate; echo late) & echo early"
    os.mkfifo(tmp_path / "gate")
    process = subprocess.Popen(
        _words(*SHELL, script), cwd=tmp_path, env=_environ(tmp_path), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"early\n"
    assert process.wait(60) == 0
    (tmp_path / "gate").write_text("go\n")
    assert process.stdout.read() == b"late\n"


def test_a_quiet_success_is_recorded_without_text(tmp_path: Path) -> None:
    assert _run(tmp_path, "true").returncode == 0
    assert _rows(tmp_path, "SELECT outcome FROM observations") == [("success",)]
    assert _rows(tmp_path, "SELECT * FROM memory_contents") == []


def test_a_secret_is_masked_before_it_is_kept_and_shown_as_it_was(tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    run = _run(tmp_path, *SHELL, f"echo 'ValueError: bad token {token}'; exit 1")
    assert token.encode() in run.stdout
    assert all(
        token.encode() not in path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()
    )


# where it says nothing ------------------------------------------------------------------------------------


def _thrice(home: Path, **more: str) -> bytes:
    home.mkdir(exist_ok=True)
    _makefile(home)
    return b"".join(_run(home, "make", "check", **more).stderr for _ in range(3))


def test_it_is_silent_while_paused_and_with_enforce_off_and_while_observing(tmp_path: Path) -> None:
    off, paused, observing = tmp_path / "off", tmp_path / "paused", tmp_path / "observing"
    assert b"ANCHOR" not in _thrice(off, VLK2_ENFORCE="off")
    paused.mkdir()
    subprocess.run(
        [sys.executable, "-m", "vlk2", "pause", "30m"], env=_environ(paused), check=True, capture_output=True
    )
    assert b"ANCHOR" not in _thrice(paused)
    observing.mkdir()
    (observing / "config.json").write_text(json.dumps({"observe": True}))
    assert b"ANCHOR" not in _thrice(observing)
    for home in (off, paused, observing):
        assert _rows(home, "SELECT count(*) FROM agent_timeline WHERE kind = 'loop'") == [(1,)]
    assert _rows(observing, "SELECT kind, said FROM sayings") == [("context", 0)]


def test_two_jobs_at_once_are_not_added_up(tmp_path: Path) -> None:
    _makefile(tmp_path)
    said = b""
    for job in ("1", "2", "1", "2"):
        said += _run(tmp_path, "make", "check", CI_JOB_ID=job).stderr
    assert b"ANCHOR" not in said
    assert b"has repeated 3 times" in _run(tmp_path, "make", "check", CI_JOB_ID="2").stderr


def test_a_command_that_the_trusted_project_file_excludes_is_not_recorded(tmp_path: Path) -> None:
    _makefile(tmp_path)
    (tmp_path / "vlk2.toml").write_text('exclude = ["make *"]\n')
    trust(file_of(str(tmp_path)), str(tmp_path / "data"))
    for _ in range(3):
        assert b"ANCHOR" not in _run(tmp_path, "make", "check").stderr
    assert not (tmp_path / "data" / "memory.db").exists()


# where the store is away ----------------------------------------------------------------------------------


def _spooled(home: Path) -> list[Path]:
    return sorted((home / "data/spool").glob("*.json"))


def test_a_store_that_is_away_changes_nothing_and_the_run_waits_in_the_spool(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/memory.db").write_text("this is no database, it is a text\n" * 50)
    run = _run(tmp_path, *SHELL, "echo out; echo 'KeyError: x' >&2; exit 5")
    assert (run.returncode, run.stdout) == (5, b"out\n")
    assert b"KeyError: x\n" in run.stderr
    assert b"the store is away" in run.stderr
    assert len(_spooled(tmp_path)) == 1
    assert "KeyError" in _spooled(tmp_path)[0].read_text()


def test_not_even_a_broken_setting_changes_how_the_command_ends(tmp_path: Path) -> None:
    run = _run(tmp_path, *SHELL, "echo out; exit 5", VLK2_ENFORCE="sometimes")
    assert (run.returncode, run.stdout) == (5, b"out\n")
    assert b"not recorded" in run.stderr


def test_at_a_team_server_the_third_failure_is_told_too_and_without_it_the_run_is_spooled(
    tmp_path: Path,
) -> None:
    server, home = tmp_path / "server", tmp_path / "home"
    server.mkdir()
    env = environment(server, VLK2_AUTH="tokens")
    store = open_store(env["VLK2_STORE"])
    operator = Desk(store, "cli op")
    perform(operator, "create_team", {"team": "acme"})
    token = perform(operator, "create_token", {"team": "acme", "agent": "ada"})["token"]
    home.mkdir()
    _makefile(home)
    replica = HttpServer(BIN / "vlk2", env)
    at = {"VLK2_STORE": f"http://127.0.0.1:{replica.port}", "VLK2_TOKEN": token, "VLK2_PROJECT": "shop"}
    try:
        runs = [_run(home, "make", "check", **at) for _ in range(3)]
    finally:
        replica.stop()
        store.close()
    assert [b"[SYSTEM ANCHOR]" in run.stderr for run in runs] == [False, False, True]
    assert not (home / "data/memory.db").exists(), "there is no third store"
    after = _run(home, "make", "check", **at)
    assert after.returncode == 2
    assert b"waits in the spool" in after.stderr
    assert len(_spooled(home)) == 1


# a terminal -----------------------------------------------------------------------------------------------


class _Terminal:
    """A terminal with `vlk2 run` on it, as a person has it."""

    def __init__(
        self,
        home: Path,
        command: Sequence[str],
        *,
        stdout: int | None = None,
        columns: int = 91,
        program: Sequence[str] = (),
    ) -> None:
        words = list(program) or _words(*command)
        self.pid, self.screen = pty.fork()
        if not self.pid:
            try:
                # A suite that runs in the background of a shell has inherited an ignored interrupt.
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                os.chdir(home)
                if stdout is not None:
                    os.dup2(stdout, 1)
                os.execve(words[0], words, _environ(home, TERM="xterm"))
            finally:
                os._exit(99)
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 33, columns, 0, 0))
        self.seen = b""

    def until(self, text: bytes) -> bytes:
        """What came until `text` did, or the end."""
        while text not in self.seen:
            ready, _, _ = select.select([self.screen], [], [], 60)
            assert ready, self.seen
            try:
                data = os.read(self.screen, 65_536)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        return self.seen

    def until_again(self, text: bytes) -> None:
        """Until `text` stands on the last line that came."""
        while text not in self.seen.rpartition(b"\n")[2]:
            ready, _, _ = select.select([self.screen], [], [], 60)
            assert ready, self.seen
            self.seen += os.read(self.screen, 65_536)

    def type(self, keys: bytes) -> None:
        os.write(self.screen, keys)

    def end(self) -> int:
        self.until(b"\0never\0")
        _, status = os.waitpid(self.pid, 0)
        os.close(self.screen)
        return os.waitstatus_to_exitcode(status)


def test_on_a_terminal_the_command_has_one_of_the_same_size_and_colours(tmp_path: Path) -> None:
    program = (
        "import os, sys\nprint([os.isatty(n) for n in (0, 1, 2)], os.get_terminal_size().columns)\n"
        "print('\\x1b[31mred\\x1b[0m')\nsys.exit(6)"
    )
    script = f'read go; exec {sys.executable} -c "$0"'
    terminal = _Terminal(tmp_path, [*SHELL, script, program])
    terminal.type(b"\r")
    assert terminal.end() == 6
    assert b"[True, True, True] 91\r\n" in terminal.seen
    assert b"\x1b[31mred\x1b[0m\r\n" in terminal.seen
    assert b"\r\r\n" not in terminal.seen


def test_on_a_terminal_keys_reach_the_command_and_ctrl_c_interrupts_it(tmp_path: Path) -> None:
    terminal = _Terminal(
        tmp_path,
        [*SHELL, "echo name; read name; trap 'exit 8' INT; echo hello $name; while :; do sleep 0.1; done"],
    )
    terminal.until(b"name")
    terminal.type(b"Ada\r")
    terminal.until(b"hello Ada")
    terminal.type(b"\x03")
    assert terminal.end() == 8


def test_a_command_that_ctrl_c_ends_is_no_failure(tmp_path: Path) -> None:
    terminal = _Terminal(tmp_path, [*SHELL, "echo up; exec sleep 60"])
    terminal.until(b"up")
    terminal.type(b"\x03")
    assert terminal.end() == -signal.SIGINT
    assert _rows(tmp_path, "SELECT count(*) FROM observations WHERE outcome = 'failure'") == [(0,)]


def test_with_stdout_in_a_pipe_the_terminal_stays_the_commands_own(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    program = "import os; print([os.isatty(n) for n in (0, 1, 2)])"
    terminal = _Terminal(tmp_path, [sys.executable, "-c", program], stdout=writer)
    os.close(writer)
    assert terminal.end() == 0
    assert os.read(reader, 100) == b"[True, False, True]\n"
    os.close(reader)


def test_ctrl_z_stops_it_and_the_shells_fg_goes_on_with_it(tmp_path: Path) -> None:
    line = " ".join(_words("/bin/sh", "-c", "'echo $((40 + 2)) up; read x; echo $((40 + 3)) $x'"))
    terminal = _Terminal(tmp_path, [], program=["/bin/bash", "--norc", "--noprofile", "-i"])
    terminal.type(line.encode() + b"\r")
    terminal.until(b"42 up")
    terminal.type(b"\x1a")
    terminal.until(b"Stopped")
    terminal.type(b"fg\r")
    terminal.until(b"fg\r\n")
    terminal.type(b"again\r")
    assert b"43 again" in terminal.until(b"43 again")
    terminal.until_again(b"bash-")  # the prompt: before it the shell may throw away what was typed
    terminal.type(b"exit 7\r")
    assert terminal.end() == 7


def test_the_terminal_is_as_it_was_afterwards(tmp_path: Path) -> None:
    terminal = _Terminal(tmp_path, [*SHELL, "echo up; read x; exit 0"])
    before = termios.tcgetattr(terminal.screen)
    terminal.until(b"up")
    terminal.type(b"\r")
    os.waitpid(terminal.pid, 0)
    after = termios.tcgetattr(terminal.screen)
    os.close(terminal.screen)
    assert after[:4] == before[:4]
