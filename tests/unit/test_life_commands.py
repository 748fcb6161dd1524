"""`vlk2 explain`, `restore`, `erase`, `show-fix` and `consolidate --dry-run`, as a person calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from failures import rust

from vlk2.around import LONGEST_TEXT, Around
from vlk2.cli import vlk2
from vlk2.errors import Vlk2Error


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, value in {
        "VLK2_STORE": f"sqlite://{tmp_path / 'data' / 'memory.db'}",
        "VLK2_CONFIG": str(tmp_path / "config.json"),
        "VLK2_DATA": str(tmp_path / "data"),
        "VLK2_AGENT": "ada",
        "VLK2_TEAM": "default",
        "VLK2_PROJECT": "ledger",
    }.items():
        monkeypatch.setenv(name, value)

    def call(*arguments: str, given: str | None = None):
        result = CliRunner().invoke(vlk2, list(arguments), input=given, standalone_mode=False)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return json.loads(result.stdout) if "--json" in arguments else result.stdout

    return call


def looped(run) -> dict:
    return [
        run("record", rust(line=n), "--command", "cargo check", "--outcome", "failure", "--json")
        for n in range(3)
    ][-1]


def test_explain_tells_a_constraint_an_entry_and_a_fact(run):
    made = looped(run)
    run("consolidate", "--once")
    constraint = run("explain", made["constraint_id"], "--json")
    assert constraint["kind"] == "loop"
    assert len(constraint["evidence"]) == 3
    assert constraint["importance"]["review_at"] is None
    entry = run("explain", made["entry_id"], "--json")
    assert entry["rests_on_it"] == [made["constraint_id"]]
    assert [t["to"] for t in entry["transitions"]] == ["PRESENT", "PAST"]
    assert sum(entry["importance"][p] > 0 for p in ("recency", "frequency", "connectivity", "outcome")) == 4
    fact = run("explain", entry["belief"]["id"])
    assert "For it: looped once for 1 agent" in fact
    assert "How the belief went:" in fact


def test_erase_tells_before_it_asks_and_asks_before_it_erases(run):
    made = looped(run)
    planned = run("erase", "--match", "Invoice", "--dry-run", "--json")
    assert (planned["erased"], planned["entries"], planned["constraints"]) == (False, 4, 1)
    with pytest.raises(Vlk2Error):
        run("erase", "--match", "Invoice", "--json")
    assert "Invoice" in run("context")
    with pytest.raises(Exception):  # noqa: B017, PT011 - click's own Abort
        run("erase", "--match", "Invoice", given="n\n")
    assert "Invoice" in run("context")
    assert run("erase", "--match", "Invoice", "--yes", "--json")["erased"]
    assert "Invoice" not in run("context")
    assert "PURGED" in run("explain", made["constraint_id"])


def test_what_is_not_forgotten_cannot_be_restored_and_an_unknown_id_is_said_to_be_unknown(run):
    made = looped(run)
    for arguments in (
        ("restore", made["entry_id"]),
        ("restore", "e_aaaaaaaaaaaa"),
        ("show-fix", made["constraint_id"]),
    ):
        with pytest.raises(Vlk2Error):
            run(*arguments)


def test_a_rehearsal_of_the_cycle_moves_nothing(run):
    looped(run)
    told = run("consolidate", "--once", "--dry-run", "--json")
    assert (told["ran"], told["moved"]) == (False, [])
    assert run("status", "--json")["last_cycle"] is None


def test_the_fix_trail_reads_files_of_the_worktree_only_and_none_that_hold_secrets(tmp_path):
    work = tmp_path / "work"
    (work / ".git").mkdir(parents=True)
    (work / "src").mkdir()
    (work / "src" / "a.py").write_text("token = 'ghp_" + "a1B2" * 9 + "'\nx = 1\n")
    (work / "big.txt").write_text("x" * (LONGEST_TEXT + 1))
    (work / "data.bin").write_bytes(b"\0\1")
    (work / ".env").write_text("KEY=1")
    (work / ".git" / "config").write_text("x")
    (tmp_path / "outside.py").write_text("x")
    (work / "link.py").symlink_to(tmp_path / "outside.py")
    around = Around(str(work))
    kept = around.text("src/a.py")
    assert kept is not None
    assert "x = 1" in kept
    assert "a1B2a1B2" not in kept
    for path in (
        "big.txt",
        "data.bin",
        ".env",
        ".git/config",
        "../outside.py",
        "link.py",
        "absent.py",
        "src",
    ):
        assert around.text(path) is None
