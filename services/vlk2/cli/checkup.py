"""What `vlk2 doctor` looks at: each check is a line with a state, and what to do where it is not well."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from vlk2 import seen, spool
from vlk2.bootstrap import Memory, now, open_store
from vlk2.clients import applying
from vlk2.clients.codex.trust import untrusted
from vlk2.clients.plan import MODULES, Place, Plan, installer
from vlk2.domain.moments import DAY, HOUR, MINUTE, span, stamp
from vlk2.errors import ConfigError, NotAllowed, Vlk2Error
from vlk2.ports import Store
from vlk2.remote import connect, is_remote
from vlk2.userfile import config_path, data_directory, hook_settings, sqlite_path

SERVER = "server"
"""The name under which the MCP server notes that it started, and on which store."""
_MANY = 1_000
_LATE_CYCLES = 10


class State(StrEnum):
    """`NOTE` is worth knowing and no fault."""

    OK = "ok"
    NOTE = "note"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `todo` says what to do, "" where nothing."""

    name: str
    state: State
    text: str
    todo: str = ""


def checks(memory: Memory, user: Place, project: Place, environ: Mapping[str, str]) -> list[Check]:
    """All checks, in the order that they are shown."""
    directory = data_directory(environ)
    heard = seen.read(directory)
    store, found = _store(memory, any(applying.present(installer(client).plan(user)) for client in MODULES))
    try:
        return [
            found,
            _settings(environ),
            _one_store(heard, memory.settings.store),
            *_clients(user, project, heard),
            *([_cycle(store, memory)] if store is not None else []),
            _spool(directory),
            *_voice(environ, directory),
            *_log(directory),
        ]
    finally:
        if store is not None:
            store.close()


# the store -------------------------------------------------------------------------------------------------


def _store(memory: Memory, hooks: bool) -> tuple[Store | None, Check]:
    """The store opened without migrating it, and whether it can be written. Without one hooks have nobody to tell
    them anything."""
    address = memory.settings.store
    if is_remote(address):
        return None, _server(address, os.environ)
    if address.startswith("sqlite:") and not Path(sqlite_path(address)).exists():
        return None, _to_be_made(Path(sqlite_path(address)), hooks)
    try:
        store = open_store(address, busy_seconds=2.0, migrate=False)
    except ConfigError as error:
        return None, Check(
            "store", State.FAIL, error.message, "Set VLK2_STORE to a store that this version opens."
        )
    except Vlk2Error as error:
        return None, Check("store", State.FAIL, f"{address}: {error.message}", "Mend it as the message says.")
    try:
        at = now()
        lease = store.take_lease("doctor", memory.worker, now=at, until=at + MINUTE)
        if lease is not None:
            store.drop_lease("doctor", memory.worker, lease)
    except Vlk2Error as error:
        store.close()
        return None, Check("store", State.FAIL, f"{address}: {error.message}", "Mend it as the message says.")
    return store, Check(
        "store", State.OK, f"{address} can be read and written, and is of this version's schema."
    )


def _server(address: str, environ: Mapping[str, str]) -> Check:
    try:
        known = connect(address, environ, timeout=10.0).verb("whoami", {})
    except NotAllowed as error:
        return Check(
            "store", State.FAIL, f"{address}: {error.message}", "`vlk2 join` with a token that is valid."
        )
    except Vlk2Error as error:
        return Check(
            "store", State.FAIL, f"{address}: {error.message}", "Hooks spool until the server answers."
        )
    return Check("store", State.OK, f"{address} knows us as {known['agent']} of the team {known['team']}.")


def _to_be_made(path: Path, hooks: bool) -> Check:
    folder = next(parent for parent in path.parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return Check(
            "store",
            State.FAIL,
            f"{path} does not exist and cannot be made: {folder} cannot be written.",
            "Make that folder writable, or name another file in VLK2_STORE.",
        )
    if hooks:
        return Check(
            "store",
            State.FAIL,
            f"{path} does not exist: hooks put what they hear aside and say nothing.",
            "`vlk2 consolidate` makes it and takes in what waits.",
        )
    return Check(
        "store", State.OK, f"{path} does not exist yet: `vlk2 install` or the first record makes it."
    )


def _settings(environ: Mapping[str, str]) -> Check:
    """Whether a client that passes on none of the environment works on the same store as this shell."""
    path = config_path(environ)
    bare = {name: value for name, value in environ.items() if not name.startswith("VLK2_")}
    bare |= {name: environ[name] for name in ("VLK2_CONFIG", "VLK2_DATA") if environ.get(name)}
    try:
        here, there = hook_settings(environ), hook_settings(bare)
    except ConfigError as error:
        return Check("settings", State.FAIL, error.message, f"Mend it in {path} or in the environment.")
    different = [name for name in ("store", "team", "agent") if getattr(here, name) != getattr(there, name)]
    if different:
        names = ", ".join(f"VLK2_{name.upper()}" for name in different)
        return Check(
            "settings",
            State.NOTE,
            f"{names} of this shell differs from {path}, which clients read that filter the environment.",
            "Run `vlk2 install CLIENT` in this shell: it writes the resolved settings there.",
        )
    return Check("settings", State.OK, f"team {here.team}, agent {here.agent}; user file {path}.")


def _one_store(heard: list[seen.LastSeen], store: str) -> Check:
    hooks = [one for one in heard if one.client in MODULES]
    servers = [one for one in heard if one.client == SERVER]
    if not hooks or not servers:
        missing = " and no ".join(name for name, held in (("hook", hooks), ("server", servers)) if not held)
        return Check("one store", State.NOTE, f"No {missing} was heard yet, so there is nothing to compare.")
    hook, server = hooks[0], servers[0]
    if hook.store != server.store:
        return Check(
            "one store",
            State.FAIL,
            f"The hook of {hook.client} last wrote to {hook.store} ({_ago(hook.at)}), the server last read "
            f"{server.store} ({_ago(server.at)}): the agent is not told what its hook recorded.",
            "Give both the same VLK2_STORE, or run `vlk2 install CLIENT` again, which writes it to the user file.",
        )
    if hook.store != store:
        return Check(
            "one store",
            State.NOTE,
            f"Hook and server last used {hook.store}; this shell uses {store}.",
            "Unset VLK2_STORE here, or run `vlk2 install CLIENT` again for the store of this shell.",
        )
    return Check("one store", State.OK, "Hook and server last used the same store.")


# the clients -----------------------------------------------------------------------------------------------


def _clients(user: Place, project: Place, heard: list[seen.LastSeen]) -> list[Check]:
    return [
        check
        for client in MODULES
        for check in [_client(client, user, project, [one for one in heard if one.client == client])]
        if check is not None
    ]


def _client(client: str, user: Place, project: Place, heard: list[seen.LastSeen]) -> Check | None:
    """One client, None where there is no trace of it on this machine."""
    module = installer(client)
    plan = module.plan(user)
    of_project = None if client == "hermes" else module.plan(project)
    held, whole = applying.installed(plan)
    there = of_project is not None and applying.installed(of_project)[0] == len(of_project.edits)
    program = shutil.which(plan.program, path=user.environ.get("PATH"))
    if not (program or Path(plan.folder).exists() or applying.present(plan) or there):
        return None
    last = f"last heard {_ago(heard[0].at)} ({heard[0].event})" if heard else "not heard yet"
    if held < whole and not there:
        if not applying.present(plan):
            return Check(
                client, State.NOTE, f"found, not installed; {last}.", f"`vlk2 install {client}` adds it."
            )
        return Check(
            client,
            State.FAIL,
            f"{held} of {whole} files hold what they should; {last}. {_missing(plan)}",
            f"Run `vlk2 install {client}` again.",
        )
    policies = module.policies(user)
    if policies:
        return Check(client, State.FAIL, f"installed, and kept from running; {last}.", " ".join(policies))
    where = "for this user" if held == whole else "in this project"
    if client == "codex" and (skipped := untrusted(user.environ, project.root)):
        return Check(
            client,
            State.NOTE if heard else State.FAIL,
            f"installed {where}; Codex says that it does not trust {len(skipped)} of our hooks; {last}.",
            "In Codex, open /hooks, look at them and trust them: until then it skips them silently.",
        )
    if not heard:
        return Check(
            client,
            State.NOTE,
            f"installed {where}, and not heard yet.",
            " ".join(
                [
                    "Use it once, and run this again. Where it stays silent:",
                    *(plan if held == whole or of_project is None else of_project).manual,
                ]
            ),
        )
    return Check(client, State.OK, f"installed {where}; {last}.")


def _missing(plan: Plan) -> str:
    paths = [edit.path for edit in plan.edits if not applying.holds(edit)]
    return f"Not: {', '.join(paths)}." if paths else ""


# the rest --------------------------------------------------------------------------------------------------


def _cycle(store: Store, memory: Memory) -> Check:
    at = now()
    try:
        backlog, until = store.backlog(at), store.lease_until("cycle")
    except Vlk2Error as error:
        return Check("cycle", State.FAIL, error.message, "Mend the store first.")
    last = f"last {_ago(until)}" if until and until <= at else "this period" if until else "not run yet"
    if backlog.parked:
        return Check(
            "cycle",
            State.FAIL,
            f"{backlog.parked} timelines failed again and again and were put aside ({last}).",
            "See the server's log, then run `vlk2 consolidate`.",
        )
    waited = at - backlog.oldest_due_at if backlog.oldest_due_at is not None else 0
    if waited > max(HOUR, _LATE_CYCLES * int(memory.settings.cycle_seconds * 1_000_000)):
        return Check(
            "cycle",
            State.NOTE,
            f"{backlog.due} timelines have waited for it, the oldest for {span(waited)} ({last}).",
            "It runs beside `vlk2 serve`: start a client with our server, or run `vlk2 consolidate`.",
        )
    return Check("cycle", State.OK, f"{backlog.due} timelines due, {backlog.leased} in work ({last}).")


def _spool(directory: str) -> Check:
    count, size = spool.waiting(directory)
    folder = Path(directory, "spool")
    bad = len(list(folder.glob("*.bad"))) if folder.is_dir() else 0
    if bad:
        return Check(
            "spool",
            State.FAIL,
            f"{bad} lines in {folder} could not be read ({count} wait).",
            "They were set aside as *.bad: look at them, and delete them.",
        )
    if count == 0:
        return Check("spool", State.OK, "empty.")
    oldest = min(int(name) for path in folder.iterdir() if (name := path.name[:20]).isdigit())
    state = State.FAIL if count > _MANY or now() - oldest > DAY else State.NOTE
    return Check(
        "spool",
        state,
        f"{count} events wait ({size / 1024:.0f} KiB, the oldest since {_ago(oldest)}): the store was away.",
        "The next server or `vlk2 consolidate` takes them in, once the store can be written.",
    )


def _voice(environ: Mapping[str, str], directory: str) -> list[Check]:
    """Why nothing may be said now, where it is so."""
    from vlk2.pausing import paused

    try:
        settings = hook_settings(environ)
    except ConfigError:
        return []
    found: list[Check] = []
    if paused(directory, now()):
        found.append(
            Check("voice", State.NOTE, "Paused: it records and says nothing.", "`vlk2 resume` ends that.")
        )
    if settings.enforce == "off":
        found.append(
            Check("voice", State.NOTE, "VLK2_ENFORCE is off: nothing is said.", "Set it to advise or refuse.")
        )
    if settings.observe:
        found.append(
            Check(
                "voice",
                State.NOTE,
                "It observes: `vlk2 report` tells what it would have said.",
                "`vlk2 install CLIENT --no-observe` makes it speak.",
            )
        )
    return found


def _log(directory: str) -> list[Check]:
    """The last line of the hook's log, where it is of the last day."""
    path = Path(directory, "hook.log")
    try:
        if time.time() - path.stat().st_mtime > 86_400:
            return []
        last = path.read_text(encoding="utf-8", errors="replace").splitlines()[-1]
    except (OSError, IndexError):
        return []
    return [Check("hook log", State.NOTE, f"{last[:300]}", f"The whole of it: {path}.")]


def _ago(at: int) -> str:
    return f"{span(max(0, now() - at))} ago, {stamp(at)}"
