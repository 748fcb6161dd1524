"""Many agents at once over HTTP, each with a token, a connection and a thread of its own.

`python http_load.py PORT CALLS < agents.json` reads `[{"token", "project", "tool", "arguments": [...]}]`, makes CALLS
calls for each agent, taking its arguments in turn, and prints `{"calls", "seconds", "failed", "p50", "p95", "p99"}`
(milliseconds). A process of its own, so that it does not take turns with the server.
"""

from __future__ import annotations

import http.client
import json
import sys
import threading
import time
from typing import Any

ERA = "2026-07-28"


def agent(port: int, told: dict[str, Any], calls: int, start: threading.Barrier, into: list[float]) -> None:
    """One agent's calls, one after the other; the seconds of each go `into` the list, negative where it failed."""
    bodies = [_body(told["tool"], arguments) for arguments in told["arguments"]]
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": ERA,
        "Mcp-Method": "tools/call",
        "Mcp-Name": told["tool"],
        "Vlk2-Project": told["project"],
    }
    if told["token"]:
        headers["Authorization"] = f"Bearer {told['token']}"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    start.wait()
    for number in range(calls):
        began = time.perf_counter()
        try:
            connection.request("POST", "/mcp", bodies[number % len(bodies)], headers)
            answer = connection.getresponse()
            good = not json.loads(answer.read())["result"].get("isError")
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            good = False
            connection.close()
        taken = time.perf_counter() - began
        into.append(taken if good else -taken)
    connection.close()


def _body(tool: str, arguments: dict[str, Any]) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": ERA,
        "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def main(port: int, calls: int, agents: list[dict[str, Any]]) -> dict[str, float]:
    start = threading.Barrier(len(agents) + 1)
    taken: list[float] = []
    threads = [threading.Thread(target=agent, args=(port, one, calls, start, taken)) for one in agents]
    for thread in threads:
        thread.start()
    start.wait()
    began = time.perf_counter()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    good = sorted(one for one in taken if one >= 0)

    def at(share: float) -> float:
        return round(1000 * good[min(len(good) - 1, int(share * len(good)))], 2) if good else 0.0

    return {
        "calls": len(taken),
        "seconds": round(seconds, 3),
        "failed": len(taken) - len(good),
        "p50": at(0.50),
        "p95": at(0.95),
        "p99": at(0.99),
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), json.load(sys.stdin))))
