"""The MCP server: its transport, its tools and its resources."""
