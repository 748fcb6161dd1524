"""Teams, agents and tokens: what they grant, when they end, and what the audit keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from vlk2.app.admit import admit
from vlk2.bootstrap import open_store
from vlk2.domain.credentials import Scope, token_hash
from vlk2.domain.moments import DAY, HOUR, MINUTE
from vlk2.errors import InvalidInput, NotAllowed, NotFound
from vlk2.ports import Store
from vlk2.team import Desk, perform

BEGIN = 20_000 * DAY


class Clock:
    def __init__(self) -> None:
        self.now = BEGIN

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite://{tmp_path / 'memory.db'}")
    yield opened
    opened.close()


@pytest.fixture
def operator(store: Store, clock: Clock) -> Desk:
    return Desk(store, "cli op", clock=clock)


def test_a_token_names_its_team_and_agent_and_the_store_holds_only_its_hash(
    operator: Desk, store: Store, tmp_path: Path
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    text = perform(operator, "create_token", {"team": "acme", "agent": "ada"})["token"]
    token = admit(store, text, now=BEGIN)
    assert token is not None
    assert (token.team, token.agent, token.scope) == ("acme", "ada", Scope.AGENT)
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert text.encode() not in held
    assert token_hash(text).encode() in held


def test_two_tokens_are_never_alike(operator: Desk) -> None:
    perform(operator, "create_team", {"team": "acme"})
    made = {perform(operator, "create_token", {"team": "acme", "agent": "ada"})["token"] for _ in range(20)}
    assert len(made) == 20
    assert all(text.startswith("vlk2_") and len(text) == 48 for text in made)


def test_an_expired_a_revoked_and_an_unknown_token_all_read_alike(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    brief = perform(operator, "create_token", {"team": "acme", "agent": "ada", "lasts": 60})
    taken = perform(operator, "create_token", {"team": "acme", "agent": "ada"})
    perform(operator, "revoke_token", {"team": "acme", "token_id": taken["token_id"]})
    assert admit(store, brief["token"], now=BEGIN) is not None
    clock.now += MINUTE
    assert [admit(store, text, now=clock.now) for text in (brief["token"], taken["token"])] == [None, None]
    assert admit(store, "vlk2_" + "A" * 43, now=clock.now) is None
    assert admit(store, "", now=clock.now) is None


def test_a_rotated_token_is_good_until_its_grace_is_over_and_the_new_one_lasts_as_long(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    old = perform(operator, "create_token", {"team": "acme", "agent": "ada", "lasts": 90 * 86_400})
    clock.now += 80 * DAY
    new = perform(operator, "rotate_token", {"team": "acme", "token_id": old["token_id"], "grace": 3_600})
    assert new["expires_at"] == clock.now + 90 * DAY
    assert admit(store, old["token"], now=clock.now + HOUR - 1) is not None
    assert admit(store, old["token"], now=clock.now + HOUR) is None
    assert admit(store, new["token"], now=clock.now + HOUR) is not None


def test_revoking_an_agent_ends_all_of_its_tokens_and_no_other(operator: Desk, store: Store) -> None:
    admin = perform(operator, "create_team", {"team": "acme"})["token"]
    mine = [perform(operator, "create_token", {"team": "acme", "agent": "ada"})["token"] for _ in range(3)]
    assert perform(operator, "revoke_agent", {"team": "acme", "agent": "ada"})["revoked"] == 3
    assert [admit(store, text, now=BEGIN) for text in mine] == [None] * 3
    assert admit(store, admin, now=BEGIN) is not None


def test_an_admin_of_one_team_reaches_nothing_of_another(operator: Desk, store: Store, clock: Clock) -> None:
    for team in ("acme", "umbrella"):
        perform(operator, "create_team", {"team": team})
    theirs = perform(operator, "create_token", {"team": "umbrella", "agent": "eve"})
    admin = Desk(store, "ada", team="acme", clock=clock)
    with pytest.raises(NotAllowed):
        perform(admin, "list_tokens", {"team": "umbrella"})
    with pytest.raises(NotFound) as known:
        perform(admin, "revoke_token", {"token_id": theirs["token_id"]})
    with pytest.raises(NotFound) as unknown:
        perform(admin, "revoke_token", {"token_id": "k_aaaaaaaaaaaa"})
    assert known.value.message.replace(theirs["token_id"], "X") == unknown.value.message.replace(
        "k_aaaaaaaaaaaa", "X"
    )
    assert [t["team"] for t in perform(admin, "list_teams", {})["teams"]] == ["acme"]
    assert {row["team"] for row in perform(admin, "audit", {})["audit"]} == {"acme"}
    with pytest.raises(NotAllowed):
        perform(admin, "create_team", {"team": "third"})
    assert admit(store, theirs["token"], now=BEGIN) is not None


def test_a_token_without_the_admin_scope_administers_nothing(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    agent = Desk(store, "ada", team="acme", scope=Scope.AGENT, clock=clock)
    for verb in ("create_agent", "create_token", "list_tokens", "audit", "revoke_agent"):
        with pytest.raises(NotAllowed):
            perform(agent, verb, {"agent": "mallory"})


def test_every_act_stands_in_the_audit_and_no_token_does(operator: Desk) -> None:
    perform(operator, "create_team", {"team": "acme"})
    perform(operator, "create_agent", {"team": "acme", "agent": "ada"})
    made = perform(operator, "create_token", {"team": "acme", "agent": "ada"})
    perform(operator, "revoke_token", {"team": "acme", "token_id": made["token_id"]})
    perform(operator, "revoke_token", {"team": "acme", "token_id": made["token_id"]})
    rows = perform(operator, "audit", {"team": "acme"})["audit"]
    assert [row["act"] for row in reversed(rows)] == [
        "team.create",
        "token.create",
        "agent.create",
        "token.create",
        "token.revoke",
    ]
    assert {row["actor"] for row in rows} == {"cli op"}
    assert "vlk2_" not in str(rows)


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("destroy", {}),
        ("create_agent", {}),
        ("create_agent", {"agent": 7}),
        ("create_agent", {"agent": "ada", "colour": "red"}),
        ("create_agent", {"agent": "  ", "team": "acme"}),
        ("create_agent", {"agent": "a\nb", "team": "acme"}),
        ("create_token", {"agent": "ada", "team": "acme", "scope": "root"}),
        ("create_token", {"agent": "ada", "team": "acme", "lasts": True}),
        ("create_agent", {"agent": "ada"}),
    ],
)
def test_a_wrong_request_is_refused_with_what_is_wrong(
    operator: Desk, verb: str, arguments: dict[str, Any]
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    with pytest.raises(InvalidInput):
        perform(operator, verb, arguments)


def test_a_team_is_created_once(operator: Desk) -> None:
    perform(operator, "create_team", {"team": "acme"})
    with pytest.raises(NotAllowed):
        perform(operator, "create_team", {"team": "acme"})
    with pytest.raises(NotFound):
        perform(operator, "create_agent", {"team": "umbrella", "agent": "ada"})
