"""`vlk2 pause` and `vlk2 resume`."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from agents import run

from vlk2.pausing import paused


def _paused(folder: Path, at: float) -> bool:
    return paused(str(folder / "data"), int(at * 1_000_000))


@pytest.mark.parametrize(
    ("word", "seconds"), [((), 3_600), (("30m",), 1_800), (("2d",), 172_800), (("90s",), 90)]
)
def test_a_pause_ends_by_itself(tmp_path: Path, word: tuple[str, ...], seconds: int) -> None:
    before = time.time()
    done = run(tmp_path, "pause", *word)
    after = time.time()
    assert done.returncode == 0
    assert "Paused until" in done.stdout
    assert _paused(tmp_path, before + seconds - 1)
    assert not _paused(tmp_path, after + seconds + 1)


@pytest.mark.parametrize("words", [("resume",), ("pause", "off")])
def test_a_pause_can_be_ended(tmp_path: Path, words: tuple[str, ...]) -> None:
    run(tmp_path, "pause", "1d")
    assert run(tmp_path, *words).returncode == 0
    assert not _paused(tmp_path, time.time())
    assert "no pause" in run(tmp_path, *words).stdout


@pytest.mark.parametrize("word", ["", "soon", "0m", "-1h", "1w", "99999999d", "1h30m"])
def test_what_is_no_duration_is_refused_and_pauses_nothing(tmp_path: Path, word: str) -> None:
    done = run(tmp_path, "pause", "--", word)
    assert done.returncode == 1
    assert "no duration" in done.stderr
    assert not (tmp_path / "data/paused.json").exists()


def test_the_answer_as_json_has_the_time_that_the_hook_reads(tmp_path: Path) -> None:
    until = json.loads(run(tmp_path, "pause", "1h", "--json").stdout)["until"]
    assert json.loads((tmp_path / "data/paused.json").read_text()) == {"until": until}
