"""The loop rule: the same failure three times with no progress between, as a person would call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlk2.domain.event import Event, EventKind
from vlk2.domain.loops import (
    Loop,
    Patience,
    Progress,
    Quiet,
    Verdict,
    contradicts,
    judge,
    key_of,
)
from vlk2.domain.observation import Diagnosis, Failing, Fingerprint, Key, Outcome, Seen
from vlk2.domain.recording import History, patience_for
from vlk2.domain.seeing import see

SECOND = 1_000_000
PATIENT: Callable[[Key], Patience] = lambda key: Patience()  # noqa: E731


def keyed(text: str) -> str:
    return blake2b(text.encode(), key=b"test", digest_size=8).hexdigest()


def failed(
    kind: str,
    *symbols: str,
    language: str = "python",
    failing: tuple[Failing, ...] = (),
    specific: bool = False,
    transient: bool = False,
    headline: str = "",
) -> Diagnosis:
    """A failure of one type; without a failing set of its own, the set is the failure itself."""
    return Diagnosis(
        Outcome.FAILURE,
        Fingerprint(
            language=language,
            type=kind,
            signature=f"1:{language}:{kind}:{keyed(kind)}",
            symbols=symbols,
            headline=headline or kind,
            specific=specific,
            transient=transient,
        ),
        frozenset(failing or (Failing(kind, symbols),)),
    )


GOOD = Diagnosis(Outcome.SUCCESS)
UNKNOWN = Diagnosis(Outcome.UNKNOWN)
KEY_ERROR = failed("KeyError", "price")
NAME_ERROR = failed("NameError", "total")


@dataclass
class Session:
    """A run under construction: every call adds one observation and answers the verdict on it."""

    policy: Callable[[Key], Patience] = PATIENT
    seen: list[Seen] = field(default_factory=list[Seen])
    verdict: Verdict = field(default_factory=Quiet)

    def add(
        self,
        diagnosis: Diagnosis,
        tool: str = "Bash",
        command: str = "",
        *,
        arguments: dict[str, object] | None = None,
        text: str = "",
        batch: str = "",
        explicit: bool = False,
        wait: float = 40,
        skip: int = 1,
    ) -> Verdict:
        last = self.seen[-1] if self.seen else None
        event = Event(
            kind=EventKind.RESULT,
            tool=tool,
            command=command,
            input=json.dumps(arguments) if arguments else "",
            text=text,
            batch=batch or f"m{len(self.seen)}",
            at=(last.at if last else 0) + int(wait * SECOND),
            explicit=explicit,
        )
        seq = (last.seq if last else 0) + skip
        self.seen.append(see(event, diagnosis, seq=seq, run="r", digest=keyed))
        self.verdict = judge(self.seen, self.policy)
        return self.verdict

    def run(self, command: str, diagnosis: Diagnosis = GOOD, text: str = "", **more: object) -> Verdict:
        return self.add(diagnosis, "Bash", command, text=text or f"output {len(self.seen)}", **more)  # pyright: ignore[reportArgumentType]

    def edit(self, path: str = "src/cart.py", old: str = "", new: str = "") -> Verdict:
        count = len(self.seen)
        arguments: dict[str, object] = {
            "file_path": path,
            "old_string": old or f"x = {count}",
            "new_string": new or f"x = {count + 1}",
        }
        return self.add(GOOD, "Edit", path, arguments=arguments, text="updated")

    def record(self, diagnosis: Diagnosis, *, skip: int = 1) -> Verdict:
        return self.add(diagnosis, "vlk_record_state", explicit=True, skip=skip)

    @property
    def loop(self) -> Loop:
        assert isinstance(self.verdict, Loop)
        return self.verdict


def test_the_third_same_failure_is_a_loop_and_the_second_is_not():
    session = Session()
    assert session.run("pytest", KEY_ERROR) == Quiet(1)
    session.edit()
    assert session.run("pytest", KEY_ERROR) == Quiet(2)
    session.edit()
    session.run("pytest", KEY_ERROR)
    assert session.loop.repeats == 3
    assert [seen.seq for seen in session.loop.evidence] == [1, 3, 5]
    assert session.loop.since == session.seen[0].at
    assert session.loop.key == Key("1:python:KeyError:" + keyed("KeyError"), ("price",))
    assert (session.loop.language, session.loop.type) == ("python", "KeyError")
    assert not session.loop.wildcard
    assert not session.loop.transient


def test_reading_between_the_failures_changes_nothing():
    session = Session()
    for path in ("a.py", "b.py"):
        session.run("npm test", KEY_ERROR)
        session.add(GOOD, "Read", path)
    session.run("npm test", KEY_ERROR)
    assert session.loop.repeats == 3


def test_the_same_type_and_symbols_in_another_file_is_a_repeat():
    session = Session()
    for file in ("auth.ts", "user.ts", "mail.ts"):
        session.run("tsc", failed("TS2345", "string", failing=(Failing("TS2345", ("string",), "", file),)))
    assert session.loop.repeats == 3


def test_the_same_finding_in_other_files_that_other_commands_ask_for_is_other_work():
    def finding(file: str) -> Diagnosis:
        return failed("E501", language="ruff", specific=True, failing=(Failing("E501", (), "", file),))

    sweep = Session()
    for file in ("a.py", "b.py", "c.py", "d.py"):
        assert not isinstance(sweep.run(f"ruff check {file}", finding(file)), Loop)
    stuck = Session()
    for command in ("ruff check a.py", "ruff check .", "uvx ruff check a.py --fix"):
        stuck.run(command, finding("a.py"))
    assert stuck.loop.repeats == 3


def test_another_symbol_is_another_failure():
    session = Session()
    for name in ("numpy", "pandas", "scipy", "yaml"):
        assert not isinstance(session.run("python app.py", failed("ModuleNotFoundError", name)), Loop)
        session.run(f"pip install {name}")


def failing_tests(*names: str, kind: str = "AssertionError") -> Diagnosis:
    return failed(kind, failing=tuple(Failing(kind, (), name, "test_cart.py") for name in names))


def test_a_failing_set_that_shrinks_is_progress():
    session = Session()
    for names in ("abcd", "abc", "ab", "a"):
        assert not isinstance(session.run("pytest", failing_tests(*names)), Loop)
        session.edit()


def test_a_failing_set_not_seen_before_is_progress_and_coming_back_to_one_is_a_repeat():
    fresh = Session()
    for names in ("ab", "cd", "ef", "gh"):
        assert not isinstance(fresh.run("pytest", failing_tests(*names)), Loop)
        fresh.edit()
    back = Session()
    for names in ("ab", "cd", "ab"):
        assert not isinstance(back.run("pytest", failing_tests(*names)), Loop)
        back.edit()
    back.run("pytest", failing_tests(*"cd"))
    assert [seen.seq for seen in back.loop.evidence] == [3, 5, 7]


def test_fixing_one_breaks_the_other_is_a_loop_at_the_third_time_of_the_first():
    session = Session()
    for diagnosis in (KEY_ERROR, NAME_ERROR, KEY_ERROR, NAME_ERROR):
        assert not isinstance(session.run("pytest", diagnosis), Loop)
        session.edit()
    session.run("pytest", KEY_ERROR)
    assert [seen.seq for seen in session.loop.evidence] == [1, 5, 9]


def test_the_same_test_failing_with_another_difference_is_a_repeat():
    session = Session()
    for values in (("3", "4"), ("3", "5"), ("3", "6")):
        diagnosis = failed(
            "AssertionError",
            "test_tax",
            failing=(Failing("AssertionError", values, "test_tax", "test_cart.py"),),
        )
        session.run("pytest", diagnosis)
        session.edit()
    assert isinstance(judge(session.seen[:-1], PATIENT), Loop)


def test_a_success_of_the_same_command_resets():
    session = Session()
    session.run("pytest tests", KEY_ERROR)
    session.run("pytest tests", KEY_ERROR)
    assert isinstance(session.run("cd /srv && pytest tests -v"), Progress)
    assert session.run("pytest tests", KEY_ERROR) == Quiet(1)


def test_a_failure_whose_command_has_succeeded_since_is_over():
    session = Session()
    session.run("python a.py", KEY_ERROR)
    session.run("python a.py")
    session.run("python b.py", KEY_ERROR)
    assert session.run("python c.py", KEY_ERROR) == Quiet(2)
    session.run("python d.py", KEY_ERROR)
    assert session.loop.repeats == 3


@pytest.mark.parametrize(
    "command",
    ["pytest tests | tail -3", "pytest tests || true", "pytest tests &", "pytest tests/test_tax.py", "ls"],
)
def test_a_success_that_is_not_that_commands_own_does_not_reset(command: str):
    session = Session()
    session.run("pytest tests", KEY_ERROR)
    session.run("pytest tests", KEY_ERROR)
    assert not isinstance(session.run(command), Progress)
    session.run("pytest tests", KEY_ERROR)
    assert session.loop.repeats == 3


def test_an_unknown_outcome_is_never_a_success():
    session = Session()
    session.run("pytest", KEY_ERROR)
    session.run("pytest", KEY_ERROR)
    session.run("pytest", UNKNOWN)
    session.run("pytest", KEY_ERROR)
    assert session.loop.repeats == 3


def test_the_failures_of_one_message_are_one_observation():
    session = Session()
    for place in "abcdef":
        verdict = session.run(f"grep -rn load pkg/{place}", failed("ENOENT"), batch="m1")
        assert verdict == Quiet(1)
    session.run("grep -rn load lib", failed("ENOENT"), batch="m2")
    session.run("grep -rn load src", failed("ENOENT"), batch="m3")
    assert session.loop.repeats == 3


def test_explicit_records_are_never_batched():
    session = Session()
    for _ in range(3):
        session.add(KEY_ERROR, "vlk_record_state", explicit=True, batch="m1")
    assert session.loop.repeats == 3


def test_one_cause_behind_several_tools_is_one_failure():
    session = Session()
    for tool in ("wiki_search", "wiki_get", "wiki_list"):
        session.add(failed("401", language="http", transient=True), tool, "home")
    assert session.loop.transient


def test_waiting_longer_each_time_is_not_failing_and_hammering_is():
    busy = failed("429", language="http", transient=True)
    patient = Session()
    for wait in (1, 2, 4, 8, 16):
        assert not isinstance(patient.run("curl -sf https://api.example.test", busy, wait=wait), Loop)
    hasty = Session()
    for _ in range(3):
        hasty.run("curl -sf https://api.example.test", busy, wait=2)
    assert hasty.loop.transient
    roaming = Session()
    for wait in (1, 2, 4):
        roaming.run(f"curl -sf https://api.example.test/v{wait}", busy, wait=wait)
    assert roaming.loop.repeats == 3
    lasting = Session()
    for wait in (1, 2, 4):
        lasting.run("pytest", KEY_ERROR, wait=wait)
    assert lasting.loop.repeats == 3


def test_the_same_call_with_the_same_result_and_no_error_is_a_repeat():
    session = Session()
    for _ in range(2):
        assert not isinstance(session.add(GOOD, "Read", "src/cart.py", text="x = 1"), Loop)
    session.add(GOOD, "Read", "src/cart.py", text="x = 1")
    assert (session.loop.language, session.loop.type) == ("call", "repeat")
    assert session.loop.key == key_of(session.seen[-1])


@pytest.mark.parametrize("text", ["", "took 3 ms at 2026-01-02 10:00:0{n}, id 0x7f{n}"])
def test_clocks_and_addresses_make_no_other_result(text: str):
    session = Session()
    for n in range(3):
        session.add(GOOD, "Read", "a.log", text=text.format(n=n))
    assert session.loop.repeats == 3


def test_new_results_are_paging_or_a_job_that_moves():
    session = Session()
    for page in range(0, 200, 40):
        assert not isinstance(session.add(GOOD, "Read", f"a.log offset={page}", text=f"line {page}"), Loop)
        assert not isinstance(session.run("jobctl status 7", text=f"running {page}%"), Loop)


def test_an_edit_between_makes_an_equal_result_worth_knowing():
    session = Session()
    for _ in range(5):
        assert not isinstance(session.run("pytest", text="9 passed"), Loop)
        session.edit()


def test_runs_and_edits_that_fail_between_make_no_look_worth_repeating():
    session = Session()
    missed = failed("edit-no-match", language="agent")
    for n in range(2):
        assert not isinstance(session.add(GOOD, "Read", "src/cart.py", text="x = 1"), Loop)
        session.add(
            missed, "Edit", "src/cart.py", arguments={"file_path": "src/cart.py", "old_string": str(n)}
        )
        session.run(f"pytest tests/test_{n}.py")
    session.add(GOOD, "Read", "src/cart.py", text="x = 1")
    assert session.loop.type == "repeat"


def test_a_look_long_after_the_last_one_is_a_fresh_look():
    session = Session()
    for n in range(4):
        assert not isinstance(session.add(GOOD, "Read", "src/cart.py", text="x = 1"), Loop)
        for m in range(15):
            session.add(GOOD, "Read", f"src/{n}/{m}.py", text=f"{n} {m}")


def test_a_good_run_is_repeated_only_where_nothing_else_was_run_between():
    session = Session()
    for _ in range(4):
        assert not isinstance(session.run("pytest", text="9 passed"), Loop)
        session.run("make install")


def test_looking_again_after_a_pause_is_waiting():
    session = Session()
    for _ in range(4):
        assert not isinstance(session.run("sleep 30 && gh run view 7", text="in progress"), Loop)
    slow = Session()
    for _ in range(4):
        assert not isinstance(slow.run("gh run view 7", text="in progress", wait=90), Loop)
    hasty = Session()
    for _ in range(3):
        hasty.run("gh run view 7", text="in progress", wait=5)
    assert hasty.loop.type == "repeat"


def test_a_call_that_says_nothing_has_no_identity_and_never_repeats():
    session = Session()
    for _ in range(5):
        assert not isinstance(session.add(GOOD, "think", "{}", text="noted"), Loop)


def test_any_tool_can_repeat():
    session = Session()
    for _ in range(3):
        session.add(GOOD, "mcp__tracker__find", '{"id": 7}', text="no such ticket")
    assert session.loop.repeats == 3


def test_edits_that_go_back_and_forth_are_a_loop():
    session = Session()
    for _ in range(2):
        assert not isinstance(session.edit(old="a < b", new="a <= b"), Loop)
        assert not isinstance(session.edit(old="a <= b", new="a < b"), Loop)
    session.edit(old="a < b", new="a <= b")
    assert session.loop.repeats == 3


def test_an_edit_known_by_its_path_alone_is_not_the_identical_call():
    session = Session()
    for _ in range(5):
        assert not isinstance(session.add(GOOD, "Edit", "src/cart.py", text="updated"), Loop)


def test_edits_make_no_difference_to_a_result_that_shows_a_failure():
    session = Session()
    trace = "caught it\nTraceback (most recent call last):\nKeyError: 'price'\n"
    for _ in range(2):
        assert not isinstance(session.run("python repro.py", text=trace), Loop)
        session.edit()
    session.run("python repro.py", text=trace)
    assert session.loop.type == "repeat"


def test_edits_that_fail_in_two_files_are_two_failures():
    missed = failed("edit-no-match", language="agent")
    session = Session()
    for path in ("a.py", "b.py", "a.py", "b.py"):
        assert not isinstance(session.add(missed, "Edit", path), Loop)
    session.add(missed, "Edit", "a.py")
    assert [seen.place for seen in session.loop.evidence] == ["a.py"] * 3


def test_a_run_after_edits_that_only_print_is_a_look_and_no_attempt():
    session = Session()
    session.run("pytest", KEY_ERROR)
    for n in range(4):
        session.run(f"sed -i '12i\\    print(\"DEBUG: {n}\", x)' src/cart.py")
        assert not isinstance(session.run("pytest", KEY_ERROR), Loop)
    session.edit()
    session.run("pytest", KEY_ERROR)
    session.edit()
    session.run("pytest", KEY_ERROR)
    assert session.loop.repeats == 3


def test_a_run_of_what_version_control_holds_is_a_baseline_and_no_attempt():
    session = Session()
    session.edit()
    session.run("pytest", KEY_ERROR)
    session.run("git stash")
    session.run("pytest", KEY_ERROR)
    session.run("git stash pop")
    assert session.run("pytest", KEY_ERROR) == Quiet(2)


def test_a_look_repeated_as_it_is_becomes_an_attempt():
    session = Session()
    session.run("pytest", KEY_ERROR)
    session.run("git checkout src/cart.py")
    for _ in range(3):
        session.run("pytest", KEY_ERROR)
    assert session.loop.repeats == 3


def test_a_failure_that_was_wanted_is_not_counted():
    session = Session()
    for n in range(5):
        wanted = failed("ValueError", headline="ValueError: bad price, as expected")
        assert not isinstance(session.run(f"python check_{n}.py", wanted), Loop)


def test_an_unknown_program_answers_about_the_literal_text_it_is_asked_about():
    odd = failed("something-odd", language="text")
    asked = Session()
    for _ in range(4):
        assert not isinstance(asked.run("echo 'select 1;;' | sqlcheck -", odd), Loop)
        asked.edit()
    crashed = Session()
    for _ in range(3):
        crashed.run("echo 'select 1;;' | sqlcheck -", KEY_ERROR)
        crashed.edit()
    assert isinstance(judge(crashed.seen[:-1], PATIENT), Loop)


def test_a_reply_that_was_no_call_is_put_right_by_the_next_call():
    malformed = failed("malformed-call", language="agent")
    spread = Session()
    for _ in range(5):
        assert not isinstance(spread.add(malformed, "", "NO_ACTION(2 blocks): …"), Loop)
        spread.run("ls")
    stuck = Session()
    for _ in range(3):
        stuck.add(malformed, "", "NO_ACTION(2 blocks): …")
    assert stuck.loop.repeats == 3


def test_a_text_that_no_table_knows_counts_under_its_own_command_only():
    odd = failed("something-odd", language="text")
    spread = Session()
    for n in range(5):
        assert not isinstance(spread.run(f"frobnicate {n}", odd), Loop)
    same = Session()
    for _ in range(3):
        same.run("frobnicate 1", odd)
    assert same.loop.repeats == 3


def test_three_records_of_one_specific_type_are_a_loop_whatever_their_symbols():
    session = Session()
    for name in ("Cart", "Refund", "Ledger"):
        session.record(failed("E0277", name, language="rust", specific=True))
    assert session.loop.wildcard
    assert session.loop.key == Key("1:rust:E0277:*")
    assert len(session.loop.evidence) == 3


@pytest.mark.parametrize("kind", ["other observation", "other type", "catch-all", "of another run"])
def test_records_that_do_not_follow_each_other_or_are_no_code_make_no_wildcard(kind: str):
    session = Session()
    for n, name in enumerate(("Cart", "Refund", "Ledger")):
        code = "E0308" if kind == "other type" and n == 1 else "E0277"
        if kind == "other observation" and n == 1:
            session.run("ls")
        session.record(
            failed(code, name, language="rust", specific=kind != "catch-all"),
            skip=2 if kind == "of another run" and n == 1 else 1,
        )
        assert not isinstance(session.verdict, Loop)


def test_three_records_of_the_very_same_failure_are_an_ordinary_loop():
    session = Session()
    for _ in range(3):
        session.record(failed("E0277", "Cart", language="rust", specific=True))
    assert not session.loop.wildcard
    assert session.loop.key.symbols == ("Cart",)


def test_a_revoked_constraint_needs_twice_the_evidence():
    assert [patience_for(3, History(n)).threshold for n in range(6)] == [3, 6, 12, 24, 24, 24]
    assert patience_for(40, History(2)).threshold == 40
    session = Session(policy=lambda key: patience_for(3, History(1)))
    for _ in range(5):
        assert not isinstance(session.run("pytest", KEY_ERROR), Loop)
    session.run("pytest", KEY_ERROR)
    assert session.loop.repeats == 6


def test_after_a_constraint_the_window_is_fresh():
    session = Session(policy=lambda key: Patience(since=3))
    for _ in range(5):
        assert not isinstance(session.run("pytest", KEY_ERROR), Loop)
    session.run("pytest", KEY_ERROR)
    assert [seen.seq for seen in session.loop.evidence] == [4, 5, 6]


def test_two_loops_in_one_run_are_two_loops():
    session = Session()
    found = [
        verdict.type
        for diagnosis in (KEY_ERROR, KEY_ERROR, KEY_ERROR, NAME_ERROR, NAME_ERROR, NAME_ERROR)
        if isinstance(verdict := session.run("pytest", diagnosis), Loop)
    ]
    assert found == ["KeyError", "NameError"]


def test_a_success_of_the_same_command_contradicts_and_other_successes_do_not():
    session = Session()
    for _ in range(3):
        session.run("pytest tests", KEY_ERROR)
    evidence = session.loop.evidence
    session.run("pytest tests | tail")
    assert not contradicts(session.seen[-1], evidence)
    session.run("pytest tests/test_tax.py")
    assert not contradicts(session.seen[-1], evidence)
    session.run("pytest tests")
    assert contradicts(session.seen[-1], evidence)


def test_one_edit_does_not_contradict_what_is_known_of_another():
    session = Session()
    missed = failed("edit-no-match", language="agent")
    wrong: dict[str, object] = {"file_path": "a.py", "old_string": "gone", "new_string": "x"}
    for _ in range(3):
        session.add(missed, "Edit", "a.py", arguments=wrong)
    evidence = session.loop.evidence
    session.edit("a.py")
    assert not contradicts(session.seen[-1], evidence)
    session.add(GOOD, "Edit", "a.py", arguments=wrong)
    assert contradicts(session.seen[-1], evidence)


def test_another_result_contradicts_an_error_free_repeat_and_the_same_one_does_not():
    session = Session()
    for _ in range(3):
        session.add(GOOD, "Read", "a.py", text="x = 1")
    evidence = session.loop.evidence
    assert not contradicts(session.seen[-1], evidence)
    session.add(GOOD, "Read", "a.py", text="x = 2")
    assert contradicts(session.seen[-1], evidence)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["pytest", "pytest | tail", "npm test", "ls", "edit", "stash", "probe"]),
        st.sampled_from(
            [KEY_ERROR, NAME_ERROR, failed("429", transient=True), failing_tests("a", "b"), GOOD, UNKNOWN]
        ),
    ),
    max_size=25,
)


def play(steps: list[tuple[str, Diagnosis]]) -> list[Verdict]:
    session = Session()
    commands = {"stash": "git stash", "probe": "sed -i '1i\\print(\"DEBUG: x\")' a.py"}
    return [
        session.edit() if what == "edit" else session.run(commands.get(what, what), diagnosis)
        for what, diagnosis in steps
    ]


@given(STEPS)
def test_the_same_observations_give_the_same_verdicts(steps: list[tuple[str, Diagnosis]]):
    assert play(steps) == play(steps)


@given(STEPS)
def test_a_loop_stands_on_its_evidence(steps: list[tuple[str, Diagnosis]]):
    for verdict in play(steps):
        if isinstance(verdict, Loop):
            assert verdict.repeats == len(verdict.evidence) >= 3
            assert {key_of(seen) for seen in verdict.evidence} == {verdict.key}
            assert [seen.seq for seen in verdict.evidence] == sorted({seen.seq for seen in verdict.evidence})


@given(st.lists(st.sampled_from(["pytest", "npm test", "make"]), min_size=1, max_size=30))
def test_failures_that_are_all_different_are_never_a_loop(commands: list[str]):
    session = Session()
    for n, command in enumerate(commands):
        assert not isinstance(session.run(command, failed("KeyError", f"k{n}")), Loop)
