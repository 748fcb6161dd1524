"""The embedded store: one SQLite file, several processes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import threading
from collections.abc import Generator, Iterator
from typing import NoReturn

from vlk2.errors import NotAllowed, StoreBusy, StoreIncompatible, StoreUnavailable, Vlk2Error
from vlk2.ports import Lease, Mint, Owner, Timeline
from vlk2.stores.base import SqlTimeline, Statements, timeline_pk
from vlk2.stores.filesystem import network_file_system
from vlk2.stores.statements import migrations, statements

OLDEST_SQLITE = (3, 35, 0)
APPLICATION_ID = 0x566C6B32  # "Vlk2"
SCHEMA = 1


class SqliteStore:
    """A store in the file at `path`. Opening makes the file where it is new; `migrate=False` (a hook) never
    changes its schema and raises StoreIncompatible instead. `busy_seconds` is how long a write waits for
    another process before StoreBusy."""

    def __init__(self, path: str, mint: Mint, *, busy_seconds: float = 10.0, migrate: bool = True) -> None:
        self._path = path
        self._mint = mint
        self._busy_seconds = busy_seconds
        self._named = statements("sqlite")
        self._free: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._pks: dict[Owner, int] = {}
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreUnavailable(
                f"SQLite {sqlite3.sqlite_version} is too old: Vlk² needs 3.35 or newer. Use a Python that is "
                "built with a newer SQLite, or set VLK2_STORE to a PostgreSQL address."
            )
        self.fulltext = False
        self._key = b""
        with self._translated():
            self._open_file(migrate)

    # opening -----------------------------------------------------------------------------------------

    def _open_file(self, migrate: bool) -> None:
        if self._path != ":memory:":
            folder = os.path.dirname(os.path.abspath(self._path))
            if not os.path.isdir(folder):
                if not migrate:
                    raise StoreUnavailable(f"there is no store at {self._path} yet")
                os.makedirs(folder, mode=0o700, exist_ok=True)
            if kind := network_file_system(folder):
                raise StoreUnavailable(
                    f"{folder} is on a network file system ({kind}), where SQLite's locks do not hold and a "
                    "memory would be damaged. Name a local path in VLK2_STORE, or a PostgreSQL address."
                )
            if migrate:
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            elif not os.path.exists(self._path):
                raise StoreUnavailable(f"there is no store at {self._path} yet")
        connection = self._connect()
        try:
            self._check(connection, migrate)
        except BaseException:
            connection.close()
            raise
        self._free.append(connection)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _check(self, connection: sqlite3.Connection, migrate: bool) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        if application != APPLICATION_ID:
            tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
            if tables:
                raise StoreIncompatible(
                    f"{self._path} is a database of another program; it was left as it is. Name another file "
                    "in VLK2_STORE."
                )
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version < SCHEMA:
            if not migrate:
                raise StoreIncompatible(f"{self._path} has schema {version}, this hook needs {SCHEMA}")
            self._migrate(connection)
        meta = dict(connection.execute("SELECT name, value FROM store_meta").fetchall())
        if int(meta["min_writer"]) > SCHEMA:
            raise StoreIncompatible(
                f"{self._path} was written by a newer Vlk² (it needs schema {meta['min_writer']}, this one "
                f"knows {SCHEMA}). Nothing was changed. Upgrade this installation: `uv tool upgrade vlk2`."
            )
        self._key = bytes.fromhex(meta["key"])
        self.fulltext = meta["fulltext"] == "fts5"

    def _migrate(self, connection: sqlite3.Connection) -> None:
        _write_ahead(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            for number, _, script in migrations("sqlite"):
                if number <= version:
                    continue
                for statement in _split(script):
                    connection.execute(statement)
                if number == 1:
                    self._first(connection)
                connection.execute(f"PRAGMA user_version = {number:d}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _first(self, connection: sqlite3.Connection) -> None:
        """What the first migration needs beside its script: the store's key, and the search index."""
        fulltext = "fts5"
        try:
            connection.execute(
                "CREATE VIRTUAL TABLE recall_index USING fts5(tokens, content='', detail=none, "
                "tokenize=\"unicode61 remove_diacritics 0 tokenchars '_'\")"
            )
        except sqlite3.OperationalError:
            fulltext = "none"
        rows = {"key": os.urandom(32).hex(), "min_reader": "1", "min_writer": "1", "fulltext": fulltext}
        connection.executemany("INSERT INTO store_meta (name, value) VALUES (?, ?)", list(rows.items()))

    # transactions ------------------------------------------------------------------------------------

    def digest(self, text: str) -> str:
        return hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16
        ).hexdigest()

    @contextlib.contextmanager
    def write(self, owner: Owner, now: int) -> Generator[Timeline]:
        with self._transaction("BEGIN IMMEDIATE") as run:
            pk = self._pks.get(owner)
            if pk is None:
                pk = timeline_pk(run, owner, self._mint, now)
            timeline = SqlTimeline(run, run.one("lock_timeline", pk=pk), self.digest, fulltext=self.fulltext)
            yield timeline
            timeline.save()
        self._pks[owner] = pk

    @contextlib.contextmanager
    def read(self, owner: Owner, now: int) -> Generator[Timeline]:
        if owner not in self._pks:
            with self.write(owner, now):
                pass
        with self._transaction("BEGIN") as run:
            yield SqlTimeline(
                run, run.one("read_timeline", pk=self._pks[owner]), self.digest, fulltext=self.fulltext
            )

    @contextlib.contextmanager
    def write_leased(self, lease: Lease, now: int) -> Generator[Timeline]:
        with self._transaction("BEGIN IMMEDIATE") as run:
            found = run.one("timeline_pk_by_id", id=lease.timeline_id)
            row = run.one("lock_timeline", pk=found[0]) if found else None
            if row is None or row[-1] != lease.version:
                raise NotAllowed(f"the lease on timeline {lease.timeline_id} was taken by another worker")
            timeline = SqlTimeline(run, row, self.digest, fulltext=self.fulltext)
            yield timeline
            timeline.save()

    def take_lease(self, name: str, owner: str, *, now: int, until: int) -> int | None:
        with self._transaction("BEGIN IMMEDIATE") as run:
            row = run.one("take_lease", name=name, owner=owner, now=now, until=until)
            return row[0] if row else None

    def drop_lease(self, name: str, owner: str, version: int) -> None:
        with self._transaction("BEGIN IMMEDIATE") as run:
            run.run("drop_lease", name=name, owner=owner, version=version)

    def lease_due(self, owner: str, *, now: int, until: int, most: int) -> list[Lease]:
        with self._transaction("BEGIN IMMEDIATE") as run:
            rows = run.all("lease_due", owner=owner, now=now, until=until, most=most)
            return [Lease(row[0], owner, row[1]) for row in rows]

    def note_failure(self, lease: Lease, *, now: int, retry_at: int, most: int) -> None:
        with self._transaction("BEGIN IMMEDIATE") as run:
            run.run(
                "note_failure",
                id=lease.timeline_id,
                version=lease.version,
                now=now,
                retry_at=retry_at,
                most=most,
            )

    def owner_of(self, timeline_id: str) -> Owner | None:
        with self._transaction("BEGIN") as run:
            row = run.one("owner_of", id=timeline_id)
            return Owner(*row) if row else None

    def timelines(self, team: str) -> list[tuple[str, Owner, int]]:
        with self._transaction("BEGIN") as run:
            return [
                (row[0], Owner(row[1], row[2], row[3]), row[4])
                for row in run.all("timelines_of_team", team=team)
            ]

    def close(self) -> None:
        with self._lock:
            free, self._free = self._free, []
        for connection in free:
            connection.close()

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Generator[Statements]:
        with self._translated():
            connection = self._take()
            try:
                connection.execute(begin)
                try:
                    yield Statements(connection, self._named)
                    connection.execute("COMMIT")
                except BaseException:
                    with contextlib.suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error:
                connection.close()
                raise
            except BaseException:
                self._give_back(connection)
                raise
            self._give_back(connection)

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._free:
                return self._free.pop()
        return self._connect()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            self._free.append(connection)

    @contextlib.contextmanager
    def _translated(self) -> Generator[None]:
        """The one place where SQLite's errors become ours."""
        try:
            yield
        except Vlk2Error:
            raise
        except sqlite3.Error as error:
            self._raise(error)
        except OSError as error:
            raise StoreUnavailable(
                f"the store {self._path} cannot be opened: {error.strerror or error}. Make its folder "
                "writable, or name another file in VLK2_STORE."
            ) from error

    def _raise(self, error: sqlite3.Error) -> NoReturn:
        name = getattr(error, "sqlite_errorname", "") or ""
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            raise StoreBusy(
                f"another process held the store {self._path} for more than {self._busy_seconds:g} s. "
                "Nothing was recorded; try again."
            ) from error
        if name.startswith("SQLITE_FULL"):
            raise StoreUnavailable(
                f"the disk of {self._path} is full. Nothing was recorded; free some space and try again."
            ) from error
        if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_IOERR")):
            raise StoreUnavailable(
                f"the store {self._path} cannot be written ({error}). Make the file and its folder writable, "
                "or name another file in VLK2_STORE."
            ) from error
        if name.startswith(("SQLITE_NOTADB", "SQLITE_CORRUPT")):
            raise StoreUnavailable(
                f"the store {self._path} is damaged or no database ({error}). It was left as it is: put a "
                "backup in its place, or name another file in VLK2_STORE. `vlk2 status` shows which is used."
            ) from error
        raise StoreUnavailable(f"the store {self._path} failed: {error}") from error


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Write-ahead logging. Two processes that switch a new file at once may see a lock that no busy timeout
    covers: the other has then switched it."""
    for attempt in range(20):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if attempt == 19:
                raise
            threading.Event().wait(0.05)
        else:
            return


def _split(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit the transaction that they belong to."""
    statement = ""
    for line in script.splitlines(keepends=True):
        if line.startswith("--"):
            continue
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement
