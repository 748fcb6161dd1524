"""`vlk2 status` and `vlk2 consolidate`: the memory in figures, and the cycle by hand."""

from __future__ import annotations

import click

from vlk2.cli.output import answer, json_option, memory
from vlk2.domain.moments import span, stamp
from vlk2.domain.states import State


@click.command(epilog="Example: vlk2 status --json")
@click.option("--project", default=None, help="Another project than that of the working directory.")
@json_option
def status(project: str | None, as_json: bool) -> None:
    """Show which memory this is, what it holds, and when the cycle last ran."""
    mine = memory(project)
    found = mine.status()
    counts = {state.value: found.states.get(state, 0) for state in State if state is not State.NEW}
    cycle = found.last_cycle
    lines = [
        f"store     {mine.settings.store}",
        f"timeline  {found.timeline_id}: team {found.owner.team}, agent {found.owner.agent}, project {found.owner.project}",
        "entries   " + ", ".join(f"{n} {state}" for state, n in counts.items()),
        f"met       {found.observations} observations",
        f"context   {found.tokens} of {mine.settings.token_budget} tokens (PRESENT + FUTURE)",
    ]
    if cycle:
        ago = span(max(0, mine.clock() - cycle.ended_at))
        lines.append(
            f"cycle     {stamp(cycle.ended_at)} ({ago} ago) by {cycle.owner}: {cycle.scanned} scanned, "
            f"{cycle.archived} archived, {cycle.forgotten} forgotten"
        )
    else:
        lines.append("cycle     not yet: it runs beside `vlk2 serve`, or by hand with `vlk2 consolidate`")
    answer(
        as_json,
        "\n".join(lines),
        store=mine.settings.store,
        timeline_id=found.timeline_id,
        team=found.owner.team,
        agent=found.owner.agent,
        project=found.owner.project,
        states=counts,
        observations=found.observations,
        tokens=found.tokens,
        budget=mine.settings.token_budget,
        last_cycle=None
        if cycle is None
        else {
            "owner": cycle.owner,
            "started_at": cycle.started_at,
            "ended_at": cycle.ended_at,
            "scanned": cycle.scanned,
            "archived": cycle.archived,
            "forgotten": cycle.forgotten,
        },
    )


@click.command(epilog="Example: vlk2 consolidate --once")
@click.option("--once", is_flag=True, help="Run one cycle (the default, and all there is).")
@click.option("--dry-run", is_flag=True, help="Tell what it would move, and change nothing.")
@json_option
def consolidate(once: bool, dry_run: bool, as_json: bool) -> None:
    """Run the cycle once, now, over every timeline of the store that is due."""
    from vlk2.tokens import LoadingCounter

    mine = memory()
    if isinstance(mine.counter, LoadingCounter):  # a cycle by hand waits for exact counts
        mine.counter.wait(30)
    if dry_run:
        told = mine.rehearse_cycle()
        going = [(entry_id, reason) for one in told for entry_id, reason in one.moved]
        lines = [f"{len(told)} timelines looked at; {len(going)} entries would move."]
        lines += [f"  {entry_id}  {reason}" for entry_id, reason in going[:50]]
        answer(
            as_json,
            "\n".join(lines),
            ran=False,
            timelines=len(told),
            moved=[{"entry_id": i, "reason": r} for i, r in going],
        )
        return
    done = mine.run_cycle()
    if done is None:
        answer(as_json, "Another process has run this period's cycle; nothing to do.", ran=False)
        return
    moved = [(entry_id, reason) for one in done for entry_id, reason in one.moved]
    lines = [f"{len(done)} timelines consolidated, {len(moved)} entries moved."]
    lines += [f"  {entry_id}  {reason}" for entry_id, reason in moved[:50]]
    answer(
        as_json,
        "\n".join(lines),
        ran=True,
        timelines=len(done),
        moved=[{"entry_id": i, "reason": r} for i, r in moved],
    )
