"""A project's own file sets a threshold, fingerprint rows and exclusions, once its user trusts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vlk2.domain.fingerprint import diagnose
from vlk2.domain.project_rules import ProjectRules
from vlk2.errors import ConfigError
from vlk2.project_file import distrust, file_of, rules_for, trust

WHOLE = """
loop_threshold = 5
exclude = ["make flaky-*", "*/generated/*"]

[[fingerprint]]
name = "acme-check"
pattern = "ACME {type}: {message}"
language = "acme"
specific = true
"""


def project(tmp_path: Path, content: str) -> tuple[str, str, str]:
    root = tmp_path / "project"
    root.mkdir(exist_ok=True)
    (root / "vlk2.toml").write_text(content)
    return str(root), file_of(str(root)), str(tmp_path / "data")


def test_an_untrusted_file_sets_nothing(tmp_path: Path) -> None:
    root, _, data = project(tmp_path, WHOLE)
    assert rules_for(root, data) == ProjectRules()


def test_a_trusted_file_sets_threshold_rows_and_exclusions(tmp_path: Path) -> None:
    root, path, data = project(tmp_path, WHOLE)
    trust(path, data)
    rules = rules_for(root, data)
    assert rules.loop_threshold == 5
    assert rules.excludes("make flaky-net")
    assert rules.excludes("", "src/generated/a.py")
    assert not rules.excludes("make check", "src/a.py")
    found = diagnose("ACME A17: the gate is closed\n", is_error=True, extra=rules.table)
    assert found.fingerprint is not None
    assert (found.fingerprint.language, found.fingerprint.type) == ("acme", "A17")


def test_a_changed_file_has_to_be_trusted_again(tmp_path: Path) -> None:
    root, path, data = project(tmp_path, WHOLE)
    trust(path, data)
    project(tmp_path, WHOLE + "\n# a word more\n")
    assert rules_for(root, data) == ProjectRules()


def test_trust_can_be_taken_away(tmp_path: Path) -> None:
    root, path, data = project(tmp_path, WHOLE)
    trust(path, data)
    assert distrust(path, data)
    assert not distrust(path, data)
    assert rules_for(root, data) == ProjectRules()


@pytest.mark.parametrize(
    "content",
    [
        'store = "sqlite:////tmp/theirs.db"',
        'team = "theirs"',
        'token = "x"',
        "loop_threshold = 1",
        "loop_threshold = true",
        'exclude = "all"',
        "exclude = [1]",
        "fingerprint = 3",
        '[[fingerprint]]\npattern = "{unknown}"',
        "not toml",
    ],
)
def test_anything_else_is_refused_with_the_files_name(tmp_path: Path, content: str) -> None:
    _, path, data = project(tmp_path, content)
    with pytest.raises(ConfigError, match=r"vlk2\.toml"):
        trust(path, data)


def test_a_workspace_without_the_file_costs_nothing_and_sets_nothing(tmp_path: Path) -> None:
    assert rules_for(str(tmp_path), str(tmp_path / "data")) == ProjectRules()
    assert rules_for("", str(tmp_path / "data")) == ProjectRules()
