"""What an agent met: one tool result, as the rules see it."""

from __future__ import annotations

from enum import StrEnum

from vlk2.frozen import dataclass
from vlk2.hints import NamedTuple

UNRECOGNISED = "text"
"""The language of a failure that no table of the fingerprints knows."""


class Outcome(StrEnum):
    """The verdict on one observation. `UNKNOWN` is never read as success."""

    FAILURE = "failure"
    SUCCESS = "success"
    UNKNOWN = "unknown"


class Failing(NamedTuple):
    """One member of a failing set: what a command's output fails with, never lines.

    `test` and `file` (a basename) are empty where the tool names none.
    """

    type: str
    symbols: tuple[str, ...] = ()
    test: str = ""
    file: str = ""


class Key(NamedTuple):
    """What makes two failures the same failure: occurrences count by signature and symbols."""

    signature: str
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One failure known by language and type, not by string.

    `signature` is `VERSION:LANGUAGE:TYPE:HASH`, the hash of the message template with every named symbol
    masked. `symbols` are what the tool names, in order. `specific` says that the type is a specific code
    (E0277, TS2345, an SQLSTATE) and not a catch-all (an exception class, an assertion). `transient` says
    that waiting may cure it (429, 5xx, reset, auth, disk, missing service). `headline` is the one line to
    show a person.
    """

    language: str
    type: str
    signature: str
    symbols: tuple[str, ...]
    headline: str
    specific: bool = False
    transient: bool = False

    @property
    def key(self) -> Key:
        return Key(self.signature, self.symbols)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What one text says: whether it is a failure, with which headline failure and which failing set.

    `fingerprint` is None unless `outcome` is FAILURE. `failing` holds every diagnostic of the output.
    """

    outcome: Outcome
    fingerprint: Fingerprint | None = None
    failing: frozenset[Failing] = frozenset()


class Act(StrEnum):
    """What kind of call it was: RUN executes, EDIT changes files, READ only looks, OTHER is any other tool."""

    RUN = "run"
    EDIT = "edit"
    READ = "read"
    OTHER = "other"


class Change(StrEnum):
    """What a call does to files or the environment: nothing, adds only output, goes back to version control, more."""

    NONE = ""
    PROBE = "probe"
    RESTORE = "restore"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class Seen:
    """One observation as the loop rule sees it.

    `seq` orders inside a timeline, `at` is event time in microseconds UTC. `batch` names the assistant
    message it came with ("" where unknown: a message of its own). `explicit` marks a `vlk_record_state`
    call. `call` is the keyed hash of the identical call and `command` the same-command key (rule 8), both
    "" where there is no command. `own_status` says that the status is the command's own and not that of a
    pipe, `|| true` or the background. `result` is a hash of the masked result text. `place` is the file
    that the call or the failure names, a path or "". `wanted` says that the caller wanted to see the
    failure, `changes` that the call may alter files or the environment, `change` what it is known to change,
    and `pause` is how long it slept on purpose, in microseconds. `complains` says that the result shows a
    failure although the verdict on it is not one.
    """

    seq: int
    at: int
    run: str
    batch: str
    explicit: bool
    act: Act
    tool: str
    call: str
    command: str
    own_status: bool
    outcome: Outcome
    fingerprint: Fingerprint | None
    failing: frozenset[Failing]
    result: str
    place: str
    wanted: bool = False
    changes: bool = False
    change: Change = Change.NONE
    pause: int = 0
    complains: bool = False
