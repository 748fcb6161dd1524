"""The shared store on its own: teams apart, roles, lost connections, locks, what it refuses."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from backends import Backend
from failures import rust, told, typescript

from vlk2.app.check import check
from vlk2.bootstrap import open_store
from vlk2.domain.moments import HOUR
from vlk2.domain.states import State
from vlk2.errors import ConfigError, StoreBusy, StoreIncompatible, StoreUnavailable

psycopg = pytest.importorskip("psycopg")

# What belongs to no team: the store's own rows, texts and patterns that are stored once, named leases.
SHARED = {"store_meta", "fingerprints", "failing_sets", "leases", "recall_pending", "recall_index"}


@pytest.fixture
def backend(databases):
    """These claims are about PostgreSQL alone."""
    found = Backend("postgres", databases.clean())
    yield found
    for store in found.opened:
        store.close()


@pytest.fixture
def login(backend):
    """Makes a role that may log in, and answers the address with which it comes to the backend's database."""
    made: list[str] = []

    def make(name: str, *grants: str) -> str:
        role = f"{name}_{urlsplit(backend.address).path.rpartition('_')[2]}"
        with psycopg.connect(backend.address, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'word-of-it' NOSUPERUSER NOBYPASSRLS")
            made.append(role)
            for grant in grants:
                connection.execute(grant.format(role=role))
        parts = urlsplit(backend.address)
        return f"postgresql://{role}:word-of-it@{parts.hostname}:{parts.port}{parts.path}"

    yield make
    with psycopg.connect(backend.address, autocommit=True) as connection:
        for role in made:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = %s", (role,)
            )
            connection.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")


def looped(memory, make=rust):
    return [memory.record(told(make(line=n + 1))) for n in range(3)][-1]


# teams apart ---------------------------------------------------------------------------------------------


def as_member(backend, team: str, query: str) -> list[tuple]:
    with psycopg.connect(backend.address) as connection:
        connection.execute("SET LOCAL ROLE vlk2_member")
        connection.execute("SELECT set_config('vlk2.team', %s, true)", (team,))
        return connection.execute(query).fetchall()


def seen_by(backend, team: str | None, tables: list[str]) -> dict[str, set[tuple]]:
    """Every row that a transaction of the team meets; None: that the owner meets."""
    with psycopg.connect(backend.address) as connection:
        if team is not None:
            connection.execute("SET LOCAL ROLE vlk2_member")
            connection.execute("SELECT set_config('vlk2.team', %s, true)", (team,))
        return {
            table: set(connection.execute(f"SELECT CAST(t AS text) FROM {table} t").fetchall())
            for table in tables
        }


def test_every_table_of_a_team_has_a_policy(backend):
    tables = {t for (t,) in backend.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}
    held = {t for (t,) in backend.rows("SELECT tablename FROM pg_policies WHERE schemaname = 'public'")}
    assert tables - held == SHARED
    assert backend.rows(
        "SELECT relname FROM pg_class WHERE relrowsecurity = false AND relname = ANY (ARRAY(SELECT tablename::text FROM pg_policies))"
    ) == []  # fmt: skip


def test_a_team_meets_its_own_rows_only_whatever_the_program_asks(memory_of, backend):
    ours, theirs = memory_of("ada"), memory_of("eve", team="rivals")
    for memory in (ours, theirs):
        looped(memory)
        memory.record(told(f"error: of {memory.owner.team} alone"))
        memory.recall("E0277")
    held = [t for (t,) in backend.rows("SELECT tablename FROM pg_policies WHERE schemaname = 'public'")]
    everything, mine, other, nobody = (
        seen_by(backend, team, held) for team in (None, "default", "rivals", "nobody")
    )
    assert set().union(*nobody.values()) == set()
    for table in held:
        assert mine[table] | other[table] == everything[table], table
        # A text that both have met is read by both, each through an entry of its own.
        assert table == "memory_contents" or not mine[table] & other[table], table
    assert mine["memory_contents"] != everything["memory_contents"]
    assert mine["agent_timeline"]


def test_a_policy_looks_up_one_row_and_not_the_whole_team(memory, backend):
    looped(memory)
    for table in ("observations", "agent_timeline", "memory_contents", "evidence", "calls"):
        plan = as_member(backend, "default", f"EXPLAIN SELECT * FROM {table}")
        assert "SubPlan" in str(plan), table
        assert "hashed" not in str(plan), table


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT words FROM recall_index",
        "UPDATE transitions SET to_state = 'PAST'",
        "DELETE FROM transitions",
        "DELETE FROM audit",
        "UPDATE store_meta SET value = ''",
        "INSERT INTO agent_tokens (id, agent, hash, scope, created_at) VALUES ('k', 1, 'h', 'admin', 0)",
        "INSERT INTO memory_contents (digest, body) VALUES ('d', 'b')",
        "DELETE FROM memory_contents",
        "UPDATE fingerprints SET language = ''",
    ],
)
def test_what_the_program_never_does_its_role_may_not(memory, backend, statement):
    looped(memory)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        as_member(backend, "default", statement)


def test_the_transactions_of_a_team_run_under_its_policy(memory_of, backend):
    """The text of another team is not there even for a program that has its key."""
    ours, theirs = memory_of("ada"), memory_of("eve", team="rivals")
    theirs.record(told("error: of rivals alone"))
    ((content,),) = backend.rows("SELECT pk FROM memory_contents")
    with ours.store.read(ours.owner, ours.clock()) as timeline:
        assert timeline.body(content) is None
    with theirs.store.read(theirs.owner, theirs.clock()) as timeline:
        assert timeline.body(content) == "error: of rivals alone"
    with ours.store.write(ours.owner, ours.clock()) as timeline:
        timeline.drop_content(content)
    assert backend.rows("SELECT COUNT(*) FROM memory_contents") == [(1,)]


def test_a_role_that_is_only_a_member_can_record_and_recall(backend, login, memory_of, monkeypatch):
    address = login("front", "GRANT vlk2_member TO {role}")
    backend.address, owner_address = address, backend.address
    memory = memory_of()
    made = looped(memory)
    assert memory.fetch_context().constraint_ids == (made.constraint.entry.id,)
    assert made.entry_id in memory.recall("E0277").ids
    memory.revoke(made.constraint.entry.id, "wrong")
    assert memory.forget(made.entry_id, "mine").state == "PURGED"
    assert memory.store.lease_due("w", now=memory.clock(), until=memory.clock(), most=9) == []
    backend.address = owner_address


def test_a_role_without_any_right_is_told_what_to_do(backend, login):
    with pytest.raises(StoreUnavailable) as refused:
        open_store(login("guest"))
    assert "vlk2_member" in refused.value.message
    assert "word-of-it" not in refused.value.message


def test_an_owner_that_may_make_no_roles_still_has_a_store(backend, login, databases, postgres_server):
    address = login("plain")
    role = urlsplit(address).username
    empty = databases.empty()
    name = urlsplit(empty).path[1:]
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} OWNER TO {role}")
        connection.execute(f"GRANT CREATE, CONNECT ON DATABASE {name} TO {role}")
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute(f"ALTER SCHEMA public OWNER TO {role}")
    store = open_store(address.rpartition("/")[0] + f"/{name}")
    backend.opened.append(store)
    assert any("vlk2_member" in remark for remark in check(store).remarks)
    store.close()
    with psycopg.connect(empty, autocommit=True) as connection:
        connection.execute(f"REASSIGN OWNED BY {role} TO CURRENT_USER; DROP OWNED BY {role}")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} OWNER TO CURRENT_USER")
        connection.execute(f"REVOKE ALL ON DATABASE {name} FROM {role}")


# time, locks, connections --------------------------------------------------------------------------------


def test_leases_are_measured_by_the_servers_clock(memory):
    """Workers whose clocks are hours apart do not take each other's leases."""
    store = memory.store
    first = store.take_lease("cycle", "slow clock", now=0, until=HOUR)
    assert first is not None
    far = 4 * 10**18
    assert store.take_lease("cycle", "fast clock", now=far, until=far + HOUR) is None
    memory.record(told(rust()))
    assert len(store.lease_due("slow clock", now=memory.clock(), until=memory.clock() + HOUR, most=9)) == 1
    assert store.lease_due("fast clock", now=far, until=far + HOUR, most=9) == []


def test_a_row_that_another_holds_too_long_says_busy_and_records_nothing(memory, backend):
    memory.record(told(rust()))
    store = backend.open(busy_seconds=0.1)
    with psycopg.connect(backend.address) as holder:
        holder.execute("SELECT 1 FROM timelines FOR UPDATE")
        with pytest.raises(StoreBusy) as refused, store.write(memory.owner, memory.clock()):
            pytest.fail("the timeline was written beside another transaction")
    assert "try again" in refused.value.message
    assert memory.record(told(rust(line=2))).repeats == 2


def cut(backend) -> None:
    """Ends every connection of the store from the server's side."""
    with psycopg.connect(backend.address, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_connection_lost_in_the_middle_says_try_again_and_records_nothing(memory, backend):
    memory.record(told(rust()))

    def lose() -> None:
        with memory.store.write(memory.owner, memory.clock()) as timeline:
            timeline.add_content("d" * 32, "half made")
            cut(backend)
            timeline.count_states()

    with pytest.raises(StoreUnavailable) as refused:
        lose()
    assert "try again" in refused.value.message
    assert memory.record(told(rust(line=2))).repeats == 2
    assert backend.rows("SELECT COUNT(*) FROM memory_contents WHERE body = 'half made'") == [(0,)]


def test_a_pool_that_lost_its_connections_mends_itself(memory_of, backend):
    memories = [memory_of(f"agent{n}") for n in range(3)]
    for memory in memories:
        memory.record(told(rust()))
    cut(backend)
    answers, said = [], []
    for memory in memories:
        for _ in range(3):
            try:
                answers.append(memory.record(told(rust(line=len(answers) + 2))).repeats)
                break
            except StoreUnavailable as error:
                said.append(error.message)
    assert answers == [2, 2, 2]
    assert all("try again" in message for message in said)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": "/no_such_database"}, "no_such_database"),
        ({"password": "not-the-word"}, "password"),
        ({"port": 1}, "connection"),
    ],
)
def test_an_address_that_leads_nowhere_says_why_and_never_the_password(backend, change, said):
    parts = urlsplit(backend.address)
    password = change.get("password", parts.password)
    address = (
        f"postgresql://{parts.username}:{password}@{parts.hostname}:{change.get('port', parts.port)}"
        f"{change.get('path', parts.path)}"
    )
    with pytest.raises(StoreUnavailable) as refused:
        open_store(address)
    assert said in refused.value.message
    assert f":{password}@" not in refused.value.message
    assert "not-the-word" not in refused.value.message


def test_an_address_that_is_none_is_a_matter_of_settings():
    with pytest.raises(ConfigError) as refused:
        open_store("postgresql://host/db?no_such_option=1")
    assert "VLK2_STORE" in refused.value.message


@pytest.mark.parametrize(
    "table", ["teams (x INT)", "store_meta (a INT)", "store_meta (name TEXT, value TEXT)"]
)
def test_a_database_of_another_program_is_refused_and_left_as_it_is(databases, table):
    other = Backend("postgres", databases.empty())
    other.execute(f"CREATE TABLE {table}")
    with pytest.raises(StoreIncompatible) as refused:
        other.open()
    assert "another program" in refused.value.message
    assert other.rows("SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'") == [(1,)]


def test_a_text_that_one_forgets_while_another_records_it_is_never_lost(memory_of, backend):
    """The two meet on one row of contents: whoever comes second waits, and nobody sees an error."""
    keeper, forgetter = memory_of("ada"), memory_of("bob")
    text = "error: the text that both know"

    def keep() -> list[str]:
        return [keeper.record(told(text)).entry_id for _ in range(25)]

    def forget() -> int:
        for _ in range(25):
            forgetter.forget(forgetter.record(told(text)).entry_id, "not mine")
        return 25

    with ThreadPoolExecutor(2) as pool:
        kept, forgot = pool.submit(keep), pool.submit(forget)
        assert forgot.result() == 25
        ids = kept.result()
    with keeper.store.read(keeper.owner, keeper.clock()) as timeline:
        assert [timeline.body(timeline.entry(entry_id).content) for entry_id in ids] == [text] * 25
    assert check(keeper.store).faults == ()


# the driver ----------------------------------------------------------------------------------------------


def test_without_its_driver_the_store_says_what_to_install():
    code = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from vlk2.bootstrap import open_store\n"
        "from vlk2.errors import ConfigError\n"
        "try: open_store('postgresql://localhost/x')\n"
        "except ConfigError as error: print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'vlk2[postgres]'" in done.stdout


def test_the_embedded_store_never_loads_the_driver(tmp_path):
    code = (
        "import sys\nfrom vlk2.bootstrap import open_store\n"
        f"open_store('sqlite://{tmp_path}/memory.db').close()\n"
        "print([m for m in sys.modules if m.startswith('psycopg')])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_states_are_the_same_words_in_the_database(memory, backend):
    looped(memory, typescript)
    assert backend.rows("SELECT DISTINCT state FROM agent_timeline ORDER BY 1") == [
        (State.FUTURE.value,),
        (State.PAST.value,),
    ]
