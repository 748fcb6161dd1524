"""MCP on stdin and stdout: a FastMCP server on the process's own pipes, with nothing on them but JSON-RPC.

`claim()` comes first in an entry point, before any heavy import: from then on a stray print, a library's
write to descriptor 1 or a child process cannot reach the client. `run_stdio(server)` then serves until
stdin closes. This module imports neither FastMCP nor the SDK until it serves.
"""

from __future__ import annotations

import gc
import logging
import math
import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import asyncio
    from types import TracebackType

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from fastmcp import FastMCP
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

    from vlk2.mcp.line import Item

MAX_LINE = 16 * 1024 * 1024
"""Bytes of one line of input. A longer one is refused; no more than this is ever held of it."""

_CHUNK = 1 << 16
_KEPT = 1 << 16
_SLOTS = 64
# Kept in arrival order, one at a time: a client that writes "record, record, fetch" without waiting means it so.
_ORDERED = frozenset({"tools/call", "resources/read"})
# Open for as long as the client listens: nothing waits for its end.
_ENDLESS = frozenset({"subscriptions/listen"})

# FastMCP reads these when it is imported. The settings file is named away because FastMCP would read `.env`
# of the directory it is started in, which is the user's project.
_FASTMCP_ENVIRONMENT = {
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "FASTMCP_SHOW_SERVER_BANNER": "false",
    "FASTMCP_ENABLE_RICH_LOGGING": "false",
    "FASTMCP_ENV_FILE": os.devnull,
}

# What a user may want otherwise. Spans that nobody collects are a tenth of an empty call.
_FASTMCP_DEFAULTS = {"FASTMCP_LOG_LEVEL": "WARNING", "FASTMCP_TELEMETRY_MODE": "off"}

_log = logging.getLogger("vlk2.mcp")


@dataclass(frozen=True, slots=True)
class Wire:
    """Private descriptors of the client's two pipes. Not inherited by child processes."""

    input: int
    output: int


_claimed: Wire | None = None


def claim() -> Wire:
    """Take stdin and stdout from everything else in the process; the same wire on every call.

    Afterwards descriptor 0 reads as empty and descriptor 1 is stderr, for this process and its children.
    Sets FastMCP's environment (no update check, no banner, plain log lines at WARNING), so it has to come
    before FastMCP's first import. The garbage collector rests until `run_stdio`: what is imported stays, and
    walking it again and again is a twentieth of the start. Raises OSError where stdin or stdout is not open.
    """
    global _claimed
    if _claimed is None:
        quiet()
        _claimed = Wire(_take(0), _take(1))
        gc.disable()
    return _claimed


def quiet() -> None:
    """Set FastMCP's environment; it reads it when it is first imported."""
    os.environ.update(_FASTMCP_ENVIRONMENT)
    for name, value in _FASTMCP_DEFAULTS.items():
        os.environ.setdefault(name, value)


def _take(fd: int) -> int:
    private = _above_standard(fd)
    try:
        other = os.open(os.devnull, os.O_RDONLY) if fd == 0 else os.dup(2)
    except OSError:
        other = os.open(os.devnull, os.O_WRONLY)
    os.dup2(other, fd)
    os.close(other)
    if sys.platform == "win32":
        from mcp.os.win32.utilities import rebind_std_handle_to_fd

        rebind_std_handle_to_fd(fd)
    return private


def _above_standard(fd: int) -> int:
    """A copy of the descriptor that is none of 0, 1, 2, even where one of those was closed."""
    copy = os.dup(fd)
    if copy > 2:
        return copy
    try:
        return _above_standard(fd)
    finally:
        os.close(copy)


def run_stdio(server: FastMCP, *, patience: float = 5.0) -> None:
    """Serve on stdin and stdout until stdin closes or the client is gone.

    Every request line gets an answer: one that the SDK would drop is repaired or refused with its id (see
    `vlk2.mcp.line`), lines over `MAX_LINE` are refused. Tool calls and resource reads run one at a time in
    the order they came. What had been asked before stdin closed is still answered, for at most `patience`
    seconds; a call that hangs for three times as long takes the process down with it (exit status 1), so that
    no server outlives its client.
    """
    wire = claim()
    import anyio

    gc.freeze()
    gc.enable()
    anyio.run(_serve, server, wire, patience)


async def _serve(server: FastMCP, wire: Wire, patience: float) -> None:
    import asyncio

    from fastmcp.server.context import reset_transport, set_transport

    # FastMCP serves stdio only through the SDK's own reader, which drops what it cannot parse.
    low = server._mcp_server  # pyright: ignore[reportPrivateUsage]
    token = set_transport("stdio")
    try:
        async with server._lifespan_manager():  # pyright: ignore[reportPrivateUsage]
            session = _Session(wire, asyncio.get_running_loop(), patience)
            session.start()
            try:
                await low.run(session.inbound, session, low.create_initialization_options())
            finally:
                session.finish()
    finally:
        reset_transport(token)


@dataclass(frozen=True, slots=True)
class Oversize:
    """A line longer than the limit: its first and last bytes, and its length."""

    head: bytes
    tail: bytes
    size: int


@dataclass(slots=True)
class Lines:
    """Cuts a stream of bytes into lines; never holds more than `limit` bytes of one, whatever comes."""

    limit: int = MAX_LINE
    _held: bytearray = field(default_factory=bytearray)
    _head: bytes | None = None
    _size: int = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | Oversize]:
        """The lines that this chunk completes, without their newlines."""
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            yield self._complete(chunk[start:end])
            start = end + 1
        if start < len(chunk):
            self._hold(chunk[start:])

    def rest(self) -> Iterator[bytes | Oversize]:
        """The last line, where the stream ended without a newline."""
        if self._held:
            yield self._complete(b"")

    @property
    def held(self) -> int:
        """Bytes in memory of the line that has begun."""
        return len(self._held) + len(self._head or b"")

    def _hold(self, piece: bytes) -> None:
        self._size += len(piece)
        self._held += piece
        if len(self._held) <= self.limit and self._head is None:
            return
        if self._head is None:
            self._head = bytes(self._held[:_KEPT])
        del self._held[:-_KEPT]

    def _complete(self, piece: bytes) -> bytes | Oversize:
        if not self._held and len(piece) <= self.limit:
            return piece
        self._hold(piece)
        if self._head is None:
            line: bytes | Oversize = bytes(self._held)
        else:
            line = Oversize(self._head, bytes(self._held), self._size)
        self._held = bytearray()
        self._head = None
        self._size = 0
        return line


class _Session:
    """One connection: a reading thread, a writing thread, and between them the SDK's loop.

    It is itself the SDK's write stream. At most `_SLOTS` requests are unanswered at a time; then reading
    pauses, so that neither a flood of requests nor a client that reads nothing can fill the memory.
    """

    def __init__(self, wire: Wire, loop: asyncio.AbstractEventLoop, patience: float) -> None:
        import anyio

        self._wire = wire
        self._loop = loop
        self._patience = patience
        self._finished = threading.Event()
        self._to_server: MemoryObjectSendStream[SessionMessage | Exception]
        self.inbound: MemoryObjectReceiveStream[SessionMessage | Exception]
        self._to_server, self.inbound = anyio.create_memory_object_stream(math.inf)
        self._out: SimpleQueue[tuple[bytes, int] | None] = SimpleQueue()
        self._slots = threading.BoundedSemaphore(_SLOTS)
        self._open: set[str | int] = set()
        self._running: str | int | None = None
        self._queue: deque[SessionMessage] = deque()
        self._ended = False
        self._reader = threading.Thread(target=self._read, name="vlk2-stdin", daemon=True)
        self._writer = threading.Thread(target=self._write, name="vlk2-stdout", daemon=True)

    def start(self) -> None:
        self._reader.start()
        self._writer.start()

    def finish(self) -> None:
        """Write out what is still to be written. The reader may stay blocked: it is a daemon."""
        self._out.put(None)
        self._writer.join(self._patience)
        self._finished.set()

    # Reading: the thread blocks in the system, judges the line, and hands it to the loop.

    def _read(self) -> None:
        lines = Lines()
        try:
            while chunk := self._chunk():
                for line in lines.feed(chunk):
                    self._hand(line)
            for line in lines.rest():
                self._hand(line)
            self._loop.call_soon_threadsafe(self._end_of_input)
        except RuntimeError:
            # The loop has closed: nobody is left to hand a line to.
            return
        if not self._finished.wait(3 * self._patience):
            # A thread cannot be stopped from outside, and Python waits for its threads before it exits.
            _log.warning("stdin is closed and a call still runs: giving it up")
            os._exit(1)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._wire.input, _CHUNK)
        except OSError as error:
            _log.warning("stdin cannot be read any more: %s", error)
            return b""

    def _hand(self, line: bytes | Oversize) -> None:
        from vlk2.mcp.line import oversize, read

        if isinstance(line, Oversize):
            items: list[Item] = [oversize(line.head, line.tail, line.size, MAX_LINE)]
        else:
            items = read(line)
        for item in items:
            self._slots.acquire()
            self._loop.call_soon_threadsafe(self._accept, item)

    # The loop's side.

    def _accept(self, item: Item) -> None:
        from mcp.shared.message import SessionMessage
        from mcp_types import JSONRPCNotification, JSONRPCRequest

        from vlk2.mcp.line import INVALID_REQUEST, Ignored, Refusal

        if isinstance(item, Refusal):
            self._out.put((item.encode(), 1))
        elif isinstance(item, Ignored):
            if item.why:
                _log.warning("dropped a line of input: %s", item.why)
            self._slots.release()
        elif not isinstance(item, JSONRPCRequest):
            self._slots.release()
            if isinstance(item, JSONRPCNotification) and item.method == "notifications/cancelled":
                self._cancelled(item.params)
            self._pass_on(SessionMessage(item))
        elif item.id in self._open:
            refusal = Refusal(_json(item.id), INVALID_REQUEST, "a request with this id is still unanswered")
            self._out.put((refusal.encode(), 1))
        elif item.method in _ENDLESS:
            self._slots.release()
            self._pass_on(SessionMessage(item))
        else:
            self._open.add(item.id)
            if item.method not in _ORDERED:
                self._pass_on(SessionMessage(item))
            elif self._running is None:
                self._running = item.id
                self._pass_on(SessionMessage(item))
            else:
                self._queue.append(SessionMessage(item))

    def _pass_on(self, message: SessionMessage) -> None:
        from anyio import BrokenResourceError, ClosedResourceError

        try:
            self._to_server.send_nowait(message)
        except (BrokenResourceError, ClosedResourceError):
            _log.debug("a message came after the end")

    def _cancelled(self, params: dict[str, Any] | None) -> None:
        """A cancelled request is never answered: stop waiting for it, and leave it out if it has not begun."""
        named = (params or {}).get("requestId")
        if isinstance(named, bool) or not isinstance(named, str | int):
            return
        for request_id in [one for one in self._open if str(one) == str(named)]:
            waiting = [one for one in self._queue if getattr(one.message, "id", None) == request_id]
            for one in waiting:
                self._queue.remove(one)
            self._slots.release()
            self._settle(request_id)

    def _settle(self, request_id: str | int) -> None:
        self._open.discard(request_id)
        if self._running == request_id:
            self._running = None
            if self._queue:
                message = self._queue.popleft()
                self._running = getattr(message.message, "id", None)
                self._pass_on(message)
        if self._ended and not self._open:
            self._to_server.close()

    def _end_of_input(self) -> None:
        self._ended = True
        if self._open:
            self._loop.call_later(self._patience, self._to_server.close)
        else:
            self._to_server.close()

    # The SDK's write stream.

    async def send(self, item: SessionMessage, /) -> None:
        """Encode and queue one message of the server."""
        from mcp_types import JSONRPCError, JSONRPCResponse

        message = item.message
        answers = isinstance(message, JSONRPCResponse | JSONRPCError) and message.id in self._open
        self._out.put((_encode(message), int(answers)))
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._settle(message.id)

    async def aclose(self) -> None:
        """Nothing to close: `finish` writes out the rest."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()

    # Writing: a thread of its own, because a client that does not read would block the loop.

    def _write(self) -> None:
        broken = False
        while (item := self._out.get()) is not None:
            line, slots = item
            if not broken:
                try:
                    _write_all(self._wire.output, line + b"\n")
                except OSError as error:
                    broken = True
                    _log.warning("the client reads no more: %s", error)
                    self._hang_up()
            if slots:
                self._slots.release(slots)

    def _hang_up(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._to_server.close)
        except RuntimeError:
            return


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _encode(message: JSONRPCMessage) -> bytes:
    """A message as one line. Text that UTF-8 cannot hold is repaired; what JSON cannot hold becomes an error."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    except ValueError:
        pass
    import json

    from vlk2.mcp.line import Refusal, whole

    try:
        value = message.model_dump(by_alias=True, exclude_unset=True)
        return whole(json.dumps(value, ensure_ascii=False, allow_nan=False)).encode()
    except (ValueError, TypeError, RecursionError):
        _log.exception("an answer cannot be written as JSON")
        return Refusal(
            _json(getattr(message, "id", None)), -32603, "the answer cannot be written as JSON"
        ).encode()


def _json(value: object) -> str:
    import json

    return json.dumps(value)
