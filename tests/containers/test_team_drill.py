"""The team's drill on the composed stack: what one agent's loop teaches the next, and who is let in."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

import pytest
from composed import Compose
from httprpc import Agent

pytestmark = pytest.mark.containers

LOG = """error[E0277]: the trait bound `Invoice: Serialize` is not satisfied
  --> crates/billing-of-ada/src/secret_ledger.rs:{line}:9
   |
   |     to_value(invoice)
"""


def vlk2(compose: Compose, *arguments: str) -> dict[str, Any]:
    """A command of the operator's, beside the server."""
    done: subprocess.CompletedProcess[str] = compose.run("exec", "-T", "serve", "vlk2", *arguments, "--json")
    return json.loads(done.stdout)


def test_an_agents_loop_is_there_when_a_colleagues_agent_meets_the_same_failure(compose: Compose) -> None:
    team = vlk2(compose, "team", "create", "drill")
    assert team["team"] == "drill"
    tokens: dict[str, dict[str, Any]] = {}
    for name in ("ada", "bob"):
        vlk2(compose, "agent", "create", name, "--team", "drill")
        tokens[name] = vlk2(
            compose, "token", "create", "--team", "drill", "--agent", name, "--expires", "90d"
        )
    ada, bob = (Agent([compose.port], tokens[name]["token"], "shop") for name in ("ada", "bob"))
    admin = Agent([compose.port], team["token"], "shop")

    looped = [ada.record(LOG.format(line=line), outcome="failure") for line in (12, 34, 56)]
    assert looped[2]["loop"] is True
    assert looped[2]["text"].startswith("[SYSTEM ANCHOR] error[E0277] has repeated 3 times.")

    # Asked for nothing, bob is told nothing: it is the loop of one agent.
    assert "E0277" not in bob.context()
    bob.record(
        "error[E0277]: the trait bound `Invoice: Serialize` is not satisfied\n --> src/x.rs:1:1\n",
        outcome="failure",
    )
    context = bob.context()
    assert re.search(r"looped once for 1 agent", context)
    assert "E0277" in context
    for private in ("billing-of-ada", "secret_ledger", "to_value", "ada"):
        assert private not in context

    # An id of ada's and one that does not exist read alike.
    for tool, more in (("vlk_pin_memory", {}), ("vlk_forget", {"reason": "why"})):
        answers = [
            json.dumps(bob.call(tool, entry_id=entry, **more)).replace(entry, "ID")
            for entry in (looped[0]["entry_id"], "e_aaaaaaaaaaaa")
        ]
        assert answers[0] == answers[1]

    # An admin revokes the pattern for all.
    listed = admin.post("/v1/verbs/list_patterns", {}).json["patterns"]
    [pattern] = [one for one in listed if one["type"] == "E0277"]
    assert pattern["agents"] == 1
    about = {"pattern_id": pattern["pattern_id"], "reason": "the registry was down"}
    assert bob.post("/v1/verbs/revoke_pattern", about).status == 403
    assert admin.post("/v1/verbs/revoke_pattern", about).status == 200
    assert "looped" not in bob.context()
    assert "SYSTEM ANCHOR" in ada.context()

    # A revoked token is worth nothing from the next request on.
    vlk2(compose, "token", "revoke", tokens["bob"]["token_id"], "--team", "drill")
    assert bob.rpc("tools/list").status == 401
    assert ada.rpc("tools/list").status == 200

    acts = {row["act"] for row in vlk2(compose, "audit", "--team", "drill", "--limit", "1000")["audit"]}
    assert {"team.create", "agent.create", "token.create", "pattern.revoke", "token.revoke"} <= acts
    assert {"refused.id", "refused.forbidden"} <= acts
