"""A text as tables read it: its lines, freed of what CI systems and build tools put before them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate

from vlk2.domain.gist import Gist
from vlk2.hints import NamedTuple

# Longer texts are read at both ends: what made a run fail stands in the first diagnostics or the last lines.
LIMIT = 131_072
_MOST = 1_000  # lines that one literal may name: more of the same tell nothing new
_LONGEST_LINE = 4_000


@cache
def _prefix() -> re.Pattern[str]:
    return re.compile(
        r"""
        \[?\d{4}-\d\d-\d\d[T ]\d\d:\d{2,4}:\d{2,4}(?:[.,]\d{1,9})?(?:Z|\ ?[+-]\d\d:?\d\d)?\]?(?:[ ]|$)  # CI clocks
        | \[?\d\d:\d{2,4}:\d{2,4}(?:[.,]\d{1,9})?\]?(?:[ ]+|$)                      # Jenkins clocks
        | \[\ *\d{1,7}\.\d{3,9}\]\                                            # kernel clocks
        | \#\d{1,4}\ \d{1,6}\.\d{1,3}(?:[ ]|$)                                # docker build steps
        | \[(?:javac|java|exec|junit|kotlinc|scalac|groovyc|apply|sh|testng|null)\][ ]?           # Ant tasks
        | \#\#\[(?:error|warning|debug)\]                                     # GitHub and Azure marks
        | [ ]{0,4}\d{1,3}>(?=\S)                                              # MSBuild projects
        | [\w.-]{1,40}-\d{1,3}[ ]+\|[ ]                                       # compose services
        | (?:stderr|stdout)[ ]\|[ ]
        """,
        re.VERBOSE,
    )


_FIRST = frozenset("0123456789[# ")
_WRAPPED = frozenset("0123456789[#<EOS(")


_HARNESS = frozenset(
    [
        *(
            "<output>",
            "</output>",
            "<stdout>",
            "</stdout>",
            "<stderr>",
            "</stderr>",
            "<warning>",
            "</warning>",
        ),
        *("Output:", "STDOUT:", "STDERR:", "<system>", "</system>", "<error>", "</error>"),
    ]
)


@cache
def _status() -> re.Pattern[str]:
    return re.compile(
        r"<returncode>\d+</returncode>$|Exit code:? \d+$|\[The command completed with exit code \d+\.?\]$"
        r"|\[(?:Current working directory|Python interpreter): .*\]$|\(?Exit [Cc]ode: \d+\)?$"
    )


def _unwrap(line: str) -> str:
    """Return `line`, or nothing where it is only what an agent's harness wrote around an output."""
    if line in _HARNESS or _status().match(line):
        return ""
    return line.removeprefix("Output: ").removesuffix("</output>")


def _strip_prefix(line: str) -> str:
    """Return `line` without clocks, step numbers and task names of the systems that wrapped it."""
    pattern = _prefix()
    for _ in range(3):
        found = pattern.match(line)
        if found is None:
            return line
        line = line[found.end() :]
    return line


def clean(line: str, *, service: bool = False) -> str:
    """Return `line` freed of what wrapped it; `service` says that lines may begin with a compose service."""
    if not line:
        return line
    if len(line) > _LONGEST_LINE:
        line = line[:_LONGEST_LINE]
    if line[0] in _FIRST or (service and " | " in line[:64]):
        line = _strip_prefix(line)
    if line and line[0] in "<EOS[(":
        return _unwrap(line)
    return line


class Line(NamedTuple):
    at: int
    text: str


@cache
def _blind(pattern: str) -> bool:
    """Whether it makes no difference to a pattern which digits stand in a line: it names none, and compares none."""
    plain = re.sub(r"\{\d+(?:,\d*)?\}|0-9", "", pattern)
    return re.search(r"\d|\(\?P=", plain) is None


class Page:
    """The lines of one text, in order; `text` is their join. Immutable after construction."""

    __slots__ = ("_gist", "_starts", "lines", "text")

    def __init__(self, text: str) -> None:
        if len(text) > LIMIT:
            half = LIMIT // 2
            text = text[:half] + "\n" + text[-half:]
        self.lines: list[str] = text.split("\n")
        self.text: str = "\n".join(self.lines) if self._clean(text) else text
        self._gist: Gist | None = None
        self._starts: list[int] | None = None

    def _clean(self, text: str) -> bool:
        """Clean the lines; whether any line changed."""
        lines = self.lines
        service = " | " in text
        if service or (len(text) > _LONGEST_LINE and max(map(len, lines)) > _LONGEST_LINE):
            wrapped = [(index, line) for index, line in enumerate(lines) if line]
        else:
            wrapped = [(index, line) for index, line in enumerate(lines) if line[:1] in _WRAPPED]
            if ">" in text:  # what begins with a space may be a project's number
                wrapped += [
                    (index, line) for index, line in enumerate(lines) if line[:1] == " " and ">" in line[:8]
                ]
        changed = False
        for index, line in wrapped:
            cleaned = clean(line, service=service)
            if cleaned is not line:
                lines[index] = cleaned
                changed = True
        return changed

    def holds(self, literal: str) -> bool:
        """Whether `literal` stands in the text."""
        return literal in self.text if len(self.lines) == 1 else self.gist.holds(literal)

    @property
    def gist(self) -> Gist:
        """What stands in the text, for many questions."""
        if self._gist is None:
            self._gist = Gist(self.text)
        return self._gist

    def candidates(self, literal: str, pattern: re.Pattern[str]) -> Iterable[Line]:
        """Of the lines that `containing` yields those that `pattern` may match, and maybe others."""
        if len(self.lines) == 1:
            return self.containing(literal)
        gist = self.gist
        kinds = gist.alike(literal) if _blind(pattern.pattern) else None
        if kinds is None:
            return self.containing(literal)
        lines = self.lines
        match = pattern.match
        chosen = [index for kind, one in kinds if match(lines[one]) for index in gist.lines_of(kind)]
        chosen.sort()
        if chosen and gist.count(kind for kind, _ in kinds) > _MOST:
            named = sorted(index for kind, _ in kinds for index in gist.lines_of(kind))[:_MOST]
            chosen = [index for index in chosen if index <= named[-1]]
        return [Line(index, lines[index]) for index in chosen]

    def index_at(self, offset: int) -> int:
        """The number of the line that the character at `offset` stands in."""
        if self._starts is None:
            self._starts = list(accumulate([len(line) + 1 for line in self.lines], initial=0))
        return bisect_right(self._starts, offset) - 1

    def containing(self, literal: str) -> Iterator[Line]:
        """The lines that contain `literal`, once each, in order; the first thousand of them."""
        text, lines = self.text, self.lines
        if len(lines) == 1:
            if literal in text:
                yield Line(0, text)
            return
        if not self.gist.holds(literal):
            return
        at = text.find(literal)
        left = _MOST
        while at != -1 and left:
            left -= 1
            index = self.index_at(at)
            line = lines[index]
            yield Line(index, line)
            at = text.find(literal, self.start(index) + len(line))

    def start(self, index: int) -> int:
        """The offset of the first character of line `index`."""
        if self._starts is None:
            self.index_at(0)
        starts = self._starts
        return starts[index] if starts is not None else 0
