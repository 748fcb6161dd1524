"""What every HTTP request passes first: size, rate, and a note of what was refused."""

from __future__ import annotations

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable

import anyio
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from vlk2.mcp.caller import Caller, header
from vlk2.mcp.metrics import Metrics
from vlk2.mcp.refusals import Refusals

BURST_SECONDS = 5
"""How many seconds' worth of calls may come at once."""
FAILED_RATE = 10.0
"""Requests a second with a bad token, or none, that one address may go on making."""
BODY_SECONDS = 30.0
MOST_GOOD = 20_000
OPEN_PATHS = ("/healthz", "/readyz", "/metrics")
_REFUSALS = {
    401: "refused.token",
    403: "refused.forbidden",
    413: "refused.size",
    421: "refused.host",
    429: "refused.rate",
}


class Buckets:
    """A token bucket for each key: `rate` a second, `rate * BURST_SECONDS` at once; only the newest keys are kept."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic, most: int = 20_000) -> None:
        self._rate = rate
        self._burst = rate * BURST_SECONDS
        self._clock = clock
        self._most = most
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, *, cost: float = 1.0) -> float:
        """0.0 where there is room (and takes it), else the seconds until there is."""
        left = self._left(key)
        if left < cost:
            return (cost - left) / self._rate
        self._held[key] = (left - cost, self._clock())
        return 0.0

    def empty(self, key: str) -> float:
        """As `take`, without taking."""
        left = self._left(key)
        return 0.0 if left >= 1.0 else (1.0 - left) / self._rate

    def _left(self, key: str) -> float:
        now = self._clock()
        left, at = self._held.get(key, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._rate)
        self._held[key] = (left, now)
        self._held.move_to_end(key)
        while len(self._held) > self._most:
            self._held.popitem(last=False)
        return left


class Gate:
    """The outermost application. Nothing behind it ever holds more than `body_limit` bytes of a body, and nothing
    at all of one whose sender it does not let in."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        body_limit: int,
        rate: float,
        metrics: Metrics,
        refusals: Refusals,
        caller: Callable[[AsgiScope], Caller | None],
    ) -> None:
        self._app = app
        self._body_limit = body_limit
        self._buckets = Buckets(rate)
        self._failed = Buckets(FAILED_RATE)
        self._good: OrderedDict[str, None] = OrderedDict()
        self._metrics = metrics
        self._refusals = refusals
        self._caller = caller

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._pass(scope, receive, noting)
        finally:
            self._metrics.request(scope["path"], status or 500, time.monotonic() - began)
            self._remember(_key(scope), status)
            if status in _REFUSALS:
                self._refused(scope, status)

    def _remember(self, key: str, status: int) -> None:
        if status == 401:
            self._good.pop(key, None)
        elif 200 <= status < 300:
            self._good[key] = None
            self._good.move_to_end(key)
            if len(self._good) > MOST_GOOD:
                self._good.popitem(last=False)

    async def _pass(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        peer, key = _peer(scope), _key(scope)
        # Many agents may share an address: those whose token was good a moment ago do not pay for the others.
        wait = 0.0 if key in self._good else self._failed.empty(peer)
        if not wait:
            wait = self._buckets.take(key)
        if wait:
            await _say(send, 429, "too_many_requests", "Too many requests. Wait, then try again.", wait)
            return
        told = header(scope, "content-length")
        if told.isdecimal() and int(told) > self._body_limit:
            await self._too_large(send)
            return
        body = _Body(receive, send, self._body_limit)
        try:
            await self._app(scope, body.receive, body.send)
        except Exception:
            if not body.fault:  # what is refused here ends inside as a client that has gone
                raise
        if body.fault == 413:
            await self._too_large(send)
        elif body.fault:
            await _say(send, body.fault, "timeout", "The request's body did not come in time.")

    async def _too_large(self, send: Send) -> None:
        await _say(
            send,
            413,
            "too_large",
            f"The request is larger than {self._body_limit} bytes. Send the head and the tail of a long log: of "
            "more than 64 KiB nothing else is kept.",
        )

    def _refused(self, scope: AsgiScope, status: int) -> None:
        act = _REFUSALS[status]
        if status == 401:
            self._failed.take(_peer(scope))
        if status == 403 and header(scope, "origin") and scope.get("user") is None:
            act = "refused.origin"
        caller = self._caller(scope) if status != 401 else None
        self._metrics.refused(act)
        self._refusals.note(
            act,
            actor=caller.agent if caller else f"address {_peer(scope)}",
            team=caller.team if caller else "",
            subject=scope["path"][:100],
            detail=_detail(scope, status),
        )


def _detail(scope: AsgiScope, status: int) -> str:
    """What was wrong, as far as it may stand in an audit: a foreign host or origin, never a token."""
    name = {421: "host", 403: "origin"}.get(status)
    return f"{name} {header(scope, name)[:100]!r}" if name and header(scope, name) else ""


def _peer(scope: AsgiScope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else "unknown"


def _key(scope: AsgiScope) -> str:
    """Whose bucket a request takes from: its credential's, and without one its address's."""
    authorization = header(scope, "authorization")
    return hashlib.sha256(authorization.encode()).hexdigest()[:32] if authorization else _peer(scope)


class _Body:
    """A request's body on its way in, until it is too large (`fault` 413) or too slow (408): from then on the inside
    sees a client that has gone, and what it still says is dropped."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive = receive
        self._send = send
        self._limit = limit
        self._size = 0
        self._whole = False
        self._until = time.monotonic() + BODY_SECONDS
        self._answered = False
        self.fault = 0

    async def receive(self) -> Message:
        if self._whole:
            return await self._receive()
        if self.fault:
            return {"type": "http.disconnect"}
        with anyio.move_on_after(max(0.0, self._until - time.monotonic())):
            message = await self._receive()
            self._size += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._size <= self._limit:
                return message
            return self._refuse(413)
        return self._refuse(408)

    def _refuse(self, status: int) -> Message:
        if not self._answered:
            self.fault = status
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if not self.fault:
            self._answered = True
            await self._send(message)


async def _say(send: Send, status: int, error: str, message: str, retry_after: float = 0.0) -> None:
    body = json.dumps({"error": error, "message": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if retry_after:
        headers.append((b"retry-after", str(max(1, round(retry_after))).encode()))
    if status in (408, 413):
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
