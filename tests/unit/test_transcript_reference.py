"""The originals of the reference data read like the neutral steps that were made of them."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from vlk2.clients.transcripts import Step, read
from vlk2.domain.event import EventKind

SHARED = Path(os.environ.get("VLK2_SHARED") or Path(__file__).parents[3] / "shared") / "trajectories"
RAW = sorted((SHARED / "raw").glob("*/*"))

pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(not RAW, reason="no reference data: set VLK2_SHARED"),
]


def neutral(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def same_text(recorded: str, read_text: str) -> bool:
    """Equal, or cut in the middle as the neutral steps are."""
    if recorded == read_text:
        return True
    return (
        len(read_text) > 20_000
        and recorded[:9_900] == read_text[:9_900]
        and recorded[-9_900:] == read_text[-9_900:]
    )


def same_action(recorded: str, read_action: str) -> bool:
    """Equal; a result whose call is not in the file has the command None there and none here."""
    return recorded == read_action or recorded.replace(": None", ": ") == read_action


def matched(raw: Path, results: list[Step]) -> list[tuple[Path, list[Step]]]:
    """The step files made of this original, each with the steps of its run."""
    runs = {step.run for step in results}
    found: list[tuple[Path, list[Step]]] = []
    for path in sorted((SHARED / "steps").glob("*.jsonl")):
        name = path.name.removesuffix(".jsonl")
        if raw.name.startswith(name + ".") or raw.name.startswith(name.replace("codex-Monotoba", "rollout")):
            found.append((path, results))
        elif len(runs) > 1:
            found.extend(
                (path, [step for step in results if step.run == run])
                for run in runs
                if name.endswith(f"-{run}") and name.startswith(f"{raw.parent.name}-")
            )
    return found


@pytest.mark.parametrize("raw", RAW, ids=lambda path: path.name[:60])
def test_an_original_reads_in_auto_with_the_steps_made_of_it(raw: Path):
    reading = read(raw)
    assert reading.format == raw.parent.name.replace("gemini-cli", "gemini")
    results = [step for step in reading if step.event.kind is EventKind.RESULT]
    assert reading.skipped == 0
    pairs = matched(raw, results)
    assert pairs, "no step file was made of this original"
    for path, steps in pairs:
        records = neutral(path)
        assert [step.i for step in steps] == [record["i"] for record in records]
        for record, step in zip(records, steps, strict=True):
            assert same_action(record["action"], step.event.action), (path.name, step.i)
            assert same_text(record["observation"], step.event.text), (path.name, step.i)
            assert step.event.is_error == record["is_error"], (path.name, step.i)


@pytest.mark.parametrize(
    "raw", [path for path in RAW if path.parent.name == "claude-code"], ids=lambda path: path.name[:60]
)
def test_an_original_and_its_neutral_steps_agree_on_what_one_message_was(raw: Path):
    whole = [step.event for step in read(raw) if step.event.kind is EventKind.RESULT]
    same = [step.event for step in read(SHARED / "steps" / raw.name) if step.event.kind is EventKind.RESULT]
    assert [a.batch == b.batch for a, b in pairwise(whole)] == [a.batch == b.batch for a, b in pairwise(same)]
    assert [event.interrupted for event in whole] == [event.interrupted for event in same]


def test_every_neutral_file_reads_whole():
    for path in sorted((SHARED / "steps").glob("*.jsonl")):
        reading = read(path)
        assert reading.format == "steps"
        results = [step for step in reading if step.event.kind is EventKind.RESULT]
        records = neutral(path)
        assert [step.i for step in results] == [record["i"] for record in records]
        assert [step.event.action for step in results] == [record["action"] for record in records]
        assert reading.skipped == 0
