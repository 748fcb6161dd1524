"""Teams, agents and tokens: what they grant, when they end, and what the audit keeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vlk2.app.admit import admit
from vlk2.bootstrap import Memory, open_store
from vlk2.domain.credentials import Scope, token_hash
from vlk2.domain.event import Event, EventKind
from vlk2.domain.moments import DAY, HOUR, MINUTE
from vlk2.errors import InvalidInput, NotAllowed, NotFound
from vlk2.ports import Owner, Store
from vlk2.settings import load
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


# what agents' loops teach the team -------------------------------------------------------------------

RUST = "error[E0277]: cannot add `&str` to `i32`\n  --> src/private_{who}.rs:{line}:5\n"


class Words:
    exact = True

    def count(self, text: str) -> int:
        return len(text) // 4 + 1


def memory(store: Store, clock: Clock, agent: str, project: str = "ledger", team: str = "acme") -> Memory:
    settings = load(store="sqlite:////nowhere/at/all.db", team=team, agent=agent)
    base = Memory(settings, Owner(team, agent, project), counter=Words(), clock=clock)
    base._store = store
    return base


def meet(who: Memory, times: int, clock: Clock) -> None:
    for line in range(times):
        clock.now += 1_000_000
        text = RUST.format(who=who.owner.agent, line=line)
        who.record(Event(EventKind.RESULT, text=text, explicit=True, tool="Bash", command="cargo check"))


def test_one_agents_loop_is_a_pattern_for_another_that_meets_it_and_names_nobody(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    ada, bob = memory(store, clock, "ada"), memory(store, clock, "bob")
    meet(ada, 3, clock)
    assert "1 agent" not in bob.fetch_context().text
    meet(bob, 1, clock)
    told = bob.fetch_context().text
    assert "looped once for 1 agent" in told
    assert "private_ada" not in told
    [pattern] = perform(operator, "list_patterns", {"team": "acme"})["patterns"]
    assert (pattern["language"], pattern["type"], pattern["loops"], pattern["agents"]) == (
        "rust",
        "E0277",
        1,
        1,
    )
    explained = perform(operator, "explain_pattern", {"team": "acme", "pattern_id": pattern["pattern_id"]})
    assert [source["loops"] for source in explained["sources"]] == [1]
    assert not any(word in str(explained) for word in ("ada", "ledger", "private", "cargo"))


def test_loops_of_two_agents_are_told_unasked_in_their_project_and_nowhere_else(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    ada, bob, eve = (memory(store, clock, name) for name in ("ada", "bob", "eve"))
    meet(ada, 3, clock)
    assert ada.run_cycle()
    assert "E0277" not in eve.fetch_context().text
    meet(bob, 3, clock)
    clock.now += 3_600_000_000
    assert ada.run_cycle()
    told = eve.fetch_context().text
    assert "E0277" in told
    assert "for 2 agents" in told
    assert not any(name in told for name in ("ada", "bob", "private"))
    assert "E0277" not in memory(store, clock, "eve", project="shop").fetch_context().text
    # Two others: to one of the two it is the loop of one agent, and its own constraint says it already.
    assert bob.fetch_context().text.count("E0277]") == ada.fetch_context().text.count("E0277]")


def test_names_are_shown_to_an_admin_who_asks_and_that_is_audited(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    meet(memory(store, clock, "ada"), 3, clock)
    [pattern] = perform(operator, "list_patterns", {"team": "acme"})["patterns"]
    asked = {"team": "acme", "pattern_id": pattern["pattern_id"], "names": True}
    [source] = perform(operator, "explain_pattern", asked)["sources"]
    assert (source["agent"], source["project"]) == ("ada", "ledger")
    assert perform(operator, "audit", {"team": "acme"})["audit"][0]["act"] == "pattern.names"
    with pytest.raises(NotAllowed):
        perform(Desk(store, "bob", "acme", Scope.AGENT, clock=clock), "explain_pattern", asked)


def test_a_revoked_pattern_is_shown_to_nobody_until_it_is_restored_and_its_own_constraint_stays(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    ada, bob = memory(store, clock, "ada"), memory(store, clock, "bob")
    meet(ada, 3, clock)
    meet(bob, 1, clock)
    [pattern] = perform(operator, "list_patterns", {"team": "acme"})["patterns"]
    about = {"team": "acme", "pattern_id": pattern["pattern_id"], "reason": "the image was broken"}
    perform(operator, "revoke_pattern", about)
    assert "looped" not in bob.fetch_context().text
    assert "SYSTEM ANCHOR" in ada.fetch_context().text
    assert perform(operator, "list_patterns", {"team": "acme"})["patterns"][0]["revoked_at"] == clock.now
    clock.now += HOUR
    meet(memory(store, clock, "carol"), 3, clock)
    perform(operator, "list_patterns", {"team": "acme"})
    assert "looped" not in bob.fetch_context().text
    perform(operator, "restore_pattern", about)
    assert "looped twice for 2 agents" in bob.fetch_context().text


def test_what_was_revoked_stays_revoked_when_new_evidence_contradicts_it(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    ada, bob = memory(store, clock, "ada"), memory(store, clock, "bob")
    for who in (ada, memory(store, clock, "carol"), memory(store, clock, "dave")):
        meet(who, 3, clock)
    [pattern] = perform(operator, "list_patterns", {"team": "acme"})["patterns"]
    perform(
        operator,
        "revoke_pattern",
        {"team": "acme", "pattern_id": pattern["pattern_id"], "reason": "a broken image"},
    )
    clock.now += MINUTE
    ada.record(
        Event(EventKind.RESULT, text="ok", explicit=True, tool="Bash", command="cargo check", exit_code=0)
    )
    assert ada.run_cycle()
    [later] = perform(operator, "list_patterns", {"team": "acme"})["patterns"]
    assert later["revoked_at"] is not None
    assert later["ended"] == 1
    meet(bob, 1, clock)
    assert "looped" not in bob.fetch_context().text
    explained = perform(operator, "explain_pattern", {"team": "acme", "pattern_id": pattern["pattern_id"]})
    assert explained["pattern_id"] == later["pattern_id"]


def test_a_pinned_pattern_warns_though_more_of_it_has_ended_than_stands(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    for name in ("ada", "carol"):
        meet(memory(store, clock, name), 3, clock)
    clock.now += MINUTE
    ada = memory(store, clock, "ada")
    ada.record(
        Event(EventKind.RESULT, text="ok", explicit=True, tool="Bash", command="cargo check", exit_code=0)
    )
    bob = memory(store, clock, "bob")
    meet(bob, 1, clock)
    assert "looped" not in bob.fetch_context().text
    [pattern] = perform(operator, "list_patterns", {"team": "acme"})["patterns"]
    perform(operator, "pin_pattern", {"team": "acme", "pattern_id": pattern["pattern_id"]})
    assert "Pinned by an admin" in bob.fetch_context().text
    perform(operator, "pin_pattern", {"team": "acme", "pattern_id": pattern["pattern_id"], "pinned": False})
    assert "looped" not in bob.fetch_context().text


def test_another_teams_pattern_reads_like_one_that_does_not_exist(
    operator: Desk, store: Store, clock: Clock
) -> None:
    for team in ("acme", "umbrella"):
        perform(operator, "create_team", {"team": team})
    meet(memory(store, clock, "ada"), 3, clock)
    meet(memory(store, clock, "eve", team="umbrella"), 1, clock)
    [pattern] = perform(operator, "list_patterns", {"team": "acme"})["patterns"]
    eve = Desk(store, "eve", "umbrella", clock=clock)
    assert perform(eve, "list_patterns", {})["patterns"] == []
    assert "looped" not in memory(store, clock, "eve", team="umbrella").fetch_context().text
    for verb, more in (
        ("explain_pattern", {}),
        ("revoke_pattern", {"reason": "why"}),
        ("pin_pattern", {}),
    ):
        told = []
        for named in (pattern["pattern_id"], "f_aaaaaaaaaaaa"):
            with pytest.raises(NotFound) as refused:
                perform(eve, verb, {"pattern_id": named, **more})
            told.append(refused.value.message.replace(named, "X"))
        assert told[0] == told[1]
    assert "f_" in perform(operator, "list_patterns", {"team": "acme"})["text"]


def test_a_loop_that_ended_in_a_project_warns_there_no_more_and_still_elsewhere(
    operator: Desk, store: Store, clock: Clock
) -> None:
    perform(operator, "create_team", {"team": "acme"})
    for name, project in (("ada", "ledger"), ("carol", "shop"), ("dave", "store")):
        meet(memory(store, clock, name, project), 3, clock)
    clock.now += MINUTE
    memory(store, clock, "ada").record(
        Event(EventKind.RESULT, text="ok", explicit=True, tool="Bash", command="cargo check", exit_code=0)
    )
    here, elsewhere = memory(store, clock, "bob", "ledger"), memory(store, clock, "bob", "shop")
    for mine in (here, elsewhere):
        meet(mine, 1, clock)
    assert "looped" not in here.fetch_context().text
    assert "looped 3 times for 3 agents" in elsewhere.fetch_context().text
    assert here.run_cycle() is not None
    assert "looped" not in here.fetch_context().text
    assert "looped 3 times for 3 agents" in elsewhere.fetch_context().text
