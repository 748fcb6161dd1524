"""One of several processes that record the same failures into one timeline: `racer.py ADDRESS COUNT`.

It says `ready`, waits for a line, records, and prints how many of its records were acknowledged.
"""

from __future__ import annotations

import sys

from failures import python, rust, told, typescript

from vlk2.bootstrap import Memory
from vlk2.ports import Owner
from vlk2.settings import load


class Bytes:
    exact = False

    def count(self, text: str) -> int:
        return len(text.encode())


def main(address: str, count: int) -> None:
    settings = load(store=address, agent="ada", project="ledger")
    memory = Memory(settings, Owner("default", "ada", "ledger"), counter=Bytes(), mask=lambda text: text)
    memory.store.digest("")
    print("ready", flush=True)
    sys.stdin.readline()
    makers = [rust, typescript, python]
    acknowledged = 0
    for n in range(count):
        memory.record(told(makers[n % 3](line=n + 1), command=f"step {n % 3}"))
        acknowledged += 1
    memory.close()
    print(acknowledged, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
