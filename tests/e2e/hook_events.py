"""What each client's hook is told, by recorded shapes: one class a client, and one developer's place to hear it.

The shapes are those of Claude Code 2.1.332, Codex 0.171.0, Gemini CLI 0.61.0, and of our plugins in opencode 1.18.33
and Hermes 0.19.0, each seen on the real client; Cursor's and opencode 2's are those of their documentation.
"""

from __future__ import annotations

import itertools
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from vlk2.bootstrap import open_store
from vlk2.hearing import Hook

KEY_ERROR = (
    'Traceback (most recent call last):\n  File "stock.py", line {line}, in <module>\n    print(shelves["{key}"])\n'
    "KeyError: '{key}'\nmake: *** [Makefile:2: check] Error 1"
)


def key_error(line: int = 3, key: str = "north") -> str:
    return KEY_ERROR.format(line=line, key=key)


class Desk:
    """A home with its store, a working copy, and the hook of one client, run in this process."""

    def __init__(
        self, folder: pathlib.Path, client: type[Client], *, store: bool = True, **environ: str
    ) -> None:
        self.home = folder
        self.work = folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        (self.work / "stock.py").write_text("shelves = {}\n")
        (self.work / "Makefile").write_text("check:\n\tpython3 stock.py\n")
        self.data = folder / "data"
        self.environ = {
            "HOME": str(folder),
            "LOGNAME": "dev",
            "VLK2_DATA": str(self.data),
            "VLK2_CONFIG": str(folder / "config.json"),
            "VLK2_HOOK_DEADLINE": "30",
            **environ,
        }
        self.client = client(str(self.work))
        if store:
            self.make_store()

    @property
    def database(self) -> pathlib.Path:
        return self.data / "memory.db"

    def make_store(self) -> None:
        open_store(f"sqlite:///{self.database}").close()

    def hear(self, payload: object) -> str:
        """What the hook puts on stdout for one payload."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return Hook([self.client.name], self.environ).run(raw)

    def say(self, payload: object) -> Answer:
        """The answer to one payload, in neutral words."""
        return self.client.read(self.hear(payload))

    def attempt(
        self, command: str = "make check", text: str | None = None, code: int = 2
    ) -> tuple[Answer, Answer]:
        """One call of the shell that fails: what was said before it, and after it. A refused call has no result."""
        call = self.client.new_call(command)
        before = self.say(self.client.before(call))
        if before.refused:
            return before, Answer()
        return before, self.say(self.client.failed(call, key_error() if text is None else text, code))

    def succeed(self, command: str = "make check", text: str = "checked 4") -> tuple[Answer, Answer]:
        call = self.client.new_call(command)
        return self.say(self.client.before(call)), self.say(self.client.succeeded(call, text))

    def start(self, source: str = "startup") -> Answer:
        return self.say(self.client.start(source))

    def spooled(self) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted((self.data / "spool").glob("*.json"))]

    def log(self) -> str:
        path = self.data / "hook.log"
        return path.read_text() if path.exists() else ""


class Answer:
    """What a client would do with an answer: refuse the call for a reason, or show a text."""

    def __init__(self, context: str = "", refused: str = "") -> None:
        self.context = context
        self.refused = refused

    def __repr__(self) -> str:
        return f"Answer(context={self.context!r}, refused={self.refused!r})"

    @property
    def silent(self) -> bool:
        return not self.context and not self.refused


class Client:
    """The payloads of one client."""

    name = ""
    tool = "Bash"
    advises = True

    def __init__(self, folder: str, session: str = "s1") -> None:
        self.folder = folder
        self.session = session
        self._ids: Iterator[int] = itertools.count(1)

    def new_call(self, command: str) -> dict[str, Any]:
        return {"id": f"{self.session}-call-{next(self._ids)}", "command": command}

    def before(self, call: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def failed(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        raise NotImplementedError

    def succeeded(self, call: dict[str, Any], text: str) -> dict[str, Any]:
        raise NotImplementedError

    def prompt(self) -> dict[str, Any]:
        raise NotImplementedError

    def start(self, source: str) -> dict[str, Any]:
        raise NotImplementedError

    def end(self) -> dict[str, Any]:
        raise NotImplementedError

    def read(self, out: str) -> Answer:
        raise NotImplementedError


class ClaudeCode(Client):
    name = "claude-code"

    def base(self, event: str, **more: Any) -> dict[str, Any]:
        return {
            "session_id": self.session,
            "prompt_id": "p1",
            "transcript_path": "/nowhere/t.jsonl",
            "cwd": self.folder,
            "permission_mode": "default",
            "effort": {"level": "high"},
            "hook_event_name": event,
            **more,
        }

    def shell(self, event: str, call: dict[str, Any], **more: Any) -> dict[str, Any]:
        given = {"command": call["command"], "description": "a command"}
        return self.base(event, tool_name=self.tool, tool_input=given, tool_use_id=call["id"], **more)

    def before(self, call: dict[str, Any]) -> dict[str, Any]:
        return self.shell("PreToolUse", call)

    def failed(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        error = f"Exit code {code}\n{text}"
        return self.shell("PostToolUseFailure", call, error=error, is_interrupt=False, duration_ms=12)

    def succeeded(self, call: dict[str, Any], text: str) -> dict[str, Any]:
        response = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        return self.shell("PostToolUse", call, tool_response=response, duration_ms=12)

    def prompt(self) -> dict[str, Any]:
        return self.base("UserPromptSubmit", prompt="go on")

    def start(self, source: str) -> dict[str, Any]:
        return self.base("SessionStart", source=source, model="m")

    def end(self) -> dict[str, Any]:
        return self.base("SessionEnd", reason="other")

    def edit(self, path: str) -> dict[str, Any]:
        call = {"id": f"edit-{next(self._ids)}"}
        given = {"file_path": path, "old_string": "a", "new_string": "b"}
        return self.base(
            "PostToolUse",
            tool_name="Edit",
            tool_input=given,
            tool_use_id=call["id"],
            tool_response={"filePath": path},
        )

    def read(self, out: str) -> Answer:
        if not out:
            return Answer()
        held = json.loads(out)
        assert set(held) == {"hookSpecificOutput"}
        given = held["hookSpecificOutput"]
        if "permissionDecision" in given:
            assert set(given) == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
            assert (given["hookEventName"], given["permissionDecision"]) == ("PreToolUse", "deny")
            return Answer(refused=given["permissionDecisionReason"])
        assert set(given) == {"hookEventName", "additionalContext"}
        return Answer(given["additionalContext"])


class Codex(ClaudeCode):
    """Codex tells the exit code only in its rollout, which is written before the hook runs."""

    name = "codex"

    def __init__(self, folder: str, session: str = "s1") -> None:
        super().__init__(folder, session)
        self.rollout = pathlib.Path(folder).parent / f"rollout-{session}.jsonl"
        self.write({"type": "session_meta", "payload": {"id": session, "cwd": folder}})

    def write(self, *rows: dict[str, Any]) -> None:
        with self.rollout.open("a") as file:
            for row in rows:
                file.write(json.dumps({"timestamp": "2026-11-30T09:00:00.000Z", **row}) + "\n")

    def base(self, event: str, **more: Any) -> dict[str, Any]:
        return {
            "session_id": self.session,
            "turn_id": "t1",
            "transcript_path": str(self.rollout),
            "cwd": self.folder,
            "hook_event_name": event,
            "model": "m",
            "permission_mode": "bypassPermissions",
            **more,
        }

    def shell(self, event: str, call: dict[str, Any], **more: Any) -> dict[str, Any]:
        given = {"command": call["command"]}
        return self.base(event, tool_name="Bash", tool_input=given, tool_use_id=call["id"], **more)

    def before(self, call: dict[str, Any]) -> dict[str, Any]:
        arguments = json.dumps({"cmd": call["command"]})
        begun = {
            "type": "function_call",
            "name": "exec_command",
            "arguments": arguments,
            "call_id": call["id"],
        }
        self.write({"type": "response_item", "payload": begun})
        return self.shell("PreToolUse", call)

    def ended(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        return {
            "type": "CommandExecution",
            "id": call["id"],
            "command": ["/bin/bash", "-lc", call["command"]],
            "cwd": f"file://{self.folder}",
            "status": "failed" if code else "completed",
            "aggregated_output": text,
            "exit_code": code,
        }

    def failed(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        item = {"type": "item_completed", "item": self.ended(call, text, code)}
        self.write({"type": "event_msg", "payload": item})
        return self.shell("PostToolUse", call, tool_response=text)

    def succeeded(self, call: dict[str, Any], text: str) -> dict[str, Any]:
        return self.failed(call, text, 0)

    def read(self, out: str) -> Answer:
        return super().read("" if out == "{}" else out)


class Gemini(Client):
    name = "gemini"
    tool = "run_shell_command"
    advises = False

    def base(self, event: str, **more: Any) -> dict[str, Any]:
        return {
            "session_id": self.session,
            "transcript_path": "/nowhere/c.json",
            "cwd": self.folder,
            "hook_event_name": event,
            "timestamp": f"2026-11-30T09:00:{next(self._ids):09.3f}Z",
            **more,
        }

    def shell(self, event: str, call: dict[str, Any], **more: Any) -> dict[str, Any]:
        given = {"command": call["command"], "description": "a command"}
        return self.base(event, tool_name=self.tool, tool_input=given, **more)

    def before(self, call: dict[str, Any]) -> dict[str, Any]:
        return self.shell("BeforeTool", call)

    def failed(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        status = f"\nExit Code: {code}" if code else ""
        group = next(self._ids)
        shown = (
            f"<untrusted_context>\nOutput: {text}{status}\nProcess Group PGID: {group}\n</untrusted_context>"
        )
        return self.shell("AfterTool", call, tool_response={"llmContent": shown, "returnDisplay": text})

    def succeeded(self, call: dict[str, Any], text: str) -> dict[str, Any]:
        return self.failed(call, text, 0)

    def prompt(self) -> dict[str, Any]:
        return self.base("BeforeAgent", prompt="go on")

    def start(self, source: str) -> dict[str, Any]:
        return self.base("SessionStart", source=source)

    def end(self) -> dict[str, Any]:
        return self.base("SessionEnd", reason="exit")

    def read(self, out: str) -> Answer:
        if not out:
            return Answer()
        held = json.loads(out)
        if "decision" in held:
            assert set(held) == {"decision", "reason"}
            assert held["decision"] == "deny"
            return Answer(refused=held["reason"])
        assert set(held) == {"hookSpecificOutput"}
        assert set(held["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        return Answer(held["hookSpecificOutput"]["additionalContext"])


class Opencode(Client):
    """What our plugin hands over."""

    name = "opencode"
    tool = "bash"
    advises = False

    def base(self, event: str, **more: Any) -> dict[str, Any]:
        return {
            "event": event,
            "session": self.session,
            "directory": self.folder,
            "worktree": self.folder,
            **more,
        }

    def shell(self, event: str, call: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self.base(event, tool=self.tool, call=call["id"], args={"command": call["command"]}, **more)

    def before(self, call: dict[str, Any]) -> dict[str, Any]:
        return self.shell("call", call)

    def failed(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        return self.shell("result", call, output=text, exit=code)

    def succeeded(self, call: dict[str, Any], text: str) -> dict[str, Any]:
        return self.failed(call, text, 0)

    def prompt(self) -> dict[str, Any]:
        return self.base("prompt")

    def start(self, source: str) -> dict[str, Any]:
        return self.base("compaction") if source == "compact" else self.base("start", source=source)

    def end(self) -> dict[str, Any]:
        return self.base("end")

    def read(self, out: str) -> Answer:
        if not out:
            return Answer()
        held = json.loads(out)
        assert len(held) == 1
        return Answer(held.get("context", ""), held.get("refuse", ""))


class Opencode2(Opencode):
    """The second plugin names the assistant message, and the tool is called `shell`."""

    tool = "shell"

    def shell(self, event: str, call: dict[str, Any], **more: Any) -> dict[str, Any]:
        return super().shell(event, call, message=call.get("message", f"m-{call['id']}"), **more)


class Hermes(Opencode):
    name = "hermes"
    tool = "terminal"

    def failed(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        result = json.dumps({"output": text, "exit_code": code, "error": None})
        return self.shell("result", call, result=result, status="ok" if code == 0 else "error", error=None)


class Cursor(Client):
    """A failing command comes as postToolUse with its exit code."""

    name = "cursor"
    tool = "Shell"
    advises = False

    def base(self, event: str, **more: Any) -> dict[str, Any]:
        return {
            "conversation_id": self.session,
            "generation_id": "g1",
            "model": "m",
            "hook_event_name": event,
            "cursor_version": "3.2.0",
            "workspace_roots": [self.folder],
            "user_email": "dev@example.org",
            "transcript_path": None,
            **more,
        }

    def shell(self, event: str, call: dict[str, Any], **more: Any) -> dict[str, Any]:
        given = {"command": call["command"], "working_directory": ""}
        return self.base(event, tool_name=self.tool, tool_input=given, tool_use_id=call["id"], **more)

    def before(self, call: dict[str, Any]) -> dict[str, Any]:
        return self.shell("preToolUse", call, cwd=self.folder)

    def failed(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        return self.shell(
            "postToolUse", call, tool_output=json.dumps({"output": text, "exitCode": code}), duration=9
        )

    def succeeded(self, call: dict[str, Any], text: str) -> dict[str, Any]:
        return self.failed(call, text, 0)

    def prompt(self) -> dict[str, Any]:
        return self.base("beforeSubmitPrompt", prompt="go on", attachments=[])

    def start(self, source: str) -> dict[str, Any]:
        return self.base("sessionStart", session_id=self.session, is_background_agent=False)

    def end(self) -> dict[str, Any]:
        return self.base("sessionEnd", session_id=self.session, reason="completed")

    def read(self, out: str) -> Answer:
        if not out:
            return Answer()
        held = json.loads(out)
        if "permission" in held:
            assert set(held) == {"permission", "user_message", "agent_message"}
            assert held["permission"] == "deny"
            return Answer(refused=held["agent_message"])
        assert set(held) == {"additional_context"}
        return Answer(held["additional_context"])


class CursorThatFails(Cursor):
    """A failing command comes as postToolUseFailure, to which nothing can be answered."""

    def failed(self, call: dict[str, Any], text: str, code: int) -> dict[str, Any]:
        if code == 0:
            return super().failed(call, text, code)
        more = {"error_message": text, "failure_type": "error", "duration": 9, "is_interrupt": False}
        return self.shell("postToolUseFailure", call, cwd=self.folder, **more)


CLIENTS = (ClaudeCode, Codex, Gemini, Opencode, Opencode2, Hermes, Cursor)


def environment_of_process(desk: Desk) -> dict[str, str]:
    """The desk's environment for a process of its own."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH") if name in os.environ}
    return kept | desk.environ
