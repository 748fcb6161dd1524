"""Bearer tokens: those of the store, or an identity provider's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio.to_thread
from fastmcp.server.auth import AccessToken, TokenVerificationError, TokenVerifier
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from vlk2.app.admit import admit
from vlk2.domain.credentials import Scope
from vlk2.errors import ConfigError, StoreUnavailable
from vlk2.mcp.caller import AGENT_CLAIM, TEAM_CLAIM
from vlk2.ports import Store
from vlk2.settings import Settings


def verifier_for(settings: Settings, store: Callable[[], Store], clock: Callable[[], int]) -> Any:
    """What checks bearer tokens, None without authentication. ConfigError where `jwt` lacks what it needs."""
    if settings.auth == "none":
        return None
    if settings.auth == "tokens":
        return StoreTokens(store, clock)
    return ProviderTokens(settings)


class _Answering(TokenVerifier):
    """A verifier whose outage is answered as one: 503, and never as a bad token."""

    def get_middleware(self) -> list[Any]:
        inherited: list[Any] = list(super().get_middleware())  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
        return [Middleware(_Outage), *inherited]


class StoreTokens(_Answering):
    """Tokens of the store. Every request asks it: a revoked token is refused from the next request on."""

    def __init__(self, store: Callable[[], Store], clock: Callable[[], int]) -> None:
        super().__init__()
        self._store = store
        self._clock = clock

    async def verify_token(self, token: str) -> AccessToken | None:
        try:
            found = await anyio.to_thread.run_sync(lambda: admit(self._store(), token, now=self._clock()))
        except StoreUnavailable as error:
            raise TokenVerificationError(error.message) from error
        if found is None:
            return None
        return AccessToken(
            token=token,
            client_id=found.id,
            scopes=[found.scope.value],
            claims={TEAM_CLAIM: found.team, AGENT_CLAIM: found.agent},
        )


class ProviderTokens(_Answering):
    """JSON Web Tokens of an identity provider. The agent is a claim of the token; so is the team where
    `VLK2_JWT_TEAM_CLAIM` names one, else it is `VLK2_TEAM`. A token without them is refused."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        from fastmcp.server.auth import JWTVerifier

        if bool(settings.jwt_jwks_uri) == bool(settings.jwt_public_key):
            raise ConfigError(
                "VLK2_AUTH is jwt: set one of VLK2_JWT_JWKS_URI and VLK2_JWT_PUBLIC_KEY, and the token's "
                "VLK2_JWT_ISSUER and VLK2_JWT_AUDIENCE."
            )
        if not settings.jwt_issuer or not settings.jwt_audience:
            raise ConfigError("VLK2_AUTH is jwt: VLK2_JWT_ISSUER and VLK2_JWT_AUDIENCE must be set.")
        self._settings = settings
        self._verifier = JWTVerifier(
            jwks_uri=settings.jwt_jwks_uri or None,
            public_key=settings.jwt_public_key or None,
            issuer=settings.jwt_issuer,
            audience=settings.jwt_audience,
            algorithm=settings.jwt_algorithm,
        )

    async def verify_token(self, token: str) -> AccessToken | None:
        found = await self._verifier.verify_token(token)
        if found is None:
            return None
        claims, settings = found.claims, self._settings
        agent = claims.get(settings.jwt_agent_claim)
        team = claims.get(settings.jwt_team_claim) if settings.jwt_team_claim else settings.team
        if not _is_name(agent) or not _is_name(team):
            return None
        admin = settings.jwt_admin_scope in found.scopes
        return AccessToken(
            token=token,
            client_id=f"jwt:{agent}",
            scopes=[Scope.ADMIN.value if admin else Scope.AGENT.value],
            expires_at=found.expires_at,
            claims={TEAM_CLAIM: team, AGENT_CLAIM: agent},
        )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 100 and value.isprintable()


class _Outage:
    """Tokens cannot be checked now: the client is told to come again, not that its token is bad."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except TokenVerificationError:
            answer = JSONResponse(
                {"error": "unavailable", "message": "The store cannot be asked now. Try again in a moment."},
                status_code=503,
                headers={"retry-after": "2"},
            )
            await answer(scope, receive, send)
