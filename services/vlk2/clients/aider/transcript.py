"""aider `.aider.chat.history.md`: `# aider chat started at` opens a session, `#### ` lines are the user's,
`> ` lines what aider and the tools printed, all others the model's reply."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vlk2.clients.loose import microseconds
from vlk2.clients.recorded import Call, Run, Step, Tape
from vlk2.clients.source import Source
from vlk2.domain.event import EventKind

EXPECTED: Final = "markdown with `# aider chat started at`"

_START: Final = "# aider chat started at "
_STOPPED: Final = re.compile(r"^\^C(?: again to exit| KeyboardInterrupt)", re.MULTILINE)


def claims_text(head: str) -> bool:
    """Whether a file that begins so is an aider history."""
    return any(line.startswith(_START) for line in head.splitlines())


def steps(source: Source) -> Iterator[Step]:
    """One run a session; a step is a turn: the prompt, the reply and what was printed. The numbers go through
    the file, since each of its sessions goes on from the one before."""
    tape = Tape("aider")
    turn: _Turn | None = None
    run: Run | None = None
    sessions = at = 0
    for line in source.texts():
        if line.startswith(_START):
            if turn is not None:
                yield from turn.close()
                turn = None
            if run is not None:
                yield run.frame(EventKind.SESSION_END, at)
            at = microseconds(line.removeprefix(_START).strip()) or at
            name = f"{source.stem}#{sessions}"
            run = tape.run(name, session=name, worktree=str(source.path.absolute().parent))
            sessions += 1
            yield run.frame(EventKind.SESSION_START, at)
        elif run is None:
            continue
        elif line.startswith("####"):
            if turn is not None and turn.answered:
                yield from turn.close()
                turn = None
            turn = turn or _Turn(run, at)
            turn.asked.append(line[4:].strip())
        elif turn is not None:
            turn.hear(line)
    if turn is not None:
        yield from turn.close()


class _Turn:
    def __init__(self, run: Run, at: int) -> None:
        self._run = run
        self._at = at
        self.asked: list[str] = []
        self.answered = False
        self._printed: list[str] = []
        self._reply: list[str] = []

    def hear(self, line: str) -> None:
        if line.startswith(">"):
            self.answered = True
            self._printed.append(line[1:].strip())
        elif line.strip() or self._reply:
            self.answered = True
            self._reply.append(line)

    def close(self) -> Iterator[Step]:
        asked, printed = " ".join(self.asked), "\n".join(self._printed)
        yield self._run.prompt(asked, self._at)
        reply = "\n".join(self._reply).strip()
        call = Call("aider-turn", {"prompt": asked}, at=self._at, command=f"{asked}\n--- reply ---\n{reply}")
        yield from self._run.result(call, printed, interrupted=_STOPPED.search(printed) is not None)
