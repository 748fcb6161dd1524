"""A raw HTTP client for the server's JSON-RPC and for its other routes, and a server process to talk to."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from jsonrpc import HANDSHAKE_ERA, MODERN_ERA

_CLIENT = {"name": "raw-http", "version": "1"}
_NAMED = {"tools/call": "name", "resources/read": "uri"}


class Replies:
    """Status, headers and body of one answer."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = {name.lower(): value for name, value in headers.items()}
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Agent:
    """One agent of one project, over any of several replicas in turn; a new connection for every request."""

    def __init__(
        self, ports: Sequence[int], token: str = "", project: str = "ledger", era: str = MODERN_ERA
    ) -> None:
        self.ports = list(ports)
        self.token = token
        self.project = project
        self.era = era
        self._sent = 0

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Replies:
        self._sent += 1
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.ports[self._sent % len(self.ports)], timeout=60
        )
        given = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if self.project:
            given["Vlk2-Project"] = self.project
        try:
            connection.request(method, path, body, {**given, **(headers or {})})
            answer = connection.getresponse()
            return Replies(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def post(self, path: str, body: object) -> Replies:
        return self.send("POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def rpc(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Replies:
        """One JSON-RPC request as this era sends it."""
        full = dict(params or {})
        told = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": self.era,
        }
        if self.era == MODERN_ERA:
            full["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN_ERA,
                "io.modelcontextprotocol/clientInfo": _CLIENT,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            told["Mcp-Method"] = method
            if method in _NAMED:
                told["Mcp-Name"] = str(full[_NAMED[method]])
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": full}
        return self.send("POST", "/mcp", json.dumps(message).encode(), {**told, **(headers or {})})

    def open(self) -> dict[str, Any]:
        """The server's own account of itself, as the era asks for it."""
        if self.era == MODERN_ERA:
            return self.rpc("server/discover").json["result"]
        hello = {"protocolVersion": HANDSHAKE_ERA, "capabilities": {}, "clientInfo": _CLIENT}
        return self.rpc("initialize", hello).json["result"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool call: text, structured content, isError."""
        answer = self.rpc("tools/call", {"name": tool, "arguments": arguments})
        assert answer.status == 200, (answer.status, answer.body[:500])
        assert "result" in answer.json, answer.json
        return answer.json["result"]

    def record(self, log: str, **more: Any) -> dict[str, Any]:
        result = self.call("vlk_record_state", raw_log=log, **more)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def context(self) -> str:
        return self.call("vlk_fetch_context")["structuredContent"]["text"]


class HttpServer:
    """A `vlk2 serve --http` process on a free port. Leaving the block stops it."""

    def __init__(self, vlk2: Path | str, env: Mapping[str, str], *arguments: str) -> None:
        self.process = subprocess.Popen(
            [str(vlk2), "serve", "--http", "--port", "0", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **env},
            text=True,
        )
        assert self.process.stderr is not None
        first = self.process.stderr.readline()
        assert "listening on" in first, first + self.process.stderr.read()
        self.port = int(first.rstrip().removesuffix("/mcp").rpartition(":")[2])
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.said.extend(self.process.stderr)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> int:
        self.process.terminate()
        status = self.process.wait(20)
        self._reader.join(5)
        return status
