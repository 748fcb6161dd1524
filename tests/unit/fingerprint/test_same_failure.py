"""Rule 1: what never matters, and what does."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vlk2.domain.fingerprint import diagnose


def identity(text: str, **verdict: object):
    one = diagnose(text, **verdict).fingerprint
    assert one is not None
    return one.language, one.type, one.signature


def colour(text: str) -> str:
    return re.sub(r"(?m)^(\S)", "\x1b[1;31m\\1\x1b[0m", text)


def clock(text: str) -> str:
    return "".join(
        f"2026-04-0{1 + n % 9}T10:0{n % 10}:11.{n % 10}07Z {line}"
        for n, line in enumerate(text.splitlines(True))
    )


REWRITES = {
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "colour": colour,
    "a CI clock": clock,
    "a docker step": lambda text: "".join(
        f"#12 3.{n % 10}04 {line}" for n, line in enumerate(text.splitlines(True))
    ),
    "a title": lambda text: "\x1b]0;build\x07" + text,
}


@pytest.mark.parametrize("rewrite", REWRITES)
def test_what_wraps_an_output_never_matters(case, rewrite: str):
    if case.text.startswith("#9 ") and rewrite == "a docker step":
        return  # the step numbers stand there already
    assert identity(REWRITES[rewrite](case.text), **case.verdict) == identity(case.text, **case.verdict)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(shift=st.integers(1, 900))
def test_another_line_number_is_the_same_failure(case, shift: int):
    moved = re.sub(
        r"(?<=[\w)]:)\d{1,3}(?=[:\s]|$)|(?<=, line )\d+|(?<=on line )\d+|(?<=\()\d+(?=,\d+\):)",
        lambda found: str(int(found[0]) + shift),
        case.text,
    )
    assert identity(moved, **case.verdict) == identity(case.text, **case.verdict)


@settings(max_examples=25, deadline=None)
@given(
    folder=st.lists(st.from_regex(r"[a-z][a-z0-9_-]{0,9}", fullmatch=True), min_size=1, max_size=4).map(
        "/".join
    ),
    line=st.integers(1, 9_999),
    pid=st.integers(2, 99_999),
    address=st.integers(16, 2**47).map(hex),
    uuid=st.uuids().map(str),
    port=st.integers(1_024, 65_535),
    millis=st.integers(1, 99_999),
    temporary=st.from_regex(r"tmp[a-z0-9]{6,8}", fullmatch=True),
)
def test_volatile_parts_never_change_a_fingerprint(folder, line, pid, address, uuid, port, millis, temporary):
    def told(folder, line, pid, address, uuid, port, millis, temporary):
        return (
            "Traceback (most recent call last):\n"
            f'  File "/{folder}/run.py", line {line}, in load\n'
            "    pull()\n"
            f"RuntimeError: worker pid={pid} at {address} lost job {uuid} on 127.0.0.1:{port} after {millis} ms in /{folder}/{temporary}\n"
        )

    one = told(folder, line, pid, address, uuid, port, millis, temporary)
    two = told(
        "srv/mill", 1, 7, "0x7f00deadbeef", "0f8fad5b-d9cb-469f-a165-70867728950e", 8080, 12, "tmp1a2b3c4d"
    )
    assert identity(one) == identity(two)


def test_code_class_status_and_symbols_do_matter():
    bound = "error[E0277]: the trait bound `{}: Ripen` is not satisfied\n --> src/a.rs:1:1\n"
    one = diagnose(bound.format("Pear")).fingerprint
    two = diagnose(bound.format("Plum")).fingerprint
    assert one is not None
    assert two is not None
    assert one.signature == two.signature
    assert one.symbols == ("Pear: Ripen",)
    assert one.key != two.key
    assert identity("HTTP/1.1 404 Not Found\n", is_error=True) != identity(
        "HTTP/1.1 503 Service Unavailable\n", is_error=True
    )
    assert identity("", exit_code=1) != identity("", exit_code=2)
    assert identity("job ended with exit code 3", is_error=True) != identity(
        "job ended with exit code 4", is_error=True
    )


def test_the_same_failure_in_another_output_form_is_the_same():
    plain = "src/a.ts(14,7): error TS2322: Type 'number' is not assignable to type 'string'.\n"
    pretty = "src/a.ts:14:7 - error TS2322: Type 'number' is not assignable to type 'string'.\n\n14 let a\n       ~\n"
    assert identity(plain) == identity(pretty)
    short = "mill/gear.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n"
    full = "F401 [*] `os` imported but unused\n --> mill/gear.py:1:8\n  |\n1 | import os\n"
    assert identity(short) == identity(full)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("slot blk_-77120391 lost", "slot blk_-15 lost"),
        ("lease v2_17 of job-99 ended", "lease v2_4 of job-12345 ended"),
        ("pid=31 took 20 ms", "pid=9917 took 4 ms"),
        ("peer 10.0.0.7:50010 closed the stream", "peer 10.11.12.13:9 closed the stream"),
        ("refused user ann from mill.example.org", "refused user bob from kite.example.com"),
        ("session 0x14f05578bd80001 is gone", "session 0x24f0557806a0016 is gone"),
        ("sent to 10.0.0.1 10.0.0.2 10.0.0.3", "sent to 10.0.0.9"),
        ("kept in memory (size 8.8 KB, free 500.9 MB)", "kept in memory (size 176.0 B, free 1.2 GB)"),
    ],
)
def test_lines_of_unknown_tools_group_without_a_word_boundary(one: str, other: str):
    assert identity(one, is_error=True) == identity(other, is_error=True)


def test_a_word_that_matters_is_no_wildcard():
    assert identity("machine started", is_error=True) != identity("machine paused", is_error=True)


LOG_WORD = st.sampled_from(
    [
        "worker",
        "started",
        "lease",
        "user",
        "for",
        "from",
        "ann",
        "=",
        "size",
        "status",
        "KB",
        "Mon",
        "true,",
        "job-17",
        "blk_-12",
        "pid=3",
        "10.0.0.7:50010",
        "/srv/mill/a.conf",
        "'stone'",
        "(uid=0)",
        "x",
        "0x7f3a",
        "mill.example.org",
        "error",
        "failed",
        "cannot",
        "refused",
        "(",
        "[7]",
        "12",
        "a:b:c",
        "5c:50:15:4c:ad:13",
        "done.",
    ]
)


@settings(deadline=None)
@given(line=st.lists(LOG_WORD, min_size=1, max_size=9).map(" ".join))
def test_a_final_line_end_changes_nothing(line: str):
    assert diagnose(line, is_error=True) == diagnose(line + "\n", is_error=True)
    assert diagnose(line) == diagnose(line + "\n")
