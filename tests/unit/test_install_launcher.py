"""Which launcher a client's file names."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

from vlk2.clients import launcher
from vlk2.errors import ConfigError


def _installation(folder: Path) -> Path:
    scripts = folder / "bin"
    scripts.mkdir(parents=True)
    for name in ("vlk2", "vlk2-hook"):
        (scripts / name).write_text("#!/bin/sh\n")
        (scripts / name).chmod(0o755)
    return scripts


@pytest.fixture
def installed_in(monkeypatch: pytest.MonkeyPatch):
    """Makes this process one of the installation in a folder."""

    def into(scripts: Path) -> None:
        monkeypatch.setattr(sysconfig, "get_path", lambda name: str(scripts))
        monkeypatch.setattr(sys, "executable", str(scripts / "python"))
        monkeypatch.setattr(sys, "argv", [str(scripts / "vlk2")])

    return into


def test_without_a_link_on_the_path_it_is_the_installations_own(tmp_path: Path, installed_in) -> None:
    scripts = _installation(tmp_path / "venv")
    installed_in(scripts)
    found = launcher.find({"PATH": "/usr/bin"})
    assert (found.hook, found.server) == (str(scripts / "vlk2-hook"), str(scripts / "vlk2"))


def test_a_link_on_the_path_to_this_installation_goes_first(tmp_path: Path, installed_in) -> None:
    scripts = _installation(tmp_path / "cellar" / "0.1.0")
    links = tmp_path / "bin"
    links.mkdir()
    for name in ("vlk2", "vlk2-hook"):
        (links / name).symlink_to(scripts / name)
    installed_in(scripts)
    assert launcher.find({"PATH": str(links)}).hook == str(links / "vlk2-hook")


def test_another_installation_on_the_path_is_not_taken_for_this_one(tmp_path: Path, installed_in) -> None:
    scripts, other = _installation(tmp_path / "venv"), _installation(tmp_path / "other")
    installed_in(scripts)
    assert launcher.find({"PATH": str(other)}).hook == str(scripts / "vlk2-hook")


def test_an_environment_that_will_be_gone_is_refused(tmp_path: Path, installed_in) -> None:
    installed_in(_installation(tmp_path / ".cache/uv/archive-v0/h4sh"))
    with pytest.raises(ConfigError, match="uv tool install"):
        launcher.find({"PATH": "/usr/bin"})


def test_without_any_launcher_it_says_so(tmp_path: Path, installed_in) -> None:
    (tmp_path / "empty").mkdir()
    installed_in(tmp_path / "empty")
    with pytest.raises(ConfigError, match="not found"):
        launcher.find({"PATH": str(tmp_path)})


@pytest.mark.parametrize(
    ("environ", "passed"),
    [
        ({}, {}),
        ({"VLK2_CONFIG": "/a/c.json"}, {"VLK2_CONFIG": "/a/c.json"}),
        ({"VLK2_DATA": "/a/d"}, {"VLK2_DATA": "/a/d"}),
        ({"VLK2_STORE": "sqlite:////x"}, {}),  # the user file says that
    ],
)
def test_only_what_a_client_cannot_know_is_passed_on(environ: dict[str, str], passed: dict[str, str]) -> None:
    assert launcher.passed_environment(environ) == passed


def test_an_xdg_folder_is_passed_on_as_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    passed = launcher.passed_environment({"XDG_CONFIG_HOME": os.environ["XDG_CONFIG_HOME"]})
    assert passed == {"VLK2_CONFIG": str(tmp_path / "vlk2/config.json")}
