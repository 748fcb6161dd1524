"""What a fingerprint costs: adversarial texts of 1 MiB against plain text, and log lines against Drain3.

Drain3 pins an old cachetools and lives in an environment of its own: its interpreter is named by
VLK2_DRAIN3_PYTHON, and without that its rows are left out.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable
from functools import partial

from vlk2.domain.fingerprint import diagnose

MIB = 1 << 20
LINES = 20_000
DRAIN3 = """
import json, sys, time
from drain3 import TemplateMiner
from drain3.template_miner_config import TemplateMinerConfig
lines = sys.stdin.read().splitlines()
miner = TemplateMiner(config=TemplateMinerConfig())
start = time.process_time()
for line in lines:
    miner.add_log_message(line)
print(json.dumps(time.process_time() - start))
"""

Row = dict[str, str | float | bool]


def plain_text() -> str:
    """1 MiB of words, nine a line."""
    chance = random.Random(1)
    words = [
        "value",
        "request",
        "handled",
        "in",
        "ms",
        "for",
        "user",
        "worker",
        "queue",
        "item",
        "ok",
        "done",
        "path",
        "size",
    ]
    return "\n".join(" ".join(chance.choice(words) for _ in range(9)) for _ in range(MIB // 50))[:MIB]


def adversarial_texts() -> dict[str, str]:
    """Texts of 1 MiB that a careless pattern, scan or finder would be slow on."""
    pieces = {
        "spaces": " ",
        "line ends": "\n",
        "one letter": "a",
        "apostrophes": "'",
        "quotes": '"',
        "opening quotes": "‘",
        "backticks": "`",
        "digits": "1",
        "colons": "1:",
        "paths": "a/",
        "dots": "a.",
        "dashes": "-",
        "brackets": "[({<",
        "assignments": "a=b,",
        "escapes": "\x1b[",
        "carriage returns": "10%\r",
        "surrogates": "\ud800",
        "error words": "error: ",
        "error lines": "error: x\n",
        "exception lines": "Error: a\n",
        "located errors": "a.c:1:2: error: x 'y'\n",
        "trace heads": "Traceback (most recent call last):\n",
        "traces": 'Traceback (most recent call last):\n  File "x", line 1, in f\nValueError: x\n',
        "frames": "\tat a.b.C(D.java:1)\n",
        "jvm exceptions": "a.b.CException: x\n",
        "test marks": "● x\n",
        "rspec marks": "Failure/Error:\n",
        "summary lines": "FAILED a.py::b - x\n",
        "postgres lines": "ERROR:  a.b x\n",
        "lint lines": "  1:1  error  x  y\n",
        "rust codes": "error[E0277]: x\n",
    }
    return {name: (piece * (MIB // len(piece) + 1))[:MIB] for name, piece in pieces.items()}


def log_lines(count: int = LINES) -> list[str]:
    """Invented lines of sixteen kinds, after the kinds of systems that log benchmarks gather: a file system, two
    schedulers, a coordinator, three supercomputers, a cluster, two desktops, a kernel, a phone, a health
    application, a web server, a proxy and an SSH daemon."""
    chance = random.Random(3)
    number = chance.randrange
    user = partial(
        chance.choice, ["alice", "bob", "carol", "dave", "erin", "webmaster", "guest", "oracle", "root"]
    )

    def address() -> str:
        return ".".join(str(number(1, 250)) for _ in range(4))

    def hexadecimal(size: int) -> str:
        return "".join(chance.choice("0123456789abcdef") for _ in range(size))

    kinds: list[Callable[[], str]] = [
        lambda: (
            f"chunk chk_{number(-(10**18), 10**18)} stored src: /{address()}:8020 dest: /{address()}:50010 size {number(10**8)}"
        ),
        lambda: f"task attempt_{number(10**12)}_0001_m_{number(10**6):06d}_0 is done. And will be committed",
        lambda: (
            f"cache block rdd_{number(99)}_{number(99)} kept in memory (size {chance.random() * 900:.1f} KB)"
        ),
        lambda: (
            f"session 0x{hexadecimal(16)} closed for client /{address()}:{number(65000)} which had old epoch {number(99)}"
        ),
        lambda: f"instruction cache parity error corrected at 0x{hexadecimal(8)}",
        lambda: f"node-{number(999)} link error on tree Net-{number(9)}T00:00:{number(9)}",
        lambda: f"rack {number(99)} fan speeds ( {number(9999)} {number(9999)} {number(9999)} )",
        lambda: (
            f"[instance: {hexadecimal(8)}-{hexadecimal(4)}-{hexadecimal(12)}] took {chance.random() * 20:.2f} seconds to spawn"
        ),
        lambda: (
            f"update agent loaded module {number(9)}.{number(9)}.{number(9999)} with core C:\\System\\store\\{hexadecimal(12)}.dll"
        ),
        lambda: f"en{number(3)}: station changed to {':'.join(hexadecimal(2) for _ in range(6))}",
        lambda: f"session opened for user {user()} by (uid={number(2000)})",
        lambda: (
            f'acquire lock={number(10**8)}, flags=0x{number(9)}, tag="view {number(9)}", name=org.example.ui, uid={number(20000)}'
        ),
        lambda: f"totalStepDetail = {number(10**12)}##{number(9999)}##{number(999999)}##{number(9999)}",
        lambda: f"worker.init() ok /etc/app/conf/worker{number(9)}.properties",
        lambda: (
            f"gateway.example.org:{number(9999)} close, {number(99999)} bytes sent, lifetime 00:{number(10, 59)}"
        ),
        lambda: f"Failed login for {user()} from {address()} port {number(65000)} proto2",
    ]
    return [chance.choice(kinds)() for _ in range(count)]


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The least processor time of a few runs."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def adversarial_rows() -> list[Row]:
    text = plain_text()
    diagnose(text, is_error=True)
    plain = seconds(lambda: diagnose(text, is_error=True))
    rows: list[Row] = []
    for name, bad in adversarial_texts().items():
        ratio = seconds(lambda bad=bad: diagnose(bad, is_error=True)) / plain
        rows.append(_row(f"fingerprint of 1 MiB of {name} over plain text", ratio, "<= 4", ratio <= 4))
    return rows


def throughput_rows() -> list[Row]:
    interpreter = os.environ.get("VLK2_DRAIN3_PYTHON", "")
    if not interpreter:
        return []
    lines = log_lines()
    theirs = min(
        float(
            subprocess.run(
                [interpreter, "-c", DRAIN3],
                input="\n".join(lines),
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for _ in range(2)
    )
    rows: list[Row] = []
    for what, is_error in (("as they come", None), ("each told to be a failure", True)):
        taken = seconds(
            lambda is_error=is_error: [diagnose(line, is_error=is_error) for line in lines], times=2
        )
        ratio = theirs / taken
        rows.append(
            _row(f"fingerprints of log lines {what}, times Drain3's throughput", ratio, ">= 3", ratio >= 3)
        )
    return rows


def _row(figure: str, value: float, goal: str, holds: bool) -> Row:
    return {"figure": figure, "value": round(value, 2), "goal": goal, "unit": "x", "holds": holds}


def measure() -> list[Row]:
    """Every figure of this module; each is a ratio of processor times of one run."""
    return [*adversarial_rows(), *throughput_rows()]
