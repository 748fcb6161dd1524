"""A plan put into effect, or taken back: what would change, and the changes themselves."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field

from vlk2.clients.editing import files
from vlk2.clients.editing.unreadable import Unreadable
from vlk2.clients.plan import Edit, Plan, Vendor

_PATIENCE = 60


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after; None where there is none."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Blocked:
    """A file that we leave as it is, why, and what a person pastes instead ("" when taking back)."""

    path: str
    reason: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a plan means now: the vendor's commands to run, the files that change, and those that can't."""

    commands: tuple[tuple[str, ...], ...]
    changes: tuple[Change, ...]
    blocked: tuple[Blocked, ...]

    @property
    def nothing(self) -> bool:
        return not self.commands and not self.changes


@dataclass(slots=True)
class _Draft:
    """The files as they will be, edit by edit."""

    before: dict[str, str | None] = field(default_factory=dict[str, str | None])
    after: dict[str, str | None] = field(default_factory=dict[str, str | None])
    blocked: list[Blocked] = field(default_factory=list[Blocked])

    def text(self, path: str) -> str | None:
        if path not in self.before:
            self.before[path] = self.after[path] = files.read(path)
        return self.after[path]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(
            Change(path, before, self.after[path])
            for path, before in self.before.items()
            if before != self.after[path]
        )


def installed(plan: Plan) -> tuple[int, int]:
    """How many of the plan's files hold what they should, and how many there are."""
    edits = plan.edits
    return sum(holds(edit) for edit in edits), len(edits)


def present(plan: Plan) -> bool:
    """Whether any file holds something of ours, be it of another version."""
    for edit in plan.edits:
        with contextlib.suppress(Unreadable):
            text = files.read(edit.path)
            if text is not None and edit.remove(text, None) != text:
                return True
    return False


def to_install(plan: Plan, environ: Mapping[str, str]) -> Outlook:
    """What installing would do now. The vendor's command goes before an edit of ours where it is on the PATH."""
    draft = _Draft()
    commands: list[tuple[str, ...]] = []
    for step in plan.steps:
        edit = step.edit if isinstance(step, Vendor) else step
        try:
            text = draft.text(edit.path)
            after = edit.add(text or "")
        except Unreadable as error:
            draft.blocked.append(Blocked(edit.path, str(error), edit.snippet))
            continue
        if text == after:
            continue
        if isinstance(step, Vendor) and _program(step.add[0], environ):
            if text is not None and _touches(edit, text):
                commands.append(step.remove)
            commands.append(step.add)
        else:
            draft.after[edit.path] = after
    return Outlook(tuple(commands), draft.changes, tuple(draft.blocked))


def to_uninstall(plan: Plan, environ: Mapping[str, str]) -> Outlook:
    """What taking back would do now. A file comes back to the bytes it had where only layout would differ, and
    goes where it would be left empty and there was none before."""
    draft = _Draft()
    commands: list[tuple[str, ...]] = []
    for step in plan.steps:
        edit = step.edit if isinstance(step, Vendor) else step
        try:
            text = draft.text(edit.path)
            if text is None:
                continue
            original = files.backup(edit.path)
            after = edit.remove(text, original)
        except Unreadable as error:
            draft.blocked.append(Blocked(edit.path, str(error), ""))
            continue
        if after == text:
            continue
        if isinstance(step, Vendor) and _program(step.remove[0], environ):
            commands.append(step.remove)
            continue
        draft.after[edit.path] = _settled(edit, after, original)
    return Outlook(tuple(commands), draft.changes, tuple(draft.blocked))


def install(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    """Puts the plan into effect. Answers what did not go as it should, [] where all did."""
    outlook = to_install(plan, environ)
    for edit in _by_command(plan, outlook):
        with contextlib.suppress(Unreadable, OSError):
            _keep(plan, edit.path, files.read(edit.path))
    said = _run(outlook.commands, environ)
    # A vendor's command that failed, or was not seen to write what it should, is done by hand.
    without = {key: value for key, value in environ.items() if key != "PATH"} | {"PATH": os.devnull}
    for change in to_install(plan, without).changes:
        assert change.after is not None
        try:
            _keep(plan, change.path, change.before)
            files.write(change.path, change.after)
        except OSError as error:
            said.append(f"{change.path} could not be written: {error.strerror or error}")
    return said


def uninstall(plan: Plan, environ: Mapping[str, str]) -> list[str]:
    """Takes the plan back. Answers what did not go as it should."""
    outlook = to_uninstall(plan, environ)
    said = _run(outlook.commands, environ)
    without = {key: value for key, value in environ.items() if key != "PATH"} | {"PATH": os.devnull}
    changes = list(to_uninstall(plan, without).changes)
    for edit in _by_command(plan, outlook):
        if all(change.path != edit.path for change in changes):
            with contextlib.suppress(Unreadable):
                changes.append(_after_command(edit))
    for change in changes:
        try:
            if change.after is None:
                files.remove(change.path)
                files.drop_folder(change.path)
            else:
                if change.after != change.before:
                    files.write(change.path, change.after)
                if change.after == files.backup(change.path):
                    files.drop_backup(change.path)
        except OSError as error:
            said.append(f"{change.path} could not be written: {error.strerror or error}")
    return said


def holds(edit: Edit) -> bool:
    """Whether the file holds what it should."""
    try:
        text = files.read(edit.path)
        return text is not None and edit.add(text) == text
    except Unreadable:
        return False


def _settled(edit: Edit, after: str, original: str | None) -> str | None:
    if original is not None:
        return original if edit.alike(after, original) else after
    return None if edit.alike(after, "") else after


def _by_command(plan: Plan, outlook: Outlook) -> list[Edit]:
    """The edits that the vendor's commands of an outlook stand for."""
    return [
        step.edit
        for step in plan.steps
        if isinstance(step, Vendor) and (step.add in outlook.commands or step.remove in outlook.commands)
    ]


def _after_command(edit: Edit) -> Change:
    """What is left to do where the vendor's command took our entry out: the old layout, or no file at all."""
    text = files.read(edit.path)
    return Change(edit.path, text, None if text is None else _settled(edit, text, files.backup(edit.path)))


def _keep(plan: Plan, path: str, text: str | None) -> None:
    """Keeps the file as it was before us. One that holds something of ours already is no such state."""
    if text is not None and not any(_touches(edit, text) for edit in plan.edits if edit.path == path):
        files.back_up(path, text)


def _touches(edit: Edit, text: str) -> bool:
    """Whether the text holds something of ours; what cannot be told apart is taken for ours."""
    try:
        return edit.remove(text, None) != text
    except Unreadable:
        return True


def _run(commands: tuple[tuple[str, ...], ...], environ: Mapping[str, str]) -> list[str]:
    said: list[str] = []
    for command in commands:
        program = _program(command[0], environ)
        if program is None:
            continue
        try:
            done = subprocess.run(
                [program, *command[1:]],
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_PATIENCE,
                env=dict(environ),
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            said.append(
                f"`{command[0]} {command[1]} {command[2]}` failed ({error}); its file was edited instead."
            )
            continue
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            said.append(
                f"`{' '.join(command[:3])}` ended with {done.returncode} "
                f"({last[0] if last else 'no output'}); its file was edited instead."
            )
    return said


def _program(name: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=environ.get("PATH", os.defpath))
