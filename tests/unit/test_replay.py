"""`vlk2 replay`: the machine contract, and what a developer reads."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from vlk2.cli import vlk2

RUST = "error[E0277]: the trait bound `Ledger: Hash` is not satisfied\n  --> src/book.rs:{0}:9\n"


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("VLK2_STORE", f"sqlite:///{home}/memory.db")
    monkeypatch.setenv("VLK2_CONFIG", str(home / "config.json"))
    monkeypatch.setenv("VLK2_DATA", str(home / "data"))
    monkeypatch.setenv("VLK2_PROJECT", "example.test/team/shop")


def steps(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def looping(at: float = 0) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for number in range(4):
        stamp = {"ts": at + 60 * number} if at else {}
        rows.append(
            {
                "i": 2 * number,
                "action": "Bash: cargo check",
                "observation": RUST.format(40 + number),
                "is_error": True,
                **stamp,
            }
        )
        rows.append(
            {
                "i": 2 * number + 1,
                "action": "Edit: src/book.rs",
                "observation": "The file src/book.rs has been updated.",
                "is_error": False,
                **stamp,
            }
        )
    return rows


def replayed(*arguments: str | Path) -> tuple[Result, list[dict[str, Any]]]:
    done = CliRunner().invoke(vlk2, ["replay", *map(str, arguments)], catch_exceptions=False)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done, rows


def test_a_row_has_every_field_of_the_contract(tmp_path: Path) -> None:
    path = steps(tmp_path / "a.jsonl", looping())
    done, [row] = replayed("--json", path)
    assert done.exit_code == 0
    assert (row["file"], row["format"], row["steps"], row["failures"], row["skipped"]) == (
        str(path),
        "steps",
        8,
        4,
        0,
    )
    [loop] = row["loops"]
    assert (loop["step"], loop["language"], loop["type"]) == (4, "rust", "E0277")
    assert loop["steps_seen"] == [0, 2, 4, 6]
    assert loop["repeats"] == 4
    assert loop["signature"].startswith("1:rust:E0277:")
    assert loop["anchor"].startswith("[SYSTEM ANCHOR] error[E0277] has repeated 3 times.")
    assert row["refusals"] == []
    assert row["tokens"]["total"] > row["tokens"]["after_third_repeat"] > 0


def test_there_is_one_row_for_each_file_in_input_order_whatever_becomes_of_it(tmp_path: Path) -> None:
    good = steps(tmp_path / "z.jsonl", looping())
    quiet = steps(tmp_path / "a.jsonl", looping()[:3])
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"\x00\x01 no session")
    done, rows = replayed("--json", good, broken, tmp_path / "absent.jsonl", quiet)
    assert done.exit_code == 0
    assert [Path(row["file"]).name for row in rows] == ["z.jsonl", "broken.jsonl", "absent.jsonl", "a.jsonl"]
    assert ["error" in row for row in rows] == [False, True, True, False]
    assert rows[3]["loops"] == []


def test_only_when_nothing_could_be_read_is_the_exit_code_one(tmp_path: Path) -> None:
    done, rows = replayed("--json", tmp_path / "absent.jsonl")
    assert done.exit_code == 1
    assert set(rows[0]) == {"file", "error"}


def test_a_folder_stands_for_its_files_sorted(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "deep/c.jsonl"):
        steps(tmp_path / "runs" / name, looping()[:1])
    _, rows = replayed("--json", tmp_path / "runs")
    assert [Path(row["file"]).name for row in rows] == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_each_file_is_a_memory_of_its_own(tmp_path: Path) -> None:
    first = steps(tmp_path / "a.jsonl", looping()[:3])
    second = steps(tmp_path / "b.jsonl", looping()[:3])
    _, rows = replayed("--json", first, second)
    assert [row["loops"] for row in rows] == [[], []]
    assert not (tmp_path / "home" / "memory.db").exists()


def test_the_same_call_with_nothing_done_since_would_have_been_refused_once_at_a_count(
    tmp_path: Path,
) -> None:
    rows = [
        {"i": i, "action": "Bash: cargo check", "observation": RUST.format(7), "is_error": True}
        for i in range(5)
    ]
    _, [row] = replayed("--json", steps(tmp_path / "a.jsonl", rows))
    assert row["refusals"] == [3]


def test_people_read_what_looped_what_it_cost_and_what_would_have_been_said(tmp_path: Path) -> None:
    done, _ = replayed(steps(tmp_path / "a.jsonl", looping()))
    for part in ("rust E0277", "step 4", "[SYSTEM ANCHOR]", "1 loops in 1", "after a third repeat"):
        assert part in done.stdout, part


def test_an_import_writes_past_at_its_own_times_and_a_second_one_adds_nothing(tmp_path: Path) -> None:
    old = steps(tmp_path / "old.jsonl", looping(at=1_700_000_000))
    _, [row] = replayed("--json", "--import", old)
    assert row["imported"]["added"] == 8
    assert row["imported"]["constraint_ids"] == []
    _, [again] = replayed("--json", "--import", old)
    assert (again["imported"]["added"], again["imported"]["known"]) == (0, 8)
    listed = CliRunner().invoke(vlk2, ["timeline", "--json"], catch_exceptions=False)
    states = json.loads(listed.stdout)
    assert states["PRESENT"] == states["FUTURE"] == []
    times = sorted(entry["at"] for entry in states["PAST"] if entry["kind"] == "log")
    assert times == [(1_700_000_000 + 60 * n) * 1_000_000 for n in range(4)]


def test_an_imported_constraint_stands_only_while_its_last_occurrence_is_fresh(tmp_path: Path) -> None:
    fresh = steps(tmp_path / "fresh.jsonl", looping(at=time.time() - 3600))
    _, [row] = replayed("--json", "--import", fresh)
    assert len(row["imported"]["constraint_ids"]) == 1


def test_without_arguments_the_sessions_found_are_named_and_nothing_is_read_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".claude" / "projects" / "-home-dev-shop"
    folder.mkdir(parents=True)
    (folder / "11111111-2222-3333-4444-555555555555.jsonl").write_text('{"type":"summary"}\n')
    done = CliRunner().invoke(vlk2, ["replay"], input="n\n")
    assert "claude-code: 1" in done.stderr
    assert done.exit_code != 0
    assert "sessions," not in done.stdout
