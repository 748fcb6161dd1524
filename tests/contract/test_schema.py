"""The schema and the named statements: alike in both dialects, compiled by their own server, read by index."""

from __future__ import annotations

import re
import sqlite3

import pytest

from vlk2.stores.statements import SUBJECTS, migrations, statements

# Statements of the record, context, recall and cycle paths, and the index that each has to use.
HOT = {
    "timeline_pk": "teams_name|teams_2|teams_name_key",
    "run": "runs_",
    "run_before": "runs_worktree",
    "window": "observations_run",
    "event_seen": "observations_event",
    "entries_live": "agent_timeline_live",
    "entries_archived": "agent_timeline_seq",
    "uncounted": "agent_timeline_live",
    "costed": "agent_timeline_live",
    "pinned_tokens": "agent_timeline_live",
    "constraints": "agent_timeline_one_future|agent_timeline_live",
    "closed_constraint": "agent_timeline_constraints|agent_timeline_shared",
    "history": "agent_timeline_constraints|agent_timeline_shared",
    "entries_of_content": "agent_timeline_content",
    "attempts": "PRIMARY KEY|evidence_pkey|evidence_entry",
    "cited": "evidence_entry",
    "lease_due": "timelines_due",
    "due_now": "timelines_due",
    "moves": "transitions_entry",
    "collectable": "agent_timeline_purged",
    "next_review": "memory_metadata_review",
    "last_cycle": "cycles_timeline",
    "fact_of": "semantic_facts_current|semantic_facts_fingerprint",
}
# What may look through a whole table: it is small (leases, what waits for the index) or asked for by a person.
WHOLE = {
    "pending", "teams", "audit_of_all", "park_failed", "count_of_all", "scan", "free_expired", "parked_now",
    "blank_details_that_hold", "fingerprints_that_hold",
}  # fmt: skip

_plans: dict[str, dict[str, str]] = {}

# A memory of some size, so that a server that plans by cost has costs to go by.
FILLED = """
INSERT INTO teams (pk, id, name, created_at) SELECT n, 't_' || n, 'team' || n, 0 FROM generate_series(1, 50) n;
INSERT INTO agents (pk, id, team, name, created_at) SELECT n, 'a_' || n, n, 'agent', 0 FROM generate_series(1, 50) n;
INSERT INTO timelines (pk, id, team, agent, project, created_at, due_at)
SELECT n, 'l_' || n, n % 50 + 1, n % 50 + 1, 'p' || n, 0, CASE WHEN n % 100 = 0 THEN n END FROM generate_series(1, 2000) n;
INSERT INTO runs (pk, timeline, client, session, subagent, worktree, started_at, last_at)
SELECT n, n, '', 's', '', '', 0, 0 FROM generate_series(1, 2000) n;
INSERT INTO fingerprints (pk, signature, symbols, language, type, specific, transient)
SELECT n, 's' || n, '[]', 'rust', 'E', 1, 0 FROM generate_series(1, 3000) n;
INSERT INTO cycles (pk, timeline, owner, started_at, ended_at, scanned, evaluated, archived, forgotten, tokens, moved)
SELECT n, n % 2000 + 1, 'w', n, n, 0, 0, 0, 0, 0, '[]' FROM generate_series(1, 6000) n;
INSERT INTO memory_contents (pk, digest, body) SELECT n, 'd' || n, 'body' FROM generate_series(1, 3000) n;
INSERT INTO agent_timeline (pk, id, timeline, seq, at, run, kind, state, content, fingerprint, outcome, headline, file, command, tokens, counted)
SELECT n, 'e_' || n, n % 40 + 1, n, n, n % 40 + 1, CASE WHEN n % 20 = 0 THEN 'loop' ELSE 'log' END, CASE WHEN n % 50 = 1 THEN 'PRESENT' ELSE 'PAST' END,
  CASE WHEN n % 20 = 0 THEN NULL ELSE n % 3000 + 1 END, n % 3000 + 1, 'failure', '', '', '', 9, 1
FROM generate_series(1, 40000) n;
INSERT INTO anchors (entry, count, shown, threshold, first_at, last_at, marks, stamps)
SELECT pk, 3, 3, 3, 0, 0, '[]', '{}' FROM agent_timeline WHERE kind = 'loop';
INSERT INTO evidence (anchor, entry) SELECT pk, pk - 1 FROM agent_timeline WHERE kind = 'loop';
INSERT INTO observations (timeline, seq, entry, run, at, source, outcome, act, flags, tool, batch, call, command, result, place, fingerprint)
SELECT timeline, seq, pk, run, at, 'hook', 'failure', 'run', 0, '', '', '', '', '', '', fingerprint FROM agent_timeline;
INSERT INTO transitions (timeline, entry, from_state, to_state, reason, actor, at)
SELECT timeline, pk, 'NEW', 'PRESENT', 'recorded', '', 0 FROM agent_timeline;
ANALYZE;
"""


def plans_of(backend) -> dict[str, str]:
    """The plan of every statement, as its server tells it; asked for once."""
    if backend.kind not in _plans:
        backend.open()
        _plans[backend.kind] = explained(backend.kind, backend.address)
    return _plans[backend.kind]


def explained(kind: str, address: str) -> dict[str, str]:
    named = statements("sqlite" if kind == "sqlite" else "postgres")
    if kind == "sqlite":
        connection = sqlite3.connect(address.removeprefix("sqlite://"))
        plans = {
            name: "\n".join(
                row[3]
                for row in connection.execute(
                    f"EXPLAIN QUERY PLAN {sql}", dict.fromkeys(re.findall(r"(?<![:\w]):([a-z_]+)\b", sql))
                )
            )
            for name, sql in named.items()
        }
        connection.close()
        return plans
    import psycopg

    plans = {}
    with psycopg.connect(address) as connection:
        connection.execute(FILLED, prepare=False)
        connection.execute("SET LOCAL enable_seqscan = off")
        for name, sql in named.items():
            names = re.findall(r"%\(([a-z_]+)\)s", sql)
            # A text is of whatever type the server wants; a difference of two it cannot guess.
            values = {name: 1 if name in ("now", "until", "head", "tail") else "1" for name in names}
            rows = connection.execute(f"EXPLAIN {sql}", values).fetchall()  # type: ignore[arg-type]
            plans[name] = "\n".join(row[0] for row in rows)
        connection.rollback()
    return plans


def test_every_statement_compiles_on_its_own_server(backend):
    plans = plans_of(backend)
    assert set(plans) == set(statements("sqlite" if backend.kind == "sqlite" else "postgres"))


def test_the_hot_statements_use_their_index(backend):
    plans = plans_of(backend)
    wrong = {name: plans[name] for name, index in HOT.items() if not re.search(index, plans[name])}
    assert wrong == {}


def test_no_statement_looks_through_a_whole_table(backend):
    """SQLite says SCAN of a table; PostgreSQL, told to avoid it, says Seq Scan where no index serves."""
    plans = plans_of(backend)
    whole = {
        name: plan
        for name, plan in plans.items()
        if name not in WHOLE
        and (
            re.search(r"SCAN (?!\(subquery|hit\b|r VIRTUAL|CONSTANT)\w+(?! VIRTUAL)", plan)
            if backend.kind == "sqlite"
            else re.search(r"Seq Scan on (?!teams|agents|fingerprints)", plan)
        )
    }
    assert sorted(whole) == []


def test_both_dialects_have_the_same_statements():
    sqlite, postgres = set(statements("sqlite")), set(statements("postgres"))
    only_sqlite = {"unindex_content", "merge_index", "delete_content"}
    only_postgres = {"erase_content", "lock_content"}
    assert sqlite - postgres == only_sqlite
    assert postgres - sqlite == only_postgres
    assert SUBJECTS


def test_both_dialects_have_the_same_migrations():
    assert [m[:2] for m in migrations("sqlite")] == [m[:2] for m in migrations("postgres")]


def columns_of(backend) -> dict[str, set[str]]:
    if backend.kind == "sqlite":
        tables = [t for (t,) in backend.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return {t: {row[1] for row in backend.rows(f"PRAGMA table_info({t})")} for t in tables}
    found: dict[str, set[str]] = {}
    for table, column in backend.rows(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
    ):
        found.setdefault(table, set()).add(column)
    return found


def indexes_of(backend) -> set[str]:
    if backend.kind == "sqlite":
        rows = backend.rows("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    else:
        rows = backend.rows(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace "
            "WHERE n.nspname = 'public' AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = c.oid)"
        )
    return {name for (name,) in rows}


def written(dialect: str) -> tuple[dict[str, set[str]], set[str]]:
    """Tables with their columns, and indexes, as the migrations of a dialect spell them."""
    tables: dict[str, set[str]] = {}
    indexes: set[str] = set()
    for _, _, script in migrations(dialect):  # type: ignore[arg-type]
        for name, body in re.findall(r"CREATE TABLE (\w+) \(\n(.*?)\n\)", script, re.DOTALL):
            tables[name] = set(re.findall(r"^  ([a-z_]+) +[A-Z]", body, re.MULTILINE))
        indexes |= set(re.findall(r"CREATE (?:UNIQUE )?INDEX (\w+)", script))
    return tables, indexes


def test_a_fresh_store_is_what_its_migrations_say(nothing_yet):
    nothing_yet.open()
    tables, indexes = written("sqlite" if nothing_yet.kind == "sqlite" else "postgres")
    found = columns_of(nothing_yet)
    assert {name: found[name] for name in tables} == tables
    assert indexes_of(nothing_yet) == indexes


def test_both_dialects_have_the_same_tables_columns_and_indexes():
    sqlite, postgres = written("sqlite"), written("postgres")
    assert postgres[0].pop("recall_index") == {"content", "words"}
    assert postgres[1] - sqlite[1] == {"recall_index_words"}
    assert sqlite == (postgres[0], postgres[1] - {"recall_index_words"})


def test_a_migration_that_has_run_is_not_run_again(backend):
    first = backend.open().digest("x")
    before = columns_of(backend), indexes_of(backend)
    assert backend.open().digest("x") == first
    assert (columns_of(backend), indexes_of(backend)) == before


@pytest.mark.parametrize("kind", ["newer", "older"])
def test_a_store_of_a_newer_version_is_read_only_where_it_says_so(backend, kind):
    from vlk2.errors import StoreIncompatible

    backend.open().close()
    backend.opened.clear()
    number = 99 if kind == "newer" else 1
    backend.execute(f"UPDATE store_meta SET value = '{number}' WHERE name = 'min_writer'")
    if kind == "older":
        assert backend.open().digest("x")
        return
    with pytest.raises(StoreIncompatible) as refused:
        backend.open()
    assert "99" in refused.value.message
    assert "Nothing was changed" in refused.value.message


def test_a_hook_never_makes_or_changes_a_schema(nothing_yet):
    from vlk2.errors import StoreUnavailable

    with pytest.raises(StoreUnavailable):
        nothing_yet.open(migrate=False)
    nothing_yet.open()
    assert nothing_yet.open(migrate=False).digest("x")
