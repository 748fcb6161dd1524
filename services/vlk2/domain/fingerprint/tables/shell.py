"""Shells and the system: what could not be run, found, read or written; git; and quoting slips."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import SYSTEM, TOOL, TRAILER, Row, Table

_ERRNO = (
    "No such file or directory", "Permission denied", "Is a directory", "Not a directory", "File exists",
    "Directory not empty", "Operation not permitted", "Read-only file system", "No space left on device",
    "Too many open files", "Argument list too long", "Device or resource busy", "Text file busy", "Disk quota exceeded",
    "Cannot allocate memory", "Invalid argument", "Broken pipe", "Input/output error", "Exec format error",
    "Resource temporarily unavailable", "Too many levels of symbolic links",
)  # fmt: skip

TABLE = Table(
    "shell",
    (
        Row("not-found-bash", "command not found", r"(?:\S+: )?(?:line \d+: )?(?P<symbol>[^\s:]+): command not found.*", TOOL, type="command-not-found", specific=True, fixed=True),
        Row("not-found-zsh", "command not found: ", r"(?:\S+:(?:\d+:)? )?command not found: (?P<symbol>\S+)", TOOL, type="command-not-found", specific=True, fixed=True),
        Row("not-found-sh", ": not found", r"(?:/\S+|sh|dash|ash)(?:: (?:line )?\d+)?: (?:eval: )?(?:line )?(?:\d+: )?(?P<symbol>[^\s:]+): not found", TOOL, type="command-not-found", specific=True, fixed=True),
        Row("not-found-exec", "executable file not found", r".*?exec: \"(?P<symbol>[^\"]+)\": executable file not found.*", TOOL, type="command-not-found", specific=True, fixed=True),
        Row("not-found-windows", "is not recognized as", r"'?(?P<symbol>[^\s':]+)'?(?: :.*)? is not recognized as .*", TOOL, type="command-not-found", specific=True, fixed=True),
        Row("not-found-env", "env: ", r"(?:/usr/bin/)?env: [‘']?(?P<symbol>[^’':\s]+)[’']?: No such file or directory", TOOL + 1, type="command-not-found", specific=True, fixed=True),
        Row("shell-syntax", "syntax error", r"(?:\S*sh|\S+\.sh|eval)(?:: -c)?(?:: (?:line )?\d+)?: (?P<message>(?:[Ss]yntax error|parse error|unexpected EOF).*)", TOOL, type="syntax-error"),
        Row("shell-eof", "unexpected EOF", r"\S+: (?:-c: )?(?:eval: )?line \d+: (?P<message>unexpected EOF.*)", TOOL, type="syntax-error"),
        *(
            Row("zsh", mark, r"(?:\(eval\)|zsh)(?::\d+)?: (?P<type>no matches found|parse error near|permission denied|no such file or directory|bad substitution|event not found)(?::| |$) ?(?P<symbol>.*)", TOOL, fixed=True)
            for mark in ("(eval):", "zsh:")
        ),
        Row("sed", "sed: -e", r"sed: -e expression #\d+, char \d+: (?P<message>.*)", TOOL, type="sed-expression"),
        Row("heredoc", "here-document", r".*?(?P<message>here-document (?:at line \d+ )?delimited by end-of-file.*)", TOOL - 1, type="heredoc", strong=False),
        *(
            Row("bad-option", f"{kind} option", rf"(?P<symbol>[\w./-]+): (?P<message>{kind} option.*)", TOOL, type="bad-option")
            for kind in ("invalid", "unrecognized", "unknown", "illegal")
        ),
        Row("cd", "cd: ", r"(?:\S+: )?(?:(?:line )?\d+: )?cd: (?:can't cd to )?(?P<symbol>.+?)(?:: No such file or directory)?$", TOOL, type="No such file or directory", specific=True, fixed=True),
        *(
            Row(
                "errno",
                said,
                r"(?:[\w.+/-]+|-?\[?\w+\]?): (?:(?:line )?\d+: )?"
                r"(?:[^'‘\"]{0,80}['‘\"](?:[^'’\"]*/)?(?P<symbol>[^'’\"/]+)/?['’\"][^:]{0,80}: |(?P<file>.*): )?"
                rf"(?P<type>{said})(?: \(os error \d+\))?\.?$",
                TOOL - 1,
                specific=True,
                fixed=True,
            )
            for said in _ERRNO
        ),
        Row("disk-full", "No space left on device", r".*?No space left on device.*", SYSTEM - 1, type="No space left on device", specific=True, transient=True, fixed=True, strong=False),
        Row("disk-quota", "isk quota exceeded", r".*?[Dd]isk quota exceeded.*", SYSTEM - 1, type="Disk quota exceeded", specific=True, transient=True, fixed=True, strong=False),
        Row("killed", "Killed", r"(?:\S+: line \d+: +\d+ )?Killed(?: .*)?$", TRAILER, type="SIGKILL", fixed=True),
        Row("timed-out", "timed out after", r"(?:Command |Error: Command )?timed out after [\d.]+ ?\w*.*", TRAILER + 1, type="timeout", fixed=True),
        Row("sudo", "sudo: ", r"sudo: (?P<message>.*)", TOOL),
    ),
)  # fmt: skip
