"""What lies around an event on disk, looked at only when it is asked for; see `vlk2.app.hear.Surroundings`."""

from __future__ import annotations

import os

from vlk2 import identity
from vlk2.domain.naming import named_files
from vlk2.frozen import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from vlk2.domain.event import Event


LONGEST_TEXT = 48 * 1024
_SECRET = (
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    "credentials",
    "secrets.yml",
    "secrets.yaml",
)


class Around:
    """What lies around an event that happened in the folder `cwd` of the workspace `root` ("": the same)."""

    def __init__(self, cwd: str, root: str = "") -> None:
        self._top = root or cwd or os.getcwd()
        self._cwd = cwd or self._top
        self._stamps: str | None = None
        self._root: str | None = None
        self._worktree: str | None = None

    @property
    def root(self) -> str:
        if self._root is None:
            self._root = identity.package_root(self._cwd)
        return self._root

    def project(self) -> str:
        return identity.project_of(self._top)

    def worktree(self) -> str:
        """The checkout that the event happened in; without one the workspace, where it lies inside of it."""
        if self._worktree is None:
            if identity.common_directory(self._cwd) is not None:
                self._worktree = identity.worktree_of(self._cwd)
            else:
                top, cwd = os.path.realpath(self._top), os.path.realpath(self._cwd)
                self._worktree = top if cwd == top or cwd.startswith(top + os.sep) else cwd
        return self._worktree

    def stamps(self) -> str:
        if self._stamps is None:
            self._stamps = identity.stamps(self.worktree())
        return self._stamps

    def files(self, text: str) -> str:
        """The state of the files that `text` names, of HEAD, index and lockfiles."""
        return self.state_of(named_files(text))

    def state_of(self, names: Iterable[str]) -> str:
        """The state of the files of these names, of HEAD, index and lockfiles."""
        folders = list(dict.fromkeys((self._cwd, self.root or self.worktree(), self.worktree())))
        marks = [self.stamps(), identity.index_stamp(self.worktree())]
        for name in names:
            paths = [name] if os.path.isabs(name) else [os.path.join(folder, name) for folder in folders]
            marks += [f"{path}={identity.file_stamp(path)}" for path in paths]
        return "\n".join(marks)

    def text(self, path: str) -> str | None:
        """The masked text of a file inside the worktree, at most 48 KiB; see `vlk2.app.fix_trail.Files`."""
        worktree = self.worktree()
        full = os.path.realpath(os.path.join(self._cwd, path))
        name = os.path.basename(full).lower()
        inside = full.startswith(worktree + os.sep) and f"{os.sep}.git{os.sep}" not in full
        if not inside or name.startswith(".env") or name.endswith(_SECRET):
            return None
        try:
            if os.stat(full).st_size > LONGEST_TEXT:
                return None
            with open(full, "rb") as file:
                data = file.read(LONGEST_TEXT + 1)
            return None if b"\0" in data else self.masked(data.decode())
        except (OSError, ValueError):
            return None

    def masked(self, text: str) -> str:
        from vlk2.redaction import mask

        return mask(text)

    def place(self, event: Event, now: int) -> Event:
        """The event with its worktree and its time."""
        return replace(
            event,
            worktree=event.worktree or self.worktree(),
            at=min(event.at, now) if event.at else now,
        )
