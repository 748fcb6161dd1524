"""The recorded sessions and scenarios of the reference data, replayed by the command and held against their readers.

Prints precision, recall, the share of harmless sessions flagged (with Wilson bounds), how many loops were found in
time, false refusals, and each miss (`pytest -m reference -s`).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("VLK2_SHARED") or Path(__file__).parents[3] / "shared")
LABELS = SHARED / "trajectories" / "labels.jsonl"
STEPS = SHARED / "trajectories" / "steps"
SCENARIOS = SHARED / "scenarios"
TOLERANCE = 2

pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(not LABELS.exists(), reason="no reference data: set VLK2_SHARED"),
]


def replayed(files: list[Path], home: Path) -> dict[str, dict[str, Any]]:
    """What `vlk2 replay --json` says of each file, by its name."""
    command = [
        sys.executable,
        "-c",
        "from vlk2.cli import main; main()",
        "replay",
        "--json",
        "--format",
        "steps",
    ]
    environment = os.environ | {"HOME": str(home), "VLK2_STORE": f"sqlite:///{home}/memory.db"}
    done = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-500:]
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(files)
    return {file.name: row for file, row in zip(files, rows, strict=True)}


def wilson(hits: int, of: int) -> str:
    """A share with its 95 % Wilson bounds."""
    if not of:
        return "0 of 0"
    share, z = hits / of, 1.96
    centre = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{hits} of {of} = {share:.3f} ({max(centre - half, 0):.3f} to {min(centre + half, 1):.3f})"


def steps_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (STEPS / name).read_text(encoding="utf-8").splitlines()]


@dataclass
class Score:
    harmless: int = 0
    flagged: int = 0
    loops: int = 0
    found: int = 0
    in_time: int = 0
    misses: list[str] = field(default_factory=list[str])

    def add(self, label: dict[str, Any], hits: list[int], headlines: list[str]) -> None:
        if label["label"] == "NO-LOOP":
            self.harmless += 1
            if hits:
                self.flagged += 1
                self.misses.append(f"harmless, flagged at {hits[0]}: {label['file']} | {headlines[0][:90]}")
            return
        self.loops += 1
        first, last = label.get("hit_range") or [label["first_hit_step"]] * 2
        if not hits:
            self.misses.append(f"not found: {label['file']} | {label['key_error'][:90]}")
            return
        self.found += 1
        if first - TOLERANCE <= hits[0] <= last + TOLERANCE:
            self.in_time += 1
        else:
            self.misses.append(f"found at {hits[0]}, not {first} to {last}: {label['file']}")

    def report(self) -> str:
        return "\n".join(
            [
                "",
                f"precision             {wilson(self.found, self.found + self.flagged)}",
                f"recall                {wilson(self.found, self.loops)}",
                f"harmless flagged      {wilson(self.flagged, self.harmless)}",
                f"in time               {wilson(self.in_time, self.found)}",
                *self.misses,
            ]
        )


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return replayed(sorted(STEPS.glob("*.jsonl")), tmp_path_factory.mktemp("home"))


def test_every_scenario_is_flagged_at_its_third_failure_or_not_at_all(tmp_path: Path):
    expected = json.loads((SCENARIOS / "expected.json").read_text(encoding="utf-8"))
    rows = replayed([SCENARIOS / f"{name}.jsonl" for name in expected], tmp_path)
    found = {name: [loop["step"] for loop in rows[f"{name}.jsonl"]["loops"]][:1] for name in expected}
    wanted = {name: [it["by_step"]] if it["verdict"] == "LOOP" else [] for name, it in expected.items()}
    assert found == wanted


def test_the_labelled_sessions_are_called_as_their_readers_call_them(sessions: dict[str, dict[str, Any]]):
    score = Score()
    for label in map(json.loads, LABELS.read_text(encoding="utf-8").splitlines()):
        if label["label"] != "UNSURE" and label["file"] in sessions:
            found = sessions[label["file"]]["loops"]
            score.add(label, [loop["step"] for loop in found], [loop["headline"] for loop in found])
    print(score.report())
    assert score.flagged <= 0.02 * score.harmless, score.report()
    assert score.found >= 0.8 * score.loops, score.report()
    assert score.in_time >= 0.9 * score.found, score.report()


def test_no_call_that_succeeded_would_have_been_refused(sessions: dict[str, dict[str, Any]]):
    refused = [
        (name, step["i"], step["is_error"])
        for name, row in sessions.items()
        if row.get("refusals")
        for step in steps_of(name)
        if step["i"] in row["refusals"]
    ]
    print(f"\nrefusals {len(refused)} in {len(sessions)} sessions")
    assert [it for it in refused if it[2] is False] == []
