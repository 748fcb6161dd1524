"""`vlk2 serve`."""

from __future__ import annotations

import click


@click.command(
    epilog="Add it to a client as a stdio MCP server: command `vlk2`, arguments `serve`. By hand: `vlk2 serve`. "
    "For a team: `VLK2_AUTH=tokens vlk2 serve --http --host 0.0.0.0`."
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP at /mcp instead of stdio.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen on (with --http)."
)
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="The port (with --http)."
)
def serve(http: bool, host: str, port: int) -> None:
    """Speak MCP on stdin and stdout until stdin closes; with --http, to many agents until it is stopped."""
    # Before anything heavy is imported: FastMCP's environment is set, and on stdio from here on only JSON-RPC
    # reaches stdout.
    from vlk2.mcp.stdio import claim, quiet

    if http:
        quiet()
        from vlk2.mcp.http import serve_http

        serve_http(host, port)
    else:
        claim()
        from vlk2.mcp.server import serve_stdio

        serve_stdio()
