"""`make demo`: the main job in ten seconds, played over real MCP against the installed command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

_ERROR = """error[E0277]: the trait bound `Ledger: Hash` is not satisfied
  --> src/{file}:{line}:9
   |
{line} |     totals.insert(entry, amount);
   |            ^^^^^^ the trait `Hash` is not implemented for `Ledger`
"""
_ATTEMPTS = (("book.rs", 41), ("book.rs", 44), ("report.rs", 12))


class _Agent:
    """A client that speaks JSON-RPC lines with `vlk2 serve`."""

    def __init__(self, command: str, home: str) -> None:
        environ = {k: v for k, v in os.environ.items() if not k.startswith("VLK2_")}
        environ |= {
            "VLK2_STORE": f"sqlite:///{home}/memory.db",
            "VLK2_CONFIG": f"{home}/config.json",
            "VLK2_DATA": home,
            "VLK2_AGENT": "demo",
            "VLK2_PROJECT": "github.com/acme/ledger",
        }
        self._server = subprocess.Popen(
            [command, "serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environ,
        )
        self._next = 0
        self.request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "demo", "version": "1"},
            },
        )
        self._send({"method": "notifications/initialized"})

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin
        self._server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._server.stdin.flush()

    def request(self, method: str, params: dict[str, Any]) -> Any:
        assert self._server.stdout
        self._next += 1
        self._send({"id": self._next, "method": method, "params": params})
        while line := self._server.stdout.readline():
            message = json.loads(line)
            if message.get("id") == self._next:
                return message["result"]
        raise SystemExit("the server ended without an answer")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise SystemExit(result["content"][0]["text"])
        return result["structuredContent"]

    def close(self) -> None:
        assert self._server.stdin
        self._server.stdin.close()
        self._server.wait(10)


def main() -> None:
    """Plays the story with the `vlk2` command named by the first argument; exit code 0 when it held."""
    command = sys.argv[1] if len(sys.argv) > 1 else "vlk2"
    with tempfile.TemporaryDirectory() as home:
        agent = _Agent(command, home)
        try:
            _play(agent)
        finally:
            agent.close()


def _play(agent: _Agent) -> None:
    print("An agent meets one Rust error in file after file. Vlk² watches what its tools print.\n")
    done: dict[str, Any] = {}
    for number, (file, line) in enumerate(_ATTEMPTS, 1):
        done = agent.call(
            "vlk_record_state",
            raw_log=_ERROR.format(file=file, line=line),
            file_context=f"src/{file}",
            tool_payload="cargo check",
            outcome="failure",
        )
        print(f"  {number}. cargo check fails in src/{file}:{line}")
        print(
            f"     known as {done['language']} {done['type']}, repeat {done['repeats']}, now {done['state']}"
        )
    before = agent.call("vlk_fetch_context")
    print("\nThe third repeat closed the loop. What the agent sees from now on:\n")
    print(_indented(before["text"]))
    agent.call(
        "vlk_revoke_future",
        constraint_id=done["constraint_id"],
        reason="the trait was derived in another crate",
    )
    after = agent.call("vlk_fetch_context")
    print("\nIt was a misdiagnosis? One call withdraws it (vlk_revoke_future), and the agent sees:\n")
    print(_indented(after["text"]))
    held = (
        "[SYSTEM ANCHOR]" in before["text"]
        and "3 times" in before["text"]
        and "[SYSTEM ANCHOR]" not in after["text"]
    )
    print(
        "\nThe loop stays in PAST, auditable; its failure now needs twice the evidence."
        if held
        else "\nFAILED"
    )
    sys.exit(0 if held else 1)


def _indented(text: str) -> str:
    return "\n".join(f"  │ {line}" for line in text.split("\n"))


if __name__ == "__main__":
    main()
