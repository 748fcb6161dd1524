"""The embedded store as a file: its rights, what it refuses, what it leaves as it was."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from failures import rust, told

from vlk2.bootstrap import Memory, open_store
from vlk2.errors import ConfigError, StoreBusy, StoreIncompatible, StoreUnavailable
from vlk2.ports import Owner
from vlk2.settings import load
from vlk2.stores import sqlite as sqlite_store
from vlk2.stores.filesystem import network_file_system

root = pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everything")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


def memory_at(path: Path) -> Memory:
    return Memory(
        load(store=f"sqlite://{path}", agent="ada", project="ledger"), Owner("default", "ada", "ledger")
    )


def recorded(path: Path) -> bytes:
    """Makes a store with a memory, closed; its bytes."""
    memory = memory_at(path)
    memory.record(told(rust()))
    memory.close()
    return path.read_bytes()


@pytest.mark.skipif(os.name == "nt", reason="modes are POSIX")
def test_files_are_private_and_so_is_their_folder(path):
    previous = os.umask(0)
    try:
        memory = memory_at(path)
        memory.record(told(rust()))
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
        memory.close()
    finally:
        os.umask(previous)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert modes
    assert set(modes.values()) == {0o600}
    assert any(name.endswith("-wal") for name in modes)


def test_a_database_of_another_program_is_refused_and_left_as_it_is(path):
    path.parent.mkdir()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreIncompatible) as refused:
        open_store(f"sqlite://{path}")
    assert "another program" in refused.value.message
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path):
    path.parent.mkdir()
    path.write_text("a diary, not a database\n" * 400)
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable) as refused:
        open_store(f"sqlite://{path}")
    assert "left as it is" in refused.value.message
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_store(path):
    path.parent.mkdir()
    path.touch()
    assert open_store(f"sqlite://{path}").digest("x")


def test_a_damaged_store_says_so_and_is_not_overwritten(path):
    whole = recorded(path)
    damaged = whole[:4096] + b"\xff" * (len(whole) - 4096)
    path.write_bytes(damaged)
    with pytest.raises(StoreUnavailable) as refused:
        memory_at(path).fetch_context()
    assert "damaged" in refused.value.message
    assert path.read_bytes() == damaged


def test_a_store_of_a_newer_version_is_refused_by_the_page_that_says_so(path):
    recorded(path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    assert open_store(f"sqlite://{path}").digest("x")
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE store_meta SET value = '7' WHERE name = 'min_writer'")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreIncompatible) as refused:
        open_store(f"sqlite://{path}")
    assert "newer" in refused.value.message
    assert path.read_bytes() == before


def test_a_read_only_store_says_what_to_do(path, monkeypatch):
    """`query_only` refuses what a read-only file refuses, whoever runs the test."""
    recorded(path)
    memory = memory_at(path)
    memory.fetch_context()
    connect = sqlite_store.SqliteStore._connect

    def read_only(store: sqlite_store.SqliteStore) -> sqlite3.Connection:
        connection = connect(store)
        connection.execute("PRAGMA query_only = ON")
        return connection

    monkeypatch.setattr(sqlite_store.SqliteStore, "_connect", read_only)
    other = memory_at(path)
    assert "E0277" in other.fetch_context().text
    with pytest.raises(StoreUnavailable) as refused:
        other.record(told(rust(line=9)))
    assert "writable" in refused.value.message


@root
def test_a_folder_without_rights_says_what_to_do(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreUnavailable) as refused:
            open_store(f"sqlite://{tmp_path / 'new' / 'memory.db'}")
    finally:
        tmp_path.chmod(0o700)
    assert "VLK2_STORE" in refused.value.message


def test_a_folder_in_the_place_of_the_file_says_what_to_do(path):
    path.mkdir(parents=True)
    with pytest.raises(StoreUnavailable) as refused:
        open_store(f"sqlite://{path}")
    assert "VLK2_STORE" in refused.value.message


def test_a_file_in_the_place_of_the_folder_says_what_to_do(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(StoreUnavailable) as refused:
        open_store(f"sqlite://{tmp_path / 'data' / 'memory.db'}")
    assert "VLK2_STORE" in refused.value.message


def test_a_network_file_system_is_refused_before_a_file_is_made(path, monkeypatch):
    monkeypatch.setattr(sqlite_store, "network_file_system", lambda folder: "nfs4")
    with pytest.raises(StoreUnavailable) as refused:
        open_store(f"sqlite://{path}")
    assert "nfs4" in refused.value.message
    assert not path.exists()


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/ada/x", "nfs4"),
        ("/home", ""),
        ("/mnt/share/deep/down", "cifs"),
        ("/mnt/with space/x", "fuse.sshfs"),
        ("/srv", ""),
    ],
)
def test_the_mount_table_tells_what_is_a_network_file_system(folder, kind):
    mounts = (
        "/dev/sda1 / ext4 rw 0 0\nserver:/ada /home/ada nfs4 rw 0 0\n//srv/share /mnt/share cifs rw 0 0\n"
        "me@host:/ /mnt/with\\040space fuse.sshfs rw 0 0\ntmpfs /srv tmpfs rw 0 0\nbroken line\n"
    )
    assert network_file_system(folder, mounts) == kind


def test_a_writer_that_waits_too_long_says_busy_and_records_nothing(path):
    recorded(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    store = open_store(f"sqlite://{path}", busy_seconds=0.05)
    with pytest.raises(StoreBusy) as refused, store.write(Owner("default", "ada", "ledger"), 1):
        pytest.fail("a transaction began beside another")
    assert "try again" in refused.value.message
    holder.execute("ROLLBACK")
    holder.close()
    with store.write(Owner("default", "ada", "ledger"), 1) as timeline:
        assert timeline.last_seq() == 1
    store.close()


def test_a_full_disk_says_so_and_the_store_goes_on_afterwards(path, monkeypatch):
    recorded(path)
    connect = sqlite_store.SqliteStore._connect

    def small(store: sqlite_store.SqliteStore) -> sqlite3.Connection:
        connection = connect(store)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 1}")
        return connection

    monkeypatch.setattr(sqlite_store.SqliteStore, "_connect", small)
    memory = memory_at(path)

    def fill() -> None:
        for n in range(40):
            memory.record(told(f"error: number {n} " + "filling " * 500))

    with pytest.raises(StoreUnavailable) as refused:
        fill()
    assert "full" in refused.value.message
    memory.close()
    monkeypatch.setattr(sqlite_store.SqliteStore, "_connect", connect)
    again = memory_at(path)
    assert again.record(told(rust(line=9))).repeats == 2
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    again.close()


def test_words_that_were_forgotten_are_not_in_the_search_index(path):
    memory = memory_at(path)
    kept = memory.record(told("error: cannot open zanzibar7741 of the vault"))
    lesson = memory.time_travel([kept.entry_id], "it does not open like that")
    assert memory.recall("zanzibar7741").ids
    memory.revoke(lesson.constraint_id, "done")
    memory.forget(kept.entry_id, "a customer's name")
    memory.close()
    connection = sqlite3.connect(path)
    connection.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, recall_index, row)")
    assert connection.execute("SELECT term FROM temp.words WHERE term LIKE 'zanzibar%'").fetchall() == []
    connection.close()


def test_a_store_without_full_text_search_scans_and_says_so(path, monkeypatch):
    class NoFts5(sqlite3.Connection):
        def execute(self, sql, *more):
            if "fts5" in sql:
                raise sqlite3.OperationalError("no such module: fts5")
            return super().execute(sql, *more)

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite_store.sqlite3, "connect", lambda *args, **named: connect(*args, factory=NoFts5, **named)
    )
    memory = memory_at(path)
    for n in range(3):
        memory.record(told(rust(line=n + 1)))
    found = memory.recall("E0277")
    assert any(one.startswith("e_") for one in found.ids)
    assert "no full-text search" in found.text


def test_text_that_is_no_address_is_refused():
    with pytest.raises(ConfigError):
        open_store("mysql://somewhere")
