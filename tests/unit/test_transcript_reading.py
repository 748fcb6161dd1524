"""What holds for every recorded session, whatever wrote it: one clear error a file, lenient inside."""

from __future__ import annotations

import importlib
import json
import sys
import tracemalloc
from pathlib import Path
from types import ModuleType

import pytest

from vlk2.clients import source
from vlk2.clients.transcripts import FORMATS, Reading, read
from vlk2.domain.event import Event, EventKind
from vlk2.errors import InvalidInput


def lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def put(folder: Path, content: str | bytes, name: str = "session") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def results(reading: Reading) -> list[Event]:
    return [step.event for step in reading if step.event.kind is EventKind.RESULT]


def step(i: int, action: str = "Bash: make", observation: str = "make: *** Error 2\n", **more: object):
    return {"i": i, "action": action, "observation": observation, "is_error": True, **more}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"  \n\n \n", "is empty"),
        (b"\x7fELF\x02\x01\x00\x00\x00\x00\x00", "binary"),
        ("ein Text über nichts\n".encode("utf-16"), "binary or not UTF-8"),
        ("Größe;Stück\n1;2\n".encode("latin-1"), "expected"),
        (b"# A readme\n\nNothing was recorded here.\n", "expected"),
        (b'{"name": "shop", "version": "1.0.0"}\n', "expected"),
        (b"[1, 2, 3]", "expected"),
        (b'{\n  "messages": [\n    {"role": "user", "conte', "truncated"),
        (b"[" * 100_000, "expected"),
    ],
)
def test_a_file_that_is_no_session_gets_one_line_that_names_it_and_what_was_expected(
    tmp_path: Path, kind: str, content: bytes, reason: str
):
    path = put(tmp_path, content, "odd.json")
    with pytest.raises(InvalidInput) as caught:
        list(read(path, kind))
    message = caught.value.message
    assert str(path) in message
    assert "expected" in message
    assert reason in message or kind == "aider"
    assert "\n" not in message


def test_a_missing_file_a_folder_and_an_unknown_format_are_named(tmp_path: Path):
    with pytest.raises(InvalidInput, match=r"gone.jsonl: cannot be read"):
        read(tmp_path / "gone.jsonl")
    with pytest.raises(InvalidInput, match="is a folder"):
        read(tmp_path)
    with pytest.raises(InvalidInput, match="unknown format 'cursor', expected one of auto, steps"):
        read(put(tmp_path, lines(step(0))), "cursor")


def test_a_file_of_one_format_is_refused_as_another(tmp_path: Path):
    path = put(tmp_path, lines(step(0)))
    with pytest.raises(InvalidInput, match="is no codex session, expected JSON lines"):
        read(path, "codex")
    assert read(path, "steps").format == "steps"


def test_lines_that_are_no_json_or_unknown_are_skipped_and_counted(tmp_path: Path):
    broken = (
        'not json\n{"half": \n' + lines(step(0)) + "[1]\n\n" + lines({"other": 1}, step(1)) + '{"i": 2, "act'
    )
    reading = read(put(tmp_path, broken))
    assert [event.command for event in results(reading)] == ["make", "make"]
    assert reading.skipped == 5


def test_bytes_that_are_no_utf_8_inside_a_session_are_replaced(tmp_path: Path):
    row = json.dumps(step(0, observation="@@")).encode().replace(b"@@", b"caf\xe9")
    reading = read(put(tmp_path, row + b"\n"))
    assert results(reading)[0].text == "caf\ufffd"


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path: Path):
    content = b"\xef\xbb\xbf" + lines(step(0), step(1)).replace("\n", "\r\n").encode()
    reading = read(put(tmp_path, content))
    assert len(results(reading)) == 2
    assert reading.skipped == 0


def test_a_line_too_long_to_hold_is_skipped_and_the_rest_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(source, "MAX_LINE", 4096)
    path = put(tmp_path, lines(step(0), step(1, observation="x" * 20_000), step(2)))
    reading = read(path)
    assert [found.i for found in reading if found.event.kind is EventKind.RESULT] == [0, 2]
    assert reading.skipped == 1


def test_a_document_too_large_to_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(source, "MAX_DOCUMENT", 1000)
    path = put(tmp_path, json.dumps({"trajectory": [{"action": "ls", "observation": "x" * 2000}]}, indent=1))
    with pytest.raises(InvalidInput, match="is one JSON document of more than"):
        read(path)


def test_progress_tells_the_bytes_consumed_up_to_the_size_of_the_file(tmp_path: Path):
    path = put(tmp_path, lines(*(step(i, observation="y" * 2000) for i in range(600))))
    told: list[int] = []
    reading = read(path, progress=told.append)
    assert told == []
    assert len(results(reading)) == 600
    assert len(told) >= 4
    assert told == sorted(told)
    assert told[-1] == reading.size == path.stat().st_size


def test_memory_does_not_grow_with_the_length_of_a_session(tmp_path: Path):
    def peak(count: int) -> int:
        path = put(tmp_path, lines(*(step(i, observation="y" * 10_000) for i in range(count))))
        tracemalloc.start()
        try:
            assert sum(1 for _ in read(path)) == count + 1
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(1)
    assert peak(800) < peak(40) + 100_000


def test_a_file_is_read_by_its_content_whatever_its_name(tmp_path: Path):
    assert read(put(tmp_path, lines(step(0)), "session.traj.json")).format == "steps"
    assert (
        read(put(tmp_path, "# aider chat started at 2026-03-01 10:00:00\n", "notes.jsonl")).format == "aider"
    )


def zstd_library() -> ModuleType:
    try:
        return importlib.import_module("compression.zstd")
    except ImportError:
        return pytest.importorskip("backports.zstd")


def test_a_compressed_session_reads_like_the_plain_one(tmp_path: Path):
    library = zstd_library()
    plain = lines(*(step(i) for i in range(50)))
    told: list[int] = []
    reading = read(put(tmp_path, library.compress(plain.encode()), "a.jsonl.zst"), progress=told.append)
    assert len(results(reading)) == 50
    assert told[-1] == reading.size < len(plain)


def test_a_broken_archive_is_named(tmp_path: Path):
    library = zstd_library()
    packed = bytearray(library.compress(lines(*(step(i) for i in range(50))).encode()))
    packed[20:40] = b"\xff" * 20
    with pytest.raises(InvalidInput, match=r"a\.jsonl\.zst: is a broken zstd archive"):
        list(read(put(tmp_path, bytes(packed), "a.jsonl.zst")))


def test_without_a_zstd_library_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InvalidInput, match=r"pip install backports\.zstd"):
        read(put(tmp_path, b"\x28\xb5\x2f\xfd" + b"\x00" * 20, "a.jsonl.zst"))


def test_own_tools_are_numbered_but_are_no_observations_and_explicit_records_are_their_own_text(
    tmp_path: Path,
):
    recorded = {"raw_log": "error: boom", "file_context": "src/a.rs", "outcome": "failure"}
    reading = read(
        put(
            tmp_path,
            lines(
                step(
                    0,
                    'mcp__vlk2__vlk_fetch_context: {"query": "x"}',
                    "[SYSTEM ANCHOR] do not",
                    is_error=False,
                ),
                step(1, f"mcp__vlk2__vlk_record_state: {json.dumps(recorded)}", "recorded", is_error=False),
            ),
        )
    )
    steps = [found for found in reading if found.event.kind is EventKind.RESULT]
    assert [found.i for found in steps] == [1]
    event = steps[0].event
    assert (event.explicit, event.text, event.place, event.is_error) == (
        True,
        "error: boom",
        "src/a.rs",
        True,
    )


def test_neutral_steps_keep_their_own_numbers_times_messages_and_codes(tmp_path: Path):
    reading = read(
        put(
            tmp_path,
            lines(
                step(4, ts=1_790_000_001, message="m1", exit_code=2),
                step(7, "Read: a.py", "x = 1", is_error=None, ts="2026-09-21T14:13:22Z", message="m1"),
                step(8, "edit 1:1\nx: int = 2", "ok", is_error=None, ts="2026-09-21 14:13:23"),
            ),
            "demo.jsonl",
        )
    )
    steps = [found for found in reading if found.event.kind is EventKind.RESULT]
    assert [found.i for found in steps] == [4, 7, 8]
    first, second, third = (found.event for found in steps)
    assert first.at == 1_790_000_001_000_000
    assert (first.exit_code, first.is_error, first.batch) == (2, True, "m1")
    assert (second.tool, second.command, second.is_error, second.batch) == ("Read", "a.py", None, "m1")
    assert second.at == 1_790_000_002_000_000
    assert third.at == 1_790_000_003_000_000
    assert (third.tool, third.command) == ("", "edit 1:1\nx: int = 2")
    assert {found.run for found in steps} == {"demo"}


def test_neutral_steps_of_one_prompt_size_are_one_message_and_its_tokens_count_once(tmp_path: Path):
    reading = read(
        put(
            tmp_path,
            lines(
                step(0, tok_in=900, tok_out=20),
                step(1, tok_in=900, tok_out=20),
                step(2, tok_in=1400, tok_out=10),
            ),
        )
    )
    one, two, three = results(reading)
    assert one.batch == two.batch != three.batch
    assert [one.tokens, two.tokens, three.tokens] == [920, 0, 1410]


def test_tokens_are_estimated_where_none_are_recorded(tmp_path: Path):
    event = results(read(put(tmp_path, lines(step(0, "Bash: " + "c" * 40, "o" * 360)))))[0]
    assert event.tokens == 100


@pytest.mark.parametrize(
    "text",
    [
        "The user doesn't want to proceed with this tool use. The tool use was rejected.",
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        "[Request interrupted by user for tool use]",
        "[Operation Cancelled] Reason: User denied execution.",
        "aborted by user after 3.1s",
    ],
)
def test_what_the_user_or_a_sibling_stopped_is_marked_in_any_format(tmp_path: Path, text: str):
    assert results(read(put(tmp_path, lines(step(0, observation=text)))))[0].interrupted


def test_a_result_that_only_quotes_an_interruption_is_none(tmp_path: Path):
    text = "src/ui.ts:4: const message = 'Sibling tool call errored'"
    assert not results(read(put(tmp_path, lines(step(0, observation=text)))))[0].interrupted
