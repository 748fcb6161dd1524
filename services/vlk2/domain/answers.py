"""What a tool or a command answers in words: what became of the call, and what can be done next."""

from __future__ import annotations

from vlk2.domain.anchors import failure_name
from vlk2.domain.observation import Fingerprint, Outcome
from vlk2.domain.quoting import code


def named(fingerprint: Fingerprint | None) -> str:
    """`rust error[E0277] (`Ledger`)`, or "no failure"."""
    if fingerprint is None:
        return "no failure"
    symbols = ", ".join(code(s, 60) for s in fingerprint.symbols[:3])
    return f"{fingerprint.language} {failure_name(fingerprint)}" + (f" ({symbols})" if symbols else "")


def recorded(
    *,
    entry_id: str | None,
    state: str | None,
    outcome: Outcome,
    fingerprint: Fingerprint | None,
    repeats: int,
    threshold: int,
    anchor: str,
    constraint_id: str | None,
    retired: tuple[str, ...],
    duplicate: bool,
    clipped: bool,
    learned: str = "",
) -> str:
    """The answer to a record: the constraint's text first where it is to be shown."""
    parts = [anchor] if anchor else []
    again = " It was held already; nothing was counted twice." if duplicate else ""
    if entry_id is None:
        what = "a success" if outcome is Outcome.SUCCESS else f"{outcome.value} without text"
        parts.append(f"Recorded {what}.{again}")
    elif outcome is Outcome.UNKNOWN:
        parts.append(f"Recorded {entry_id} ({state}): no failure was recognised in it.{again}")
    elif constraint_id and not anchor:
        parts.append(
            f"Recorded {entry_id} ({state}): {named(fingerprint)}, occurrence {repeats} under the standing "
            f"constraint {constraint_id}.{again}"
        )
    elif constraint_id:
        parts.append(f"Recorded {entry_id} ({state}): {named(fingerprint)}.{again}")
    else:
        parts.append(
            f"Recorded {entry_id} ({state}): {named(fingerprint)}, occurrence {repeats} of {threshold} "
            f"before it counts as a loop.{again}"
        )
    if learned:
        parts.append(f"What the team learned of it:\n{learned}")
    if retired:
        parts.append(f"This success retired {', '.join(retired)}: it no longer holds here.")
    if clipped:
        parts.append("The log was longer than 64 KiB: its head and tail are kept.")
    return "\n\n".join(parts)
