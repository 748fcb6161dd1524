"""Rule 2: only failures are failures."""

from __future__ import annotations

import pytest

from vlk2.domain.fingerprint import diagnose
from vlk2.domain.observation import Outcome

TRACEBACK = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nNameError: name 'f' is not defined\n"


def test_a_verdict_of_failure_is_one_whatever_the_text_says():
    assert diagnose("all went well", is_error=True).outcome is Outcome.FAILURE
    assert diagnose("", exit_code=2).outcome is Outcome.FAILURE


@pytest.mark.parametrize("code", [130, 143])
def test_an_interruption_is_no_failure(code: int):
    found = diagnose(TRACEBACK, exit_code=code, is_error=True)
    assert found.outcome is Outcome.UNKNOWN
    assert found.fingerprint is None


@pytest.mark.parametrize(
    "action",
    [
        "Bash: grep -rn sail src",
        "Bash: git diff --exit-code",
        "Bash: diff a b",
        "Bash: test -f x",
        "Bash: cd src && rg sail",
        "Bash: make | grep warning",
    ],
)
def test_exit_one_of_a_command_that_answers_by_it_is_no_failure(action: str):
    assert diagnose("", exit_code=1, action=action).outcome is Outcome.UNKNOWN
    assert (
        diagnose("src/a.py:3: raise TypeError('error: no sail')\n", exit_code=1, action=action).outcome
        is Outcome.UNKNOWN
    )


def test_such_a_command_fails_all_the_same_when_it_complains():
    found = diagnose("grep: src: No such file or directory\n", exit_code=2, action="Bash: grep -rn sail src")
    assert found.outcome is Outcome.FAILURE
    assert found.fingerprint is not None
    assert found.fingerprint.type == "No such file or directory"
    assert (
        diagnose(
            "bash: line 1: cd: nowhere: No such file or directory\n",
            exit_code=1,
            action="Bash: cd nowhere && grep x .",
        ).outcome
        is Outcome.FAILURE
    )


def test_a_status_that_the_harness_wrote_into_the_text_counts():
    assert diagnose("Exit code 1\nE   nothing\n", action="Bash: ./run").outcome is Outcome.FAILURE
    assert (
        diagnose("<returncode>0</returncode>\n<output>\nok\n</output>", action="bash: ./run").outcome
        is Outcome.SUCCESS
    )
    assert (
        diagnose("<returncode>1</returncode>\n<output>\n</output>", action="bash: grep x y").outcome
        is Outcome.UNKNOWN
    )


@pytest.mark.parametrize(
    "action",
    [
        "Read: errors.py",
        "Bash: cat notes.md",
        "Bash: git log -5",
        "Bash: sed -n 1,40p a.py",
        "WebFetch: https://example.org",
        "Bash: tail -50 run.log | grep -n Error",
    ],
)
def test_a_text_that_was_read_may_hold_any_error(action: str):
    assert diagnose(TRACEBACK * 9, action=action).outcome is Outcome.UNKNOWN
    assert diagnose(TRACEBACK * 9, is_error=False, action=action).outcome is Outcome.SUCCESS


@pytest.mark.parametrize(
    "text",
    [
        "0 errors, 0 warnings\n",
        "test_type_error (tests.test_a.Test) ... ok\n",
        "src/E0277.rs\nsrc/error.rs\n",
        "a1b2c3d fix: error handling of TypeError in the parser\n",
        "`error[E0277]` means that a bound is missing. TypeError: see below. HTTP 503 Service Unavailable.\n",
        "    raise ValueError(f'error: {name}')\n",
        "[SYSTEM ANCHOR] error[E0277] has repeated 3 times.\n",
        "Tests run: 4, Failures: 0, Errors: 0, Skipped: 0\n",
        "hull.c:9:7: warning: unused variable 'ballast' [-Wunused-variable]\n",
    ],
)
def test_a_text_that_merely_contains_an_error_is_no_failure(text: str):
    assert diagnose(text).outcome is Outcome.UNKNOWN


def test_without_a_verdict_the_text_of_a_failing_tool_decides():
    assert diagnose(TRACEBACK).outcome is Outcome.FAILURE
    assert diagnose(TRACEBACK, action="Bash: python a.py").outcome is Outcome.FAILURE


@pytest.mark.parametrize(
    "action",
    [
        "Bash: python a.py | tail -5",
        "Bash: python a.py || true",
        "Bash: python a.py; echo done",
        "Bash: python a.py &",
    ],
)
def test_a_hidden_status_lets_the_text_decide(action: str):
    assert diagnose(TRACEBACK, is_error=False, exit_code=0, action=action).outcome is Outcome.FAILURE
    assert diagnose("done\n", is_error=False, exit_code=0, action=action).outcome is Outcome.SUCCESS


def test_a_status_of_its_own_is_believed():
    assert diagnose(TRACEBACK, exit_code=0, action="Bash: python a.py").outcome is Outcome.SUCCESS


def test_unknown_is_never_success():
    assert diagnose("compiled 3 files\n").outcome is Outcome.UNKNOWN
    assert diagnose("").outcome is Outcome.UNKNOWN


def test_a_warning_alone_fails_only_when_the_verdict_says_so():
    text = "hull.c:9:7: warning: unused variable 'ballast' [-Wunused-variable]\n"
    told = diagnose(text, is_error=True).fingerprint
    assert told is not None
    assert (told.language, told.type) == ("c", "-Wunused-variable")
    assert diagnose(text).fingerprint is None
