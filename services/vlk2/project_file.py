"""A project's `vlk2.toml`, read only where its user trusts it as it is.

Standard library only, and nothing is imported or read for a project without the file: the hook asks too.
"""

from __future__ import annotations

import json
import os

from vlk2.domain.project_rules import ProjectRules, project_rules
from vlk2.errors import ConfigError

NAME = "vlk2.toml"
_NONE = ProjectRules()


def file_of(root: str) -> str:
    """Where the project file of a checkout (or workspace) would be."""
    return os.path.join(os.path.realpath(root), NAME)


def rules_for(root: str, data_directory: str) -> ProjectRules:
    """The rules of the project at `root`: none without a file, none for a file that is not trusted as it is.
    ConfigError for a trusted file that is wrong."""
    path = file_of(root)
    if not root or not os.path.exists(path):
        return _NONE
    content = _read(path)
    return parse(path, content) if is_trusted(path, content, data_directory) else _NONE


def parse(path: str, content: bytes) -> ProjectRules:
    import tomllib

    try:
        found = tomllib.loads(content.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error
    return project_rules(found, path)


def is_trusted(path: str, content: bytes, data_directory: str) -> bool:
    return trusted(data_directory).get(path) == _digest(content)


def trusted(data_directory: str) -> dict[str, str]:
    """The trusted files with the digest of what was trusted."""
    try:
        with open(_list(data_directory), encoding="utf-8") as file:
            found: object = json.load(file)
    except (OSError, ValueError):
        return {}
    return {str(k): str(v) for k, v in found.items()} if isinstance(found, dict) else {}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def trust(path: str, data_directory: str) -> ProjectRules:
    """Trusts the file as it is now, and answers what it sets. ConfigError where it is wrong or away."""
    content = _read(path)
    rules = parse(path, content)
    _save({**trusted(data_directory), path: _digest(content)}, data_directory)
    return rules


def distrust(path: str, data_directory: str) -> bool:
    """Takes the trust away; whether there was any."""
    held = trusted(data_directory)
    if held.pop(path, None) is None:
        return False
    _save(held, data_directory)
    return True


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from error


def _save(held: dict[str, str], data_directory: str) -> None:
    os.makedirs(data_directory, mode=0o700, exist_ok=True)
    path = _list(data_directory)
    fresh = f"{path}.{os.getpid()}"
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(held, file, indent=1)
    os.replace(fresh, path)


def _list(data_directory: str) -> str:
    return os.path.join(data_directory, "trusted.json")


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()
