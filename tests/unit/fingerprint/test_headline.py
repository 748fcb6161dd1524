"""The headline is the cause, not the trailer; and the set of all diagnostics."""

from __future__ import annotations

import pytest

from vlk2.domain.fingerprint import diagnose, repeat, wildcard
from vlk2.domain.observation import Failing


def one_of(text: str, **verdict: object):
    one = diagnose(text, **(verdict or {"is_error": True})).fingerprint
    assert one is not None
    return one


@pytest.mark.parametrize(
    "trailer",
    [
        "error: could not compile `mill` (lib) due to 2 previous errors",
        "make: *** [Makefile:4: hull.o] Error 1",
        "npm error Lifecycle script `build` failed with error:",
        "##[error]Process completed with exit code 1.",
        "FAILED (errors=2)",
        "error Command failed with exit code 1.",
        "collect2: error: ld returned 1 exit status",
        "Compilation failed: 1 error(s), 0 warnings",
        "ninja: build stopped: subcommand failed.",
        "FAIL\texample.org/ferry\t0.004s",
    ],
)
@pytest.mark.parametrize("place", ["before", "after"])
def test_the_last_words_of_a_run_are_never_its_headline(trailer: str, place: str):
    cause = "hull.c:12:3: error: 'keel' undeclared"
    text = f"{trailer}\n{cause}\n" if place == "before" else f"{cause}\n{trailer}\n"
    assert one_of(text).headline == cause


def test_the_first_of_several_errors_is_the_headline():
    text = "a.ts(1,1): error TS2304: Cannot find name 'a'.\nb.ts(2,2): error TS2322: Type 'x' is wrong.\n"
    assert one_of(text).type == "TS2304"


def test_a_warning_above_an_error_is_not_the_headline():
    text = "hull.c:9:7: warning: unused variable 'b' [-Wunused-variable]\nhull.c:12:3: error: 'keel' undeclared\n"
    assert "keel" in one_of(text).symbols


def test_an_exception_raised_while_handling_another_names_its_cause_in_the_template():
    chain = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    x()\n{}: first\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "a.py", line 3, in g\n    y()\nRuntimeError: second\n'
    )
    one, two = one_of(chain.format("KeyError")), one_of(chain.format("OSError"))
    assert one.type == two.type == "RuntimeError"
    assert one.signature != two.signature


def test_the_frames_of_the_runtime_name_nothing():
    text = (
        "java.lang.NullPointerException\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:208)\n"
        "\tat org.junit.Assert.fail(Assert.java:8)\n\tat org.example.Loom.weave(Loom.java:41)\n"
    )
    assert one_of(text).symbols == ("Loom.weave",)


def test_the_failing_set_holds_every_diagnostic_with_its_file():
    text = (
        "error[E0277]: the trait bound `A: B` is not satisfied\n --> src/one.rs:1:1\n\n"
        "error[E0425]: cannot find value `c` in this scope\n --> src/two.rs:9:9\n\n"
        "error: aborting due to 2 previous errors\n"
    )
    assert diagnose(text).failing == {
        Failing("E0277", ("A: B",), "", "one.rs"),
        Failing("E0425", ("c",), "", "two.rs"),
    }


def test_the_failing_set_of_a_test_run_names_its_tests_once():
    text = (
        "____ test_weight ____\n\n>       assert weigh() == 12\nE       assert 11 == 12\n\ntests/test_a.py:7: AssertionError\n"
        "=== short test summary info ===\n"
        "FAILED tests/test_a.py::test_weight - assert 11 == 12\n"
        "FAILED tests/test_b.py::TestB::test_mesh[1-x] - ValueError: odd - even\n"
    )
    assert {(one.type, one.test) for one in diagnose(text).failing} == {
        ("AssertionError", "test_weight"),
        ("ValueError", "TestB.test_mesh[1-x]"),
    }


def test_fewer_failing_tests_are_a_proper_subset():
    many = "".join(
        f"FAILED tests/test_a.py::test_{n} - AssertionError: assert {n} == {n + 1}\n" for n in range(5)
    )
    few = "".join(
        f"FAILED tests/test_a.py::test_{n} - AssertionError: assert {n} == {n + 1}\n" for n in range(3)
    )
    assert diagnose(few).failing < diagnose(many).failing


@pytest.mark.parametrize(
    "text",
    [
        "HTTP/1.1 429 Too Many Requests\n",
        "curl: (56) Recv failure: Connection reset by peer\n",
        "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect (node:net:1555:16)\n",
        "cp: error writing 'a': No space left on device\n",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n",
        "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: https://example.org\n",
        "HTTP 401 Unauthorized: token expired\n",
    ],
)
def test_what_waiting_may_cure_is_transient(text: str):
    assert one_of(text).transient


@pytest.mark.parametrize(
    "text",
    [
        "HTTP/1.1 404 Not Found\n",
        "error[E0277]: the trait bound `Token: Expired` is not satisfied\n --> a.rs:1:1\n",
        "FAILED tests/test_a.py::test_gateway - AssertionError: assert 'bad gateway' == 'ok'\n",
        "bash: kubectx: command not found\n",
    ],
)
def test_what_waiting_cannot_cure_is_not(text: str):
    assert not one_of(text).transient


def test_a_code_is_specific_and_a_class_is_not():
    assert one_of("a.ts(1,1): error TS2304: Cannot find name 'a'.\n").specific
    assert not one_of(
        'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: no\n'
    ).specific


def test_the_same_call_with_the_same_result_has_a_fingerprint_of_its_own():
    one = repeat("Bash", "k1")
    assert (one.language, one.type, one.symbols) == ("call", "repeat", ("k1",))
    assert repeat("Bash", "k2").signature == one.signature
    assert wildcard(one.signature) == "1:call:repeat:*"
