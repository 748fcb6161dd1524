"""What many tools have in common: `file:line: error: …`, `error: …`, `FATAL …`, and the last words of a failing run."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import LOOSE, TOOL, TRAILER, Row, Table

TABLE = Table(
    "text",
    (
        Row("exit-said", "xit ", r"(?:.{0,80}[ (:])?(?:[Ee]xit(?:ed)?(?: with)?(?: a)?(?: non-zero)? (?:code|status)|exited with(?: exit)?(?: code| status)?)[ :]*(?P<symbol>\d+).*", TRAILER, type="exit", strong=False, fixed=True),
        Row("task-failed", "task failed", r"(?:\[[^\]]*\] )?(?:ERROR:? )?task failed\.?$", TRAILER, type="task-failed", fixed=True),
        Row("error-bang", "rror: ", r"(?:[\w.@/+-]{1,60}: )?(?:fatal |Fatal |internal )?(?:[Ee]rror|ERROR)(?:\[(?P<type>[\w:-]+)\])?: (?P<message>\S.*)", TOOL - 5, strong=True),
        Row("error-upper", "ERROR", r"(?:\[?ERROR\]?|\*\*\* ERROR)(?:[:!]| -) *(?P<message>\S.*)", TOOL - 6, strong=False),
        Row("fatal-upper", "FATAL", r"\[?FATAL\]?(?:[:!]| -)? +(?P<message>\S.*)", TOOL - 5),
        Row("error-line", "rror", r"\s*(?:.{0,60}[\]\s])?(?:[Ee]rror|ERROR)(?:\[[^\]]*\])?[: -]+(?P<message>\S.*)", LOOSE, strong=False),
        Row("error-upper-line", "ERROR", r".{0,80}?\bERROR\b[\]:) -]*(?P<message>\S.*)", LOOSE, strong=False),
        Row("failed-line", "ailed", r"(?P<message>.{0,200}\b[Ff]ailed\b.*)", LOOSE - 2, strong=False),
        Row("unable", "nable to ", r"(?P<message>.{0,200}\b[Uu]nable to .*)", LOOSE - 2, strong=False),
        Row("cannot", "annot ", r"(?P<message>.{0,200}\b[Cc]annot .*)", LOOSE - 2, strong=False),
        Row("usage", "sage: ", r"(?:usage|Usage): (?P<symbol>\S+).*", LOOSE - 5, type="usage", strong=False, fixed=True),
        Row("warning-line", "arning: ", r"(?:.{0,200}: )?[Ww]arning: (?P<message>.*)", LOOSE - 6, strong=False),
    ),
)  # fmt: skip
