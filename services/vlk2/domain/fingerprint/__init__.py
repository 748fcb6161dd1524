"""Text -> Diagnosis: one failure known by language and type, not by string.

Everything behind these functions is imported when first called.
"""

from __future__ import annotations

from functools import cache

from vlk2.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vlk2.domain.fingerprint.engine import Explanation
    from vlk2.domain.fingerprint.rows import Table
    from vlk2.domain.observation import Diagnosis, Fingerprint

ALGORITHM = "1"
"""The version that every signature begins with; any change of output is a new one."""


def diagnose(
    text: str,
    *,
    is_error: bool | None = None,
    exit_code: int | None = None,
    action: str = "",
    extra: Table | None = None,
) -> Diagnosis:
    """Say whether `text` is the print of a failure, of which one, and of which set of diagnostics.

    `action` is the call that printed it, `TOOL: command`. The verdict decides first: a status other than 0
    or `is_error` is a failure, except 130 and 143 (an interruption) and exit 1 of a command that answers by
    it (grep, diff, test). Without a verdict, and where a pipe or `|| true` hid the status, only text that has
    the shape of a failing tool's own output is one. `extra` holds a project's own rows. Never raises on any
    text; linear in its length.
    """
    return _decision()(text, is_error=is_error, exit_code=exit_code, action=action, extra=extra)


@cache
def _decision() -> Callable[..., Diagnosis]:
    from vlk2.domain.fingerprint.engine import diagnose as decide

    return decide


def explain(
    text: str,
    *,
    is_error: bool | None = None,
    exit_code: int | None = None,
    action: str = "",
    extra: Table | None = None,
) -> Explanation:
    """The same decision as `diagnose`, with its reasons: the row, the template, the masks, the other candidates."""
    from vlk2.domain.fingerprint.engine import explain as why

    return why(text, is_error=is_error, exit_code=exit_code, action=action, extra=extra)


def own_rows(rows: Sequence[Mapping[str, object]]) -> Table:
    """The table of a project's own rows, for `extra`. Raises InvalidInput that names the row and what is wrong."""
    from vlk2.domain.fingerprint import project_rows

    return project_rows.own_rows(rows)


def repeat(tool: str, call: str) -> Fingerprint:
    """The failure `call/repeat`: the same call with the same result, without any error.

    `call` names the identical call (its keyed hash, or the command); it is the one symbol.
    """
    from hashlib import sha256

    from vlk2.domain.observation import Fingerprint

    digest = sha256(f"call\nrepeat\n{tool}".encode("utf-8", "replace")).hexdigest()[:12]
    return Fingerprint(
        language="call",
        type="repeat",
        signature=f"{ALGORITHM}:call:repeat:{digest}",
        symbols=(call,),
        headline=f"{tool}: the same call with the same result",
    )


def wildcard(signature: str) -> str:
    """The signature that stands for every failure of the same type: `VERSION:LANGUAGE:TYPE:*`."""
    return signature.rpartition(":")[0] + ":*"
