"""A stand-in for a model's API, so that real coding agents can be driven without a model.

It plays a script: each turn is a shell command to run, a tool to call, or words to say. What a client sends is kept
in `requests`, in order: what a hook or a tool put in front of the model is found there. One server speaks what the
clients speak: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini's generateContent.
"""

from __future__ import annotations

import http.server
import itertools
import json
import threading
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Run:
    """The model wants the client's shell to run a command."""

    command: str


@dataclass(frozen=True)
class Call:
    """The model calls the tool whose name ends with `name`: every client has prefixes of its own."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Say:
    """The model speaks, which ends its turn."""

    text: str


Turn = Run | Call | Say
SHELLS = (
    "Bash",
    "bash",
    "shell",
    "exec_command",
    "shell_command",
    "local_shell",
    "run_shell_command",
    "terminal",
)


class StandIn:
    """The server. `with StandIn(script) as model:` serves on `model.port` of the loopback."""

    def __init__(self, script: list[Turn]) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self._ids = itertools.count(1)
        model = self

        class Handler(_Handler):
            stand_in = model

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> StandIn:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._ids):05d}"

    def turn(self, taken: int) -> Turn:
        """What comes after so many turns of the model."""
        return self.script[taken] if taken < len(self.script) else Say("done")

    def conversation(self) -> list[Any]:
        """The messages of the longest request: what the model had read when it ended."""
        return max((messages_of(request) for request in self.requests), key=len, default=[])


def messages_of(request: dict[str, Any]) -> list[Any]:
    """The messages of a request, in whichever protocol; tools and their descriptions are no part of them."""
    for name in ("messages", "input", "contents"):
        if isinstance(request.get(name), list):
            return request[name]
    return []


def written(messages: list[Any]) -> str:
    """All that stands in the messages, as one text in which each character stands for itself."""

    def texts(value: Any) -> list[str]:
        if isinstance(value, str):
            try:
                inner = json.loads(value)
            except ValueError:
                inner = None
            return texts(inner) if isinstance(inner, dict | list) else [value]
        if isinstance(value, dict):
            return [text for item in value.values() for text in texts(item)]
        if isinstance(value, list):
            return [text for item in value for text in texts(item)]
        return []

    return "\n".join(texts(messages))


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stand_in: StandIn

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._json({})

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [], "models": []})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            request = json.loads(body)
        except ValueError:
            request = {}
        path = self.path.partition("?")[0]
        if path.endswith(("count_tokens", "countTokens")):
            self._json({"input_tokens": 9, "totalTokens": 9})
            return
        speak = {
            "/messages": self._anthropic,
            "/responses": self._responses,
            "/chat/completions": self._chat,
        }
        for ending, answer in speak.items():
            if path.endswith(ending):
                self.stand_in.requests.append(request)
                answer(request)
                return
        if "generatecontent" in path.lower():
            self.stand_in.requests.append(request)
            self._gemini(request, streaming="stream" in path.lower())
            return
        self._json({})

    # the four protocols ------------------------------------------------------------------------------

    def _anthropic(self, request: dict[str, Any]) -> None:
        tools = {
            tool["name"]: tool.get("input_schema") or {}
            for tool in request.get("tools", [])
            if "name" in tool
        }
        taken = sum(message["role"] == "assistant" for message in request["messages"])
        turn = self._turn(tools, taken)
        called = called_tool(turn, tools)
        if called:
            block = {
                "type": "tool_use",
                "id": self.stand_in.id("toolu"),
                "name": called[0],
                "input": called[1],
            }
        else:
            block = {"type": "text", "text": said(turn)}
        stop = "tool_use" if called else "end_turn"
        message = {
            "id": self.stand_in.id("msg"),
            "type": "message",
            "role": "assistant",
            "model": request.get("model", "m"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 9, "output_tokens": 1},
        }
        if not request.get("stream"):
            self._json({**message, "content": [block], "stop_reason": stop})
            return
        if called:
            opening: dict[str, Any] = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(called[1])}
        else:
            opening, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": opening},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": {"output_tokens": 1},
            },
            {"type": "message_stop"},
        ]
        self._stream([(event["type"], event) for event in events])

    def _responses(self, request: dict[str, Any]) -> None:
        tools: dict[str, Any] = {}
        spaces: dict[str, str] = {}
        scripted = False
        for tool in request.get("tools", []):
            if tool.get("type") == "namespace":
                for inner in tool.get("tools", []):
                    spaces[inner["name"]] = tool["name"]
                    tools[inner["name"]] = {}
            else:
                name = tool.get("name") or tool.get("type")
                tools[name] = tool.get("parameters") or {}
                scripted = scripted or (name == "exec" and tool.get("type") == "custom")
        calls = ("function_call", "custom_tool_call", "local_shell_call")
        taken = sum(item.get("type") in calls for item in request.get("input", []))
        turn = self._turn(tools, taken)
        item: dict[str, Any]
        if isinstance(turn, Run) and scripted:
            line = json.dumps({"cmd": turn.command})
            item = {
                "type": "custom_tool_call",
                "id": self.stand_in.id("ctc"),
                "call_id": self.stand_in.id("call"),
                "name": "exec",
                "status": "completed",
                "input": f"const done = await tools.exec_command({line}); text(done.output ?? JSON.stringify(done));",
            }
        elif called := called_tool(turn, tools):
            item = {
                "type": "function_call",
                "id": self.stand_in.id("fc"),
                "call_id": self.stand_in.id("call"),
                "name": called[0],
                "arguments": json.dumps(called[1]),
                "status": "completed",
            }
            if called[0] in spaces:
                item["namespace"] = spaces[called[0]]
        else:
            content = [{"type": "output_text", "text": said(turn), "annotations": []}]
            item = {
                "type": "message",
                "id": self.stand_in.id("msg"),
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        response = {
            "id": self.stand_in.id("resp"),
            "object": "response",
            "status": "completed",
            "model": request.get("model", "m"),
            "output": [item],
            "usage": {
                "input_tokens": 9,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 1,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 10,
            },
        }
        if not request.get("stream"):
            self._json(response)
            return
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        self._stream([(event["type"], event) for event in events])

    def _chat(self, request: dict[str, Any]) -> None:
        tools = {
            tool["function"]["name"]: tool["function"].get("parameters") or {}
            for tool in request.get("tools") or []
        }
        taken = sum(message["role"] == "assistant" for message in request["messages"])
        turn = self._turn(tools, taken)
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if called := called_tool(turn, tools):
            function = {"name": called[0], "arguments": json.dumps(called[1])}
            message["tool_calls"] = [
                {"index": 0, "id": self.stand_in.id("call"), "type": "function", "function": function}
            ]
        else:
            message["content"] = said(turn)
        reason = "tool_calls" if called else "stop"
        head = {"id": self.stand_in.id("chat"), "created": 1, "model": request.get("model", "m")}
        usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
        if not request.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": reason}
            self._json({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
            return

        def chunk(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
            choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
            return {**head, "object": "chat.completion.chunk", "choices": choices}

        last = {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}
        self._stream([("", chunk(message, None)), ("", chunk({}, reason)), ("", last), ("", "[DONE]")])

    def _gemini(self, request: dict[str, Any], *, streaming: bool) -> None:
        tools = {
            declared["name"]: declared.get("parametersJsonSchema") or declared.get("parameters") or {}
            for tool in request.get("tools", [])
            for declared in tool.get("functionDeclarations", [])
        }
        taken = sum(
            content.get("role") == "model"
            and any("functionCall" in part for part in content.get("parts", []))
            for content in request.get("contents", [])
        )
        turn = self._turn(tools, taken)
        called = called_tool(turn, tools)
        part = {"functionCall": {"name": called[0], "args": called[1]}} if called else {"text": said(turn)}
        answer = {
            "candidates": [
                {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
            ],
            "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1, "totalTokenCount": 10},
        }
        if streaming:
            self._stream([("", answer)])
        else:
            self._json(answer)

    # parts -------------------------------------------------------------------------------------------

    def _turn(self, tools: dict[str, Any], taken: int) -> Turn:
        """The next turn of the script; a request that has no shell (a title, a summary) is told something."""
        if not any(name in tools for name in SHELLS) and "exec" not in tools:
            return Say('{"title": "a session"}')
        return self.stand_in.turn(taken)

    def _json(self, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _stream(self, events: list[tuple[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in events:
            line = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(f"{f'event: {name}' + chr(10) if name else ''}data: {line}\n\n".encode())
        self.wfile.flush()
        self.close_connection = True


def said(turn: Turn) -> str:
    return turn.text if isinstance(turn, Say) else "done"


def called_tool(turn: Turn, tools: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The name and the arguments of the tool that the turn calls, in this client's own words."""
    match turn:
        case Call(name, arguments):
            return next((tool for tool in tools if tool.endswith(name)), name), arguments
        case Run(command):
            shell = next((name for name in SHELLS if name in tools), None)
            if shell is None:
                return None
            fields = tools[shell].get("properties", {})
            key = "cmd" if "cmd" in fields else "command"
            words: Any = ["bash", "-lc", command] if fields.get(key, {}).get("type") == "array" else command
            return shell, {key: words, **({"description": "a command"} if "description" in fields else {})}
        case _:
            return None
