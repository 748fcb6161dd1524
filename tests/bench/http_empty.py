"""An empty FastMCP tool over the same HTTP, to be measured beside: `python http_empty.py PORT`."""

from __future__ import annotations

import os
import sys

for name, value in {
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "FASTMCP_SHOW_SERVER_BANNER": "false",
    "FASTMCP_ENABLE_RICH_LOGGING": "false",
    "FASTMCP_LOG_LEVEL": "WARNING",
    "FASTMCP_TELEMETRY_MODE": "off",
    "FASTMCP_ENV_FILE": os.devnull,
}.items():
    os.environ.setdefault(name, value)

import uvicorn  # noqa: E402 - FastMCP reads its environment when it is imported
from fastmcp import FastMCP  # noqa: E402

server = FastMCP("empty")


@server.tool
def record(raw_log: str, outcome: str = "auto") -> dict[str, str]:
    """Does nothing with what it is given."""
    return {"text": "recorded"}


if __name__ == "__main__":
    app = server.http_app(path="/mcp", stateless_http=True, json_response=True)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
