"""Reading and writing a foreign file: links followed, mode kept, one backup, all or nothing."""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import tempfile
from pathlib import Path

from vlk2.clients.editing.unreadable import Unreadable

BACKUP = ".vlk2-backup"


def read(path: str) -> str | None:
    """The file's text with its own line ends, None where there is none. Unreadable where it is no UTF-8 text
    or may not be read."""
    try:
        return Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise Unreadable("a file stands where its folder should be") from None
    except UnicodeDecodeError:
        raise Unreadable("it is not UTF-8 text") from None
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None


def write(path: str, text: str, *, mode: int | None = None) -> None:
    """Replaces the file by `text` in one step. A symbolic link stays one: what it points to is replaced. The
    mode and owner stay; a new file has `mode`, or what the process gives new files."""
    target = Path(path).resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        before = target.stat()
    except FileNotFoundError:
        before = None
    handle, name = tempfile.mkstemp(prefix=".vlk2-", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(stat.S_IMODE(before.st_mode) if before else _new_mode() if mode is None else mode)
        if before and hasattr(os, "chown"):
            with contextlib.suppress(OSError):
                os.chown(temporary, before.st_uid, before.st_gid)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def back_up(path: str, text: str) -> None:
    """Keeps `text`, the file before our first edit, beside it; readable by those who may read the file."""
    try:
        mode = stat.S_IMODE(Path(path).stat().st_mode)
    except FileNotFoundError:
        mode = 0o600
    write(path + BACKUP, text, mode=mode)


def backup(path: str) -> str | None:
    """The file before our first edit, None where there was none (or its copy is gone)."""
    try:
        return read(path + BACKUP)
    except Unreadable:
        return None


def drop_backup(path: str) -> None:
    """Removes the copy, where there is one."""
    with contextlib.suppress(OSError):
        Path(path + BACKUP).unlink()


def remove(path: str) -> None:
    """Removes the file (of a link, what it points to)."""
    Path(path).resolve().unlink(missing_ok=True)


def drop_folder(path: str) -> None:
    """Removes the folder that a removed file lay in, where nothing is left in it but what Python made of the file."""
    gone = Path(path)
    compiled = gone.parent / "__pycache__"
    if gone.suffix == ".py":
        for made in compiled.glob(f"{gone.stem}.*.pyc"):
            made.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        if gone.suffix == ".py":
            compiled.rmdir()
    with contextlib.suppress(OSError):
        gone.parent.rmdir()


def difference(path: str, before: str | None, after: str | None) -> str:
    """A unified diff; "" where nothing changes. It is masked: the lines around a change may hold a token, and the
    address of a store its password."""
    from vlk2.redaction import mask

    lines = difflib.unified_diff(
        (before or "").splitlines(),
        (after or "").splitlines(),
        path if before is not None else "(new file)",
        path if after is not None else "(removed)",
        lineterm="",
    )
    return "\n".join(mask(line) for line in lines)


def _new_mode() -> int:
    held = os.umask(0)  # the process's mask can only be read by setting it
    os.umask(held)
    return 0o666 & ~held
