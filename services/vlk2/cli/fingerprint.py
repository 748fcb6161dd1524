"""`vlk2 fingerprint`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any, cast

import click

from vlk2.cli.output import json_option
from vlk2.domain.fingerprint import diagnose, explain
from vlk2.domain.observation import Diagnosis, Outcome
from vlk2.domain.text import normalise
from vlk2.errors import InvalidInput
from vlk2.identity import worktree_of
from vlk2.project_file import rules_for
from vlk2.userfile import data_directory


@click.command(
    epilog="Examples: cargo check 2>&1 | vlk2 fingerprint    vlk2 fingerprint --jsonl < failures.jsonl"
)
@click.option("--jsonl", is_flag=True, help="One JSON object a line in, one a line out, in order.")
@click.option("--explain", "why", is_flag=True, help="Say which row matched and what was masked.")
@click.option("--exit-code", type=int, default=None, help="The exit code of what printed it.")
@click.option("--action", default="", help="The call that printed it, as `TOOL: command`.")
@json_option
def fingerprint(jsonl: bool, why: bool, exit_code: int | None, action: str, as_json: bool) -> None:
    """Tell which failure the text on stdin is: language and type, symbols and signature.

    With --jsonl each line is {"id", "text"} with optional "is_error", "exit_code" and "action".
    """
    own = rules_for(worktree_of(os.getcwd()), data_directory(os.environ)).table  # noqa: PTH109
    if jsonl:
        for row in _rows():
            verdict = {name: row[name] for name in ("is_error", "exit_code") if row.get(name) is not None}
            found = diagnose(
                normalise(row["text"]), action=str(row.get("action") or ""), extra=own, **verdict
            )
            click.echo(json.dumps({"id": row.get("id"), **diagnosis_fields(found)}, ensure_ascii=False))
        return
    text = normalise(sys.stdin.buffer.read().decode("utf-8", "replace"))
    found = diagnose(text, exit_code=exit_code, action=action, extra=own)
    if as_json and not why:
        click.echo(json.dumps(diagnosis_fields(found), ensure_ascii=False))
        return
    if not why:
        click.echo(_for_people(found))
        return
    told = explain(text, exit_code=exit_code, action=action, extra=own)
    if as_json:
        extra = {
            "verdict": told.verdict,
            "row": told.row,
            "template": told.template,
            "masked": [list(mask) for mask in told.masked],
            "candidates": [list(candidate) for candidate in told.candidates],
        }
        click.echo(json.dumps({**diagnosis_fields(found), **extra}, ensure_ascii=False, default=str))
        return
    lines = [
        _for_people(found),
        f"verdict    {told.verdict}",
        f"row        {told.row or '-'}",
        f"template   {told.template or '-'}",
        "masked     " + ("; ".join(" ".join(map(str, mask)) for mask in told.masked[:20]) or "-"),
    ]
    lines += [f"candidate  {' '.join(str(part) for part in one)}" for one in told.candidates[:12]]
    click.echo("\n".join(lines))


def diagnosis_fields(found: Diagnosis) -> dict[str, Any]:
    """A diagnosis as the machine contract has it; nulls where it is no failure."""
    one = found.fingerprint
    return {
        "failure": found.outcome is Outcome.FAILURE,
        "language": one.language if one else None,
        "type": one.type if one else None,
        "symbols": list(one.symbols) if one else None,
        "signature": one.signature if one else None,
        "headline": one.headline if one else None,
    }


def _rows() -> Iterator[dict[str, Any]]:
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        try:
            row: object = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"line {number} is no JSON: {error}") from error
        fields = cast("dict[str, Any]", row) if isinstance(row, dict) else {}
        if not isinstance(fields.get("text"), str):
            raise InvalidInput(f'line {number} must be an object with "text" (a string).')
        yield fields


def _for_people(found: Diagnosis) -> str:
    one = found.fingerprint
    if one is None:
        return f"no failure ({found.outcome.value})"
    lines = [
        f"failure    {one.language} {one.type}",
        f"headline   {one.headline}",
        f"symbols    {', '.join(one.symbols) or '-'}",
        f"signature  {one.signature}",
        f"kind       {'a specific code' if one.specific else 'a catch-all'}{', transient' if one.transient else ''}",
    ]
    if len(found.failing) > 1:
        lines.append(f"with it    {len(found.failing) - 1} more in the same output")
    return "\n".join(lines)
