"""`vlk2 serve`."""

from __future__ import annotations

import click


@click.command(
    epilog="Add it to a client as a stdio MCP server: command `vlk2`, arguments `serve`. By hand: `vlk2 serve`."
)
def serve() -> None:
    """Speak MCP on stdin and stdout until stdin closes."""
    # Before anything heavy is imported: from here on only JSON-RPC reaches stdout.
    from vlk2.mcp.stdio import claim

    claim()
    from vlk2.mcp.server import serve_stdio

    serve_stdio()
