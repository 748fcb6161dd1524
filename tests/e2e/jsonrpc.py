"""A small JSON-RPC client that speaks raw lines to a server process on stdio.

It exists because the official SDK's client cannot send a malformed line and hides what stands on stdout. It
checks what it reads: every line of the server's stdout must be a JSON-RPC object, else `NotJsonRpcError`.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HANDSHAKE_ERA = "2025-11-25"
MODERN_ERA = "2026-07-28"

_CLIENT = {"name": "raw-lines", "version": "1"}


class NotJsonRpcError(AssertionError):
    """A line on the server's stdout is not a JSON-RPC message."""


class NoAnswerError(AssertionError):
    """The awaited answer did not come in time, or the server closed its stdout."""


class RawClient:
    """One server process and its two pipes. Use as a context manager; leaving closes stdin and awaits the exit.

    `env` is laid over the caller's environment. `stderr` holds what the server has written there so far.
    Answers may come in any order: `answer(id)` keeps the others for later.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        era: str = HANDSHAKE_ERA,
    ) -> None:
        self.era = era
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(env or {})},
            cwd=cwd,
        )
        assert self.process.stdin is not None
        self._stdin = self.process.stdin
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._kept: list[dict[str, Any]] = []
        self._stderr = bytearray()
        self._next_id = 0
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while chunk := os.read(self.process.stderr.fileno(), 65536):
            self._stderr += chunk

    @property
    def stderr(self) -> str:
        return self._stderr.decode("utf-8", "replace")

    def send_raw(self, line: bytes) -> None:
        """Send these bytes and a newline, whatever they are."""
        self._stdin.write(line + b"\n")
        self._stdin.flush()

    def send(self, message: object) -> None:
        """Send one value as one line of JSON."""
        self.send_raw(json.dumps(message).encode())

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request of the client's era and give its id; the modern era's `_meta` is added."""
        self._next_id += 1
        self.send(self.message(self._next_id, method, params))
        return self._next_id

    def message(
        self, request_id: object, method: str, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The request object that `request` would send under this id."""
        full = dict(params or {})
        if self.era == MODERN_ERA:
            full["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN_ERA,
                "io.modelcontextprotocol/clientInfo": _CLIENT,
                "io.modelcontextprotocol/clientCapabilities": {},
                **full.get("_meta", {}),
            }
        return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": full}

    def next_message(self, timeout: float = 20) -> dict[str, Any]:
        """The next line of stdout as an object, whatever it answers."""
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            raise NoAnswerError(f"nothing within {timeout} s; stderr: {self.stderr[-2000:]}") from None
        if line is None:
            raise NoAnswerError(f"the server closed its stdout; stderr: {self.stderr[-2000:]}")
        try:
            message = json.loads(line)
        except ValueError:
            raise NotJsonRpcError(repr(line[:300])) from None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise NotJsonRpcError(repr(line[:300]))
        return message

    def answer(self, request_id: object, timeout: float = 20) -> dict[str, Any]:
        """The result or error message that bears this id (type included: 1 is not "1")."""

        def bears(message: dict[str, Any]) -> bool:
            found = message.get("id")
            return "method" not in message and found == request_id and type(found) is type(request_id)

        for index, message in enumerate(self._kept):
            if bears(message):
                return self._kept.pop(index)
        deadline = time.monotonic() + timeout
        while True:
            message = self.next_message(max(deadline - time.monotonic(), 0.001))
            if bears(message):
                return message
            self._kept.append(message)

    def ask(
        self, method: str, params: Mapping[str, Any] | None = None, timeout: float = 20
    ) -> dict[str, Any]:
        """Send a request and give its answer message."""
        return self.answer(self.request(method, params), timeout)

    def ask_raw(self, line: bytes, request_id: object, timeout: float = 20) -> dict[str, Any]:
        """Send a raw line and give the answer that bears the id."""
        self.send_raw(line)
        return self.answer(request_id, timeout)

    def open(self, timeout: float = 20) -> dict[str, Any]:
        """Open the connection as the era asks (handshake or discovery) and give the server's result."""
        if self.era == MODERN_ERA:
            return self.ask("server/discover", timeout=timeout)["result"]
        result = self.ask(
            "initialize",
            {"protocolVersion": self.era, "capabilities": {}, "clientInfo": _CLIENT},
            timeout,
        )["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, timeout: float = 20
    ) -> dict[str, Any]:
        """Call a tool and give its result; a JSON-RPC error is an AssertionError."""
        answer = self.ask("tools/call", {"name": tool, "arguments": dict(arguments or {})}, timeout)
        assert "result" in answer, answer
        return answer["result"]

    def end_input(self) -> None:
        """Close the server's stdin."""
        if not self._stdin.closed:
            try:
                self._stdin.close()
            except BrokenPipeError:
                return

    def rest(self, timeout: float = 20) -> list[dict[str, Any]]:
        """Everything still to be read up to the end of stdout; closes stdin first."""
        self.end_input()
        messages, self._kept = self._kept, []
        while True:
            try:
                messages.append(self.next_message(timeout))
            except NoAnswerError:
                return messages

    def close(self, timeout: float = 20) -> int:
        """Close stdin and give the exit status; a server that stays is killed and reported as NoAnswerError."""
        self.end_input()
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise NoAnswerError("the server did not exit after its stdin closed") from None
        finally:
            for reader in self._readers:
                reader.join(5)
        return status
