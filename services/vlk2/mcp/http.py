"""`vlk2 serve --http`: the tools for many agents, and the hooks' way in, over one shared store.

Nothing of a caller is kept in the process: any number of replicas may stand side by side.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio.to_thread
import mcp_types as types
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_http_request
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp
from starlette.types import Scope as AsgiScope

from vlk2.bootstrap import Memory
from vlk2.errors import ConfigError, InvalidInput, NotAllowed, NotFound, StoreUnavailable, Vlk2Error
from vlk2.mcp.auth import verifier_for
from vlk2.mcp.caller import Caller, caller_of, owner_of, surroundings_of
from vlk2.mcp.events import MOST_EVENTS, heard
from vlk2.mcp.gate import Gate
from vlk2.mcp.health import Doctor
from vlk2.mcp.metrics import Metrics
from vlk2.mcp.refusals import Refusals
from vlk2.mcp.server import build
from vlk2.ports import Audited, Owner
from vlk2.settings import Settings
from vlk2.team import Desk, perform

_log = logging.getLogger("vlk2.http")
_STATUS: Mapping[type[Vlk2Error], int] = {
    InvalidInput: 400,
    NotAllowed: 403,
    NotFound: 404,
    StoreUnavailable: 503,
}


class HttpServer:
    """The application over one store, and what runs beside it. `app` is ASGI."""

    def __init__(self, settings: Settings, memory: Memory) -> None:
        self._settings = settings
        self._memory = memory
        self._metrics = Metrics()
        self._refusals = Refusals(self._audit, memory.clock)
        self._doctor = Doctor(memory)
        server = build(
            self._remember,
            lambda: surroundings_of(get_http_request().scope),
            auth=verifier_for(settings, lambda: memory.store, memory.clock),
            middleware=[_Counting(self._metrics, self._refused_tool)],
        )
        self._routes(server)
        inner = server.http_app(
            path="/mcp",
            stateless_http=True,
            json_response=True,
            host_origin_protection=True,
            allowed_hosts=_listed(settings.allowed_hosts),
            allowed_origins=_listed(settings.allowed_origins),
        )
        self.app: ASGIApp = Gate(
            inner,
            body_limit=settings.http_body_limit,
            rate=settings.http_rate,
            metrics=self._metrics,
            refusals=self._refusals,
            caller=self._caller,
        )

    def start(self) -> None:
        self._refusals.start()

    def stop(self) -> None:
        self._refusals.stop()

    # who calls ---------------------------------------------------------------------------------------

    def _caller(self, scope: AsgiScope) -> Caller | None:
        return caller_of(scope, self._settings)

    def _remember(self) -> Memory:
        """The memory of the agent behind the request that is being answered."""
        scope = get_http_request().scope
        caller = self._caller(scope)
        if caller is None:
            raise NotAllowed("this server wants a token: Authorization: Bearer vlk2_…")
        return self._memory.of(owner_of(scope, self._settings, caller), f"agent {caller.agent}")

    def _audit(self, rows: Sequence[Audited]) -> None:
        with self._memory.store.directory(write=True) as directory:
            for row in rows:
                directory.note(row)

    def _refused_tool(self, tool: str) -> None:
        """An id that the caller does not own, or that does not exist: nobody is told which, and both are noted."""
        caller = self._caller(get_http_request().scope)
        if caller:
            self._metrics.refused("refused.id")
            self._refusals.note("refused.id", actor=caller.agent, team=caller.team, subject=tool)

    # the routes beside /mcp --------------------------------------------------------------------------

    def _routes(self, server: FastMCP) -> None:
        server.custom_route("/healthz", methods=["GET"])(_alive)
        server.custom_route("/readyz", methods=["GET"])(self._ready)
        server.custom_route("/metrics", methods=["GET"])(self._measure)
        server.custom_route("/v1/events", methods=["POST"])(self._known(self._events))
        server.custom_route("/v1/verbs/{verb}", methods=["POST"])(self._known(self._verb))

    async def _ready(self, request: Request) -> Response:
        """503 where the server cannot answer. A part that only has trouble is named and leaves it 200, unless
        asked with `?strict=1`: an outage of the cycle must not take recording with it."""
        health = await anyio.to_thread.run_sync(self._doctor.look)
        strict = request.query_params.get("strict") not in (None, "", "0")
        return JSONResponse(
            {"status": health.status, "reasons": {**health.failing, **health.troubled}},
            status_code=503 if health.failing or (strict and health.troubled) else 200,
        )

    async def _measure(self, request: Request) -> Response:
        health = await anyio.to_thread.run_sync(self._doctor.look)
        text = self._metrics.text(health, self._memory.clock())
        if text is None:
            return PlainTextResponse(
                "prometheus_client is missing: pip install 'vlk2[team]'\n", status_code=501
            )
        return Response(text, media_type=self._metrics.content_type)

    def _known(
        self, answer: Callable[[Request, Caller], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """The route for callers with a good token; our errors become its answers."""

        async def route(request: Request) -> Response:
            caller = self._caller(request.scope)
            if caller is None:
                return JSONResponse(
                    {"error": "unauthorized", "message": "A token is missing, or it is not good (any more)."},
                    status_code=401,
                    headers={"www-authenticate": "Bearer"},
                )
            try:
                return await answer(request, caller)
            except Vlk2Error as error:
                status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
                return JSONResponse(
                    {"error": error.code, "message": error.message},
                    status_code=status,
                    headers={"retry-after": "2"} if status == 503 else None,
                )

        return route

    async def _events(self, request: Request, caller: Caller) -> Response:
        owner = owner_of(request.scope, self._settings, caller)
        body = await _json(request)
        many: list[Any] = body if isinstance(body, list) else [body]  # pyright: ignore[reportUnknownVariableType]
        if len(many) > MOST_EVENTS:
            raise InvalidInput(f"at most {MOST_EVENTS} events in one request.")
        answers = await anyio.to_thread.run_sync(lambda: self._hear(owner, caller, many))
        return JSONResponse({"answers": answers} if isinstance(body, list) else answers[0])

    def _hear(self, owner: Owner, caller: Caller, many: Sequence[Any]) -> list[dict[str, Any]]:
        memory = self._memory.of(owner, f"agent {caller.agent}")
        answers: list[dict[str, Any]] = []
        for one in many:
            answer = heard(memory, one)
            self._metrics.event(answer.kind, answer.say or "nothing")
            if answer.kind == "result":
                self._metrics.recorded("hook", loop=answer.say != "")
            answers.append({"say": answer.say, "text": answer.text})
        return answers

    async def _verb(self, request: Request, caller: Caller) -> Response:
        body = await _json(request)
        if not isinstance(body, dict):
            raise InvalidInput("the body must be a JSON object of arguments.")
        arguments: dict[str, Any] = {str(name): value for name, value in body.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        desk = Desk(
            self._memory.store,
            f"agent {caller.agent}",
            caller.team,
            caller.scope,
            caller.agent,
            self._memory.clock,
        )
        verb = str(request.path_params["verb"])
        return JSONResponse(await anyio.to_thread.run_sync(lambda: perform(desk, verb, arguments)))


class _Counting(Middleware):
    """Counts tool calls, and tells of ids that were not the caller's."""

    def __init__(self, metrics: Metrics, refused: Callable[[str], None]) -> None:
        self._metrics = metrics
        self._refused = refused

    async def on_call_tool(
        self, context: MiddlewareContext[types.CallToolRequestParams], call_next: CallNext[Any, Any]
    ) -> Any:
        began, failed = time.monotonic(), True
        name = context.message.name
        known = name if name.startswith("vlk_") and len(name) < 30 else "other"
        try:
            result = await call_next(context)
            failed = False
        except ToolError as error:
            if isinstance(error.__cause__, NotFound):
                self._refused(known)
            raise
        finally:
            self._metrics.tool(known, failed=failed, seconds=time.monotonic() - began)
        if name == "vlk_record_state":
            told: Any = getattr(result, "structured_content", None) or {}
            self._metrics.recorded("tool", loop=bool(told.get("loop")))
        return result


async def _alive(request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _json(request: Request) -> object:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        raise InvalidInput("the body must be JSON in UTF-8.") from None


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on `host`."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def listen(settings: Settings, host: str, port: int) -> socket.socket:
    """The listening socket. ConfigError for an address that others can reach without authentication, and for
    one that cannot be had."""
    if settings.auth == "none" and not is_loopback(host):
        raise ConfigError(
            f"{host} can be reached by others and VLK2_AUTH is none: set VLK2_AUTH=tokens (and make a token with "
            "`vlk2 team create NAME`), or listen on 127.0.0.1."
        )
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise ConfigError(f"{host} port {port} cannot be listened on: {error.strerror or error}.") from error


def _end(number: int, frame: object) -> None:
    sys.exit(0)


def serve_http(host: str, port: int) -> None:
    """Serves until a signal ends it, with the cycle beside it unless `VLK2_BROKER` gives that to the workers."""
    import uvicorn

    from vlk2.cycle import CycleThread
    from vlk2.settings import load

    settings = load()
    if settings.store.startswith(("http://", "https://")):
        raise ConfigError("VLK2_STORE names a team server: `vlk2 serve --http` needs the database itself.")
    memory = Memory(settings, Owner(settings.team, settings.agent, settings.project), actor="server")
    wire = listen(settings, host, port)
    server = HttpServer(settings, memory)
    config = uvicorn.Config(
        server.app,
        log_level="warning",
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=5,
        timeout_keep_alive=30,
        limit_concurrency=2_000,
        lifespan="on",
    )
    shown = f"[{host}]" if ":" in host else host
    print(f"vlk2: listening on http://{shown}:{wire.getsockname()[1]}/mcp", file=sys.stderr, flush=True)  # noqa: T201
    cycle = None if settings.broker else CycleThread(memory)
    server.start()
    if cycle:
        cycle.start()
    # uvicorn ends gracefully and then raises the signal once more: it must not skip what is still to be written.
    signal.signal(signal.SIGTERM, _end)
    try:
        uvicorn.Server(config).run(sockets=[wire])
    finally:
        if cycle:
            cycle.stop()
        server.stop()
        memory.close()
