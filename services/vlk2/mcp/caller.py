"""Who calls over HTTP: team and agent from the token, the project from the header, never from an argument."""

from __future__ import annotations

from dataclasses import dataclass

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from starlette.types import Scope as AsgiScope

from vlk2.domain.credentials import Scope
from vlk2.errors import InvalidInput
from vlk2.ports import Owner
from vlk2.settings import Settings

PROJECT_HEADER = "vlk2-project"
STAMPS_HEADER = "vlk2-stamps"
ROOT_HEADER = "vlk2-root"
TEAM_CLAIM, AGENT_CLAIM = "vlk2_team", "vlk2_agent"
_LONGEST_PROJECT = 400
_LONGEST_HEADER = 4_000


@dataclass(frozen=True, slots=True)
class Caller:
    """One agent of one team. `credential` names what it came in with, for the audit."""

    team: str
    agent: str
    scope: Scope
    credential: str


def caller_of(scope: AsgiScope, settings: Settings) -> Caller | None:
    """The caller of a request that passed the bearer check; without authentication, the settings' own agent.
    None where authentication is on and nobody has proved who he is."""
    if settings.auth == "none":
        return Caller(settings.team, settings.agent, Scope.ADMIN, "local")
    user = scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return None
    token = user.access_token
    claims = token.claims or {}
    return Caller(
        team=str(claims[TEAM_CLAIM]),
        agent=str(claims[AGENT_CLAIM]),
        scope=Scope.ADMIN if Scope.ADMIN.value in token.scopes else Scope.AGENT,
        credential=token.client_id,
    )


def owner_of(scope: AsgiScope, settings: Settings, caller: Caller) -> Owner:
    """Whose memory the request is about. InvalidInput, with the line to paste, where it names no project."""
    project = header(scope, PROJECT_HEADER).strip() or (settings.project if settings.auth == "none" else "")
    if not project:
        raise InvalidInput(
            "this server needs to know which project it is. Add this line to the headers of its entry in your "
            'client\'s MCP settings: "Vlk2-Project": "github.com/OWNER/NAME" (any label that is the same for '
            "everyone who works on it; `vlk2 status` shows the one of a checkout)."
        )
    if len(project) > _LONGEST_PROJECT or not project.isprintable():
        raise InvalidInput(f"the header Vlk2-Project must be 1 to {_LONGEST_PROJECT} printable characters.")
    return Owner(caller.team, caller.agent, project)


def surroundings_of(scope: AsgiScope) -> tuple[str, str]:
    """What the caller's own machine tells of its checkout: stamps (a JSON object of short texts) and package."""
    import json

    try:
        found: object = json.loads(header(scope, STAMPS_HEADER) or "{}")
    except ValueError:
        found = {}
    kept: dict[str, str] = {}
    if isinstance(found, dict):
        for name in ("branch", "head", "locks", "toolchain"):
            value: object = found.get(name)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            if isinstance(value, str):
                kept[name] = value[:2_000]
    return json.dumps(kept, sort_keys=True), header(scope, ROOT_HEADER)[:1_000]


def header(scope: AsgiScope, name: str) -> str:
    """A header's text; its bytes are read as UTF-8, "" where there is none or it is too long."""
    wanted = name.encode()
    for key, value in scope["headers"]:
        if key == wanted:
            return "" if len(value) > _LONGEST_HEADER else value.decode("utf-8", "replace")
    return ""
