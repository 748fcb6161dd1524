"""The installed commands as an agent uses them, each with a store and a home of its own."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonrpc import HANDSHAKE_ERA, RawClient

BIN = Path(sys.executable).parent
RUST = "error[E0277]: cannot add `&str` to `i32`\n  --> src/lib.rs:{line}:5\n"


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """A user's environment with nothing of the machine's own memory in it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("VLK2_")}
    return clean | {
        "HOME": str(folder),
        "VLK2_STORE": f"sqlite:///{folder}/memory.db",
        "VLK2_CONFIG": str(folder / "config.json"),
        "VLK2_DATA": str(folder / "data"),
        "VLK2_AGENT": "ann",
        "VLK2_PROJECT": "example.test/team/shop",
        **settings,
    }


def run(folder: Path, *arguments: str, text: str = "", **settings: str) -> subprocess.CompletedProcess[str]:
    """`vlk2 ARGUMENTS` to its end."""
    return subprocess.run(
        [str(BIN / "vlk2"), *arguments],
        input=text,
        capture_output=True,
        text=True,
        env=environment(folder, **settings),
        cwd=folder,
        check=False,
        timeout=120,
    )


class Agent(RawClient):
    """`vlk2 serve` on stdio, ready to be called."""

    def __init__(self, folder: Path, *, era: str = HANDSHAKE_ERA, **settings: str) -> None:
        env = environment(folder, **settings)
        hidden = {k: "" for k in os.environ if k.startswith("VLK2_") and k not in env}
        super().__init__([str(BIN / "vlk2"), "serve"], env={**hidden, **env}, cwd=folder, era=era)
        self.hello = self.open()

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer; its text stands whole in the content too, and no error was said."""
        result = self.call(name, arguments)
        assert not result.get("isError"), result["content"][0]["text"]
        structured = result["structuredContent"]
        assert result["content"] == [{"type": "text", "text": structured["text"]}]
        return structured

    def refusal(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The text of the tool error that the call is answered with."""
        result = self.call(name, dict(arguments))
        assert result["isError"], result
        return result["content"][0]["text"]

    def record(self, log: str, **arguments: Any) -> dict[str, Any]:
        return self.tool("vlk_record_state", raw_log=log, **arguments)


def rows(folder: Path, sql: str) -> list[Any]:
    """What stands in the database itself."""
    with sqlite3.connect(f"file:{folder}/memory.db?mode=ro", uri=True) as connection:
        return connection.execute(sql).fetchall()
