"""The composition root: the only file that picks an implementation, and the memory that front-ends call."""

from __future__ import annotations

import os
import time
from _thread import allocate_lock
from collections.abc import Callable, Mapping, Sequence

from vlk2.errors import ConfigError
from vlk2.hints import TYPE_CHECKING
from vlk2.ports import Owner, Redactor, Store, TokenCounter

if TYPE_CHECKING:
    from vlk2.app.consolidate import Done
    from vlk2.app.erase import Erased, Selection
    from vlk2.app.explain import Explained, ShownFix
    from vlk2.app.fix_trail import Files
    from vlk2.app.forget import Forgotten
    from vlk2.app.pin import Pinned
    from vlk2.app.recall import Recalled
    from vlk2.app.record import Recorded
    from vlk2.app.report import Report
    from vlk2.app.restore import Restored
    from vlk2.app.revoke import Revoked
    from vlk2.app.show import Status, Story
    from vlk2.app.time_travel import Travelled
    from vlk2.domain.context import Rendered
    from vlk2.domain.entry import Entry
    from vlk2.domain.event import Event
    from vlk2.domain.observation import Outcome
    from vlk2.domain.project_rules import ProjectRules
    from vlk2.settings import Settings

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"


def now() -> int:
    """Microseconds UTC."""
    return time.time_ns() // 1_000


def mint(prefix: str) -> str:
    """The prefix, `_` and 12 random base32 characters (60 bit)."""
    return f"{prefix}_" + "".join(_BASE32[b & 31] for b in os.urandom(12))


def open_store(address: str, *, busy_seconds: float = 10.0, migrate: bool = True) -> Store:
    """The store at an address; each implementation is imported only when it is the one chosen."""
    if address.startswith("sqlite:"):
        from vlk2.stores.sqlite import SqliteStore
        from vlk2.userfile import sqlite_path

        return SqliteStore(sqlite_path(address), mint, busy_seconds=busy_seconds, migrate=migrate)
    if address.startswith(("postgresql:", "postgres:")):
        from vlk2.stores.postgres import PostgresStore

        return PostgresStore(address, mint, busy_seconds=busy_seconds, migrate=migrate)
    scheme = address.partition(":")[0]
    if scheme in ("http", "https"):
        raise ConfigError(
            f"this needs the store itself, and VLK2_STORE names the team server {address}: do it there."
        )
    raise ConfigError(
        f"VLK2_STORE names a {scheme} store, which this version cannot open: use sqlite:///PATH or postgresql://…"
    )


def exact_counter() -> TokenCounter:
    """The exact counter, loaded in the background; until it is there, it answers with an upper bound."""
    from vlk2.tokens import background

    return background()


def owner_of(settings: Settings, environ: Mapping[str, str], cwd: str) -> Owner:
    """Whose memory a process works on: settings, and the project of its workspace where none is set."""
    from vlk2.identity import project_of, workspace

    return Owner(settings.team, settings.agent, settings.project or project_of(workspace(environ, cwd)))


class Memory:
    """The memory of one owner as front-ends call it: the use cases with clock, ids, masking and counting.

    The store is opened when it is first needed, and tried again by the next call where it could not be.
    """

    def __init__(
        self,
        settings: Settings,
        owner: Owner,
        *,
        counter: TokenCounter | None = None,
        mask: Redactor | None = None,
        clock: Callable[[], int] = now,
        actor: str = "agent",
        workspace: str = "",
    ) -> None:
        self.settings = settings
        self.workspace = workspace
        self.owner = owner
        self._counter = counter
        self._mask = mask
        self.clock = clock
        self.actor = actor
        self.worker = f"{actor}-{os.getpid()}-{mint('w')[2:8]}"
        self._store: Store | None = None
        self._opening = allocate_lock()

    @property
    def store(self) -> Store:
        if self._store is None:
            with self._opening:
                if self._store is None:
                    self._store = open_store(self.settings.store)
        return self._store

    @property
    def counter(self) -> TokenCounter:
        if self._counter is None:
            self._counter = exact_counter()
        return self._counter

    @property
    def mask(self) -> Redactor:
        if self._mask is None:
            from vlk2.redaction import mask

            self._mask = mask
        return self._mask

    def rules(self) -> ProjectRules:
        """What the workspace's own `vlk2.toml` sets, where its user trusts it."""
        from vlk2.project_file import rules_for
        from vlk2.userfile import data_directory

        return rules_for(self.workspace, data_directory(os.environ))

    def of(self, owner: Owner, actor: str) -> Memory:
        """The memory of another owner over the same store, tokenizer and masking."""
        mine = Memory(
            self.settings, owner, counter=self.counter, mask=self.mask, clock=self.clock, actor=actor
        )
        mine._store = self.store
        return mine

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

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
        from vlk2.app.record import Terms, record

        rules = self.rules()
        threshold = rules.loop_threshold or self.settings.loop_threshold
        return record(
            self.store,
            self.owner,
            event,
            Terms(source, threshold, self.actor),
            now=self.clock(),
            mint=mint,
            mask=self.mask,
            counter=self.counter,
            outcome=outcome,
            stamps=stamps,
            root=root,
            files=files,
            rules=rules,
        )

    def fetch_context(
        self, query: str = "", max_tokens: int = 0, stamps: Callable[[], str] | None = None
    ) -> Rendered:
        from vlk2.app.fetch_context import fetch_context

        return fetch_context(
            self.store,
            self.owner,
            query=query,
            max_tokens=max_tokens,
            budget=self.settings.token_budget,
            now=self.clock(),
            mask=self.mask,
            counter=self.counter,
            stamps=stamps,
        )

    def revoke(self, constraint_id: str, reason: str) -> Revoked:
        from vlk2.app.revoke import revoke

        return revoke(
            self.store,
            self.owner,
            constraint_id,
            reason,
            now=self.clock(),
            mask=self.mask,
            threshold=self.settings.loop_threshold,
            actor=self.actor,
        )

    def pin(self, entry_id: str, *, pinned: bool = True) -> Pinned:
        from vlk2.app.pin import pin

        return pin(
            self.store,
            self.owner,
            entry_id,
            pinned=pinned,
            budget=self.settings.token_budget,
            now=self.clock(),
        )

    def time_travel(self, entry_ids: Sequence[str], lesson: str) -> Travelled:
        from vlk2.app.time_travel import time_travel

        return time_travel(
            self.store,
            self.owner,
            entry_ids,
            lesson,
            now=self.clock(),
            mint=mint,
            mask=self.mask,
            counter=self.counter,
            actor=self.actor,
        )

    def recall(self, query: str, limit: int = 5) -> Recalled:
        from vlk2.app.distil import reconsolidate
        from vlk2.app.recall import recall

        return recall(
            self.store,
            self.owner,
            query,
            limit=limit,
            now=self.clock(),
            mask=self.mask,
            counter=self.counter,
            reconsolidate=lambda store, owner, failures, at: reconsolidate(
                store, owner, failures, worker=self.worker, now=at, mint=mint
            ),
        )

    def forget(self, entry_id: str, reason: str) -> Forgotten:
        from vlk2.app.forget import forget

        return forget(
            self.store, self.owner, entry_id, reason, now=self.clock(), mask=self.mask, actor=self.actor
        )

    def list_state(self, state: str, limit: int = 100) -> list[Entry]:
        from vlk2.app.show import list_state

        return list_state(self.store, self.owner, state, limit=limit, now=self.clock())

    def story(self, entry_id: str) -> Story:
        from vlk2.app.show import story

        return story(self.store, self.owner, entry_id, now=self.clock())

    def explain(self, any_id: str) -> Explained:
        from vlk2.app.explain import explain

        return explain(self.store, self.owner, any_id, now=self.clock())

    def show_fix(self, constraint_id: str) -> ShownFix:
        from vlk2.app.explain import show_fix

        return show_fix(self.store, self.owner, constraint_id, now=self.clock())

    def restore(self, entry_id: str) -> Restored:
        from vlk2.app.restore import restore

        return restore(self.store, self.owner, entry_id, now=self.clock(), actor=self.actor)

    def erase(self, selection: Selection, reason: str = "", *, dry_run: bool = False) -> Erased:
        from vlk2.app.erase import erase

        return erase(
            self.store,
            self.owner,
            selection,
            reason,
            now=self.clock(),
            mask=self.mask,
            actor=self.actor,
            dry_run=dry_run,
        )

    def rehearse_cycle(self) -> list[Done]:
        """What a cycle would do now to each timeline of the team, with nothing changed."""
        from vlk2.app.consolidate import rehearse

        return [
            rehearse(
                self.store, owner, clock=self.clock, budget=self.settings.token_budget, counter=self.counter
            )
            for _, owner, _ in self.store.timelines(self.owner.team)
        ]

    def status(self) -> Status:
        from vlk2.app.show import status

        return status(self.store, self.owner, now=self.clock())

    def report(self, age: int = 0) -> Report:
        """The words of the last `age` microseconds (0: all) in hindsight."""
        from vlk2.app.report import report

        at = self.clock()
        return report(self.store, self.owner, since=at - age if age else 0, now=at)

    def run_cycle(self) -> list[Done] | None:
        """One tick of the cycle over every timeline that is due; None where another process has this tick."""
        from vlk2.app.tick import tick

        return tick(
            self.store,
            worker=self.worker,
            clock=self.clock,
            period=int(self.settings.cycle_seconds * 1_000_000),
            budget=self.settings.token_budget,
            counter=self.counter,
            mint=mint,
        )
