"""Patterns from the file are those that `re` makes, and whatever is wrong with the file, `re` goes on."""

import re
import stat
import subprocess
import sys
import textwrap

import pytest

SAMPLES = [
    (r"a|b", 0),
    (r"(?P<key>[\w.-]+)\s*[:=]\s*(?P<value>\S+)", re.IGNORECASE),
    (r"^\s*(?:Traceback|FAIL(?:ED)?)\b", re.MULTILINE),
    (r"(?<!\w)(\d{1,3})(?:\.\d+)?(?=\s|$)", 0),
    (r"[^\x00-\x7fäöü]{2,}|\U0001f600", 0),
    (r"(?i:abc)(?s:.)x{2,5}?", re.VERBOSE),
    (r"(a)(?(1)b|c)", re.ASCII),
]
TEXT = "Traceback x = 12.5 abcXxx FAILED\nKey: väl 😀😀 ab 7 b"

PROGRAM = textwrap.dedent(
    """
    import re, sys
    from vlk2.patterns import Patterns
    directory, samples, text = eval(sys.stdin.read())
    patterns = Patterns(directory)
    assert patterns.use()
    for pattern, flags in samples:
        made = re.compile(pattern, flags)
        found = [(m.span(), m.groups(), m.groupdict()) for m in made.finditer(text)]
        print(repr((made.pattern, made.flags, made.groups, dict(made.groupindex), found)))
    patterns.save()
    """
)


def run(directory, samples=SAMPLES):
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=repr((str(directory), samples, TEXT)),
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def expected(samples=SAMPLES):
    lines = []
    for pattern, flags in samples:
        made = re.compile(pattern, flags)
        found = [(m.span(), m.groups(), m.groupdict()) for m in made.finditer(TEXT)]
        lines.append(repr((made.pattern, made.flags, made.groups, dict(made.groupindex), found)))
    return "\n".join(lines) + "\n"


def test_a_pattern_is_the_same_when_it_is_made_and_when_it_comes_from_the_file(tmp_path):
    assert run(tmp_path) == expected()
    (file,) = tmp_path.iterdir()
    before = file.read_bytes()
    assert run(tmp_path) == expected()
    assert file.read_bytes() == before


def test_every_pattern_of_the_tables_is_the_same_from_the_file(tmp_path):
    from vlk2.domain.fingerprint import tables

    text = "error[E0277] Traceback panic: FAILED npm ERR! password KeyError Exception"
    samples = [(row.pattern, 0) for table in tables.relevant(text) for row in table.rows]
    assert len(samples) > 20
    first = run(tmp_path, samples)
    assert run(tmp_path, samples) == first == expected(samples)


def test_the_file_is_the_users_own(tmp_path):
    run(tmp_path)
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x00" * 400])
def test_a_broken_file_is_made_anew(tmp_path, content):
    run(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(content)
    assert run(tmp_path) == expected()
    assert file.read_bytes() == whole


def test_a_directory_that_is_missing_or_closed_hinders_nothing(tmp_path):
    assert run(tmp_path / "missing") == expected()
    assert list(tmp_path.iterdir()) == []
