"""Keep what a failure's files were before anything was tried, and at the success that ends it what had changed.

Locally only: the files are read by whoever can (`Files`), their texts are masked before they are kept, few and
short, gone when the command succeeds, and never shared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from vlk2.domain.ending import ENVIRONMENT, edited_since, ended_by
from vlk2.domain.entry import Constraint
from vlk2.domain.event import Event
from vlk2.domain.grounds import moved
from vlk2.domain.observation import Act, Outcome, Seen
from vlk2.domain.quoting import code
from vlk2.frozen import dataclass
from vlk2.hints import Protocol
from vlk2.ports import Fix, Timeline

MOST_FILES = 16


class Files(Protocol):
    """The files of a workspace. `text` answers the masked text of one by its path as a tool named it; None where
    there is none to be kept (absent, binary, too long, outside the workspace, or of a kind that holds secrets).
    `masked` masks any other text."""

    def text(self, path: str) -> str | None: ...
    def masked(self, text: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Ending:
    """When and by what a loop ended: the command that succeeded, and the kind of change that came before."""

    at: int
    how: str
    kind: str
    constraint_id: str
    fixed: bool

    def as_json(self) -> str:
        facts = {"at": self.at, "how": self.how, "kind": self.kind, "of": self.constraint_id}
        return json.dumps(facts | ({"fix": True} if self.fixed else {}), ensure_ascii=False)


def keep_files(
    timeline: Timeline, seen: Seen, event: Event, window: Sequence[Seen], files: Files, now: int
) -> None:
    """Keeps the file that a failing command is about, as it is now, or one that was edited while a command fails,
    as it was before that edit. Of a command and file only the first is kept."""
    if seen.outcome is Outcome.FAILURE and seen.command and seen.place:
        if (text := files.text(seen.place)) is not None:
            timeline.add_snapshot(seen.command, seen.place, text, now)
        return
    if seen.act is not Act.EDIT or not seen.changes or not seen.place or not (mark := _failing(window)):
        return
    from vlk2.domain.fixing import before_edit

    text = files.text(seen.place)
    before = before_edit(event.input, text) if text is not None else None
    if before is not None:
        timeline.add_snapshot(mark, seen.place, files.masked(before), now)


def _failing(window: Sequence[Seen]) -> str:
    """The command that last failed and has not succeeded since, "" where there is none."""
    succeeded: set[str] = set()
    for seen in reversed(window):
        if seen.command and seen.act is Act.RUN:
            if seen.outcome is Outcome.SUCCESS:
                succeeded.add(seen.command)
            elif seen.outcome is Outcome.FAILURE and seen.command not in succeeded:
                return seen.command
    return ""


def end(
    timeline: Timeline,
    constraint: Constraint,
    window: Sequence[Seen],
    stamps: str,
    files: Files | None,
    now: int,
    command: str,
) -> Ending:
    """What ended the loop at `window[-1]`, and its fix kept where the files are at hand."""
    key = constraint.entry.fingerprint.key if constraint.entry.fingerprint else None
    failed = [seen.seq for seen in window[:-1] if seen.fingerprint and seen.fingerprint.key == key] or [
        seen.seq for seen in timeline.evidence(constraint)
    ]
    kind = ended_by(edited_since(window, failed[-1] if failed else 0), moved(constraint.stamps, stamps))
    diff = ""
    if files is not None:
        from vlk2.domain.fixing import difference

        before = {kept.path: kept.body for kept in timeline.snapshots(constraint.marks)}
        after = {path: files.text(path) for path in list(before)[:MOST_FILES]}
        diff = difference({path: before[path] for path in after}, after)
        if diff and kind == ENVIRONMENT and "toolchain" not in moved(constraint.stamps, stamps):
            kind = ended_by((path for path in before if after.get(path) != before[path]), ())
        timeline.drop_snapshots(constraint.marks)
    if diff:
        timeline.add_fix(constraint, Fix(now, kind, diff))
    how = f"a success of {code(command, 120)}" if command else "a success of the same command"
    return Ending(now, how, kind, constraint.entry.id, bool(diff))
