"""Several writers on one timeline: nothing is lost, nothing is made twice, nobody sees an error."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from failures import rust, told

from vlk2.domain.states import State

PROCESSES, RECORDS = 8, 200


def test_eight_processes_on_one_timeline_lose_nothing_and_make_one_constraint_each(memory, backend):
    backend.open()
    racers = [
        subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("racer.py")), backend.address, str(RECORDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    assert [racer.stdout.readline().strip() for racer in racers] == ["ready"] * PROCESSES
    for racer in racers:
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate(timeout=300) for racer in racers]
    assert [(out.strip(), err) for out, err in said] == [(str(RECORDS), "")] * PROCESSES
    with memory.store.read(memory.owner, memory.clock()) as timeline:
        assert timeline.observations() == PROCESSES * RECORDS
        assert timeline.count_states() == {State.PAST: PROCESSES * RECORDS, State.FUTURE: 3}
        counts = sorted(c.count for c in timeline.constraints())
        assert sum(counts) == PROCESSES * RECORDS
        seqs = backend.rows("SELECT MIN(seq), MAX(seq), COUNT(DISTINCT seq) FROM observations")
    assert seqs == [(1, PROCESSES * RECORDS, PROCESSES * RECORDS)]


def test_threads_of_one_server_lose_nothing(memory):
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda n: memory.record(told(rust(line=n))).repeats, range(1, 65)))
    assert sorted(done) == list(range(1, 65))


def test_many_agents_that_start_at_once_get_a_timeline_each(memory_of):
    memories = [memory_of(f"agent{n % 6}", f"project{n // 6}") for n in range(18)]
    with ThreadPoolExecutor(9) as pool:
        answers = list(pool.map(lambda m: [m.record(told(rust(line=n))).repeats for n in range(3)], memories))
    assert answers == [[1, 2, 3]] * 18
    assert len({one for m in memories for one in m.fetch_context().constraint_ids}) == 18


def test_the_first_openers_of_a_new_store_make_one_schema_and_one_key(nothing_yet):
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: nothing_yet.open(), range(6)))
    assert len({store.digest("x") for store in stores}) == 1
