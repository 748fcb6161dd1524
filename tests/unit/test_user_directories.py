"""The directories that a hook finds by itself are those that `platformdirs` names."""

import platformdirs
import pytest

from vlk2.userfile import config_path, data_directory


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"XDG_CONFIG_HOME": "/somewhere/config", "XDG_DATA_HOME": "/somewhere/data"},
        {"XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "  "},
        {"XDG_CONFIG_HOME": "relative", "XDG_DATA_HOME": "./relative"},
        {"HOME": "/another/home"},
    ],
)
def test_the_users_directories_are_those_of_platformdirs(monkeypatch, environ):
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert data_directory({}) == platformdirs.user_data_dir("vlk2", appauthor=False)
    expected = platformdirs.user_config_dir("vlk2", appauthor=False) + "/config.json"
    assert config_path({}).replace("\\", "/") == expected.replace("\\", "/")
