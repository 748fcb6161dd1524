"""A memory that lies at a team server: the same verbs, each carried out there by the tool of its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from vlk2.bootstrap import Memory
from vlk2.domain.entry import Constraint, Entry, Kind
from vlk2.domain.observation import Fingerprint, Outcome
from vlk2.domain.states import State
from vlk2.errors import NotAllowed
from vlk2.ports import Owner
from vlk2.remote import Server, connect, is_remote
from vlk2.userfile import default_store, share_of

if TYPE_CHECKING:
    from vlk2.app.consolidate import Done
    from vlk2.app.fix_trail import Files
    from vlk2.app.forget import Forgotten
    from vlk2.app.pin import Pinned
    from vlk2.app.recall import Recalled
    from vlk2.app.record import Ready, Recorded
    from vlk2.app.report import Report
    from vlk2.app.revoke import Revoked
    from vlk2.app.show import Status, Story
    from vlk2.app.time_travel import Travelled
    from vlk2.domain.context import Rendered
    from vlk2.domain.event import Event
    from vlk2.settings import Settings


def memory_for(
    settings: Settings, owner: Owner, environ: Mapping[str, str], *, actor: str = "agent"
) -> Memory:
    """The owner's memory where the settings say that it lies: in a store of this machine's reach, or at a team
    server. A project that shares nothing stays in this machine's own store."""
    if not is_remote(settings.store):
        return Memory(settings, owner, actor=actor)
    share = share_of(environ, owner.project)
    if share == "none":
        return Memory(settings.model_copy(update={"store": default_store(environ)}), owner, actor=actor)
    return RemoteMemory(settings, owner, environ, share=share, actor=actor)


class RemoteMemory(Memory):
    """The memory of one project at the server that `settings.store` names. With `share` "facts" what a log says
    does not leave this machine: signature, symbols and outcome do."""

    def __init__(
        self,
        settings: Settings,
        owner: Owner,
        environ: Mapping[str, str],
        *,
        share: str = "full",
        actor: str = "agent",
    ) -> None:
        super().__init__(settings, owner, actor=actor)
        self._environ = environ
        self._share = share

    @property
    def server(self) -> Server:
        """Asked anew for each call: a token may have been renewed meanwhile."""
        return connect(self.settings.store, self._environ, project=self.owner.project)

    def read(self, uri: str) -> str:
        """The text of a resource of the server."""
        return self.server.resource(uri)

    # the verbs ---------------------------------------------------------------------------------------

    def record(
        self,
        event: Event,
        *,
        source: str = "tool",
        outcome: Outcome | None = None,
        stamps: str | Callable[[], str] = "{}",
        root: str = "",
        files: Files | None = None,
    ) -> Recorded:
        from vlk2.app.record import prepare

        ready = prepare(event, self.mask, outcome)
        if self._share == "facts":
            return self._record_facts(event, ready, root)
        payload: dict[str, Any] = {"tool": event.tool, "command": ready.command}
        if event.exit_code is not None:
            payload["exit_code"] = event.exit_code
        if event.input:
            payload["input"] = json.loads(self.mask(event.input))
        told = self.server.tool(
            "vlk_record_state",
            {
                "raw_log": ready.event.text,
                "file_context": ready.event.place,
                "tool_payload": json.dumps(payload) if event.command or event.exit_code is not None else "",
                "outcome": outcome.value if outcome else "auto",
            },
            stamps=stamps if isinstance(stamps, str) else stamps(),
            root=root,
        )
        return _recorded(told, ready.diagnosis.outcome)

    def _record_facts(self, event: Event, ready: Ready, root: str) -> Recorded:
        from vlk2.sending import body_of

        body = body_of(event, ready, self.mask, stamps="", root=root, share="facts")
        said = self.server.events([body])[0][1] if body else ""
        told = {"text": said or "Recorded. Of this project only which failure it is leaves this machine."}
        return _recorded({**told, "loop": bool(said)}, ready.diagnosis.outcome)

    def fetch_context(
        self, query: str = "", max_tokens: int = 0, stamps: Callable[[], str] | None = None
    ) -> Rendered:
        from vlk2.domain.context import Rendered

        told = self.server.tool("vlk_fetch_context", {"query": self.mask(query), "max_tokens": max_tokens})
        return Rendered(
            told["text"], told["tokens"], told["budget"], told["left_out"], tuple(told["constraint_ids"]), ()
        )

    def revoke(self, constraint_id: str, reason: str) -> Revoked:
        from vlk2.app.revoke import Revoked

        told = self.server.tool(
            "vlk_revoke_future", {"constraint_id": constraint_id, "reason": self.mask(reason)}
        )
        return Revoked(told["constraint_id"], told["state"], None, told["text"])

    def pin(self, entry_id: str, *, pinned: bool = True) -> Pinned:
        from vlk2.app.pin import Pinned

        told = self.server.tool("vlk_pin_memory", {"entry_id": entry_id, "pinned": pinned})
        return Pinned(told["entry_id"], told["pinned"], told["text"])

    def time_travel(self, entry_ids: Sequence[str], lesson: str) -> Travelled:
        from vlk2.app.time_travel import Travelled

        told = self.server.tool(
            "vlk_time_travel", {"entry_ids": list(entry_ids), "lesson": self.mask(lesson)}
        )
        return Travelled(told["constraint_id"], tuple(told["archived"]), told["text"])

    def recall(self, query: str, limit: int = 5) -> Recalled:
        from vlk2.app.recall import Recalled

        told = self.server.tool("vlk_recall", {"query": self.mask(query), "limit": limit})
        return Recalled(tuple(told["ids"]), told["text"])

    def forget(self, entry_id: str, reason: str) -> Forgotten:
        from vlk2.app.forget import Forgotten

        told = self.server.tool("vlk_forget", {"entry_id": entry_id, "reason": self.mask(reason)})
        return Forgotten(told["entry_id"], told["state"], 0, told["text"])

    def list_state(self, state: str, limit: int = 100) -> list[Entry]:
        self._not_here(f"read the resource vlk://timeline/{state.upper()} of `vlk2 serve`")

    def story(self, entry_id: str) -> Story:
        self._not_here(f"read the resource vlk://entry/{entry_id} of `vlk2 serve`")

    def status(self) -> Status:
        self._not_here("`vlk2 context` shows what it holds for this project")

    def run_cycle(self) -> list[Done] | None:
        self._not_here("the server runs the cycle")

    def report(self, age: int = 0) -> Report:
        self._not_here("a report is made of a store of this machine's reach")

    def _not_here(self, instead: str) -> NoReturn:
        raise NotAllowed(f"this memory lies at {self.settings.store}: {instead}.")


def _recorded(told: Mapping[str, Any], outcome: Outcome) -> Recorded:
    from vlk2.app.record import Recorded

    fingerprint = None
    if told.get("language") and told.get("type"):
        fingerprint = Fingerprint(told["language"], told["type"], "", (), "")
    named = told.get("constraint_id")
    return Recorded(
        entry_id=told.get("entry_id"),
        state=told.get("state"),
        outcome=outcome,
        fingerprint=fingerprint,
        repeats=int(told.get("repeats") or 0),
        constraint=_constraint(named, told) if named else None,
        show=bool(told.get("loop")),
        retired=(),
        duplicate=False,
        closed=None,
        seen=None,
        text=told["text"],
    )


def _constraint(named: str, told: Mapping[str, Any]) -> Constraint:
    """What is known here of a constraint that lies at the server: its id and its count."""
    count = int(told.get("repeats") or 0)
    entry = Entry(
        0, named, 0, 0, 0, Kind.LOOP, State.FUTURE, None, None, "failure", "", "", "", 0, False, False, None
    )
    return Constraint(entry, count, count, 0, 0, 0, (), None, "{}", 0, None)
