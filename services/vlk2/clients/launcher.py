"""The stable launchers that a client's file names, in the words of each shell.

No form can lock a client out: where the launcher is gone the command ends with 0 and says nothing.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vlk2.errors import ConfigError

HOOK = "vlk2-hook"
SERVER = "vlk2"
_PASSING = ("/uv/archive-v", "/uv/builds-v", "/uv/environments-v", "/.cache/uv/", "/pipx/.cache/")
_BATCH = (".cmd", ".bat")


@dataclass(frozen=True, slots=True)
class Launcher:
    """`hook` and `server` are absolute paths, or bare names for a project's files. `environment` is what a
    client must pass on, since it filters its own."""

    hook: str
    server: str
    windows: bool = False
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def by_name(self) -> bool:
        return self.hook == HOOK

    def posix(self, client: str) -> str:
        """For `sh` and its like, fish among them."""
        if self.by_name:
            return f"command -v {HOOK} >/dev/null 2>&1 && {HOOK} {client} || exit 0"
        path = shlex.quote(self.hook)
        return f"[ -x {path} ] && {self._passed()}{path} {client} || exit 0"

    def any_shell(self, client: str) -> str:
        """For a shell that we don't know, or none at all: words that `shlex` splits, with a `sh` of their own."""
        if self.by_name:
            return f"sh -c '{self.posix(client)}'"
        inner = f'[ -x "$0" ] && {self._passed()}"$0" {client} || exit 0'
        return f"sh -c {shlex.quote(inner)} {shlex.quote(self.hook)}"

    def cmd(self, client: str) -> str:
        """For `cmd.exe /c`."""
        if self.by_name:
            return f"where /q {HOOK} && {HOOK} {client} || exit /b 0"
        return f'if exist "{self.hook}" "{self.hook}" {client}'

    def cmd_from_any(self, client: str) -> str:
        """For Windows where we don't know whether `cmd.exe` or PowerShell reads it."""
        return f"cmd /d /c {self.cmd(client)}"

    def powershell(self, client: str) -> str:
        """For PowerShell."""
        if self.by_name:
            return f"if (Get-Command {HOOK} -ErrorAction SilentlyContinue) {{ {HOOK} {client} }}"
        path = "'" + self.hook.replace("'", "''") + "'"
        return f"if (Test-Path -LiteralPath {path}) {{ & {path} {client} }}"

    def words(self, client: str) -> list[str]:
        """For a client that starts a program without a shell."""
        passed = [f"{key}={value}" for key, value in self.environment.items()]
        if passed and not self.windows:
            return ["env", *passed, self.hook, client]
        return self._started(self.hook, client)

    def serve(self) -> list[str]:
        """The MCP server's command and arguments."""
        return self._started(self.server, "serve")

    def _started(self, path: str, argument: str) -> list[str]:
        if self.windows and path.lower().endswith(_BATCH):
            return ["cmd", "/d", "/c", path, argument]  # a batch file is no program of its own
        return [path, argument]

    def _passed(self) -> str:
        if not self.environment:
            return ""
        return "env " + "".join(f"{key}={shlex.quote(value)} " for key, value in self.environment.items())


def by_name(*, windows: bool) -> Launcher:
    """The launchers as a project's files name them: found on each developer's PATH."""
    return Launcher(HOOK, SERVER, windows)


def find(environ: Mapping[str, str]) -> Launcher:
    """The launchers of this installation. A link on the PATH goes before the file it points to, since it
    outlives an upgrade. ConfigError where this is an environment that will be gone."""
    windows = os.name == "nt"
    return Launcher(
        _launcher(HOOK, environ), _launcher(SERVER, environ), windows, passed_environment(environ)
    )


def passed_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Where user file and data lie, when a client that passes on nothing but the home would look elsewhere."""
    from vlk2.userfile import config_path, data_directory

    passed: dict[str, str] = {}
    for name, folder, where in (
        ("VLK2_CONFIG", "XDG_CONFIG_HOME", config_path),
        ("VLK2_DATA", "XDG_DATA_HOME", data_directory),
    ):
        if environ.get(name) or environ.get(folder):
            passed[name] = str(Path(where(environ)).absolute())
    return passed


def _launcher(name: str, environ: Mapping[str, str]) -> str:
    file = name + (".exe" if os.name == "nt" else "")
    own = [
        str(Path(folder, file))
        for folder in (sysconfig.get_path("scripts"), str(Path(sys.executable).parent))
    ]
    beside = str(Path(sys.argv[0]).absolute().with_name(file))
    installed = next((path for path in [*own, beside] if Path(path).is_file()), None)
    on_path = shutil.which(name, path=environ.get("PATH"))
    if on_path and (installed is None or Path(on_path).resolve() == Path(installed).resolve()):
        found = str(Path(on_path).absolute())
    elif installed:
        found = installed
    else:
        raise ConfigError(f"{name} was not found beside this program nor on the PATH: install vlk2 again.")
    if any(part in found.replace("\\", "/") for part in _PASSING):
        raise ConfigError(
            f"this vlk2 runs from a passing environment ({Path(found).parent}), which a client would lose: "
            "install it first (`uv tool install vlk2` or `pipx install vlk2`)."
        )
    return found
