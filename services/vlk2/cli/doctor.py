"""`vlk2 doctor`: whether it works, and what to do where it does not."""

from __future__ import annotations

import os
import sys

import click

from vlk2.cli.output import answer, json_option, memory

_SIGN = {"ok": ("ok  ", "green"), "note": ("note", "yellow"), "fail": ("FAIL", "red")}


@click.command(epilog="Example: vlk2 doctor --json")
@json_option
def doctor(as_json: bool) -> None:
    """Check store, settings, every client's hooks and when they were last heard, the cycle and the spool.

    Ends with 1 when something fails; a note is worth knowing and no fault.
    """
    from vlk2.cli.checkup import Check, State, checks
    from vlk2.cli.install import place_for
    from vlk2.errors import Vlk2Error

    try:
        found = checks(memory(), place_for("user"), place_for("project"), os.environ)
    except Vlk2Error as error:
        found = [Check("settings", State.FAIL, error.message)]
    failed = any(check.state is State.FAIL for check in found)
    lines: list[str] = []
    for check in found:
        sign, colour = _SIGN[check.state]
        lines.append(f"{click.style(sign, fg=colour)}  {check.name:<12}{check.text}")
        if check.todo:
            lines.append(f"      {'':<12}-> {check.todo}")
    answer(
        as_json,
        "\n".join(lines if not as_json else [click.unstyle(line) for line in lines]),
        ok=not failed,
        checks=[
            {"name": check.name, "state": check.state.value, "text": check.text, "todo": check.todo}
            for check in found
        ],
    )
    if failed:
        sys.exit(1)
