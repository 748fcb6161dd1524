"""`vlk2-hook CLIENT`: one event of a client on stdin, one answer in that client's own words on stdout.

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

    from vlk2.app.hear import Answer, Manner
    from vlk2.app.record import Ready
    from vlk2.clients.hooked import Heard
    from vlk2.domain.event import Event
    from vlk2.ports import Owner
    from vlk2.userfile import HookSettings

DEADLINE = 0.300
"""Seconds of wall clock from the start of `main`; `VLK2_HOOK_DEADLINE` (seconds) changes it."""
LAST_RESORT = 1.0
LARGEST = 16 * 1024 * 1024
_BUSY_SHARE = 0.5
_LOG_LIMIT = 256 * 1024
CLIENTS = ("claude-code", "codex", "opencode", "gemini", "hermes", "cursor")


def main() -> None:
    """The command. Ends the process itself: nothing that an interpreter does at its end is needed."""
    hook = Hook(sys.argv[1:], os.environ)
    hook.guard()
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
        self._lines: list[tuple[str, int]] = []
        self._late = False
        self._raw = False  # an event was read whose masked line is not made yet
        self._turn = _lock()
        self._data = ""
        self._mark = ""

    # the deadline ------------------------------------------------------------------------------------

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
        if self._raw:  # the main thread masks it, keeps it and ends; a hanging disk does not hold the client
            self._turn.release()
            time.sleep(LAST_RESORT)
            os._exit(0)
        self._keep()
        os._exit(0)

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
        os._exit(0)

    def fail(self, error: BaseException) -> None:
        """What no rule foresaw: it is logged, and the event kept where its masked line was made."""
        self.log(f"failed: {type(error).__name__}: {error}")
        self._keep()

    def _keep(self) -> None:
        """Puts the masked lines of what is not in the store into the spool."""
        from vlk2 import spool

        for line, at in self._lines:
            try:
                spool.put(self._data, line, at)
            except OSError as error:
                self.log(f"an event is lost: the spool cannot be written: {error}")
        self._lines = []

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
        adapter = _adapter(self._client)
        heard: Heard | None = adapter.hear(payload, self._environ)
        if heard is None:
            self.log(
                f"{self._client}: an event that is not known: {str(payload.get('hook_event_name'))[:60]!r}"
            )
            return str(adapter.answer(payload, None))
        said: Answer | None = self._hear(heard)
        return str(adapter.answer(payload, said))

    def _hear(self, heard: Heard) -> Answer | None:
        from vlk2 import seen
        from vlk2.errors import StoreUnavailable, Vlk2Error
        from vlk2.ports import Owner
        from vlk2.userfile import hook_settings

        self._mark = heard.mark
        settings = hook_settings(self._environ)
        now = time.time_ns() // 1_000
        seen.note(self._data, self._client, heard.name, settings.store, now)
        around = Around(heard, self._environ)
        owner = Owner(settings.team, settings.agent, settings.project or around.project())
        events = [event for event in (around.place(e, now) for e in heard.events) if not _ignored(event)]
        if not events:
            self._raw = False
            return None
        ready = [self._ready(event, owner, settings, around) for event in events]
        self._raw = False
        if self._late:
            return None
        try:
            return self._tell(events, ready, owner, settings, heard, around, now)
        except StoreUnavailable as error:
            self.log(f"spooled: {error.message}")
        except Vlk2Error as error:
            self.log(f"spooled: {error.message}")
        self._keep()
        return None

    def _ready(self, event: Event, owner: Owner, settings: HookSettings, around: Around) -> Ready | None:
        """The event's masked form; its line is held for the spool until the store has it."""
        from vlk2 import spool
        from vlk2.app.record import prepare
        from vlk2.domain.event import EventKind
        from vlk2.frozen import replace
        from vlk2.redaction import mask

        if event.kind is EventKind.CALL:
            return None
        kept, ready = event, None
        if event.kind is EventKind.RESULT and not event.interrupted:
            ready = prepare(event, mask)
            if not event.use_id:  # a line that was written in both places, or told twice, counts once
                mark = self._mark or os.urandom(8).hex()
                ready = replace(
                    ready, event=replace(ready.event, use_id=f"hook {mark} {event.tool} {ready.command}")
                )
            kept = replace(
                ready.event,
                command=ready.command,
                input=mask(event.input[: 64 * 1024]),
                worktree=event.worktree,
            )
        elif event.text:
            kept = replace(event, text=event.text[:40])
        line = spool.line_of(
            kept, store=settings.store, owner=owner, stamps=around.stamps(), root=around.root
        )
        self._lines.append((line, event.at))
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
    ) -> Answer | None:
        from vlk2.app.hear import Silence, hear
        from vlk2.app.record import Terms
        from vlk2.bootstrap import mint, open_store
        from vlk2.tokens import ByteCounter

        left = max(0.02, self._deadline - (time.monotonic() - self._began))
        store = open_store(settings.store, busy_seconds=left * _BUSY_SHARE, migrate=False)
        terms = Terms("hook", settings.loop_threshold, "hook")
        manner = self._manner(settings, heard, now)
        said: Answer | None = None
        for event, form in zip(events, ready, strict=True):
            answer = hear(
                store, owner, event, form, terms, manner, around, now=now, mint=mint, counter=ByteCounter()
            )
            if self._lines:
                self._lines.pop(0)
            if not isinstance(answer, Silence):
                said = answer
        return said

    def _manner(self, settings: HookSettings, heard: Heard, now: int) -> Manner:
        from vlk2.app.hear import Manner
        from vlk2.domain.refusal import Enforce

        return Manner(
            enforce=Enforce(settings.enforce),
            observe=settings.observe,
            mute=paused(self._data, now),
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


class Around:
    """What lies around an event on disk, looked at only when it is asked for; see `vlk2.app.hear.Surroundings`."""

    def __init__(self, heard: Heard, environ: Mapping[str, str]) -> None:
        from vlk2 import identity

        self._identity = identity
        self._top = heard.root or heard.cwd or os.getcwd()
        self._cwd = heard.cwd or self._top
        self._stamps: str | None = None
        self._root: str | None = None
        self._worktree: str | None = None

    @property
    def root(self) -> str:
        if self._root is None:
            self._root = self._identity.package_root(self._cwd)
        return self._root

    def project(self) -> str:
        return self._identity.project_of(self._top)

    def worktree(self) -> str:
        """The checkout that the event happened in; without one the workspace, where it lies inside of it."""
        if self._worktree is None:
            if self._identity.common_directory(self._cwd) is not None:
                self._worktree = self._identity.worktree_of(self._cwd)
            else:
                top, cwd = os.path.realpath(self._top), os.path.realpath(self._cwd)
                self._worktree = top if cwd == top or cwd.startswith(top + os.sep) else cwd
        return self._worktree

    def stamps(self) -> str:
        if self._stamps is None:
            self._stamps = self._identity.stamps(self.worktree())
        return self._stamps

    def files(self, text: str) -> str:
        """The state of the files that `text` names, of HEAD, index and lockfiles."""
        from vlk2.domain.naming import named_files

        folders = list(dict.fromkeys((self._cwd, self.root or self.worktree(), self.worktree())))
        marks = [self.stamps(), self._identity.index_stamp(self.worktree())]
        for name in named_files(text):
            paths = [name] if os.path.isabs(name) else [os.path.join(folder, name) for folder in folders]
            marks += [f"{path}={self._identity.file_stamp(path)}" for path in paths]
        return "\n".join(marks)

    def place(self, event: Event, now: int) -> Event:
        """The event with its worktree and its time."""
        from vlk2.frozen import replace

        return replace(
            event,
            worktree=event.worktree or self.worktree(),
            at=min(event.at, now) if event.at else now,
        )


def paused(directory: str, now: int) -> bool:
    """Whether `vlk2 pause` holds: `paused.json` in the data directory names a time (microseconds) to come."""
    try:
        with open(os.path.join(directory, "paused.json"), encoding="utf-8") as file:
            text = file.read(400)
    except OSError:
        return False
    import json

    try:
        return int(json.loads(text)["until"]) > now
    except (ValueError, TypeError, KeyError):
        return False


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


if __name__ == "__main__":
    main()
