"""`vlk2 db`: the store as a whole: make or upgrade its schema, check it, carry it elsewhere."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

import click

from vlk2.bootstrap import open_store
from vlk2.cli.output import answer, json_option
from vlk2.errors import InvalidInput
from vlk2.settings import load

if TYPE_CHECKING:
    from vlk2.app.export import Tell
    from vlk2.ports import Store

_store = click.option(
    "--store", "address", default="", metavar="ADDRESS", help="Another store than that of the settings."
)


@click.group()
def db() -> None:
    """Make, upgrade and check the store; carry it elsewhere."""


@db.command("upgrade", epilog="Example: vlk2 db upgrade")
@_store
@json_option
def upgrade(address: str, as_json: bool) -> None:
    """Make the store's schema where it is new, and bring an older one up to date."""
    with _opened(address) as store, store.archive(write=False) as archive:
        schema = archive.schema
    answer(as_json, f"The store has schema {schema}: nothing is left to do.", schema=schema)


@db.command("check", epilog="Example: vlk2 db check --json")
@_store
@json_option
def check(address: str, as_json: bool) -> None:
    """Look through the whole store; exit code 1 where something is not as it has to be."""
    from vlk2.app.check import check as look

    with _opened(address, migrate=False) as store:
        found = look(store)
    lines = [f"Schema {found.schema}, {found.entries} entries, {found.observations} observations."]
    lines += [f"{count} {what}" for what, count in found.faults]
    if not found.faults:
        lines.append("Everything is as it has to be.")
    lines += found.remarks
    answer(
        as_json,
        "\n".join(lines),
        schema=found.schema,
        entries=found.entries,
        observations=found.observations,
        faults=[{"rule": what, "count": count} for what, count in found.faults],
        remarks=list(found.remarks),
    )
    if found.faults:
        sys.exit(1)


@db.command("export", epilog="Example: vlk2 db export memory.jsonl")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@_store
@json_option
def export(file: str, address: str, as_json: bool) -> None:
    """Write the whole store to FILE (- for stdout), a JSON object a line. Keep it like the store: the store's key
    is in it."""
    from vlk2.app.export import export as lines_of

    written = 0
    with _opened(address, migrate=False) as store, _progress("Exporting") as tell, _new_file(file) as write:
        for line in lines_of(store, tell):
            write(line)
            written += 1
    if file == "-":
        return
    answer(as_json, f"Exported {written - 2} rows to {file}.", rows=written - 2, file=file)


@db.command("import", epilog="Example: vlk2 db import memory.jsonl --store sqlite:////home/me/new.db")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@_store
@json_option
def import_(file: str, address: str, as_json: bool) -> None:
    """Fill an empty store from FILE (- for stdin) as `vlk2 db export` wrote it, all or nothing."""
    from vlk2.app.export import take_in

    with _opened(address) as store, _progress("Importing") as tell, _lines(file) as lines:
        carried = take_in(store, lines, tell)
    answer(as_json, f"Imported {carried.total} rows.", rows=carried.total, tables=dict(carried.rows))


@db.command("move", epilog="Example: vlk2 db move sqlite:////home/me/memory.db postgresql://db.example/vlk2")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@json_option
def move(source: str, target: str, as_json: bool) -> None:
    """Copy the store FROM into the empty store TO, with every id and the key. FROM stays as it is; stop what
    records into it before, and set VLK2_STORE to TO afterwards."""
    from vlk2.app.export import move as carry

    if source == target:
        raise InvalidInput("FROM and TO are the same store.")
    with (
        _opened(source, migrate=False) as old,
        _opened(target) as new,
        _progress("Moving") as tell,
    ):
        carried = carry(old, new, tell)
    answer(
        as_json,
        f"Moved {carried.total} rows. Set VLK2_STORE to the new store (`vlk2 install` writes it down).",
        rows=carried.total,
        tables=dict(carried.rows),
    )


@contextlib.contextmanager
def _opened(address: str, *, migrate: bool = True) -> Generator[Store]:
    store = open_store(address or load().store, migrate=migrate)
    try:
        yield store
    finally:
        store.close()


@contextlib.contextmanager
def _new_file(file: str) -> Generator[Callable[[str], object]]:
    """A file that nobody else may read, there only once it is whole; what is there already is left as it is."""
    if file == "-":
        with open(1, "w", encoding="utf-8", newline="\n", closefd=False) as out:
            yield out.write
        return
    if os.path.exists(file):  # noqa: PTH110
        raise InvalidInput(f"{file} is there already, and is not overwritten.")
    part = f"{file}.part"
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as opened:
            yield opened.write
        os.replace(part, file)  # noqa: PTH105
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            os.remove(part)  # noqa: PTH107


@contextlib.contextmanager
def _lines(file: str) -> Generator[Iterator[str]]:
    if file == "-":
        with open(0, encoding="utf-8", newline="\n", closefd=False) as given:
            yield given
        return
    try:
        with open(file, encoding="utf-8", newline="\n") as opened:  # noqa: PTH123
            yield opened
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is no export of a Vlk² store: it is not UTF-8 text.") from error


@contextlib.contextmanager
def _progress(what: str) -> Generator[Tell]:
    """Tells a person at a terminal how far it is; nobody else."""
    if not sys.stderr.isatty():
        from vlk2.app.export import silent

        yield silent
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what)
        rows = 0

        def tell(table: str, more: int) -> None:
            nonlocal rows
            rows += more
            bar.update(task, description=f"{what} {rows:,} rows ({table})")

        yield tell
