"""Settings: environment over user file over defaults, and two readers that never disagree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vlk2.errors import ConfigError
from vlk2.settings import load
from vlk2.userfile import HOOK_SETTINGS, hook_settings, sqlite_path

INPUTS: list[tuple[dict[str, str], dict[str, object]]] = [
    ({}, {}),
    ({"VLK2_TEAM": "blue"}, {}),
    ({}, {"team": "green", "agent": "kim"}),
    ({"VLK2_TEAM": "blue"}, {"team": "green"}),
    ({"VLK2_TEAM": ""}, {"team": "green"}),
    ({"VLK2_STORE": "sqlite:////tmp/one.db"}, {"store": "sqlite:////tmp/two.db"}),
    ({"VLK2_STORE": "https://memory.example.test"}, {}),
    ({"VLK2_ENFORCE": "advise"}, {"enforce": "off"}),
    ({}, {"enforce": "off", "project": "example.test/a/b", "unknown": 3}),
    ({"VLK2_AGENT": "lee", "VLK2_PROJECT": "example.test/x/y"}, {"agent": "", "project": None}),
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    import os

    for name in [name for name in os.environ if name.startswith("VLK2_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("VLK2_CONFIG", str(tmp_path / "config.json"))
    monkeypatch.setenv("VLK2_DATA", str(tmp_path / "data"))
    return tmp_path


@pytest.mark.parametrize(("variables", "held"), INPUTS)
def test_hook_and_server_read_the_same_settings_from_the_same_inputs(
    home: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], held: dict[str, object]
) -> None:
    import os

    (home / "config.json").write_text(json.dumps(held))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    full, few = load(), hook_settings(os.environ)
    assert {name: getattr(full, name) for name in HOOK_SETTINGS} == {
        name: getattr(few, name) for name in HOOK_SETTINGS
    }


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("VLK2_TOKEN_BUDGET", "many"),
        ("VLK2_TOKEN_BUDGET", "3"),
        ("VLK2_LOOP_THRESHOLD", "1"),
        ("VLK2_CYCLE_SECONDS", "0"),
        ("VLK2_ENFORCE", "shout"),
        ("VLK2_STORE", "mysql://host/db"),
        ("VLK2_STORE", "sqlite:relative.db"),
    ],
)
def test_a_wrong_value_names_the_variable_it_came_from(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=variable):
        load()


def test_a_wrong_value_in_the_user_file_names_the_file(home: Path) -> None:
    (home / "config.json").write_text('{"token_budget": "many"}')
    with pytest.raises(ConfigError, match=r"token_budget in .*config\.json"):
        load()


@pytest.mark.parametrize("content", ["{not json", "[1]", '"text"'])
def test_a_user_file_that_is_no_object_is_named_by_both_readers(home: Path, content: str) -> None:
    import os

    (home / "config.json").write_text(content)
    with pytest.raises(ConfigError, match=r"config\.json"):
        load()
    with pytest.raises(ConfigError, match=r"config\.json"):
        hook_settings(os.environ)


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("sqlite:////home/me/memory.db", "/home/me/memory.db"),
        ("sqlite:///home/me/memory.db", "/home/me/memory.db"),
        ("sqlite:///C:/Users/me/memory.db", "C:/Users/me/memory.db"),
    ],
)
def test_a_sqlite_address_names_an_absolute_path(address: str, path: str) -> None:
    assert sqlite_path(address) == path


def test_the_default_store_lies_in_the_data_directory(home: Path) -> None:
    assert load().store == f"sqlite:///{home}/data/memory.db"
