"""Which project a folder belongs to, read from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vlk2.identity import package_root, project_of, repository_name, stamps, workspace, worktree_of


def repository(folder: Path, url: str = "") -> Path:
    git = folder / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    remote = f'[remote "origin"]\n\turl = {url}\n' if url else ""
    (git / "config").write_text(f'[core]\n\tbare = false\n[remote "fork"]\n\turl = x@y:z/w.git\n{remote}')
    return folder


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("git@github.com:acme/ledger.git", "github.com/acme/ledger"),
        ("https://github.com/acme/ledger", "github.com/acme/ledger"),
        ("https://user:secret@GitHub.com/acme/ledger.git/", "github.com/acme/ledger"),
        ("ssh://git@git.example.test:2222/group/sub/ledger.git", "git.example.test/group/sub/ledger"),
        ("git@host.test:ledger.git", "host.test/ledger"),
        ("https://[::1]:8443/acme/ledger.git", "[::1]/acme/ledger"),
        ("/srv/git/ledger.git", ""),
        ("../ledger.git", ""),
        ("file:///srv/git/ledger.git", ""),
        ("C:\\git\\ledger.git", ""),
        ("C:/git/ledger.git", ""),
    ],
)
def test_an_origin_is_reduced_to_host_owner_and_name(url: str, name: str) -> None:
    assert repository_name(url) == name


def test_the_origin_names_the_project_from_any_folder_of_the_checkout(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop", "git@github.com:acme/ledger.git")
    deep = top / "src" / "core"
    deep.mkdir(parents=True)
    assert project_of(str(top)) == project_of(str(deep)) == "github.com/acme/ledger"


def test_without_an_origin_it_is_the_common_directory_and_without_git_the_root(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    assert project_of(str(top)) == str((top / ".git").resolve())
    plain = tmp_path / "plain"
    plain.mkdir()
    assert project_of(str(plain)) == str(plain.resolve())


def test_worktrees_of_one_repository_are_one_project_and_two_worktrees(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    side = top / ".git" / "worktrees" / "fix"
    side.mkdir(parents=True)
    (side / "commondir").write_text("../..\n")
    (side / "HEAD").write_text("ref: refs/heads/fix\n")
    tree = tmp_path / "fix"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {side}\n")
    assert project_of(str(tree)) == project_of(str(top))
    assert worktree_of(str(tree)) != worktree_of(str(top))
    assert json.loads(stamps(str(tree)))["branch"] == "fix"


def test_a_symlinked_folder_is_the_same_project(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (tmp_path / "link").symlink_to(plain)
    assert project_of(str(tmp_path / "link")) == project_of(str(plain))


def test_the_clients_workspace_stands_before_the_working_directory() -> None:
    assert workspace({"CLAUDE_PROJECT_DIR": "/a"}, "/b") == "/a"
    assert workspace({}, "/b") == "/b"


def test_the_package_root_is_the_nearest_manifest_within_the_checkout(tmp_path: Path) -> None:
    top = repository(tmp_path / "mono")
    (tmp_path / "package.json").write_text("{}")
    inner = top / "packages" / "cart" / "src"
    inner.mkdir(parents=True)
    assert package_root(str(inner)) == ""
    (top / "packages" / "cart" / "package.json").write_text("{}")
    assert package_root(str(inner)) == str((top / "packages" / "cart").resolve())


def test_stamps_change_with_branch_head_and_lockfile(tmp_path: Path) -> None:
    top = repository(tmp_path / "shop")
    first = stamps(str(top))
    (top / ".git" / "packed-refs").write_text("# pack\n" + "a" * 40 + " refs/heads/main\n")
    second = stamps(str(top))
    (top / "uv.lock").write_text("x")
    third = stamps(str(top))
    (top / ".git" / "HEAD").write_text("ref: refs/heads/other\n")
    assert len({first, second, third, stamps(str(top))}) == 4
    assert json.loads(second)["head"] == "a" * 40


def test_a_folder_that_is_gone_is_no_error(tmp_path: Path) -> None:
    assert project_of(str(tmp_path / "gone")) == str((tmp_path / "gone").resolve())
    assert stamps(str(tmp_path / "gone")) == "{}"
