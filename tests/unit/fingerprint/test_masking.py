"""Normalising and masking: idempotent, total, explained."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from vlk2.domain.fingerprint import diagnose, explain, masks, unknown
from vlk2.domain.text import normalise

TEXT = st.text(alphabet=st.characters(), max_size=200)
BYTES = st.text(alphabet="\x1b\x9b[]m;01 8\r\n\x00\x07\\ab%=\ud800\udc00'\"`<>:/._-@E", max_size=80)


@given(TEXT | BYTES)
@example("\x1b\x1b[31m[31mred")
@example("10%\r20%\rdone\r\n")
def test_normalising_twice_is_normalising_once(text: str):
    once = normalise(text)
    assert normalise(once) == once
    assert not set(once) & set("\x00\x1b\r")
    once.encode()


def test_each_part_of_the_normal_form():
    assert normalise("a\x00b") == "a\u2400b"
    assert normalise("a\ud800b") == "a\ufffdb"
    assert normalise("\ud83d\ude00") == "\U0001f600"
    assert normalise("a\r\nb\r\r\n") == "a\nb\n"
    assert normalise("\x1b[31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\") == "red link"
    assert normalise("load 10%\rload 90%\rload 100%\nerror\n") == "load 100%\nerror\n"
    assert normalise("one\rtwo") == "one\ntwo"


@given(TEXT | BYTES)
@example("Type '{ a: string; }' is not assignable to \"it's\" at 0x7ffe /tmp/a1/b.py:3 2026-01-01T10:00:00Z")
@example("`x' ‘y’ “z” «w» ``v``")
def test_masking_twice_is_masking_once(text: str):
    once = masks.template(" ".join(text.split())).text
    assert masks.template(once).text == once


@given(TEXT | BYTES)
@example("blk_-17 pid=3 v2_17 (uid=0) user=ann a=b=c, x==y")
@example("a.b@c.org /x/y.z:12 <1 sec [Mon Jan 05 10:00:00 2026]")
def test_masking_an_unknown_line_twice_is_masking_it_once(text: str):
    once = unknown.template(text).text
    assert unknown.template(once).text == once


@given(
    TEXT | BYTES,
    st.sampled_from([None, True, False]),
    st.sampled_from([None, 0, 1, 2, 130]),
    st.sampled_from(["", "Bash: make | tail", "Read: a"]),
)
def test_any_text_is_answered(text: str, is_error: bool | None, exit_code: int | None, action: str):
    found = diagnose(text, is_error=is_error, exit_code=exit_code, action=action)
    assert (found.fingerprint is not None) == (found.outcome == "failure")
    if found.fingerprint is not None:
        assert found.fingerprint.type
        assert found.failing
    assert explain(text, is_error=is_error, exit_code=exit_code, action=action).diagnosis == found


def test_an_explanation_names_the_row_the_masks_and_the_other_candidates():
    told = explain(
        "hull.c:12:3: error: 'keel' undeclared at 0x7ffe\nmake: *** [Makefile:4: hull.o] Error 1\n",
        is_error=True,
    )
    assert told.row == "gnu"
    assert told.verdict == "failed"
    assert told.template == "<q> undeclared at <address>"
    assert [(one.mask, one.original) for one in told.masked] == [("quoted", "'keel'"), ("address", "0x7ffe")]
    assert next((one.row, one.line) for one in told.candidates) == ("gnu", 1)
    assert "make-trailer" in {one.row for one in told.candidates}


def test_an_explanation_of_what_is_no_failure_names_no_row():
    told = explain("all well")
    assert (told.row, told.verdict, told.candidates) == ("", "silent", ())


def test_statuses_and_codes_stay():
    assert masks.template("exit code 137 after 12 s").text == "exit code 137 after <measure>"
    assert masks.template("E0277 and TS2345 and HTTP 503").text == "E0277 and TS2345 and HTTP 503"
    assert (
        unknown.template("request ended with status 503 in 12 ms").text
        == "request ended with status 503 in <*>"
    )
    assert (
        unknown.template("request ended with status 200 in 12 ms").text
        == "request ended with status <*> in <*>"
    )
