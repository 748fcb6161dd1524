"""What a call changes, as far as its own text tells: nothing, only what is printed, back to version control, or more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from vlk2.domain.observation import Change

_LONGEST_SCRIPT = 2_000
_LONGEST_FILE = 32_768


@cache
def _output() -> re.Pattern[str]:
    """One statement that only prints, logs or stops for a look, in the languages that agents write."""
    return re.compile(
        r"(?:(?:print|pprint|pp|puts|p|printf|fprintf|printk|echo|println|var_dump|print_r|error_log|warn|NSLog"
        r"|log|debug|trace|eprintln!|println!|dbg!|debug!|trace!|console\.\w+|log\.\w+|logger\.\w+|logging\.\w+"
        r"|LOG\.\w+|System\.(?:out|err)\.\w+|fmt\.Print\w*|t\.Log\w*|sys\.std(?:out|err)\.\w+"
        r"|process\.std(?:out|err)\.\w+|IO\.(?:inspect|puts)|Console\.Write\w*|std::c(?:out|err)|traceback\.\w+"
        r"|pdb\.set_trace|breakpoint)[ \t]*(?:\(|<<|['\"])"
        r"|(?:debugger|binding\.pry|import (?:pdb|traceback|pprint|logging|sys|inspect)|from pprint import pprint)\b)"
    )


@cache
def _names_debugging() -> re.Pattern[str]:
    return re.compile(
        r"debug(?:ging)?[ _-]?(?:print|output|log|statement|info|trac|line)|(?:add|insert|with|more)\w{0,9}[ _-]debug"
        r"|(?:add|insert|more)\w{0,9}[ _-](?:print|log|trac)|[\"']\W{0,9}DEBUG\b\s*[^\"'\s=]|/[^/]{0,99}DEBUG[^/]{0,99}/|instrument(?:ed|ing|ation)?\b",
        re.IGNORECASE,
    )


def of_lines(changed: Iterable[str]) -> Change:
    """What an edit that adds or removes these lines does: PROBE when all of them only print, else EDIT."""
    lines = [line for line in map(_statement, changed) if line]
    if lines and all(_output().match(line) for line in lines):
        return Change.PROBE
    return Change.EDIT


def of_script(text: str, name: str = "") -> Change:
    """What a file written as a whole does: PROBE when it says, or is named to say, that it is for debugging.

    It must also print; `name` is the path that it is written to.
    """
    text = text[:_LONGEST_FILE]
    named = "debug" in name.rsplit("/", 1)[-1].lower()
    if (named or _names_debugging().search(text)) and any(
        _output().match(piece) for line in text.splitlines() for piece in _pieces(line)
    ):
        return Change.PROBE
    return Change.EDIT


def then(before: Change, after: Change) -> Change:
    """What two changes come to, one after the other."""
    if after is Change.NONE or (after is Change.PROBE and before is Change.EDIT):
        return before
    return after


def _of_swap(gone: list[str], come: list[str]) -> Change:
    """PROBE where output only comes or only goes; one message put in another's place is the program's own."""
    change = of_lines([*gone, *come])
    if any(map(_statement, gone)) and any(map(_statement, come)):
        return change if any(_names_debugging().search(line) for line in come) else Change.EDIT
    return change


def of_replacement(old: str, new: str) -> Change:
    """What replacing one text by another does."""
    was, now = old.splitlines(), new.splitlines()
    return _of_swap([line for line in was if line not in now], [line for line in now if line not in was])


def of_patch(patch: str) -> Change:
    """What a patch does, by the lines that it adds and removes."""
    lines = [line for line in patch.splitlines() if not line.startswith(("+++", "---", "***"))]
    return _of_swap(
        [line[1:] for line in lines if line.startswith("-")],
        [line[1:] for line in lines if line.startswith("+")],
    )


def of_sed(words: Iterable[str]) -> Change:
    """What an in-place `sed` does, by the texts that its scripts insert or put in place."""
    inserted: list[str] = []
    for word in words:
        if word.startswith("-") or len(word) > _LONGEST_SCRIPT:
            continue
        if match := _sed_insert().match(word):
            inserted.extend(match.group(1).replace("\\n", "\n").splitlines())
        elif match := _sed_replace().match(word):
            debugging = _names_debugging().search(match.group(3))
            inserted.append(match.group(3) if debugging else "another statement")
        elif "d" in word[-2:] and _names_debugging().search(word):
            inserted.append("print()")
    return of_lines(inserted)


@cache
def _sed_insert() -> re.Pattern[str]:
    return re.compile(r"\A[\d,$]*(?:/[^/]*/)?\s*[iac]\s*\\?\s*(.+)", re.DOTALL)


@cache
def _sed_replace() -> re.Pattern[str]:
    return re.compile(r"\A[\d,$]*(?:/[^/]*/)?s([/|#,@])(.*?)\1(.*?)\1[gI\d]*\Z", re.DOTALL)


def _statement(line: str) -> str:
    """The statement of a line, "" for an empty one, a comment or a lone bracket."""
    bare = line.strip()
    return "" if bare.startswith(("#", "//", "/*", "*", "--")) or bare.strip("{}()[];, ") == "" else bare


def _pieces(line: str) -> tuple[str, ...]:
    """A line as it stands and, where it carries quoted code, that code."""
    bare = line.strip()
    quoted = bare.split("'", 1)[-1].lstrip(), bare.split('"', 1)[-1].lstrip()
    return (bare, *quoted)
