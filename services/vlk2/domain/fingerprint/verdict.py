"""Rule 2: what the caller's verdict, the exit status and the command itself say about a text."""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import cache


class Verdict(Enum):
    """FAILED and SUCCEEDED were said; HIDDEN is a success whose status was not the command's own; LOOKED is
    a command that shows text, which may then hold anything; ANSWERED and STOPPED are no failures; SILENT
    means that nobody said."""

    FAILED = auto()
    SUCCEEDED = auto()
    HIDDEN = auto()
    LOOKED = auto()
    ANSWERED = auto()
    STOPPED = auto()
    SILENT = auto()


_STOPPED = frozenset({130, 143})
_ANSWERS = frozenset(
    [
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "ack",
        "diff",
        "cmp",
        "test",
        "[",
        "[[",
        "which",
        "type",
        "pgrep",
        "pidof",
        "lsof",
        "fuser",
        "zgrep",
        "sdiff",
        "jq",
        "expr",
        "pkill",
        "killall",
    ]
)
_READERS = frozenset(
    [
        "cat",
        "head",
        "tail",
        "less",
        "more",
        "bat",
        "sed",
        "awk",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "ack",
        "find",
        "fd",
        "ls",
        "tree",
        "wc",
        "sort",
        "uniq",
        "cut",
        "nl",
        "tac",
        "od",
        "xxd",
        "hexdump",
        "strings",
        "diff",
        "cmp",
        "file",
        "stat",
        "jq",
        "yq",
        "zcat",
        "zgrep",
        "xmllint",
        "column",
        "fold",
        "view",
        "git-show",
    ]
)
_READING_TOOLS = frozenset(
    [
        "read",
        "view",
        "open",
        "cat",
        "grep",
        "glob",
        "ls",
        "search",
        "find",
        "webfetch",
        "websearch",
        "fetch",
        "readfile",
        "read_file",
        "viewfile",
        "list_directory",
        "list_dir",
        "searchtext",
        "search_file_content",
        "glob_files",
        "read_many_files",
        "web_fetch",
        "web_search",
        "codebase_search",
        "grep_search",
        "file_search",
        "open_file",
        "scroll_up",
        "scroll_down",
        "search_dir",
        "search_file",
        "find_file",
        "notebookread",
        "todoread",
    ]
)
_GIT_READS = frozenset(
    ["show", "log", "diff", "blame", "grep", "cat-file", "ls-files", "ls-tree", "reflog", "shortlog"]
)


@cache
def _said_exit() -> re.Pattern[str]:
    return re.compile(
        r"\A\s*(?:<returncode>(\d{1,3})</returncode>|Exit code:? (\d{1,3})\b|\[exit(?: code)?:? (\d{1,3})\])"
        r"|(?:\[The command completed with exit code (\d{1,3})\.?\]|<returncode>(\d{1,3})</returncode>"
        r"|\[Command finished with exit code (\d{1,3})\]|^\(?[Ee]xit [Cc]ode: (\d{1,3})\)?)\s*\Z",
        re.MULTILINE,
    )


def exit_said(text: str) -> int | None:
    """The exit status that a harness wrote before or after the output, or None."""
    if "xit" not in text and "returncode" not in text:
        return None
    ends = text if len(text) <= 1_200 else text[:400] + "\n" + text[-800:]
    found = _said_exit().search(ends)
    if found is None:
        return None
    return next(int(group) for group in found.groups() if group is not None)


@cache
def _steps() -> re.Pattern[str]:
    return re.compile(r"\|\||&&|;|\||&(?![>&\d])|\n")


@cache
def _noise() -> re.Pattern[str]:
    return re.compile(
        r"^(?:\s*(?:[A-Za-z_]\w*=\S*|sudo|env|time|command|nohup|stdbuf\s+\S+|timeout(?:\s+-\S+)*\s+\S+"
        r"|nice|xargs(?:\s+-\S+)*))*\s*"
    )


def _program(step: str) -> tuple[str, str]:
    """The program of one simple command, and its first argument."""
    step = step[_end(_noise().match(step)) :].strip("(){} \t")
    words = step.split(None, 2)
    if not words:
        return "", ""
    program = words[0].rsplit("/", 1)[-1]
    return program, words[1] if len(words) > 1 else ""


def _end(found: re.Match[str] | None) -> int:
    return found.end() if found is not None else 0


def _split(action: str) -> tuple[str, str]:
    tool, colon, command = action.partition(": ")
    if colon and " " not in tool:
        return tool, command
    return "", action


def _shell(tool: str) -> bool:
    return tool.lower() in [
        "bash",
        "shell",
        "terminal",
        "run",
        "execute",
        "exec",
        "run_shell_command",
        "execute_bash",
        "sh",
        "zsh",
        "cmd",
        "powershell",
        "execute_command",
        "run_terminal_cmd",
        "local_shell",
        "container.exec",
        "shell_command",
        "exec_command",
    ]


def _reads(program: str, argument: str) -> bool:
    if program == "git":
        return argument in _GIT_READS
    return program in _READERS


def _unquoted(command: str) -> str:
    """The command without what stands in quotes, so that a `|` inside a pattern splits nothing."""
    out: list[str] = []
    quote = ""
    skip = False
    for char in command[:4_000]:
        if skip:
            skip = False
        elif quote:
            if char == "\\" and quote == '"':
                skip = True
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
            out.append("_")
        elif char == "\\":
            skip = True
        else:
            out.append(char)
    return "".join(out)


def steps_of(command: str) -> list[tuple[str, str]]:
    """The programs of a shell command in order, each with its first argument; `cd` and the like left out."""
    found = [_program(step) for step in _steps().split(_unquoted(command))]
    return [
        step
        for step in found
        if step[0]
        and step[0]
        not in ("cd", "export", "set", "source", ".", "echo", "printf", "true", ":", "sleep", "pushd", "popd")
    ]


def looks(action: str) -> bool:
    """Whether the call only shows text that lies somewhere: a file, a listing, a search, a page."""
    tool, command = _split(action)
    if tool and not _shell(tool):
        return tool.lower().removeprefix("default_api.").split("__")[-1] in _READING_TOOLS
    if not command:
        return False
    steps = steps_of(command)
    return bool(steps) and _reads(*steps[0]) and all(_reads(*step) for step in steps)


def answers(action: str) -> bool:
    """Whether exit status 1 of the call is an answer (no match, a difference) and no failure."""
    tool, command = _split(action)
    if tool and not _shell(tool):
        return tool.lower() in ("grep", "glob", "search", "find")
    steps = steps_of(command)
    if not steps:
        return False
    program, argument = steps[-1]
    if program == "git":
        return argument in ("diff", "grep", "merge-base", "check-ignore", "config", "show-ref", "rev-parse")
    return program in _ANSWERS


def hides_status(action: str) -> bool:
    """Whether the status that was reported need not be that of the command which did the work."""
    tool, command = _split(action)
    if tool and not _shell(tool):
        return False
    bare = _unquoted(command).rstrip()
    return any(mark in bare for mark in ("|", ";", "\n")) or bare.endswith("&")


def judge(*, is_error: bool | None, exit_code: int | None, action: str) -> Verdict:
    """Decide what was said about a call, before its text is read."""
    if exit_code in _STOPPED:
        return Verdict.STOPPED
    if exit_code == 1 and action and answers(action):
        return Verdict.ANSWERED
    if is_error or (exit_code is not None and exit_code != 0):
        return Verdict.FAILED
    if action and looks(action):
        return Verdict.LOOKED
    if is_error is False or exit_code == 0:
        return Verdict.HIDDEN if action and hides_status(action) else Verdict.SUCCEEDED
    return Verdict.SILENT
