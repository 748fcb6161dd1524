"""A FastMCP server through `run_stdio`, as a process: raw lines, both protocol eras, the official clients."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastmcp import Client as FastMCPClient
from fastmcp.client.transports import StdioTransport
from jsonrpc import HANDSHAKE_ERA, MODERN_ERA, RawClient
from mcp import Client, StdioServerParameters

from vlk2.mcp.stdio import MAX_LINE, Lines, Oversize

SERVER = """
import os, subprocess, sys, time
from pathlib import Path
from vlk2.mcp.stdio import claim, run_stdio
claim()
print("printed while importing")
from fastmcp import FastMCP
from fastmcp.tools import ToolResult

server = FastMCP("small", version="9.8.7")
journal = []

@server.tool
def length(text: str) -> ToolResult:
    return ToolResult(content=str(len(text)), structured_content={"text": str(len(text)), "hex": text[:8].encode().hex()})

@server.tool
def noisy() -> str:
    print("printed")
    sys.stdout.write("written\\n")
    sys.stdout.flush()
    os.write(1, b"written to descriptor 1\\n")
    subprocess.run([sys.executable, "-c", "import os; os.write(1, b'from a child\\\\n'); print(os.read(0, 9))"])
    return "done"

@server.tool
def broken() -> ToolResult:
    return ToolResult(content="a\\ud800b", structured_content={"text": "a\\ud800b"})

@server.tool
def note(word: str, after: str = "") -> str:
    while after and not Path(after).exists():
        time.sleep(0.01)
    journal.append(word)
    return " ".join(journal)

@server.tool
def descriptors() -> str:
    code = "import os; print(sorted(os.listdir('/proc/self/fd'), key=int))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout

if __name__ == "__main__":
    run_stdio(server)
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("server") / "server.py"
    path.write_text(SERVER)
    return path


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"PYTHONPATH": os.pathsep.join(one for one in sys.path if one), "FASTMCP_LOG_LEVEL": "WARNING"}


@pytest.fixture(params=[HANDSHAKE_ERA, MODERN_ERA], scope="module")
def client(request: pytest.FixtureRequest, script: Path, environment: dict[str, str]) -> Iterator[RawClient]:
    with RawClient([sys.executable, str(script)], env=environment, era=request.param) as client:
        client.open()
        yield client


@pytest.fixture
def own_client(script: Path, environment: dict[str, str]) -> Iterator[RawClient]:
    with RawClient([sys.executable, str(script)], env=environment) as client:
        client.open()
        yield client


def raw_call(client: RawClient, request_id: object, tool: str, arguments: dict[str, Any]) -> bytes:
    return json.dumps(
        client.message(request_id, "tools/call", {"name": tool, "arguments": arguments})
    ).encode()


def structured(answer: dict[str, Any]) -> dict[str, Any]:
    return answer["result"]["structuredContent"]


def test_a_lone_surrogate_reaches_the_tool_as_a_replacement_character(client: RawClient) -> None:
    line = raw_call(client, "lone", "length", {"text": "a\ud800b"})
    assert rb"\ud800" in line
    assert structured(client.ask_raw(line, "lone")) == {"text": "3", "hex": "61efbfbd62"}


def test_invalid_utf8_reaches_the_tool_as_a_replacement_character(client: RawClient) -> None:
    line = raw_call(client, "bytes", "length", {"text": "a@b"}).replace(b"a@b", b"a\xffb")
    assert structured(client.ask_raw(line, "bytes"))["hex"] == "61efbfbd62"


def test_raw_control_characters_reach_the_tool(client: RawClient) -> None:
    line = raw_call(client, "raw", "length", {"text": "a@b"}).replace(b"a@b", b"a\x00\x1bb")
    assert structured(client.ask_raw(line, "raw"))["hex"] == "61001b62"


def test_ten_megabytes_reach_the_tool(client: RawClient) -> None:
    line = raw_call(client, "big", "length", {"text": "x" * 10_000_000})
    assert structured(client.ask_raw(line, "big"))["text"] == "10000000"


def test_a_line_over_the_limit_is_refused_with_its_id_and_the_limit(client: RawClient) -> None:
    line = raw_call(client, "too big", "length", {"text": "x" * (MAX_LINE + 1)})
    error = client.ask_raw(line, "too big")["error"]
    assert error["code"] == -32600
    assert str(MAX_LINE) in error["message"]
    assert client.call("length", {"text": "after"})["structuredContent"]["text"] == "5"


def test_extreme_depth_is_refused_with_its_id(client: RawClient) -> None:
    line = raw_call(client, "deep", "length", {"text": "@"}).replace(b'"@"', b"[" * 100_000 + b"]" * 100_000)
    assert client.ask_raw(line, "deep")["error"]["code"] == -32600


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"not json", None, -32700),
        (b'{"jsonrpc":"2.0","id":"cut","method":"tools/call","params":{"na', "cut", -32700),
        (b'{"jsonrpc":"2.0","id":"list","method":"tools/list","params":[]}', "list", -32602),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', 1.5, -32600),
        (b'{"id":"frame","method":"tools/list"}', "frame", -32600),
        (b'[{"jsonrpc":"2.0","id":"batch","method":"tools/list"}]', "batch", -32600),
    ],
)
def test_what_the_sdk_would_drop_is_answered(
    client: RawClient, line: bytes, request_id: object, code: int
) -> None:
    assert client.ask_raw(line, request_id)["error"]["code"] == code


def test_wrong_argument_types_are_answered_by_the_server(client: RawClient) -> None:
    assert client.call("length", {"text": 5})["isError"] is True
    assert client.call("length", {})["isError"] is True
    assert client.call("nothing of this name")["isError"] is True


def test_a_broken_notification_gets_no_answer_and_a_line_on_stderr(own_client: RawClient) -> None:
    own_client.send_raw(b'{"jsonrpc":"2.0","method":"notifications/progress","params":[]}')
    assert own_client.call("length", {"text": "ab"})["structuredContent"]["text"] == "2"
    assert own_client.rest() == []
    own_client.close()
    assert "notification" in own_client.stderr


def test_nothing_but_json_rpc_is_on_stdout_whatever_writes_there(own_client: RawClient) -> None:
    assert own_client.call("noisy")["content"][0]["text"] == "done"
    assert own_client.rest() == []
    own_client.close()
    for stray in (
        "printed while importing",
        "printed",
        "written",
        "written to descriptor 1",
        "from a child",
        "b''",
    ):
        assert stray in own_client.stderr


def test_there_is_no_banner(own_client: RawClient) -> None:
    own_client.close()
    assert own_client.stderr.split() == ["printed", "while", "importing"]


def test_an_answer_that_utf8_cannot_hold_does_not_kill_the_server(client: RawClient) -> None:
    answer = client.ask("tools/call", {"name": "broken", "arguments": {}})
    assert "error" in answer or answer["result"]["content"]
    assert client.call("length", {"text": "ab"})["structuredContent"]["text"] == "2"


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the list of open descriptors is Linux's")
def test_children_inherit_neither_pipe(client: RawClient) -> None:
    listed = client.call("descriptors")["content"][0]["text"]
    assert listed.strip() == "['0', '1', '2', '3']"


def test_calls_run_in_the_order_in_which_they_came(client: RawClient, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    first = client.request("tools/call", {"name": "note", "arguments": {"word": "a", "after": str(gate)}})
    rest = [client.request("tools/call", {"name": "note", "arguments": {"word": word}}) for word in "bcdefgh"]
    assert "result" in client.ask("tools/list")
    gate.touch()
    assert client.answer(first)["result"]["content"][0]["text"].endswith("a")
    assert client.answer(rest[-1])["result"]["content"][0]["text"].endswith("a b c d e f g h")


def test_a_waiting_call_that_is_cancelled_never_runs(client: RawClient, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    client.request("tools/call", {"name": "note", "arguments": {"word": "a", "after": str(gate)}})
    second = client.request("tools/call", {"name": "note", "arguments": {"word": "b"}})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": second}})
    third = client.request("tools/call", {"name": "note", "arguments": {"word": "c"}})
    client.ask("tools/list")
    gate.touch()
    assert client.answer(third)["result"]["content"][0]["text"].endswith("a c")


def test_what_was_asked_before_stdin_closed_is_answered(own_client: RawClient) -> None:
    asked = [
        own_client.request("tools/call", {"name": "note", "arguments": {"word": "x"}}) for _ in range(100)
    ]
    answers = own_client.rest()
    assert [answer["id"] for answer in answers if "result" in answer] == asked
    assert own_client.close() == 0


def test_a_call_that_hangs_does_not_keep_the_server_alive_without_its_client(
    script: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    with RawClient([sys.executable, str(script)], env={**environment, "PATIENCE": "0.2"}) as client:
        client.open()
        never = str(tmp_path / "never")
        client.request("tools/call", {"name": "note", "arguments": {"word": "a", "after": never}})
        client.ask("ping")
        assert client.close() == 1
        assert "still runs" in client.stderr


def test_a_last_line_without_a_newline_is_answered(script: Path, environment: dict[str, str]) -> None:
    line = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        b'"capabilities":{},"clientInfo":{"name":"a","version":"1"}}}'
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        input=line,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
    )
    assert json.loads(done.stdout)["result"]["serverInfo"] == {"name": "small", "version": "9.8.7"}
    assert done.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="closes descriptor 2 with a shell")
def test_a_closed_stderr_harms_nothing(script: Path, environment: dict[str, str]) -> None:
    command = ["sh", "-c", 'exec "$0" "$1" 2>&-', sys.executable, str(script)]
    with RawClient(command, env=environment) as client:
        client.open()
        assert client.call("noisy")["content"][0]["text"] == "done"
        assert client.rest() == []


def test_the_id_of_an_unanswered_request_cannot_be_used_again(client: RawClient, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    line = raw_call(client, "same", "note", {"word": "a", "after": str(gate)})
    client.send_raw(line)
    assert client.ask_raw(line, "same")["error"]["code"] == -32600
    gate.touch()
    assert "result" in client.answer("same")
    assert "result" in client.ask_raw(line, "same")


def test_the_server_ends_when_the_client_reads_no_more(script: Path, environment: dict[str, str]) -> None:
    server = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdout.close()
    server.stdin.write(b"not json\n")
    server.stdin.flush()
    try:
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.stdin.close()
        server.wait()


def test_a_project_file_of_settings_is_not_read(
    script: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("FASTMCP_LOG_LEVEL=not-a-level\n")
    with RawClient([sys.executable, str(script)], env=environment, cwd=tmp_path) as client:
        assert client.open()["serverInfo"]["name"] == "small"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_official_client_passes_calls_in_both_eras(
    script: Path, environment: dict[str, str], mode: str
) -> None:
    async def story() -> None:
        parameters = StdioServerParameters(
            command=sys.executable, args=[str(script)], env={**os.environ, **environment}
        )
        async with Client(parameters, mode=mode) as client:
            result = await client.call_tool("length", {"text": "a\x00\U0001f600" * 1000})
            assert result.structured_content == {"text": "3000", "hex": "6100f09f98806100f09f98806100"}
            failed = await client.call_tool("length", {"text": 5})
            assert failed.is_error

    anyio.run(story)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_fastmcp_client_passes_calls_in_both_eras(
    script: Path, environment: dict[str, str], mode: str
) -> None:
    async def story() -> None:
        transport = StdioTransport(sys.executable, [str(script)], env={**os.environ, **environment})
        async with FastMCPClient(transport, mode=mode) as client:
            assert {tool.name for tool in await client.list_tools()} >= {"length", "note"}
            result = await client.call_tool("length", {"text": "abc"})
            assert result.structured_content == {"text": "3", "hex": "616263"}

    anyio.run(story)


def cut(lines: Lines, *chunks: bytes) -> list[bytes | Oversize]:
    return [line for chunk in chunks for line in lines.feed(chunk)] + list(lines.rest())


def test_lines_are_the_same_however_the_stream_is_chunked() -> None:
    stream = b"one\n\ntwo\r\n" + b"x" * 50 + b"\nlast"
    whole = cut(Lines(), stream)
    assert whole == [b"one", b"", b"two\r", b"x" * 50, b"last"]
    assert cut(Lines(), *(stream[i : i + 1] for i in range(len(stream)))) == whole


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_a_line_over_the_limit_keeps_its_head_its_end_and_its_length_and_the_next_is_whole(step: int) -> None:
    stream = b"h" + b"x" * 100 + b"t\nnext\n"
    chunks = [stream[i : i + step] for i in range(0, len(stream), step)]
    long, after = cut(Lines(limit=64), *chunks)
    assert isinstance(long, Oversize)
    assert (long.head[:1], long.tail[-1:], long.size) == (b"h", b"t", 102)
    assert after == b"next"


def test_an_endless_line_is_never_held() -> None:
    lines = Lines(limit=1 << 20)
    held = 0
    for _ in range(400):
        assert list(lines.feed(b"x" * 65536)) == []
        held = max(held, lines.held)
    assert held <= (1 << 20) + 65536
    (line,) = lines.feed(b"\n")
    assert isinstance(line, Oversize)
    assert line.size == 400 * 65536
