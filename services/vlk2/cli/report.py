"""`vlk2 report`: what was said or would have been, what that spares, and where it was wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from vlk2.cli.output import answer, json_option, memory
from vlk2.errors import InvalidInput

if TYPE_CHECKING:
    from vlk2.app.report import Report, Spoken

_UNITS = {"h": 3_600, "d": 86_400, "w": 604_800}
_KINDS = {
    "context": "constraint after a result",
    "advice": "word before a call",
    "refusal": "refusal",
    "start": "list at a session's start",
}


@click.command(epilog="Example: vlk2 install claude-code --observe, then after some days: vlk2 report")
@click.option("--project", default=None, help="Another project than that of the working directory.")
@click.option("--since", default="", metavar="AGE", help="Only what is not older: 12h, 7d, 2w.")
@json_option
def report(project: str | None, since: str, as_json: bool) -> None:
    """Tell what was said, or in observe mode would have been; what that spares; and where it was wrong."""
    mine = memory(project)
    found = mine.report(_microseconds(since))
    answer(
        as_json,
        "\n".join(_lines(found)),
        team=found.owner.team,
        agent=found.owner.agent,
        project=found.owner.project,
        runs=found.runs,
        observed=_group(found, said=False),
        said=_group(found, said=True),
        overrides=found.overrides,
        wrong=[
            {"constraint_id": w.constraint_id, "kind": w.kind.value, "at": w.at, "said": w.said, "why": w.why}
            for w in found.wrong
        ],
        constraints=[
            {
                "constraint_id": one.constraint_id,
                "name": one.name,
                "headline": one.headline,
                "said": one.said,
                "words": {kind.value: n for kind, n in one.words.items()},
                "first_at": one.first_at,
                "steps_after": one.steps_after,
                "tokens_after": one.tokens_after,
            }
            for one in found.spoken
        ],
    )


def _group(found: Report, *, said: bool) -> dict[str, object]:
    steps, tokens = found.in_vain if said else found.spared
    words: dict[str, int] = {}
    for one in found.spoken:
        if one.said == said:
            for kind, count in one.words.items():
                words[kind.value] = words.get(kind.value, 0) + count
    wrong = sum(w.said == said for w in found.wrong)
    return {"words": words, "steps_after": steps, "tokens_after": tokens, "wrong": wrong}


def _lines(found: Report) -> list[str]:
    lines = [f"{found.owner.project}: {found.runs} sessions with a word to say."]
    for said, would in ((False, "would have been said (observing)"), (True, "was said")):
        mine = [one for one in found.spoken if one.said == said]
        if not mine:
            continue
        lines += ["", f"What {would}:"]
        lines += [_one(one) for one in mine]
        steps, tokens = found.in_vain if said else found.spared
        after = f"{steps} steps and at least {tokens} tokens"
        lines.append(
            f"After the first word came {after} more of the same failures: what it did not spare."
            if said
            else f"It would have come before {after} of the same failures: the most that it could have spared."
        )
    if found.overrides:
        lines += ["", f"{found.overrides} refusals were overridden by the same call again."]
    if found.wrong:
        lines += ["", "Where it was wrong:"]
        lines += [
            f"  {w.constraint_id}  {_KINDS[w.kind.value]}: {w.why}" + ("" if w.said else " (it was not said)")
            for w in found.wrong
        ]
    elif found.spoken:
        lines += ["", "Nowhere was it seen to be wrong."]
    return lines


def _one(one: Spoken) -> str:
    from vlk2.domain.moments import stamp

    words = ", ".join(
        f"{count} {_KINDS[kind.value]}{'s' if count > 1 else ''}" for kind, count in one.words.items()
    )
    what = f"  {one.constraint_id}  {one.name}: {words}, first {stamp(one.first_at)}"
    return f"{what}; {one.steps_after} more after it"


def _microseconds(since: str) -> int:
    """The age in microseconds, 0 for no limit."""
    if not since:
        return 0
    found = re.fullmatch(r"(\d{1,6})\s*([hdw])", since.strip().lower())
    if not found:
        raise InvalidInput(f"{since!r} is no age: say 12h, 7d or 2w.")
    return int(found.group(1)) * _UNITS[found.group(2)] * 1_000_000
