"""`vlk2 replay`: the loops in recorded sessions, by the very rules of live recording."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from vlk2.app import replay as rules
from vlk2.app.import_session import import_session
from vlk2.app.replay import Found, Replayed
from vlk2.bootstrap import Memory, mint, now, open_store
from vlk2.cli.output import memory
from vlk2.clients.transcripts import FORMATS, Reading, discover, is_session_folder, read
from vlk2.domain.quoting import one_line
from vlk2.errors import InvalidInput, Vlk2Error
from vlk2.ports import Owner
from vlk2.redaction import mask
from vlk2.settings import load
from vlk2.tokens import ByteCounter

_IN_MEMORY = 8 << 20


@click.command(
    "replay",
    epilog="Examples: vlk2 replay ~/.claude/projects/-home-me-shop    vlk2 replay --json --format steps run.jsonl",
)
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--format", "kind", type=click.Choice(FORMATS), default="auto", show_default=True, help="What they are."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a FILE, a line each, in input order.")
@click.option(
    "--import", "into_memory", is_flag=True, help="Also write them into the memory, at their own times."
)
@click.option("--yes", is_flag=True, help="Read the sessions found on this machine without asking.")
def replay(paths: tuple[Path, ...], kind: str, as_json: bool, into_memory: bool, yes: bool) -> None:
    """Find the loops in recorded sessions: which failures looped, at which step, what each cost, what the
    constraint would have said, and which calls would have been refused.

    A PATH is a recorded session or a folder of them. Without one, the sessions of the clients on this machine
    are found, and you are asked before any is read.
    """
    files = _expanded(paths) if paths else _found_here(yes)
    rows: list[dict[str, Any]] = []
    into = memory() if into_memory else None
    with _progress(files, quiet=as_json) as bar:
        for path in files:
            row = _one(path, kind, into, bar)
            if as_json:
                click.echo(json.dumps(row, ensure_ascii=False))
            rows.append(row)
    if not as_json:
        _summary(rows)
    if rows and all("error" in row for row in rows):
        sys.exit(1)


def _expanded(paths: Sequence[Path]) -> list[Path]:
    """Each file, and for a folder that is no session itself its files, sorted."""
    files: list[Path] = []
    for path in paths:
        if path.is_dir() and not is_session_folder(path):
            files += sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith("."))
        else:
            files.append(path)
    return files


def _found_here(yes: bool) -> list[Path]:
    found = discover(Path.home(), cwd=Path.cwd())
    if not found:
        raise InvalidInput("no recorded session was found here: name a file or a folder.")
    size = sum(one.size for one in found)
    click.echo(f"{len(found)} recorded sessions ({size / 1e6:.1f} MB):", err=True)
    for client in sorted({one.client for one in found}):
        mine = [one for one in found if one.client == client]
        click.echo(f"  {client}: {len(mine)}, the newest {mine[0].path}", err=True)
    if not yes:
        click.confirm("Read them? Nothing leaves this machine.", abort=True, err=True)
    return [one.path for one in found]


@contextmanager
def _progress(files: Sequence[Path], *, quiet: bool) -> Generator[Progress | None]:
    """A bar that moves with the bytes read, on stderr; none where the answer is for a machine."""
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        bar.add_task("sessions", total=sum(_size(path) for path in files))
        yield bar


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _one(path: Path, kind: str, into: Memory | None, bar: Progress | None) -> dict[str, Any]:
    """The row of one FILE: what was found in it, or why it could not be read."""
    done = 0

    def advance(consumed: int) -> None:
        nonlocal done
        if bar is not None and consumed > done:
            bar.update(bar.task_ids[0], advance=consumed - done, description=one_line(path.name, 40))
            done = consumed

    try:
        reading = read(path, kind, advance)
        runs = _replayed(reading)
        row = _row(path, reading, runs)
        if into is not None:
            row["imported"] = _imported(path, kind, into)
    except Vlk2Error as error:
        return {"file": str(path), "error": error.message}
    finally:
        advance(_size(path))
    return row


def _replayed(reading: Reading) -> list[Replayed]:
    with tempfile.TemporaryDirectory() as folder:
        # A large session's texts are better kept on disk than in memory; both are gone afterwards.
        small = reading.size <= _IN_MEMORY
        store = open_store("sqlite://:memory:" if small else f"sqlite:///{folder}/replay.db")
        try:
            return rules.replay(
                store,
                Owner("replay", "replay", str(reading.path)),
                reading,
                threshold=load().loop_threshold,
                mint=mint,
                mask=mask,
                counter=ByteCounter(),
            )
        finally:
            store.close()


def _imported(path: Path, kind: str, into: Memory) -> dict[str, Any]:
    done = import_session(
        into.store,
        into.owner,
        read(path, kind),
        str(path.resolve()),
        threshold=into.settings.loop_threshold,
        now=now(),
        mint=mint,
        mask=mask,
        counter=into.counter,
    )
    return {
        "added": done.added,
        "known": done.known,
        "undated": done.undated,
        "constraint_ids": list(done.constraint_ids),
    }


def _row(path: Path, reading: Reading, runs: Sequence[Replayed]) -> dict[str, Any]:
    row: dict[str, Any] = {"file": str(path), "format": reading.format}
    if len(runs) == 1:
        return {**row, **_run_fields(runs[0]), "skipped": reading.skipped}
    whole = {
        "steps": sum(run.steps for run in runs),
        "failures": sum(run.failures for run in runs),
        "loops": [_loop_fields(loop) for run in runs for loop in run.loops],
        "refusals": sorted(step for run in runs for step in run.refusals),
        "skipped": reading.skipped,
        "tokens": {
            "total": sum(run.total for run in runs),
            "after_third_repeat": sum(run.after_third_repeat for run in runs),
        },
    }
    return {**row, **whole, "runs": [{"run": run.run, **_run_fields(run)} for run in runs]}


def _run_fields(run: Replayed) -> dict[str, Any]:
    return {
        "steps": run.steps,
        "failures": run.failures,
        "loops": [_loop_fields(loop) for loop in run.loops],
        "refusals": run.refusals,
        "tokens": {"total": run.total, "after_third_repeat": run.after_third_repeat},
    }


def _loop_fields(loop: Found) -> dict[str, Any]:
    return {
        "step": loop.step,
        "language": loop.language,
        "type": loop.type,
        "signature": loop.signature,
        "headline": loop.headline,
        "repeats": loop.repeats,
        "steps_seen": loop.steps_seen,
        "tokens_after": loop.tokens_after,
        "anchor": loop.anchor,
    }


def _summary(rows: Sequence[dict[str, Any]]) -> None:
    """What a developer would show a colleague."""
    console = Console(highlight=False)
    good = [row for row in rows if "error" not in row]
    looped = [row for row in good if row["loops"]]
    for row in rows:
        if "error" in row:
            console.print(f"not read: {row['error']}", style="yellow", markup=False)
    for row in looped:
        console.rule(one_line(row["file"], 100), align="left", style="dim")
        table = Table(box=None, pad_edge=False)
        for name, side in (
            ("failure", "left"),
            ("flagged", "right"),
            ("times", "right"),
            ("steps", "left"),
            ("tokens after", "right"),
        ):
            table.add_column(name, justify=side, overflow="fold")  # pyright: ignore[reportArgumentType]
        for loop in row["loops"]:
            table.add_row(
                Text(f"{loop['language']} {loop['type']}: {one_line(loop['headline'], 70)}"),
                f"step {loop['step']}",
                str(loop["repeats"]),
                _steps(loop["steps_seen"]),
                f"{loop['tokens_after']:,}",
            )
        console.print(table)
        console.print(Text(row["loops"][0]["anchor"]), style="dim")
        if row["refusals"]:
            console.print(f"would have been refused: step {_steps(row['refusals'])}")
    loops = sum(len(row["loops"]) for row in good)
    tokens = sum(row["tokens"]["total"] for row in good)
    after = sum(row["tokens"]["after_third_repeat"] for row in good)
    share = f" ({after / tokens:.1%})" if tokens else ""
    console.print(
        f"{len(good)} sessions, {sum(row['steps'] for row in good):,} steps: {loops} loops in {len(looped)} of them; "
        f"{after:,} of {tokens:,} tokens{share} were spent after a third repeat; "
        f"{sum(len(row['refusals']) for row in good)} calls would have been refused."
    )
    added = [row["imported"] for row in good if "imported" in row]
    if added:
        console.print(
            f"imported {sum(one['added'] for one in added)} observations ({sum(one['known'] for one in added)} were held "
            f"already, {sum(one['undated'] for one in added)} have no time); "
            f"{sum(len(one['constraint_ids']) for one in added)} constraints stand."
        )


def _steps(steps: Sequence[int]) -> str:
    return ", ".join(map(str, steps[:8])) + (f" and {len(steps) - 8} more" if len(steps) > 8 else "")
