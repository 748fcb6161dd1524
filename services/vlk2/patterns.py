"""Compiled regular expressions, kept in a file between the runs of a hook.

A hook lives for a tenth of a second and would spend an eighth of it on compiling the same few dozen patterns, which
Python keeps in memory only. What `re` compiles a pattern to is a list of numbers; here it is read from a file of the
data directory, and patterns that are not in it are added. The file is for one build of Python and never for another;
where it is missing, unreadable or of another build, `re` compiles as ever.
"""

# The inner modules of `re` have no published types.
# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import marshal
import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 400
"""Patterns that are kept at most: those of every table, and room."""
_Kept = tuple[int, bytes, int, "dict[str, int]", "tuple[str | None, ...]"]


class Patterns:
    """Puts itself between `re` and its compiler, for this process."""

    def __init__(self, directory: str) -> None:
        self._path = os.path.join(
            directory, f"patterns-{sys.implementation.cache_tag}-{sys.hexversion:x}.bin"
        )
        self._held: dict[tuple[str, int], _Kept] = {}
        self._new = False
        self._magic = (0, 0)

    def use(self) -> bool:
        """From now on. False, and nothing changed, on a Python whose compiler is not laid out as is known here."""
        try:
            from re import _compiler, _parser

            engine = _compiler._sre
            magic = (int(engine.MAGIC), int(engine.CODESIZE))
            parse, code, build = _parser.parse, _compiler._code, engine.compile
            known = _compiler.compile
        except (ImportError, AttributeError):
            return False
        if sys.version_info[:2] not in ((3, 11), (3, 12), (3, 13)) or magic[1] != 4:
            return False
        self._held = self._read(magic)
        held = self._held

        def compiled(pattern: object, flags: int = 0) -> object:
            if type(pattern) is not str or flags & re.DEBUG:
                return known(pattern, flags)
            kept = held.get((pattern, int(flags)))
            if kept is None:
                tree = parse(pattern, flags)
                numbers: list[int] = code(tree, flags)
                names: Mapping[str, int] = tree.state.groupdict
                groups: int = tree.state.groups
                order: list[str | None] = [None] * groups
                for name, number in names.items():
                    order[number] = name
                data = b"".join(number.to_bytes(4, sys.byteorder) for number in numbers)
                kept = (int(flags | tree.state.flags), data, groups - 1, dict(names), tuple(order))
                if len(held) < MOST:
                    held[pattern, int(flags)] = kept
                    self._new = True
            return build(pattern, kept[0], memoryview(kept[1]).cast("I").tolist(), *kept[2:])

        _compiler.compile = compiled
        self._magic = magic
        return True

    def save(self) -> None:
        """Writes the file where a pattern was added. What cannot be written is compiled again next time."""
        if not self._new:
            return
        new = f"{self._path}.{os.getpid()}"
        try:
            handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(marshal.dumps((self._magic, self._held)))
            os.replace(new, self._path)
        except (OSError, ValueError):
            return

    def _read(self, magic: tuple[int, int]) -> dict[tuple[str, int], _Kept]:
        try:
            with open(self._path, "rb") as file:
                written, held = marshal.loads(file.read())  # noqa: S302 - a file of the user's own, 0600
        except (OSError, ValueError, EOFError, TypeError):
            return {}
        return held if written == magic and isinstance(held, dict) else {}
