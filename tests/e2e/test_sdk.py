"""The official Python SDK's client plays the story in both protocol eras."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from agents import BIN, RUST, environment
from mcp import Client, StdioServerParameters


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_official_client_plays_the_story_with_a_new_session_for_each_call(
    tmp_path: Path, mode: str
) -> None:
    parameters = StdioServerParameters(
        command=str(BIN / "vlk2"), args=["serve"], env=environment(tmp_path), cwd=str(tmp_path)
    )

    async def story() -> None:
        async with Client(parameters, mode=mode) as client:
            assert len((await client.list_tools()).tools) == 7
            for line in (0, 10):
                await client.call_tool("vlk_record_state", {"raw_log": RUST.format(line=line)})
        async with Client(parameters, mode=mode) as client:
            third = await client.call_tool("vlk_record_state", {"raw_log": RUST.format(line=20)})
            assert third.structured_content is not None
            assert third.structured_content["loop"] is True
            context = await client.call_tool("vlk_fetch_context", {})
            assert context.structured_content is not None
            assert "SYSTEM ANCHOR" in context.structured_content["text"]
            revoked = await client.call_tool(
                "vlk_revoke_future",
                {"constraint_id": third.structured_content["constraint_id"], "reason": "wrong"},
            )
            assert not revoked.is_error
            after = await client.call_tool("vlk_fetch_context", {})
            assert after.structured_content is not None
            assert after.structured_content["constraint_ids"] == []

    anyio.run(story)
