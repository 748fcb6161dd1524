"""The shared store: one PostgreSQL database for the agents and workers of an organisation."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Generator
from typing import Any, LiteralString, NoReturn

from vlk2.errors import ConfigError, StoreBusy, StoreFault, StoreIncompatible, StoreUnavailable, Vlk2Error
from vlk2.ports import Mint
from vlk2.stores.base import SqlStore, Statements, made_storable
from vlk2.stores.statements import migrations, script, statements

try:
    import psycopg
    from psycopg import conninfo, errors, sql
    from psycopg.pq import TransactionStatus
    from psycopg.types.numeric import Int8Dumper
except ImportError as error:
    raise ConfigError(
        f"VLK2_STORE names a PostgreSQL store, and its driver is not installed ({error}): "
        "pip install 'vlk2[postgres]'"
    ) from error

SCHEMA = 1
OLDEST_SERVER = 14
MEMBER = "vlk2_member"
MOST_CONNECTIONS = 20
CONNECT_SECONDS = 5
_IDLE_SECONDS = 1.0
_MIGRATION_LOCK = 0x566C6B32  # "Vlk2"

_Connection = psycopg.Connection[tuple[Any, ...]]


class PostgresStore(SqlStore):
    """A store in the database at `address` (`postgresql://…`). Opening makes the schema where it is new;
    `migrate=False` (a hook) never changes it and raises StoreIncompatible instead. `busy_seconds` is how long
    a transaction waits for a lock, or for one of the pooled connections, before StoreBusy.

    The transactions of a team run as the role `vlk2_member` where the server has it and the address's role may
    take it, so that row-level security holds for them; `apart` says whether it does.
    """

    dialect = "postgres"
    schema = SCHEMA

    def __init__(self, address: str, mint: Mint, *, busy_seconds: float = 10.0, migrate: bool = True) -> None:
        super().__init__(statements(self.dialect), mint)
        self._address = address
        self._busy_seconds = busy_seconds
        self._free: list[tuple[_Connection, float]] = []
        self._slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._pid = os.getpid()
        self._teams: dict[str, str] = {}
        self.apart = False
        self._where = _where(address)
        with self._translated():
            connection = self._connect()
            try:
                self._check(connection, migrate)
            except BaseException:
                connection.close()
                raise
        self._free.append((connection, time.monotonic()))

    # opening -----------------------------------------------------------------------------------------

    def _connect(self) -> _Connection:
        connection = psycopg.connect(self._address, autocommit=True, connect_timeout=CONNECT_SECONDS)
        # One type for every integer: a statement is then prepared once, whatever its values.
        connection.adapters.register_dumper(int, Int8Dumper)
        wait = int(self._busy_seconds * 1000)
        connection.execute(
            sql.SQL("SET lock_timeout = {0}; SET idle_in_transaction_session_timeout = 60000").format(wait),
            prepare=False,
        )
        return connection

    def _check(self, connection: _Connection, migrate: bool) -> None:
        if connection.info.server_version < OLDEST_SERVER * 10_000:
            raise StoreUnavailable(
                f"{self._where} is PostgreSQL {connection.info.server_version // 10_000}: "
                f"Vlk² needs {OLDEST_SERVER} or newer."
            )
        version = self._version(connection)
        if version < SCHEMA:
            if not migrate:
                raise StoreIncompatible(f"{self._where} has schema {version}, this hook needs {SCHEMA}")
            self._migrate(connection)
        rows = connection.execute("SELECT name, value FROM store_meta").fetchall()
        meta: dict[str, str] = dict(rows)
        if int(meta["min_writer"]) > SCHEMA:
            raise StoreIncompatible(
                f"{self._where} was written by a newer Vlk² (it needs schema {meta['min_writer']}, this one "
                f"knows {SCHEMA}). Nothing was changed. Upgrade this installation: `uv tool upgrade vlk2`."
            )
        self._opened(meta["key"], fulltext=True)
        if migrate and self._member_may(connection) is False:
            with contextlib.suppress(errors.InsufficientPrivilege):  # the owner's to grant
                connection.execute(script("members"), prepare=False)
        self.apart = bool(self._member_may(connection)) and self._may_be_member(connection)

    def _version(self, connection: _Connection) -> int:
        """The schema's number, 0 where the database has none. StoreIncompatible where a table of that name is
        another program's."""
        found = connection.execute(
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name = 'store_meta'"
        ).fetchall()
        if not found:
            return 0
        if {name for (name,) in found} != {"name", "value"}:
            self._foreign("store_meta")
        row = connection.execute("SELECT value FROM store_meta WHERE name = 'schema'").fetchone()
        if row is None:
            self._foreign("store_meta")
        return int(row[0])

    def _foreign(self, table: str) -> NoReturn:
        raise StoreIncompatible(
            f"{self._where} has a table {table} of another program; it was left as it is. Name another "
            "database in VLK2_STORE."
        )

    def _migrate(self, connection: _Connection) -> None:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATION_LOCK,))
            version = self._version(connection)
            for number, _, changes in migrations("postgres"):
                if number <= version:
                    continue
                try:
                    connection.execute(changes, prepare=False)
                except (errors.DuplicateTable, errors.DuplicateFunction) as error:
                    self._foreign(_named_in(error))
                if number == 1:
                    meta = {"key": os.urandom(32).hex(), "min_reader": "1", "min_writer": "1"}
                    for name, value in meta.items():
                        connection.execute("INSERT INTO store_meta VALUES (%s, %s)", (name, value))
                connection.execute(
                    "INSERT INTO store_meta VALUES ('schema', %s) "
                    "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                    (str(number),),
                )
            if version < SCHEMA:
                connection.execute(script("members"), prepare=False)

    def _member_may(self, connection: _Connection) -> bool | None:
        """Whether the role has been granted what it needs; None where there is no such role."""
        row = connection.execute(
            "SELECT has_table_privilege(oid, 'timelines', 'SELECT') FROM pg_roles WHERE rolname = %s",
            (MEMBER,),
        ).fetchone()
        return row[0] if row else None

    def _may_be_member(self, connection: _Connection) -> bool:
        how = "SET" if connection.info.server_version >= 160_000 else "MEMBER"
        row = connection.execute(
            "SELECT 1 FROM pg_roles WHERE rolname = %s AND pg_has_role(current_user, oid, %s)", (MEMBER, how)
        ).fetchone()
        return row is not None

    # transactions ------------------------------------------------------------------------------------

    def _team_of(self, timeline_id: str) -> str | None:
        team = self._teams.get(timeline_id)
        if team is None and (owner := self.owner_of(timeline_id)):
            team = self._teams[timeline_id] = owner.team
        return team

    def remarks(self) -> tuple[str, ...]:
        if self.apart:
            return ()
        return (
            f"The role {MEMBER} is missing or may not be taken: row-level security does not hold teams apart "
            f"here, the program alone does. An administrator can `CREATE ROLE {MEMBER} NOLOGIN` and grant it.",
        )

    def close(self) -> None:
        free, self._free = self._free, []
        for connection, _ in free:
            connection.close()

    @contextlib.contextmanager
    def _transaction(self, *, write: bool, team: str | None = None) -> Generator[Statements]:
        with self._translated():
            connection = self._take()
            try:
                connection.execute(self._begin(write, team), prepare=False)
                try:
                    # One cursor for the transaction: making one costs a third of a short statement.
                    yield Statements(connection.cursor(), self._named)
                    connection.execute("COMMIT", prepare=False)
                except BaseException:
                    with contextlib.suppress(psycopg.Error):
                        connection.execute("ROLLBACK", prepare=False)
                    raise
            finally:
                self._give_back(connection)

    @contextlib.contextmanager
    def _statement(self) -> Generator[Statements]:
        with self._translated():
            connection = self._take()
            try:
                yield Statements(connection.cursor(), self._named)
            finally:
                self._give_back(connection)

    def _begin(self, write: bool, team: str | None) -> sql.Composed:
        """One message for what begins a transaction: a reading one sees one snapshot, that of a team is held
        to the team's rows."""
        begin: LiteralString = "BEGIN" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        parts: list[sql.Composable] = [sql.SQL(begin)]
        if team is not None:
            name = sql.Literal(made_storable(team))
            parts.append(sql.SQL("SET LOCAL vlk2.team = {0}").format(name))
            if self.apart:
                parts.append(sql.SQL("SET LOCAL ROLE {0}").format(sql.Identifier(MEMBER)))
        return sql.SQL("; ").join(parts)

    # Not psycopg_pool: it connects in the background and answers after its timeout that it could not, with growing
    # pauses while the server is away; here a caller learns at once, and the first call after a restart works.

    def _take(self) -> _Connection:
        if self._pid != os.getpid():
            # A fork: the connections are the parent's, whose process closes them.
            self._free, self._slots = [], threading.BoundedSemaphore(MOST_CONNECTIONS)
            self._pid = os.getpid()
        if not self._slots.acquire(timeout=self._busy_seconds):
            self._busy()
        try:
            while (idle := self._idle()) is not None:
                connection, since = idle
                if self._still_there(connection, since):
                    return connection
                connection.close()
            return self._connect()
        except BaseException:
            self._slots.release()
            raise

    def _idle(self) -> tuple[_Connection, float] | None:
        try:
            return self._free.pop()
        except IndexError:  # taken by another thread meanwhile, or none
            return None

    def _still_there(self, connection: _Connection, since: float) -> bool:
        """A connection that rested may have lost its server meanwhile."""
        if time.monotonic() - since < _IDLE_SECONDS:
            return True
        try:
            connection.execute("SELECT 1", prepare=False)
        except psycopg.Error:
            return False
        return True

    def _give_back(self, connection: _Connection) -> None:
        if connection.info.transaction_status is TransactionStatus.IDLE:
            self._free.append((connection, time.monotonic()))
        else:
            connection.close()
        self._slots.release()

    @contextlib.contextmanager
    def _translated(self) -> Generator[None]:
        """The one place where PostgreSQL's errors become ours."""
        try:
            yield
        except Vlk2Error:
            raise
        except psycopg.Error as error:
            self._raise(error)

    def _busy(self, error: psycopg.Error | None = None) -> NoReturn:
        raise StoreBusy(
            f"the store {self._where} was busy for more than {self._busy_seconds:g} s. "
            "Nothing was recorded; try again."
        ) from error

    def _raise(self, error: psycopg.Error) -> NoReturn:
        match error:
            case (
                errors.SerializationFailure()
                | errors.DeadlockDetected()
                | errors.LockNotAvailable()
                | errors.QueryCanceled()
                | errors.TooManyConnections()
            ):
                self._busy(error)
            case errors.DiskFull():
                raise StoreUnavailable(
                    f"the disk of {self._where} is full. Nothing was recorded; free some space and try again."
                ) from error
            case errors.ReadOnlySqlTransaction():
                raise StoreUnavailable(
                    f"{self._where} takes no writes (a standby, or set read-only). Nothing was recorded; name "
                    "the primary in VLK2_STORE."
                ) from error
            case errors.InsufficientPrivilege():
                raise StoreUnavailable(
                    f"the role of VLK2_STORE may not do this in {self._where} ({_first_line(error)}). Let the "
                    "owner run `vlk2 db upgrade`, and grant the role `vlk2_member`."
                ) from error
            case (
                errors.InvalidCatalogName()
                | errors.InvalidPassword()
                | errors.InvalidAuthorizationSpecification()
            ):
                raise StoreUnavailable(
                    f"{self._where} cannot be used ({_first_line(error)}): VLK2_STORE names the database, the "
                    "role and its password."
                ) from error
            case psycopg.OperationalError() | psycopg.InterfaceError():
                raise StoreUnavailable(
                    f"the connection to {self._where} failed ({_first_line(error)}). Nothing was recorded; try "
                    "again when the server is back."
                ) from error
            case _:
                raise StoreFault(f"the store {self._where} failed: {_first_line(error)}") from error


def _where(address: str) -> str:
    """The database as it may be shown: without password and without role. ConfigError where it is none."""
    try:
        parts = conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError as error:
        raise ConfigError(f"VLK2_STORE is no PostgreSQL address: {_first_line(error)}") from None
    host = parts.get("host") or "the local server"
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"{parts.get('dbname') or 'the default database'} on {host}{port}"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _named_in(error: psycopg.Error) -> str:
    """The relation that a server's message quotes."""
    quoted = str(error).split('"')
    return quoted[1] if len(quoted) > 1 else "?"
