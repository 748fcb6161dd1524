"""An independent judge of the MCP side: the inspector's command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

INSPECTOR = "@modelcontextprotocol/inspector@0.15.0"

pytestmark = pytest.mark.clients


def test_the_inspector_lists_seven_tools_with_annotations_and_output_schemas(
    tmp_path: Path,
) -> None:
    npm = shutil.which("npm")
    if npm is None and not os.environ.get("CI"):
        pytest.skip("npm is not installed")
    assert npm, "npm is not installed"
    done = subprocess.run(
        [
            *(npm, "exec", "--yes", f"--package={INSPECTOR}", "--", "mcp-inspector", "--cli"),
            *(str(Path(sys.executable).parent / "vlk2"), "serve", "--method", "tools/list"),
            *("-e", f"VLK2_STORE=sqlite:///{tmp_path}/memory.db"),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    tools = json.loads(done.stdout)["tools"]
    assert len(tools) == 7
    assert all("annotations" in tool and "outputSchema" in tool for tool in tools)
