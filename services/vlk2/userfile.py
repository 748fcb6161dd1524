"""Where the user file and the default store lie, and the few settings that a hook reads from them.

Standard library and platformdirs only: the hook may not import pydantic. `vlk2.settings` reads the same file
and the same variables; one test feeds both the same inputs.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping

from vlk2.errors import ConfigError
from vlk2.frozen import dataclass

HOOK_SETTINGS = ("store", "team", "agent", "project", "enforce")
LOOP_THRESHOLDS = range(2, 25)
_XDG = {
    "user_config_dir": ("XDG_CONFIG_HOME", ".config"),
    "user_data_dir": ("XDG_DATA_HOME", ".local/share"),
}
ENFORCE = ("refuse", "advise", "off")
SHARE = ("full", "facts", "none")


@dataclass(frozen=True, slots=True)
class HookSettings:
    """What a hook needs to know; `project` is "" where it follows from the workspace. `observe` (user file only)
    records and says nothing."""

    store: str
    team: str
    agent: str
    project: str
    enforce: str
    loop_threshold: int = 3
    observe: bool = False


def config_path(environ: Mapping[str, str]) -> str:
    """The one user file: `VLK2_CONFIG`, else `config.json` in the platform's configuration directory."""
    return environ.get("VLK2_CONFIG") or os.path.join(_directory("user_config_dir"), "config.json")


def data_directory(environ: Mapping[str, str]) -> str:
    """Where the default store and the spool lie: `VLK2_DATA`, else the platform's data directory."""
    return environ.get("VLK2_DATA") or _directory("user_data_dir")


def default_store(environ: Mapping[str, str]) -> str:
    return f"sqlite:///{os.path.join(data_directory(environ), 'memory.db')}"


def default_agent(environ: Mapping[str, str]) -> str:
    """The user's name on this machine."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        if environ.get(name):
            return environ[name]
    try:
        import pwd
    except ImportError:
        return "agent"
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return "agent"


def sqlite_path(store: str) -> str:
    """The file of a `sqlite:///` address: what follows the two slashes of the (empty) host; on Windows the
    drive may come straight after the third."""
    path = store.removeprefix("sqlite://")
    if len(path) > 2 and path[0] == "/" and path[2] == ":":
        return path[1:]
    return path[1:] if path.startswith("//") else path


def share_of(environ: Mapping[str, str], project: str) -> str:
    """What of a project may leave this machine for a team server: `full`, `facts` (which failure, never text) or
    `none`. `VLK2_SHARE`, else the project's own in the user file's `share_projects`, else its `share`, else full."""
    path = config_path(environ)
    held = read_user_file(path)
    projects = held.get("share_projects")
    own = ""
    if isinstance(projects, dict):
        own = str(projects.get(project, ""))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]
    value = environ.get("VLK2_SHARE") or own or held.get("share") or "full"
    if value not in SHARE:
        raise ConfigError(f"share is {value!r} (VLK2_SHARE or {path}): it must be one of {', '.join(SHARE)}")
    return str(value)


def read_user_file(path: str) -> dict[str, object]:
    """The user file's object, {} where there is none. ConfigError names the file where it is no JSON object."""
    try:
        with open(path, encoding="utf-8") as file:
            found: object = json.load(file)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"the user file {path} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"the user file {path} must hold a JSON object")
    return {str(key): value for key, value in found.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def hook_settings(environ: Mapping[str, str]) -> HookSettings:
    """The hook's settings: `VLK2_*` environment over the user file over defaults."""
    path = config_path(environ)
    held = read_user_file(path)
    values: dict[str, str] = {}
    for name in HOOK_SETTINGS:
        variable = f"VLK2_{name.upper()}"
        if environ.get(variable):
            values[name] = environ[variable]
        elif held.get(name):
            value = held[name]
            if not isinstance(value, str):
                raise ConfigError(f"{name} in {path} must be a text")
            values[name] = value
    enforce = values.get("enforce", "refuse")
    if enforce not in ENFORCE:
        raise ConfigError(f"enforce is {enforce!r}: it must be one of {', '.join(ENFORCE)}")
    return HookSettings(
        store=values.get("store") or default_store(environ),
        team=values.get("team") or "default",
        agent=values.get("agent") or default_agent(environ),
        project=values.get("project", ""),
        enforce=enforce,
        loop_threshold=_loop_threshold(environ, held, path),
        observe=held.get("observe") is True,
    )


def _loop_threshold(environ: Mapping[str, str], held: Mapping[str, object], path: str) -> int:
    given = environ.get("VLK2_LOOP_THRESHOLD")
    source = "VLK2_LOOP_THRESHOLD" if given else f"loop_threshold in {path}"
    value: object = given or held.get("loop_threshold") or 3
    if isinstance(value, int | str) and str(value).isdecimal() and int(value) in LOOP_THRESHOLDS:
        return int(value)
    raise ConfigError(f"{source} is {value!r}: it must be a number from 2 to 24")


def _directory(kind: str) -> str:
    """The platform's directory for our files, as `platformdirs` names it; on Linux without its import, which costs
    a hook as much as all else that it does."""
    if sys.platform.startswith("linux") and "ANDROID_DATA" not in os.environ:
        variable, default = _XDG[kind]
        base = os.environ.get(variable, "")
        if not os.path.isabs(base):
            base = os.path.join(os.path.expanduser("~"), default)
        return os.path.join(base, "vlk2")
    import platformdirs

    return str(getattr(platformdirs, kind)("vlk2", appauthor=False))
