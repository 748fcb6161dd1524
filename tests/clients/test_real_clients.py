"""The ladder, shown on the real clients: driven on a stand-in model after `vlk2 install CLIENT --yes`.

What the model read is judged by the messages that the client sent, never by a tool's description.
"""

import concurrent.futures
import json
import pathlib
import shutil
import subprocess

import pytest
from driving import CLIENTS, Desk
from stand_in import Call, Run, Say, messages_of, written

pytestmark = pytest.mark.clients

ANCHOR = "[SYSTEM ANCHOR]"
LEARNED = f"{ANCHOR} KeyError"
"""What only a learned constraint says: some clients put the server's instructions, which name the marker, into the
messages."""
CHECK = Run("make check")


def checkout(folder: pathlib.Path) -> None:
    """A small program whose check fails with a KeyError until `fixed` exists."""
    folder.joinpath("Makefile").write_text("check:\n\t@python3 stock.py\n")
    folder.joinpath("stock.py").write_text(
        "import pathlib\n\nshelves = {'south': 3}\nif pathlib.Path('fixed').exists():\n    shelves['north'] = 4\n"
        "print('checked', shelves['north'])\n"
    )
    for step in (
        ["init", "-q", "-b", "trunk"],
        ["add", "-A"],
        ["-c", "user.name=n", "-c", "user.email=n@example.org", "commit", "-qm", "stock"],
    ):
        subprocess.run(["git", *step], cwd=folder, check=True)


SCRIPTS = {
    "story": [CHECK, CHECK, CHECK, CHECK, CHECK, Call("vlk_fetch_context"), Say("done")],
    "edit": [CHECK, CHECK, CHECK, Run("echo '# a note' >> stock.py"), CHECK, Say("done")],
    "success": [CHECK, CHECK, CHECK, Run("touch fixed"), CHECK, CHECK, Say("done")],
    "two failures": [CHECK, CHECK, Say("done")],
}


@pytest.fixture(scope="session")
def drives(clients, request, tmp_path_factory):
    """The clients on the scripts that the chosen tests need, two at a time: a test waits for its own alone."""

    def drive(client: str, script: str):
        desk = Desk(client, tmp_path_factory.mktemp(f"{client}-{script}".replace(" ", "-")))
        checkout(desk.work)
        desk.install()
        if script == "two failures":  # two worktrees at once, each below the threshold
            other = desk.work.parent / "other"
            subprocess.run(["git", "worktree", "add", "-q", str(other)], cwd=desk.work, check=True)
            return desk, desk.run(SCRIPTS[script], desk.work, other)
        return desk, desk.run(SCRIPTS[script])

    params = [getattr(item, "callspec", None) for item in request.session.items]
    wanted = dict.fromkeys(
        (p.params["client"], p.params["script"]) for p in params if p is not None and "script" in p.params
    )
    pool = concurrent.futures.ThreadPoolExecutor(2)
    futures = {one: pool.submit(drive, *one) for one in wanted}
    yield lambda client, script: futures[client, script].result()
    pool.shutdown(cancel_futures=True)


def on(script: str, clients=CLIENTS):
    """The test runs for each of the clients, on this script."""
    return pytest.mark.parametrize(("client", "script"), [(client, script) for client in clients])


def before_and_after(model, position: int) -> tuple[str, str]:
    """What stood in the messages before the model's turn `position` (from 0), and what came after that turn."""
    counted = ("function_call", "custom_tool_call", "local_shell_call")
    turns, messages = 0, model.conversation()
    for index, message in enumerate(messages):
        role = message.get("role") in ("assistant", "model") or message.get("type") in counted
        if role and message.get("type") != "message":
            if turns == position:
                return written(messages[:index]), written(messages[index + 1 :])
            turns += 1
    pytest.fail(f"the model had only {turns} turns, not {position + 1}")


@on("story")
def test_the_constraint_stands_in_the_messages_after_the_third_result_and_before_the_fourth_call(
    drives, client, script
):
    desk, model = drives(client, script)
    before_third, _ = before_and_after(model, 2)
    before_fourth, _ = before_and_after(model, 3)
    assert LEARNED not in before_third, desk.output
    assert f"{ANCHOR} KeyError has repeated 3 times." in before_fourth, desk.output
    assert "vlk2 revoke e_" in before_fourth
    assert "vlk2 pause" in before_fourth


@on("story")
def test_the_fourth_identical_call_is_refused_and_its_output_is_absent(drives, client, script):
    desk, model = drives(client, script)
    before_fourth, _ = before_and_after(model, 3)
    before_fifth, _ = before_and_after(model, 4)
    assert before_fourth.count("Traceback (most recent call last)") == 3, desk.output
    assert before_fifth.count("Traceback (most recent call last)") == 3, desk.output
    assert f"{ANCHOR} Not run: this identical call failed 3 times" in before_fifth, desk.output


@on("story")
def test_a_fifth_passes_and_is_recorded_as_an_override(drives, client, script):
    desk, model = drives(client, script)
    before_sixth, _ = before_and_after(model, 5)
    assert before_sixth.count("Traceback (most recent call last)") == 4, desk.output
    timeline = json.loads(desk.vlk2("timeline", "--json"))
    assert [c["overrides"] for c in constraints_of(timeline)] == [1], timeline


@on("story")
def test_the_model_that_asks_is_answered_with_the_anchor(drives, client, script):
    desk, model = drives(client, script)
    _, after = before_and_after(model, 5)
    assert "Vlk² memory of" in after, desk.output
    assert f"{ANCHOR} KeyError has repeated 4 times." in after, desk.output


@on("story")
def test_the_timeline_shows_the_whole_story(drives, client, script):
    desk, _ = drives(client, script)
    text = desk.vlk2("timeline")
    for part in ("FUTURE (1)", "KeyError", "make check", "4 occurrences, 1 overridden"):
        assert part in text, text


@on("edit")
def test_with_an_edit_between_it_is_advised_and_not_refused(drives, client, script):
    desk, model = drives(client, script)
    text = written(model.conversation())
    assert "Not run:" not in text, desk.output
    assert text.count("Traceback (most recent call last)") == 4, desk.output
    assert "KeyError has repeated 3 times. This very call was 3 of them" in text or (
        "KeyError has repeated 4 times. This very call was 4 of them" in text
    ), desk.output


@on("success")
def test_with_a_success_between_nothing_is_said(drives, client, script):
    desk, model = drives(client, script)
    _, after = before_and_after(model, 5)
    assert after.count("checked 4") == 1, desk.output
    assert LEARNED not in after, desk.output


@on("two failures", ["claude-code", "codex"])
def test_two_worktrees_at_once_make_no_false_sum(drives, client, script):
    desk, model = drives(client, script)
    read = [written(messages_of(request)) for request in model.requests]
    ended = [text for text in read if text.count("Traceback (most recent call last)") == 2]
    assert len({"/other/" in text for text in ended}) == 2, desk.output
    assert not any(LEARNED in text for text in read), desk.output
    assert constraints_of(json.loads(desk.vlk2("timeline", "--json"))) == []


@on("story")
def test_no_request_carries_the_constraint_before_it_was_learned(drives, client, script):
    _, model = drives(client, script)
    early = [request for request in model.requests if written(messages_of(request)).count("Traceback") < 3]
    assert early
    assert all(LEARNED not in written(messages_of(request)) for request in early)


def constraints_of(timeline) -> list:
    return timeline["FUTURE"]


def test_git_is_there():
    assert shutil.which("git")
