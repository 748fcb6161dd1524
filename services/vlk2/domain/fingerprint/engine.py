"""From a text and a verdict to a Diagnosis."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from vlk2.domain.command import parse_action
from vlk2.domain.digests import sha256
from vlk2.domain.fingerprint import ALGORITHM, masks, names, tables, unknown
from vlk2.domain.fingerprint.masks import Masked, Template
from vlk2.domain.fingerprint.page import Page, clean
from vlk2.domain.fingerprint.rows import LOOSE, TEST, TRAILER, Found, Row, Table
from vlk2.domain.fingerprint.transience import says, waits
from vlk2.domain.fingerprint.verdict import Verdict, edited, exit_said, judge
from vlk2.domain.observation import Act, Diagnosis, Failing, Fingerprint, Outcome
from vlk2.domain.text import normalise
from vlk2.hints import NamedTuple

_SHORT = 2_000  # longer than any complaint of a command that was asked to show something
_PEERS = TEST - 2  # from here up a diagnostic is a failing thing of its own, below it may be the echo of one
_MOST = 400  # members of a failing set; an output with more is a repeat of few kinds


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class Reading(NamedTuple):
    """What the tables found in a text, the headline first chosen by rank and place."""

    page: Page
    found: list[Found]
    ordinary: bool  # one line that no table had anything to say about


def _apply(row: Row, table: Table, page: Page) -> list[Found]:
    pattern = _compiled(row.pattern)
    out: list[Found] = []
    for index, line in page.candidates(row.guard, pattern):
        hit = pattern.match(line)
        if hit is None:
            continue
        groups = hit.groupdict()
        message = groups.get("message")
        named = groups.get("symbol") or (masks.place(groups.get("file") or "") if row.fixed else "")
        out.append(
            Found(
                row.name,
                row.rank,
                row.language or table.language,
                row.type or groups.get("type") or "",
                ("" if row.fixed else line if "message" not in groups else message or "").strip(),
                index,
                file=groups.get("file") or "",
                test=groups.get("test") or "",
                symbols=(masks.symbol(named),) if named else (),
                strong=row.strong,
                specific=row.specific,
                transient=row.transient,
            )
        )
        if len(out) >= _MOST:
            break
    return out


def _read_table(table: Table, page: Page, found: list[Found]) -> None:
    """Add what one table finds in a page to `found`."""
    for row in table.rows:
        if page.holds(row.guard):
            found += _apply(row, table, page)
    for finder in table.finders:
        found += finder(page)


def read(text: str, extra: Table | None = None) -> Reading:
    page = Page(text)
    found: list[Found] = []
    whole = page.text
    gist = page.gist if len(page.lines) > 1 else None
    chosen = tables.met(whole, gist)
    if extra is not None:
        _read_table(extra, page, found)
    for name in chosen:
        table = tables.load(name)
        if gist is None:
            _read_table(table, page, found)
            continue
        words = gist.words
        for row, guard in tables.guards(name):
            if guard.word in words and gist.has(guard):
                found += _apply(row, table, page)
        for finder in table.finders:
            found += finder(page)
    closing = {one.line for one in found if one.rank <= TRAILER}
    if closing:  # last words also read like an error; that alone makes them no cause
        found = [one for one in found if one.rank > LOOSE or one.rank <= TRAILER or one.line not in closing]
    return Reading(page, found, not chosen and len(page.lines) == 1)


def _choose(found: Sequence[Found]) -> Found:
    best = found[0]
    for one in found[1:]:
        if one.rank > best.rank or (one.rank == best.rank and one.line < best.line):
            best = one
    return best


def _slug(made: Template) -> str:
    """The first six plain words of a template, as the type of a failure that has no code."""
    return "-".join(made.title or _title(made.text))[:60].lower() or "failure"


def _title(text: str) -> list[str]:
    words: list[str] = []
    for token in text[:300].split():
        word = token if token.isalpha() else token.strip("\"'`()[]{}<>,;:.!?*=-")
        if len(word) > 1 and "<" not in token and word.replace("-", "").replace("'", "").isalpha():
            words.append(word)
            if len(words) == 6:
                break
    return words


def _digest(language: str, kind: str, body: str) -> str:
    return sha256(f"{language}\n{kind}\n{body}".encode("utf-8", "replace")).hexdigest()[:12]


class _Named(NamedTuple):
    """A diagnostic with its template made: what the fingerprint and the failing set are built from."""

    type: str
    body: str
    symbols: tuple[str, ...]
    masked: tuple[Masked, ...] = ()


def _name(one: Found, page: Page, *, explain: bool = False) -> _Named:
    if one.language == "text" or not (one.strong or one.message):
        # a loose row only guesses where the message begins: the whole line is the safer template
        whole = one.rank <= LOOSE or not one.message
        made = unknown.template(page.lines[one.line] if whole else one.message, explain=explain)
    else:
        made = _template(one.language, one.message, explain)
    body, symbols, masked = made.text, one.symbols + made.symbols, made.masked
    if one.detail:
        detail = _template(one.language, one.detail, explain)
        body, masked = body + "\n" + detail.text, masked + detail.masked
        symbols += detail.symbols
    if one.test and one.type.lower().startswith(("assert", "expect")):
        symbols = (masks.symbol(one.test),)  # the same test with another difference is the same failure
    return _Named(one.type or _slug(made), body, symbols, masked)


def _template(language: str, message: str, explain: bool) -> Template:
    """The common masks, after the names that the language leaves without quotes."""
    text, unquoted = names.masked(language, message)
    made = masks.template(text, explain=explain)
    if not unquoted:
        return made
    told = tuple(Masked("name", name, "<q>") for name in unquoted) if explain else ()
    symbols = tuple(symbol for name in unquoted if (symbol := masks.symbol(name)))
    return made._replace(symbols=symbols + made.symbols, masked=told + made.masked)


def _fingerprint(one: Found, named: _Named, page: Page, *, ordinary: bool) -> Fingerprint:
    return Fingerprint(
        language=one.language,
        type=named.type,
        signature=f"{ALGORITHM}:{one.language}:{named.type}:{_digest(one.language, named.type, named.body)}",
        symbols=named.symbols,
        headline=(one.headline or page.lines[one.line]).strip()[:300],
        specific=one.specific,
        transient=not ordinary and waits(one, one.headline or page.lines[one.line]),
    )


def _failing(found: Sequence[Found], headline: Found, of_headline: _Named, page: Page) -> frozenset[Failing]:
    floor = _PEERS if headline.rank >= _PEERS else headline.rank - 6
    best: dict[int, int] = {}
    for one in found:
        best[one.line] = max(one.rank, best.get(one.line, 0))
    if len(found) == 1:
        return frozenset(
            (Failing(of_headline.type, of_headline.symbols, headline.test, masks.place(headline.file)),)
        )
    members: set[Failing] = set()
    named_before: dict[tuple[str, str, str, str], _Named] = {}
    for one in found:
        if one.rank < floor or one.rank < best[one.line]:
            continue
        told = (one.language, one.type, one.message or page.lines[one.line], one.detail)
        if one is headline:
            named = of_headline
        elif told in named_before and not one.symbols:
            named = named_before[told]
        else:
            named = _name(one, page)
            if not one.symbols:
                named_before[told] = named
        members.add(Failing(named.type, named.symbols, one.test, masks.place(one.file)))
        if len(members) >= _MOST:
            break
    return frozenset(members)


def _unknown_tool(page: Page, exit_code: int | None, action: str) -> Found:
    index = unknown.headline(page)
    if index < 0:  # nothing was said: the status, and the program that ended with it, are all there is
        kind = f"exit {exit_code}" if exit_code is not None else "failure"
        programs = parse_action(action).programs if action else ()
        return Found("silent", TRAILER, "text", kind, "", 0, headline=kind, symbols=programs[-1:])
    return Found("unknown", LOOSE, "text", "", page.lines[index], index, strong=False)


class Candidate(NamedTuple):
    """A diagnostic that was recognised: by which row, of which rank, on which line (from 1), and its text."""

    row: str
    rank: int
    line: int
    language: str
    type: str
    text: str


class Explanation(NamedTuple):
    """Why a text is the failure that it is said to be: for `vlk2 fingerprint --explain` and wrong-row reports.

    `row` is the table row of the headline ("" where there is no failure), `template` what its signature hashes,
    `masked` every replacement that made it, `candidates` all that was recognised, best first.
    """

    diagnosis: Diagnosis
    verdict: str
    row: str
    template: str
    masked: tuple[Masked, ...]
    candidates: tuple[Candidate, ...]


class _Decision(NamedTuple):
    verdict: Verdict
    outcome: Outcome
    page: Page | None = None
    found: tuple[Found, ...] = ()
    headline: Found | None = None
    ordinary: bool = False


_OWN_WORDS = frozenset(["shell", "git", "agent"])


def _complaint(reading: Reading) -> list[Found]:
    """What a command that only looks, or answers by its status, says of its own failure: a short output that
    begins with a complaint. Anything longer is what it was asked to show."""
    if len(reading.page.lines) > 6:
        return []
    return [one for one in reading.found if one.strong and one.language in _OWN_WORDS and one.line < 3]


def _decide(
    text: str, is_error: bool | None, exit_code: int | None, action: str, extra: Table | None
) -> _Decision:
    """What a text comes to; `exit_code` may be what it says itself."""
    verdict = judge(is_error=is_error, exit_code=exit_code, action=action)
    if verdict is Verdict.STOPPED:
        return _Decision(verdict, Outcome.UNKNOWN)
    if verdict is Verdict.SILENT and edited(text, action):
        return _Decision(verdict, Outcome.SUCCESS)
    if verdict is Verdict.SUCCEEDED or (verdict is Verdict.LOOKED and (is_error is False or exit_code == 0)):
        return _Decision(verdict, Outcome.SUCCESS)
    if verdict in (Verdict.LOOKED, Verdict.ANSWERED) and len(text) > _SHORT:
        return _Decision(verdict, Outcome.UNKNOWN)
    reading = read(text, extra)
    found = reading.found
    if verdict in (Verdict.LOOKED, Verdict.ANSWERED):
        found = _complaint(reading)
        if not found:
            return _Decision(verdict, Outcome.UNKNOWN, reading.page)
    elif verdict is not Verdict.FAILED and not any(one.strong for one in found):
        quiet = Outcome.SUCCESS if verdict is Verdict.HIDDEN else Outcome.UNKNOWN
        return _Decision(verdict, quiet, reading.page, tuple(found))
    if not found:
        one = _unknown_tool(reading.page, exit_code, action)
        return _Decision(verdict, Outcome.FAILURE, reading.page, (one,), one, reading.ordinary)
    return _Decision(verdict, Outcome.FAILURE, reading.page, tuple(found), _placed(_choose(found), action))


def _placed(one: Found, action: str) -> Found:
    """An edit that failed, known by the file that it was for where its own words name none."""
    if one.language != "agent" or one.symbols or not action:
        return one
    command = parse_action(action)
    named = masks.symbol(masks.place(command.place)) if command.act is Act.EDIT else ""
    return one._replace(symbols=(named,)) if named else one


_NOTHING = Diagnosis(Outcome.UNKNOWN)


def _ordinary(text: str) -> Diagnosis:
    """What `_decide` and `_fingerprint` come to for a line of an unknown tool, without a detour by the tables."""
    line = clean(text, service=" | " in text)
    made = unknown.template(line)
    kind, headline = (
        (_slug(made), line.strip()[:300]) if line.strip(unknown.NO_WORD) else ("failure", "failure")
    )
    fingerprint = Fingerprint(
        "text", kind, f"{ALGORITHM}:text:{kind}:{_digest('text', kind, made.text)}", made.symbols, headline
    )
    return Diagnosis(Outcome.FAILURE, fingerprint, frozenset((Failing(kind, made.symbols),)))


def diagnose(
    text: str,
    *,
    is_error: bool | None = None,
    exit_code: int | None = None,
    action: str = "",
    extra: Table | None = None,
) -> Diagnosis:
    """See `vlk2.domain.fingerprint.diagnose`."""
    text = normalise(text)
    if exit_code is None:
        exit_code = exit_said(text)
    bare = extra is None and exit_code is None and not action and is_error is not False
    if bare and tables.ordinary(text, unless=says):
        return _ordinary(text) if is_error else _NOTHING
    decision = _decide(text, is_error, exit_code, action, extra)
    if decision.headline is None or decision.page is None:
        return Diagnosis(decision.outcome)
    headline, page = decision.headline, decision.page
    named = _name(headline, page)
    return Diagnosis(
        decision.outcome,
        _fingerprint(headline, named, page, ordinary=decision.ordinary),
        _failing(decision.found, headline, named, page),
    )


def explain(
    text: str,
    *,
    is_error: bool | None = None,
    exit_code: int | None = None,
    action: str = "",
    extra: Table | None = None,
) -> Explanation:
    """See `vlk2.domain.fingerprint.explain`."""
    diagnosis = diagnose(text, is_error=is_error, exit_code=exit_code, action=action, extra=extra)
    text = normalise(text)
    decision = _decide(text, is_error, exit_said(text) if exit_code is None else exit_code, action, extra)
    page, headline = decision.page, decision.headline
    order = sorted(decision.found, key=lambda one: (-one.rank, one.line))
    candidates = tuple(
        Candidate(one.row, one.rank, one.line + 1, one.language, one.type, page.lines[one.line].strip()[:300])
        for one in order
        if page is not None
    )
    verdict = decision.verdict.name.lower()
    if page is None or headline is None:
        return Explanation(diagnosis, verdict, "", "", (), candidates)
    named = _name(headline, page, explain=True)
    return Explanation(diagnosis, verdict, headline.row, named.body, named.masked, candidates)
