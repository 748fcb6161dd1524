"""What `vlk2-hook` does: from one event on stdin to one answer on stdout, in time.

It always exits with 0, and within its deadline (300 ms, then silence): a client is never locked out and never
kept waiting. An event that cannot be written into the store in that time goes to the spool. Only the standard
library and the light parts of Vlk² are imported, each when it is needed; a test holds the list.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from vlk2.app.hear import Manner
    from vlk2.app.record import Ready
    from vlk2.around import Around
    from vlk2.clients.hooked import Heard
    from vlk2.domain.event import Event
    from vlk2.domain.project_rules import ProjectRules
    from vlk2.domain.said import Said
    from vlk2.patterns import Patterns
    from vlk2.ports import Owner
    from vlk2.userfile import HookSettings

DEADLINE = 0.300
"""Seconds of wall clock from the start of `main`; `VLK2_HOOK_DEADLINE` (seconds) changes it."""
LAST_RESORT = 3.0
"""Seconds past the deadline after which a process that hangs before it could mask its event ends all the same."""
LARGEST = 16 * 1024 * 1024
LONGEST_INPUT = 64 * 1024
_BUSY_SHARE = 0.5
_LOG_LIMIT = 256 * 1024
CLIENTS = ("claude-code", "codex", "opencode", "gemini", "hermes", "cursor")


def main() -> None:
    """The command. Ends the process itself: nothing that an interpreter does at its end is needed."""
    hook = Hook(sys.argv[1:], os.environ)
    hook.guard()
    hook.remember()
    try:
        out = hook.run(sys.stdin.buffer.read(LARGEST + 1))
    except BaseException as error:
        hook.fail(error)
        out = ""
    hook.finish(out)


class Hook:
    """One event from stdin to stdout, and what has to be done where time runs out."""

    def __init__(self, arguments: list[str], environ: Mapping[str, str]) -> None:
        self._client = arguments[0] if arguments else ""
        self._environ = environ
        self._deadline = _seconds(environ.get("VLK2_HOOK_DEADLINE"), DEADLINE)
        self._began = time.monotonic()
        self._unwritten: list[Unwritten] = []
        self._rules: ProjectRules
        self._late = False
        self._aside = False
        self._raw = False  # an event was read whose masked line is not made yet
        self._turn = _lock()
        self._data = ""
        self._patterns: Patterns | None = None
        self._mark = ""

    # the deadline ------------------------------------------------------------------------------------

    def remember(self) -> None:
        """Takes the compiled patterns of earlier runs into use."""
        from vlk2.patterns import Patterns
        from vlk2.userfile import data_directory

        self._data = data_directory(self._environ)
        patterns = Patterns(self._data)
        if patterns.use():
            self._patterns = patterns

    def guard(self) -> None:
        """Starts the watch. It needs no signal: it ends the process from a thread, also while the store waits."""
        import _thread

        try:
            _thread.start_new_thread(self._watch, ())
        except RuntimeError:  # no thread to be had: the busy timeout of the store still bounds the wait
            return

    def _watch(self) -> None:
        time.sleep(self._deadline)
        if not self._turn.acquire(False):
            return  # the answer is being written
        self._late = True
        if self._raw:  # the main thread masks the event and keeps it, out of the client's way
            self._turn.release()
            time.sleep(LAST_RESORT)
            os._exit(0)
        self._keep()
        os._exit(0)

    def _step_aside(self) -> None:
        """Called between two steps: past the deadline the client is let go, and a process of its own does the rest."""
        if not self._late or self._aside or not hasattr(os, "fork"):
            return
        self._aside = True
        try:
            if os.fork():
                os._exit(0)
        except OSError:
            return
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)

    def finish(self, out: str) -> None:
        """Writes the answer, where there is time, and ends the process."""
        self._turn.acquire()
        if self._late:
            self._keep()
        elif out:
            data = out.encode("utf-8", "replace") + b"\n"
            try:
                while data:
                    data = data[os.write(1, data) :]
            except OSError:
                pass
        if self._patterns is not None:
            self._patterns.save()
        os._exit(0)

    def fail(self, error: BaseException) -> None:
        """What no rule foresaw: it is logged, and the event kept where its masked line was made."""
        self.log(f"failed: {type(error).__name__}: {error}")
        self._keep()

    def _keep(self) -> None:
        """Puts the masked lines of what is not in the store into the spool."""
        unwritten, self._unwritten = self._unwritten, []
        for one in unwritten:
            try:
                one.spool(self._data)
            except OSError as error:
                self.log(f"an event is lost: the spool cannot be written: {error}")

    # one event ---------------------------------------------------------------------------------------

    def run(self, raw: bytes) -> str:
        """What goes to stdout for what came on stdin, "" for nothing."""
        from vlk2.userfile import data_directory

        self._data = data_directory(self._environ)
        if self._client not in CLIENTS:
            self.log(f"unknown client {self._client[:40]!r}: it is one of {', '.join(CLIENTS)}")
            return ""
        if not raw.strip():
            self.log(f"{self._client}: nothing came on stdin")
            return ""
        if len(raw) > LARGEST:
            self.log(f"{self._client}: more than {LARGEST} bytes came on stdin: passed over")
            return ""
        self._raw = True
        payload = _object(raw)
        if payload is None:
            self.log(f"{self._client}: {len(raw)} bytes on stdin that are no JSON object in UTF-8")
            return ""
        self._step_aside()
        adapter = _adapter(self._client)
        heard: Heard | None = adapter.hear(payload, self._environ)
        if heard is None:
            self.log(
                f"{self._client}: an event that is not known: {str(payload.get('hook_event_name'))[:60]!r}"
            )
            return str(adapter.answer(payload, None))
        said: Said | None = self._hear(heard)
        return str(adapter.answer(payload, said))

    def _hear(self, heard: Heard) -> Said | None:
        from vlk2 import seen
        from vlk2.around import Around
        from vlk2.errors import StoreUnavailable, Vlk2Error
        from vlk2.ports import Owner
        from vlk2.userfile import hook_settings

        self._mark = heard.mark
        self._step_aside()
        settings = hook_settings(self._environ)
        now = time.time_ns() // 1_000
        seen.note(self._data, self._client, heard.name, settings.store, now)
        around = Around(heard.cwd, heard.root)
        owner = Owner(settings.team, settings.agent, settings.project or around.project())
        share = "full"
        if settings.store.startswith(("https://", "http://")):
            settings, share = self._shared(settings, owner)
        self._rules = self._project_rules(around)
        events = [
            event
            for event in (around.place(e, now) for e in heard.events)
            if not _ignored(event) and not self._rules.excludes(event.command, event.place)
        ]
        if not events:
            self._raw = False
            return None
        self._step_aside()
        ready = [self._ready(event, owner, settings, around) for event in events]
        self._raw = False
        if self._late:
            return None
        try:
            if settings.store.startswith(("https://", "http://")):
                return self._send(events, ready, owner, settings, heard, around, now, share)
            return self._tell(events, ready, owner, settings, heard, around, now)
        except StoreUnavailable as error:
            self.log(f"spooled: {error.message}")
        except Vlk2Error as error:
            self.log(f"spooled: {error.message}")
        self._keep()
        return None

    def _project_rules(self, around: Around) -> ProjectRules:
        """What the project's own trusted file sets; a file that is wrong sets nothing and is logged."""
        from vlk2.errors import ConfigError
        from vlk2.project_file import rules_for

        try:
            return rules_for(around.worktree(), self._data)
        except ConfigError as error:
            self.log(error.message)
            return rules_for("", self._data)

    def _ready(self, event: Event, owner: Owner, settings: HookSettings, around: Around) -> Ready | None:
        """The event's masked form. What would go to the spool is held until the store has it."""
        from vlk2.domain.event import EventKind

        if event.kind is EventKind.CALL:
            return None  # nothing was met yet
        kept, ready = event, None
        if event.kind is EventKind.RESULT and not event.interrupted:
            from vlk2.app.record import prepare
            from vlk2.frozen import replace
            from vlk2.redaction import mask

            self._step_aside()
            ready = prepare(event, mask, rules=self._rules)
            if not event.use_id:  # a line that was written in both places, or told twice, counts once
                mark = self._mark or os.urandom(8).hex()
                ready = replace(
                    ready, event=replace(ready.event, use_id=f"hook {mark} {event.tool} {ready.command}")
                )
            kept = replace(ready.event, command=ready.command)
        self._unwritten.append(Unwritten(kept, settings.store, owner, around))
        return ready

    def _tell(
        self,
        events: list[Event],
        ready: list[Ready | None],
        owner: Owner,
        settings: HookSettings,
        heard: Heard,
        around: Around,
        now: int,
    ) -> Said | None:
        from vlk2.app.hear import hear
        from vlk2.app.record import Terms
        from vlk2.bootstrap import mint, open_store
        from vlk2.domain.event import EventKind
        from vlk2.domain.said import Silence
        from vlk2.tokens import ByteCounter

        left = max(0.02, self._deadline - (time.monotonic() - self._began))
        store = open_store(settings.store, busy_seconds=left * _BUSY_SHARE, migrate=False)
        terms = Terms("hook", self._rules.loop_threshold or settings.loop_threshold, "hook")
        manner = self._manner(settings, heard, now)
        said: Said | None = None
        for event, form in zip(events, ready, strict=True):
            answer = hear(
                store, owner, event, form, terms, manner, around, now=now, mint=mint, counter=ByteCounter()
            )
            if form is not None or event.kind is not EventKind.CALL:
                self._unwritten.pop(0)
            if not isinstance(answer, Silence):
                said = answer
        return said

    def _shared(self, settings: HookSettings, owner: Owner) -> tuple[HookSettings, str]:
        """What may go to the team server; a project that shares nothing stays in this machine's own store."""
        from vlk2.frozen import replace
        from vlk2.userfile import default_store, share_of

        share = share_of(self._environ, owner.project)
        if share == "none":
            settings = replace(settings, store=default_store(self._environ))
        return settings, share

    def _send(
        self,
        events: list[Event],
        ready: list[Ready | None],
        owner: Owner,
        settings: HookSettings,
        heard: Heard,
        around: Around,
        now: int,
        share: str,
    ) -> Said | None:
        from vlk2.sending import tell

        said = tell(
            settings.store,
            owner,
            [(form.event if form else event, form) for event, form in zip(events, ready, strict=True)],
            around,
            self._manner(settings, heard, now),
            environ=self._environ,
            share=share,
            directory=self._data,
            timeout=max(0.02, self._deadline - (time.monotonic() - self._began)),
        )
        self._unwritten.clear()
        return said

    def _manner(self, settings: HookSettings, heard: Heard, now: int) -> Manner:
        from vlk2 import pausing
        from vlk2.app.hear import Manner
        from vlk2.domain.refusal import Enforce

        return Manner(
            enforce=Enforce(settings.enforce),
            observe=settings.observe,
            mute=pausing.paused(self._data, now),
            advises=heard.advises,
            refuses=heard.refuses,
            speaks=heard.speaks,
        )

    def log(self, text: str) -> None:
        """One line in `hook.log` of the data directory, which keeps its newest half when it grows too long."""
        if not self._data:
            return
        path = os.path.join(self._data, "hook.log")
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        try:
            os.makedirs(self._data, mode=0o700, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, f"{stamp} {' '.join(text.split())[:400]}\n".encode("utf-8", "replace"))
                size = os.fstat(handle).st_size
            finally:
                os.close(handle)
            if size > _LOG_LIMIT:
                os.replace(path, path + ".1")
        except OSError:
            return


class Unwritten:
    """An event, its texts masked, that the store does not have yet, and what it takes to spool it."""

    __slots__ = ("_around", "_event", "_owner", "_store")

    def __init__(self, event: Event, store: str, owner: Owner, around: Around) -> None:
        self._event = event
        self._store = store
        self._owner = owner
        self._around = around

    def spool(self, directory: str) -> None:
        """Adds its line to the spool. Raises OSError where that cannot be written."""
        from vlk2 import spool
        from vlk2.frozen import replace
        from vlk2.redaction import mask

        event = replace(self._event, input=mask(self._event.input[:LONGEST_INPUT]))
        around = self._around
        line = spool.line_of(
            event, store=self._store, owner=self._owner, stamps=around.stamps(), root=around.root
        )
        spool.put(directory, line, event.at)


def _ignored(event: Event) -> bool:
    from vlk2.clients.hooked import ours

    return bool(event.tool) and ours(event.tool, event.command)


def _adapter(client: str) -> ModuleType:
    name = f"vlk2.clients.{client.replace('-', '_')}.hook"
    __import__(name)
    return sys.modules[name]


def _object(raw: bytes) -> dict[str, object] | None:
    import json

    try:
        found: object = json.loads(raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _seconds(text: str | None, default: float) -> float:
    try:
        return min(60.0, max(0.0, float(text))) if text else default
    except ValueError:
        return default


def _lock():  # noqa: ANN202 - the type has no public name
    import _thread

    return _thread.allocate_lock()
