"""What a project may set for itself: its loop threshold, its own fingerprint rows, what is not recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vlk2.errors import ConfigError, InvalidInput
from vlk2.frozen import dataclass
from vlk2.hints import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from vlk2.domain.fingerprint.rows import Table

_KEYS = ("loop_threshold", "exclude", "fingerprint")
_MOST_PATTERNS = 200


@dataclass(frozen=True, slots=True)
class ProjectRules:
    """The rules of one project. `exclude` are patterns (`*`, `?`) of commands and files that are not recorded."""

    loop_threshold: int | None = None
    exclude: tuple[str, ...] = ()
    table: Table | None = None

    def excludes(self, *names: str) -> bool:
        """Whether a command or a file is not to be recorded."""
        if not self.exclude:
            return False
        from fnmatch import fnmatchcase

        return any(fnmatchcase(name, pattern) for pattern in self.exclude for name in names if name)


def project_rules(content: Mapping[str, object], source: str) -> ProjectRules:
    """The rules that a `vlk2.toml` holds. ConfigError names `source` and what is wrong: nothing but a
    threshold, exclusions and fingerprint rows comes from a checkout."""
    for key in content:
        if key not in _KEYS:
            raise ConfigError(f"{source}: {key} cannot be set by a project; only {', '.join(_KEYS)} can.")
    threshold = content.get("loop_threshold")
    if threshold is not None and (
        not isinstance(threshold, int) or isinstance(threshold, bool) or not 2 <= threshold <= 24
    ):
        raise ConfigError(f"{source}: loop_threshold must be a whole number from 2 to 24.")
    exclude = content.get("exclude", [])
    if not _texts(exclude) or len(cast("list[str]", exclude)) > _MOST_PATTERNS:
        raise ConfigError(f"{source}: exclude must be a list of at most {_MOST_PATTERNS} patterns.")
    return ProjectRules(threshold, tuple(cast("list[str]", exclude)), _table(content, source))


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in cast("list[object]", value))


def _table(content: Mapping[str, object], source: str) -> Table | None:
    rows = content.get("fingerprint")
    if not rows:
        return None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in cast("list[object]", rows)):
        raise ConfigError(f"{source}: [[fingerprint]] must be a list of tables.")
    from vlk2.domain.fingerprint import own_rows

    try:
        return own_rows(cast("Sequence[Mapping[str, object]]", rows))
    except InvalidInput as error:
        raise ConfigError(f"{source}: {error.message}") from error
