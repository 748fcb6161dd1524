"""The server over HTTP: two replicas, both eras, tokens, and what is refused and how."""

from __future__ import annotations

import json
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import BIN, RUST, environment, run
from httprpc import Agent, HttpServer, Replies
from jsonrpc import HANDSHAKE_ERA, MODERN_ERA

from vlk2.bootstrap import open_store
from vlk2.team import Desk, perform

VLK2 = BIN / "vlk2"
ERAS = [HANDSHAKE_ERA, MODERN_ERA]


class Team:
    """Two replicas over one store, with the teams `acme` (ada, bob) and `umbrella` (eve)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = environment(folder, VLK2_AUTH="tokens")
        self.store = open_store(self.env["VLK2_STORE"])
        self.operator = Desk(self.store, "cli op")
        self.admin = self.perform("create_team", team="acme")["token"]
        self.perform("create_team", team="umbrella")
        self.tokens: dict[str, Any] = {}
        for team, agent in (("acme", "ada"), ("acme", "bob"), ("umbrella", "eve")):
            self.tokens[agent] = self.perform("create_token", team=team, agent=agent)
        self.replicas = [HttpServer(VLK2, self.env) for _ in range(2)]
        self.ports = [replica.port for replica in self.replicas]

    def perform(self, verb: str, **arguments: Any) -> dict[str, Any]:
        return perform(self.operator, verb, arguments)

    def agent(self, name: str, project: str = "ledger", era: str = MODERN_ERA) -> Agent:
        token = self.admin if name == "admin" else self.tokens[name]["token"]
        return Agent(self.ports, token, project, era)

    def audited(self, act: str, **wanted: str) -> dict[str, Any]:
        """The newest row of the audit with this act; it is written a moment after the refusal."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            for row in self.perform("audit", limit=1000)["audit"]:
                if row["act"] == act and all(row[name] == value for name, value in wanted.items()):
                    return row
            threading.Event().wait(0.05)
        raise AssertionError(f"no {act} {wanted} in {self.perform('audit')['text']}")

    def stop(self) -> None:
        for replica in self.replicas:
            replica.stop()
        self.store.close()


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    made = Team(tmp_path_factory.mktemp("team"))
    yield made
    made.stop()


# the story, with two replicas taking turns -----------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
def test_two_replicas_taking_turns_tell_one_story(team: Team, era: str) -> None:
    ada = team.agent("ada", f"story-{era}", era)
    hello = ada.open()
    assert hello["serverInfo"]["name"] == "vlk2" if "serverInfo" in hello else hello
    tools = ada.rpc("tools/list").json["result"]["tools"]
    assert len(tools) == 7
    seen = [ada.record(RUST.format(line=line)) for line in (0, 10, 20)]
    assert [one["repeats"] for one in seen] == [1, 2, 3]
    assert [one["loop"] for one in seen] == [False, False, True]
    assert seen[2]["text"].startswith("[SYSTEM ANCHOR] error[E0277] has repeated 3 times.")
    assert "SYSTEM ANCHOR" in ada.context()
    constraint = seen[2]["constraint_id"]
    revoked = ada.call("vlk_revoke_future", constraint_id=constraint, reason="the image was broken")
    assert revoked["structuredContent"]["state"] == "PAST"
    assert [ada.record(RUST.format(line=line))["loop"] for line in (30, 40)] == [False, False]
    assert "SYSTEM ANCHOR" not in ada.context()
    story = ada.rpc("resources/read", {"uri": f"vlk://entry/{constraint}"}).json["result"]
    assert "the image was broken" in str(story)


def test_what_two_agents_record_stays_apart(team: Team) -> None:
    ada, bob = team.agent("ada", "apart"), team.agent("bob", "apart")
    ada.record("error[E0308]: mismatched types in the secret_module of ada\n --> src/a.rs:1:1\n")
    assert "secret_module" in ada.context()
    assert "secret_module" not in bob.context()


# who is let in ---------------------------------------------------------------------------------------


def _unauthorised(team: Team, token: str) -> Replies:
    return Agent(team.ports, token).rpc("tools/list")


def test_no_token_an_unknown_an_expired_and_a_revoked_one_get_401_and_are_told_nothing_more(
    team: Team,
) -> None:
    brief = team.perform("create_token", team="acme", agent="ada", lasts=1)
    taken = team.perform("create_token", team="acme", agent="ada")
    assert _unauthorised(team, taken["token"]).status == 200
    team.perform("revoke_token", team="acme", token_id=taken["token_id"])
    threading.Event().wait(max(0.0, brief["expires_at"] / 1e6 - time.time()) + 0.05)
    answers = [
        _unauthorised(team, token) for token in ("vlk2_" + "A" * 43, "x", brief["token"], taken["token"])
    ]
    assert [one.status for one in answers] == [401] * 4
    assert len({one.body for one in answers}) == 1
    assert len({one.headers["www-authenticate"] for one in answers}) == 1
    assert _unauthorised(team, "").status == 401
    for path in ("/v1/events", "/v1/verbs/list_tokens"):
        assert Agent(team.ports, taken["token"]).post(path, {}).status == 401
    row = team.audited("refused.token", subject="/mcp")
    assert row["actor"] == "address 127.0.0.1"
    assert taken["token"] not in str(team.perform("audit", limit=1000))


@pytest.mark.parametrize("tool", ["vlk_pin_memory", "vlk_forget", "vlk_revoke_future", "vlk_time_travel"])
def test_another_agents_id_reads_exactly_like_one_that_does_not_exist(team: Team, tool: str) -> None:
    def arguments(entry_id: str) -> dict[str, Any]:
        match tool:
            case "vlk_revoke_future":
                return {"constraint_id": entry_id, "reason": "why"}
            case "vlk_time_travel":
                return {"entry_ids": [entry_id], "lesson": "no"}
            case "vlk_forget":
                return {"entry_id": entry_id, "reason": "why"}
            case _:
                return {"entry_id": entry_id}

    ada = team.agent("ada", f"ids-{tool}")
    known = [ada.record(RUST.format(line=line)) for line in (1, 2, 3)][-1]
    target = known["constraint_id"] if tool == "vlk_revoke_future" else known["entry_id"]
    missing = "e_" + "a" * 12
    for stranger in (team.agent("bob", f"ids-{tool}"), team.agent("eve", f"ids-{tool}")):
        answers = [stranger.call(tool, **arguments(one)) for one in (target, missing)]
        assert all(one["isError"] for one in answers)
        assert json.dumps(answers[0]).replace(target, "X") == json.dumps(answers[1]).replace(missing, "X")
        read = [stranger.rpc("resources/read", {"uri": f"vlk://entry/{one}"}) for one in (target, missing)]
        assert read[0].body.replace(target.encode(), b"X") == read[1].body.replace(missing.encode(), b"X")
    team.audited("refused.id", actor="bob", team="acme", subject=tool)
    team.audited("refused.id", actor="eve", team="umbrella", subject=tool)
    assert target in ada.call("vlk_fetch_context")["structuredContent"]["text"] or tool != "vlk_revoke_future"


def test_without_a_project_the_answer_holds_the_line_to_paste(team: Team) -> None:
    told = team.agent("ada", "").call("vlk_fetch_context")
    assert told["isError"]
    assert '"Vlk2-Project": "github.com/OWNER/NAME"' in told["content"][0]["text"]
    event = team.agent("ada", "").post("/v1/events", {"kind": "prompt"})
    assert event.status == 400
    assert "Vlk2-Project" in event.json["message"]


def test_a_foreign_host_and_a_foreign_origin_are_refused_and_audited(team: Team) -> None:
    ada = team.agent("ada")
    for route in ("/mcp", "/v1/events"):
        assert ada.send("POST", route, b"{}", {"Host": "evil.example"}).status == 421
        assert ada.send("POST", route, b"{}", {"Origin": "https://evil.example"}).status == 403
    assert ada.rpc("tools/list", headers={"Origin": f"http://127.0.0.1:{team.ports[0]}"}).status == 200
    assert "evil.example" in team.audited("refused.host", subject="/mcp")["detail"]
    assert "evil.example" in team.audited("refused.origin", subject="/mcp")["detail"]


def test_a_body_of_20_mb_is_refused_with_what_to_do_and_the_server_lives(team: Team) -> None:
    ada = team.agent("ada")
    whole = ada.send("POST", "/mcp", b"", {"Content-Length": str(20 << 20)})
    assert whole.status == 413
    assert "head and the tail" in whole.json["message"]
    with socket.create_connection(("127.0.0.1", team.ports[0])) as wire:
        head = (
            "POST /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nVlk2-Project: p\r\n"
        )
        wire.sendall(f"{head}Authorization: Bearer {ada.token}\r\n\r\n".encode())
        wire.settimeout(20)
        try:
            for _ in range(20):
                wire.sendall(b"100000\r\n" + b"x" * 0x100000 + b"\r\n")
        except OSError:
            pass  # it hung up on us
        assert b" 413 " in wire.recv(200)
    assert ada.rpc("tools/list").status == 200
    team.audited("refused.size", subject="/mcp")


def test_a_flood_is_held_back_and_the_audit_does_not_grow_with_it(tmp_path: Path) -> None:
    with HttpServer(VLK2, environment(tmp_path, VLK2_AUTH="tokens", VLK2_HTTP_RATE="5")) as server:
        store = open_store(environment(tmp_path)["VLK2_STORE"])
        operator = Desk(store, "cli op")
        perform(operator, "create_team", {"team": "acme"})
        token = perform(operator, "create_token", {"team": "acme", "agent": "ada"})["token"]
        ada = Agent([server.port], token)
        answers = [ada.rpc("tools/list") for _ in range(80)]
        refused = [one for one in answers if one.status == 429]
        assert answers[0].status == 200
        assert len(refused) >= 30
        assert int(refused[0].headers["retry-after"]) >= 1
        strangers = [Agent([server.port], f"vlk2_{n:043d}").rpc("tools/list").status for n in range(80)]
        assert strangers[0] == 401
        assert 429 in strangers
        server.stop()
        rows = perform(operator, "audit", {"limit": 1000})["audit"]
        flood = [row for row in rows if row["act"] in ("refused.rate", "refused.token")]
        assert 2 <= len(flood) <= 12
        assert any("more within a minute" in row["detail"] for row in flood)
        store.close()


def test_it_refuses_to_be_reached_by_others_without_authentication(tmp_path: Path) -> None:
    done = run(tmp_path, "serve", "--http", "--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 1
    assert "VLK2_AUTH" in done.stderr
    half = run(tmp_path, "serve", "--http", "--port", "0", VLK2_AUTH="jwt")
    assert half.returncode == 1
    assert "VLK2_JWT" in half.stderr


def test_with_tokens_and_none_made_yet_it_starts_on_any_address_and_answers_401(tmp_path: Path) -> None:
    with HttpServer(VLK2, environment(tmp_path, VLK2_AUTH="tokens"), "--host", "0.0.0.0") as server:
        assert Agent([server.port]).rpc("tools/list").status == 401
        assert Agent([server.port]).send("GET", "/healthz").body == b"ok\n"


def test_without_authentication_the_settings_say_who_it_is(tmp_path: Path) -> None:
    with HttpServer(VLK2, environment(tmp_path)) as server:
        agent = Agent([server.port], project="")
        assert [agent.record(RUST.format(line=n))["repeats"] for n in (1, 2)] == [1, 2]
    told = run(tmp_path, "context")
    assert "E0277" in told.stdout


# hooks -----------------------------------------------------------------------------------------------


def _event(use_id: str, **more: Any) -> dict[str, Any]:
    return {
        "kind": "result",
        "client": "claude-code",
        "session": "s1",
        "use_id": use_id,
        "tool": "Bash",
        "command": "cargo check",
        "input": '{"command":"cargo check"}',
        "text": RUST.format(line=len(use_id)),
        "is_error": True,
        **more,
    }


def test_a_hooks_event_counts_once_however_often_it_is_sent_and_the_third_is_told_at_once(team: Team) -> None:
    ada = team.agent("ada", "hooks")
    for use in ("t1", "t1", "t22", "t22"):
        assert ada.post("/v1/events", _event(use)).json == {"say": "", "text": ""}
    third = ada.post("/v1/events", _event("t333")).json
    assert third["say"] == "tell"
    assert "[SYSTEM ANCHOR] error[E0277] has repeated 3 times." in third["text"]
    assert ada.post("/v1/events", _event("t333")).json["say"] == ""
    assert "has repeated 3 times" in ada.context()


def test_many_events_are_heard_in_their_order_with_one_answer_each(team: Team) -> None:
    ada = team.agent("ada", "batch")
    answers = ada.post("/v1/events", [_event(f"b{n}" + "x" * n) for n in range(3)]).json["answers"]
    assert [one["say"] for one in answers] == ["", "", "tell"]


def test_a_call_that_failed_three_times_is_held_when_nothing_has_changed(team: Team) -> None:
    ada = team.agent("ada", "held")
    for n in range(3):
        ada.post("/v1/events", _event(f"h{n}" + "y" * n, files="state-1"))
    about = {**_event("h9", kind="call"), "text": ""}
    assert ada.post("/v1/events", {**about, "files": "state-2", "refuses": True}).json["say"] != "hold"
    ada.post("/v1/events", _event("h9z", files="state-1"))
    held = [ada.post("/v1/events", {**about, "use_id": f"c{n}", "files": "state-1"}).json for n in range(2)]
    assert held[0]["say"] == "hold"
    assert held[1]["say"] != "hold"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[1]",
        b'{"kind": "wish"}',
        b'{"kind": "result", "text": 5}',
        b'{"kind": "result", "text": ""}',
        b'{"kind": "result", "text": "x", "exit_code": "one"}',
        b'{"kind": "prompt", "enforce": "shout"}',
        b'{"kind": "result", "text": "x", "stamps": "[]"}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_an_event_that_is_none_is_refused_with_what_is_wrong(team: Team, body: bytes) -> None:
    answer = team.agent("ada").send("POST", "/v1/events", body)
    assert answer.status == 400
    assert answer.json["error"] == "invalid_input"
    assert answer.json["message"]


# administration --------------------------------------------------------------------------------------


def test_an_admins_token_administers_its_own_team_over_http_and_an_agents_does_not(team: Team) -> None:
    admin, ada, eve = team.agent("admin"), team.agent("ada"), team.agent("eve")
    made = admin.post("/v1/verbs/create_token", {"agent": "carol", "lasts": 3600})
    assert made.status == 200
    carol = Agent(team.ports, made.json["token"])
    assert carol.rpc("tools/list").status == 200
    for other in (ada, eve):
        assert other.post("/v1/verbs/revoke_token", {"token_id": made.json["token_id"]}).status == 403
    assert carol.rpc("tools/list").status == 200
    assert admin.post("/v1/verbs/revoke_token", {"token_id": made.json["token_id"]}).status == 200
    assert carol.rpc("tools/list").status == 401
    assert admin.post("/v1/verbs/list_tokens", {"team": "umbrella"}).status == 403
    assert admin.post("/v1/verbs/create_team", {"team": "third"}).status == 403
    assert admin.post("/v1/verbs/nonsense", {}).status == 400
    rows = admin.post("/v1/verbs/audit", {"limit": 1000}).json["audit"]
    assert {row["team"] for row in rows} == {"acme"}
    assert any(row["act"] == "token.revoke" and row["actor"] == "agent admin" for row in rows)
    team.audited("refused.forbidden", actor="ada", team="acme")


# health ----------------------------------------------------------------------------------------------


def _ready(port: int, query: str = "") -> Replies:
    return Agent([port]).send("GET", f"/readyz{query}")


def _until(look: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not look():
        assert time.monotonic() < deadline
        threading.Event().wait(0.1)


def test_readyz_says_that_the_broker_and_the_cycle_are_in_trouble_and_goes_on(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    env = environment(
        tmp_path, VLK2_BROKER=f"redis://:pass-word@127.0.0.1:{port}/0", VLK2_CYCLE_SECONDS="0.2"
    )
    with HttpServer(VLK2, env) as server:
        _until(lambda: "beat" in _ready(server.port).json["reasons"])
        answer = _ready(server.port)
        assert answer.status == 200
        assert answer.json["status"] == "degraded"
        assert answer.json["reasons"]["redis"] == "the broker does not answer"
        assert "never" in answer.json["reasons"]["beat"]
        assert _ready(server.port, "?strict=1").status == 503
        assert "pass-word" not in str(answer.json)
        text = Agent([server.port]).send("GET", "/metrics").body.decode()
        assert 'vlk2_up{part="redis"} 0.0' in text
        assert 'vlk2_up{part="database"} 1.0' in text


def test_readyz_says_that_the_database_is_away_and_health_still_answers(tmp_path: Path) -> None:
    env = environment(tmp_path, VLK2_AUTH="tokens")
    Path(env["VLK2_STORE"].removeprefix("sqlite://")).write_bytes(b"this is no database" * 100)
    with HttpServer(VLK2, env) as server:
        answer = _ready(server.port)
        assert answer.status == 503
        assert list(answer.json["reasons"]) == ["database"]
        assert str(tmp_path) not in str(answer.json)
        assert Agent([server.port]).send("GET", "/healthz").status == 200
        outage = Agent([server.port], "vlk2_" + "A" * 43).rpc("tools/list")
        assert outage.status == 503
        assert outage.headers["retry-after"] == "2"


def test_readyz_says_that_the_schema_is_a_newer_ones(tmp_path: Path) -> None:
    env = environment(tmp_path)
    open_store(env["VLK2_STORE"]).close()
    with sqlite3.connect(env["VLK2_STORE"].removeprefix("sqlite://")) as connection:
        connection.execute("UPDATE store_meta SET value = '99' WHERE name IN ('min_reader', 'min_writer')")
    with HttpServer(VLK2, env) as server:
        answer = _ready(server.port)
        assert answer.status == 503
        assert list(answer.json["reasons"]) == ["schema"]


def test_readyz_says_that_the_spool_does_not_drain(tmp_path: Path) -> None:
    env = environment(tmp_path, VLK2_BROKER="", VLK2_CYCLE_SECONDS="3600")
    spool = Path(env["VLK2_DATA"]) / "spool"
    spool.mkdir(parents=True)
    for n in range(1_001):
        (spool / f"{n:020d}-0000001-aaaaaaaa.json").write_text("{}")
    with HttpServer(VLK2, env) as server:
        assert "1001 events" in _ready(server.port).json["reasons"]["spool"]


def test_metrics_count_what_passed_and_name_nobody(team: Team) -> None:
    ada = team.agent("ada", "counted")
    for line in (1, 2, 3):
        ada.record(RUST.format(line=line))
    texts = [Agent([port]).send("GET", "/metrics").body.decode() for port in team.ports]
    assert any('vlk2_tool_calls_total{result="ok",tool="vlk_record_state"}' in text for text in texts)
    assert any("vlk2_timelines_due" in text for text in texts)
    for text in texts:
        assert not any(name in text for name in ("ada", "acme", "counted", "E0277"))


# an identity provider's tokens -----------------------------------------------------------------------


def test_tokens_of_an_identity_provider_name_team_and_agent_by_their_claims(tmp_path: Path) -> None:
    from fastmcp.server.auth.providers.jwt import RSAKeyPair

    ours, foreign = RSAKeyPair.generate(), RSAKeyPair.generate()
    env = environment(
        tmp_path,
        VLK2_AUTH="jwt",
        VLK2_JWT_PUBLIC_KEY=ours.public_key,
        VLK2_JWT_ISSUER="https://idp.example.org",
        VLK2_JWT_AUDIENCE="vlk2",
        VLK2_JWT_TEAM_CLAIM="org",
    )

    def token(pair: RSAKeyPair = ours, subject: str = "ada", **more: Any) -> str:
        told: dict[str, Any] = {
            "issuer": "https://idp.example.org",
            "audience": "vlk2",
            "additional_claims": {"org": "acme"},
        }
        return pair.create_token(subject=subject, **{**told, **more})

    with HttpServer(VLK2, env) as server:
        ada = Agent([server.port], token())
        assert ada.record(RUST.format(line=1))["repeats"] == 1
        who = ada.post("/v1/verbs/whoami", {}).json
        assert (who["team"], who["agent"], who["scope"]) == ("acme", "ada", "agent")
        admin = Agent([server.port], token(scopes=["vlk2:admin"]))
        assert admin.post("/v1/verbs/list_agents", {}).json["agents"][0]["agent"] == "ada"
        assert ada.post("/v1/verbs/list_agents", {}).status == 403
        for bad in (
            token(foreign),
            token(audience="another"),
            token(issuer="https://evil.example.org"),
            token(additional_claims={}),
            token(expires_in_seconds=-60),
            "vlk2_" + "A" * 43,
        ):
            assert Agent([server.port], bad).rpc("tools/list").status == 401
