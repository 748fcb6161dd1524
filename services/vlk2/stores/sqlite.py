"""The embedded store: one SQLite file, several processes."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from _thread import allocate_lock
from collections.abc import Generator, Iterator

from vlk2.errors import StoreBusy, StoreFault, StoreIncompatible, StoreUnavailable, Vlk2Error
from vlk2.hints import NoReturn
from vlk2.ports import Mint
from vlk2.stores.base import SqlStore, Statements
from vlk2.stores.filesystem import network_file_system
from vlk2.stores.statements import migrations, statements

OLDEST_SQLITE = (3, 35, 0)
APPLICATION_ID = 0x566C6B32  # "Vlk2"
SCHEMA = 1


class SqliteStore(SqlStore):
    """A store in the file at `path`. Opening makes the file where it is new; `migrate=False` (a hook) never
    changes its schema and raises StoreIncompatible instead. `busy_seconds` is how long a write waits for
    another process before StoreBusy."""

    dialect = "sqlite"
    schema = SCHEMA

    def __init__(self, path: str, mint: Mint, *, busy_seconds: float = 10.0, migrate: bool = True) -> None:
        super().__init__(statements(self.dialect), mint)
        self._path = path
        self._busy_seconds = busy_seconds
        self._free: list[sqlite3.Connection] = []
        self._lock = allocate_lock()
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreUnavailable(
                f"SQLite {sqlite3.sqlite_version} is too old: Vlk² needs 3.35 or newer. Use a Python that is "
                "built with a newer SQLite, or set VLK2_STORE to a PostgreSQL address."
            )
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
        self._opened(meta["key"], fulltext=meta["fulltext"] == "fts5")

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

    def close(self) -> None:
        with self._lock:
            free, self._free = self._free, []
        for connection in free:
            connection.close()

    @contextlib.contextmanager
    def _transaction(self, *, write: bool, team: str | None = None) -> Generator[Statements]:
        with self._translated():
            connection = self._take()
            try:
                if write:
                    self._begin_immediate(connection)
                else:
                    connection.execute("BEGIN")
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

    def _begin_immediate(self, connection: sqlite3.Connection) -> None:
        """Takes the write lock. SQLite's own waiting sleeps up to 100 ms between two looks, so that writers
        that never pause can keep one process out for seconds; here all look every few milliseconds, and the
        longer one has waited the oftener it looks."""
        try:
            connection.execute("PRAGMA busy_timeout = 0")
            began = time.monotonic()
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    waited = time.monotonic() - began
                    if not _is_busy(error) or waited >= self._busy_seconds:
                        raise
                    jitter = 0.5 + os.urandom(1)[0] / 255  # `random` costs a hook 2 ms to import
                    time.sleep(jitter * 0.004 / (1 + 4 * waited))
                else:
                    return
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(self._busy_seconds * 1000):d}")

    def remarks(self) -> tuple[str, ...]:
        if self.fulltext:
            return ()
        return ("This SQLite has no FTS5: recall looks through the newest archived entries.",)

    def _after_erasure(self) -> None:
        """The write-ahead log still holds the pages as they were: they go into the file, and the log is cut."""
        connection = self._take()
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error:
            # A reader of another process stands in the way; what is erased is committed, and the log is cut
            # when the store is closed or next erases.
            connection.close()
        else:
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
        name = _name(error)
        if _is_busy(error):
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
        raise StoreFault(f"the store {self._path} failed: {error}") from error


def _name(error: sqlite3.Error) -> str:
    return getattr(error, "sqlite_errorname", "") or ""


def _is_busy(error: sqlite3.Error) -> bool:
    return _name(error).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Write-ahead logging. Two processes that switch a new file at once may see a lock that no busy timeout
    covers: the other has then switched it."""
    for attempt in range(20):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if attempt == 19:
                raise
            time.sleep(0.05)
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
