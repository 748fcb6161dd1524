"""The wording of a constraint, from its evidence: what fails, what was tried, since when, how to revoke."""

from __future__ import annotations

import json

from vlk2.domain.entry import Attempt, Constraint, Entry, Kind
from vlk2.domain.moments import span, stamp
from vlk2.domain.observation import Fingerprint
from vlk2.domain.quoting import ANCHOR, code, one_line, quoted
from vlk2.domain.states import Reason

_SHOWN_ATTEMPTS = 4
_SHOWN_SYMBOLS = 4
_COMPILER_WORD = {
    "rust": "error[{}]",
    "typescript": "error {}",
    "csharp": "error {}",
    "scala": "[{}]",
    "sql": "SQLSTATE {}",
    "http": "HTTP {}",
}


def failure_name(fingerprint: Fingerprint) -> str:
    """What a developer calls it: `error[E0277]`, `error TS2345`, `KeyError`, `HTTP 503`."""
    name = fingerprint.type or "failure"
    if fingerprint.specific or fingerprint.language == "http":
        form = _COMPILER_WORD.get(fingerprint.language, "{}")
        prefix = form.split("{}")[0].strip().lower()
        name = name if prefix and name.lower().startswith(prefix) else form.format(name)
    return one_line(name, 80)


def due_to_show(count: int, shown: int) -> bool:
    """A constraint is shown again only when its count has doubled since it was last shown."""
    return count >= 2 * shown


def anchor_text(constraint: Constraint, now: int) -> str:
    """The text of a constraint. It begins `[SYSTEM ANCHOR]`, says what not to do and why, never what to do."""
    return _lesson(constraint) if constraint.entry.kind is Kind.LESSON else _loop(constraint, now)


def _loop(constraint: Constraint, now: int) -> str:
    entry, fingerprint = constraint.entry, constraint.entry.fingerprint
    name = failure_name(fingerprint) if fingerprint else "The same failure"
    lines = [f"{ANCHOR} {name} has repeated {constraint.count} times."]
    if fingerprint and fingerprint.signature.endswith(":*"):
        lines.append(f"Every {fingerprint.language} {name} counts here, whatever it names.")
    elif entry.headline:
        lines.append(
            f"What fails ({one_line(fingerprint.language if fingerprint else 'text', 40)}): {quoted(entry.headline, 200)}"
        )
    if fingerprint and fingerprint.symbols:
        named = ", ".join(code(s, 60) for s in fingerprint.symbols[:_SHOWN_SYMBOLS])
        more = len(fingerprint.symbols) - _SHOWN_SYMBOLS
        lines.append(f"It names {named}" + (f" and {more} more." if more > 0 else "."))
    since = f"first {stamp(constraint.first_at)}, last {stamp(constraint.last_at)}"
    tried = _tried(constraint.attempts)
    if tried:
        lines.append(f"Tried so far ({since}), each time with this failure:")
        lines += tried
    else:
        lines.append(f"Seen {since}.")
    if entry.lesson:
        lines.append(f"Note kept with it: {quoted(entry.lesson, 300)}")
    if constraint.expires_at is not None:
        lines.append(
            f"It looks transient (service, network, access or disk): this note lapses {span(max(0, constraint.expires_at - now))} from now."
        )
    if constraint.ended:
        lines.append(
            f"Contradicted: {_how(constraint.ended)} ({_when(constraint.ended)}). It stays because it is pinned, "
            "and refuses nothing."
        )
    else:
        lines.append("Do not retry it in the same way: nothing has changed the outcome so far.")
    if constraint.before:
        lines.append(once_ended(constraint.before))
    lines.append(_revocation(entry.id))
    return "\n".join(lines)


def _lesson(constraint: Constraint) -> str:
    entry = constraint.entry
    archived = constraint.count
    return "\n".join(
        [
            f"{ANCHOR} A dead end was declared here ({archived} {'entry' if archived == 1 else 'entries'} archived, {stamp(constraint.first_at)}).",
            f"In the agent's own words: {quoted(entry.lesson or '', 500)}",
            *_tried(constraint.attempts),
            _revocation(entry.id),
        ]
    )


def _tried(attempts: tuple[Attempt, ...]) -> list[str]:
    """One line for each different command and place, with how often, the latest last."""
    groups: dict[tuple[str, str], list[int]] = {}
    for attempt in attempts:
        groups.setdefault((attempt.command, attempt.file), []).append(attempt.at)
    rows = sorted(groups.items(), key=lambda group: group[1][-1])
    lines: list[str] = []
    if len(rows) > _SHOWN_ATTEMPTS:
        lines.append(f"  ({len(rows) - _SHOWN_ATTEMPTS} earlier forms left out)")
    for (command, file), times in rows[-_SHOWN_ATTEMPTS:]:
        what = code(command, 160) if command else "a recorded failure"
        where = f" in {code(file, 120)}" if file else ""
        lines.append(f"  - {what}{where}" + (f", {len(times)} times" if len(times) > 1 else ""))
    return lines


def closed_text(entry: Entry, reason: Reason, at: int, detail: str, ended: str | None) -> str:
    """A constraint that no longer stands, as recall shows it: what it was of, and how it ended."""
    what = (
        quoted(entry.lesson, 300)
        if entry.kind is Kind.LESSON and entry.lesson
        else quoted(entry.headline, 200)
    )
    name = (
        failure_name(entry.fingerprint)
        if entry.fingerprint and entry.kind is not Kind.LESSON
        else "a dead end"
    )
    by = f" by {code(entry.command, 120)}" if entry.command else ""
    why = f" ({one_line(detail, 160)})" if detail else ""
    lines = [
        f"{entry.id} · a constraint that no longer stands · {name}{by}: {what}",
        f"It left at {stamp(at)}: {reason.value}{why}.",
    ]
    return "\n".join(lines + ([once_ended(ended).replace("It once ended", "It ended")] if ended else []))


def once_ended(ending: str) -> str:
    """How an earlier constraint of the same failure had ended, in a sentence."""
    facts = json.loads(ending)
    kind = one_line(str(facts.get("kind") or ""), 20)
    change = {
        "": "",
        "environment": " Nothing in the project had changed: it was the environment.",
    }.get(kind, f" What had changed before: {kind}.")
    fix = f" `vlk2 show-fix {one_line(str(facts['of']), 20)}` has the change." if facts.get("fix") else ""
    return f"It once ended, {_when(ending)}: {_how(ending)}.{change}{fix}"


def _when(ending: str) -> str:
    return stamp(int(json.loads(ending)["at"]))


def _how(ending: str) -> str:
    return one_line(str(json.loads(ending).get("how") or "a success of the same command"), 160)


def _revocation(entry_id: str) -> str:
    return (
        f'If this is a misdiagnosis, withdraw it: vlk_revoke_future(constraint_id="{entry_id}", reason="…") '
        f'or `vlk2 revoke {entry_id} --reason "…"`.'
    )
