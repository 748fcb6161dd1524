"""Facts, their contradictions, and how a fact is rewritten when newer observations contradict it."""

from __future__ import annotations

from dataclasses import dataclass

from vlk2.domain.anchors import failure_name
from vlk2.domain.moments import stamp
from vlk2.domain.observation import Fingerprint
from vlk2.domain.quoting import code

_PRIOR_FOR, _PRIOR_AGAINST = 1.0, 1.0


@dataclass(frozen=True, slots=True)
class Pattern:
    """A fact of a team: what fails, how often, for how many agents, how sure, what ended it.

    `successes` counts observations that contradict it. `ended` is the kind of change that ended it
    (dependency, config, source, test, environment) or "". Times in microseconds UTC.
    """

    id: str
    fingerprint: Fingerprint
    confidence: float
    loops: int
    repeats: int
    successes: int
    agents: int
    ended: str
    first_at: int
    last_at: int
    pinned: bool = False


def confidence(loops: int, successes: int) -> float:
    """(loops + 1) / (loops + successes + 2): the mean of a Beta(1 + for, 1 + against) belief (Laplace's rule
    of succession). One success does not refute: after one loop it takes 2/3 to 1/2."""
    return (loops + _PRIOR_FOR) / (loops + successes + _PRIOR_FOR + _PRIOR_AGAINST)


def pattern_text(pattern: Pattern) -> str:
    """A pattern as an agent reads it: evidence, never another agent's log, file, command or lesson."""
    fingerprint = pattern.fingerprint
    named = ", ".join(code(s, 60) for s in fingerprint.symbols[:4])
    who = "1 agent" if pattern.agents == 1 else f"{pattern.agents} agents"
    lines = [
        f"{pattern.id} · {fingerprint.language} {failure_name(fingerprint)}"
        + (f" naming {named}" if named else ""),
        f"Looped {pattern.loops} {'time' if pattern.loops == 1 else 'times'} for {who} ({pattern.repeats} occurrences), "
        f"{stamp(pattern.first_at)} to {stamp(pattern.last_at)}; confidence {pattern.confidence:.2f}.",
    ]
    if pattern.successes:
        lines.append(
            f"Against it: {pattern.successes} {'success' if pattern.successes == 1 else 'successes'} since."
        )
    if pattern.ended:
        lines.append(f"What ended it before: a change of {pattern.ended}.")
    return "\n".join(lines)
