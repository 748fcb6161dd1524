"""Runs a command and passes everything through: exit code, output as it comes, colour, signals, standard input.

Where a stream of ours is a terminal the command gets one too, so that it colours and prompts as it would alone. What
it prints is passed on unchanged, and head and tail of it are kept.
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

HEAD = TAIL = 96 * 1024
NOT_FOUND, NOT_RUNNABLE = 127, 126
_CHUNK = 64 * 1024
_FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_KEYBOARD = ("SIGINT", "SIGQUIT")
_SUSPEND = b"\x1a"


@dataclass(frozen=True, slots=True)
class Ran:
    """How it ended. `code` is the exit code, negative for the signal that ended it. `text` is what it printed on both
    streams, in the order it came, with the middle of a long output left out."""

    code: int
    text: str

    @property
    def shell_code(self) -> int:
        """The code as a shell tells it: 128 and the signal's number where a signal ended it."""
        return self.code if self.code >= 0 else 128 - self.code

    @property
    def interrupted(self) -> bool:
        return -self.code in (signal.SIGINT, signal.SIGTERM)


class Kept:
    """Head and tail of a stream of bytes, within a bound."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out = 0

    def add(self, data: bytes) -> None:
        room = HEAD - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        if len(self._tail) > 2 * TAIL:
            self._left_out += len(self._tail) - TAIL
            del self._tail[:-TAIL]

    def text(self) -> str:
        tail, left_out = self._tail, self._left_out
        if len(tail) > TAIL:
            left_out += len(tail) - TAIL
            tail = tail[-TAIL:]
        if not left_out:
            return bytes(self._head + tail).decode("utf-8", "replace")
        head = bytes(self._head).decode("utf-8", "replace")
        return f"{head}\n[… {left_out} bytes left out by Vlk² …]\n{bytes(tail).decode('utf-8', 'replace')}"


def run(words: Sequence[str]) -> Ran:
    """Runs the command to its end. One that cannot be started ends with 127 or 126, as in a shell, with the reason
    on standard error."""
    try:
        if os.name == "nt":
            return _piped(words)
        return _Posix(words).run()
    except FileNotFoundError:
        return _not_started(NOT_FOUND, f"{words[0]}: command not found")
    except PermissionError:
        return _not_started(NOT_RUNNABLE, f"{words[0]}: Permission denied")
    except OSError as error:
        if error.errno not in (errno.ENOEXEC, errno.EISDIR, errno.ENOTDIR, errno.ELOOP, errno.E2BIG):
            raise
        return _not_started(NOT_RUNNABLE, f"{words[0]}: {error.strerror}")


def leave(code: int) -> None:
    """Ends this process as the command ended: with its code, or by its signal."""
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    if code < 0 and os.name != "nt":
        import resource

        with contextlib.suppress(OSError, ValueError):  # one core file, of the command itself, is enough
            resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        with contextlib.suppress(OSError, ValueError):  # SIGKILL and SIGSTOP have no handler to reset
            signal.signal(-code, signal.SIG_DFL)
        with contextlib.suppress(OSError):
            os.kill(os.getpid(), -code)
        code = 128 - code
    os._exit(code if code < 2**31 else code - 2**32)  # Windows tells codes without a sign


def _not_started(code: int, text: str) -> Ran:
    os.write(2, f"vlk2 run: {text}\n".encode("utf-8", "replace"))
    return Ran(code, text)


class _Posix:
    """One command: its streams, its terminal where it has one, and the signals that are passed to it."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = list(words)
        self._kept = Kept()
        self._sources: dict[int, int] = {}  # what is read -> where it goes
        self._masters: list[int] = []
        self._given: list[int] = []  # the child's ends, ours to close once it has them
        # A terminal of its own, with a session of its own, where ours is used as one (keys in, screen out) and is
        # ours to use: in the background it is not.
        self._own = os.isatty(0) and os.isatty(1) and os.tcgetpgrp(0) == os.getpgrp()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> Ran:
        out, err = self._streams()
        stdin = self._given[0] if self._own else 0
        try:
            self._process = process = subprocess.Popen(
                self._words,
                stdin=stdin,
                stdout=out,
                stderr=err,
                start_new_session=self._own,
                preexec_fn=_take_terminal if self._own else None,  # noqa: PLW1509 - there are no threads yet
            )
        except BaseException:
            for end in [*self._given, *self._sources]:
                os.close(end)
            raise
        for end in self._given:
            os.close(end)
        with self._signals(process), self._raw():
            self._pass_on(process)
            code = process.wait()
        return Ran(code, self._kept.text())

    # streams -----------------------------------------------------------------------------------------

    def _streams(self) -> tuple[int, int]:
        """The child's standard output and error. Both are one where ours are, so that their order stays."""
        out = self._stream(1)
        if _same(1, 2):
            return out, out
        if self._own and os.isatty(2):
            return out, out
        return out, self._stream(2)

    def _stream(self, ours: int) -> int:
        if os.isatty(ours):
            master, slave = os.openpty()
            _copy_size(ours, master)
            if not self._own:
                _plain_output(slave)
            self._masters.append(master)
        else:
            master, slave = os.pipe()
        os.set_inheritable(slave, True)
        self._sources[master] = ours
        self._given.append(slave)
        return slave

    def _pass_on(self, process: subprocess.Popen[bytes]) -> None:
        """Copies what comes until the child has ended and its streams are at their end, or are held open only by
        what it left in the background."""
        with selectors.DefaultSelector() as selector:
            for source in self._sources:
                selector.register(source, selectors.EVENT_READ)
            if self._own:
                selector.register(0, selectors.EVENT_READ)
            open_ends = set(self._sources)
            while open_ends:
                ended = process.poll() is not None
                ready = selector.select(0.05 if ended else 0.2)
                if ended and not any(key.fd in open_ends for key, _ in ready):
                    self._leave_behind(open_ends)
                    break
                for key, _ in ready:
                    if key.fd == 0:
                        if not self._keys(process):
                            selector.unregister(0)
                    elif not self._copy(key.fd):
                        selector.unregister(key.fd)
                        open_ends.discard(key.fd)
                        os.close(key.fd)  # at its end, or so that the command learns that nobody reads

    def _leave_behind(self, sources: set[int]) -> None:
        """What the command left in the background goes on printing: a process of its own copies that, so that
        nobody waits for it here and its output still arrives."""
        if os.fork():
            return
        try:
            os.setsid()
            threads = [threading.Thread(target=self._copy_all, args=(source,)) for source in sources]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            os._exit(0)

    def _copy_all(self, source: int) -> None:
        while self._copy(source):
            continue

    def _copy(self, source: int) -> bool:
        try:
            data = os.read(source, _CHUNK)
        except OSError as error:
            if error.errno != errno.EIO:  # a terminal whose other end is closed says EIO
                raise
            data = b""
        if not data:
            return False
        self._kept.add(data)
        return _write(self._sources[source], data)

    def _keys(self, process: subprocess.Popen[bytes]) -> bool:
        try:
            data = os.read(0, _CHUNK)
        except OSError:
            data = b""
        if not data:
            return False
        if _SUSPEND in data and self._suspends(process):
            before, _, data = data.partition(_SUSPEND)
            _write(self._masters[0], before)
            self._suspend(process)
        _write(self._masters[0], data)
        return True

    # the terminal ------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _raw(self) -> Generator[None]:
        """Keys go to the command's terminal as they are pressed, Ctrl-C among them."""
        if not self._own:
            yield
            return
        import termios
        import tty

        self._mode: list[Any] = termios.tcgetattr(0)
        tty.setraw(0, termios.TCSADRAIN)
        try:
            yield
        finally:
            termios.tcsetattr(0, termios.TCSADRAIN, self._mode)

    def _suspends(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether Ctrl-Z is ours to act on: the command itself has the terminal, and has left the keys their meaning.
        The kernel does not stop a command whose parent is outside of its session."""
        import termios

        mode: list[Any] = termios.tcgetattr(self._masters[0])
        means = bool(mode[3] & termios.ISIG) and mode[6][termios.VSUSP] == _SUSPEND
        return means and os.tcgetpgrp(self._masters[0]) == process.pid

    def _suspend(self, process: subprocess.Popen[bytes]) -> None:
        """Stops the command and then us, as the shell that started us expects, and goes on with both."""
        import termios
        import tty

        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGSTOP)
            termios.tcsetattr(0, termios.TCSADRAIN, self._mode)
            os.killpg(0, signal.SIGTSTP)
            tty.setraw(0, termios.TCSADRAIN)
            self._resized()
            os.killpg(process.pid, signal.SIGCONT)

    def _resized(self) -> None:
        for master in self._masters:
            with contextlib.suppress(OSError):
                _copy_size(self._sources[master], master)

    # signals -----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _signals(self, process: subprocess.Popen[bytes]) -> Generator[None]:
        """Passes signals on while the command runs. Those of the keyboard reach it by themselves where there is a
        terminal, since it is of our group; there they only must not end us."""

        def forward(number: int, frame: FrameType | None) -> None:
            with contextlib.suppress(ProcessLookupError):
                if self._own:
                    os.killpg(process.pid, number)
                else:
                    process.send_signal(number)

        def ignore(number: int, frame: FrameType | None) -> None:
            return

        def resized(number: int, frame: FrameType | None) -> None:
            self._resized()
            if not self._own:
                forward(number, frame)

        keyboard = forward if self._own or not _has_terminal() else ignore
        handlers: dict[signal.Signals, Any] = {getattr(signal, name): forward for name in _FORWARDED}
        handlers |= {getattr(signal, name): keyboard for name in _KEYBOARD}
        if self._masters:
            handlers[signal.SIGWINCH] = resized
        held = {
            number: signal.signal(number, handler)
            for number, handler in handlers.items()
            if signal.getsignal(number) is not signal.SIG_IGN  # `nohup vlk2 run …`
        }
        try:
            yield
        finally:
            for number, handler in held.items():
                signal.signal(number, handler)


def _take_terminal() -> None:
    """In the child: its standard input becomes the terminal that controls its session."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _plain_output(slave: int) -> None:
    """Leaves the translation of line ends to the real terminal."""
    import termios

    mode: list[Any] = termios.tcgetattr(slave)
    mode[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, mode)


def _copy_size(source: int, target: int) -> None:
    import fcntl
    import termios

    size = fcntl.ioctl(source, termios.TIOCGWINSZ, b"\0" * 8)
    fcntl.ioctl(target, termios.TIOCSWINSZ, size)


def _same(one: int, other: int) -> bool:
    try:
        return os.path.samestat(os.fstat(one), os.fstat(other))
    except OSError:
        return False


def _write(target: int, data: bytes) -> bool:
    """Writes all of it; False where nobody reads it any more."""
    while data:
        try:
            data = data[os.write(target, data) :]
        except BlockingIOError:
            import select

            select.select([], [target], [], 1.0)
        except OSError as error:
            if error.errno in (errno.EPIPE, errno.EIO, errno.EBADF):
                return False
            raise
    return True


def _piped(words: Sequence[str]) -> Ran:
    """Where there are no such terminals (Windows): two pipes, a thread each."""
    program = shutil.which(words[0]) or words[0]  # finds batch files too
    process = subprocess.Popen([program, *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kept, turn = Kept(), threading.Lock()

    def copy(source: Any, target: int) -> None:
        while data := source.read1(_CHUNK):
            with turn:
                kept.add(data)
            _write(target, data)

    threads = [
        threading.Thread(target=copy, args=(source, target), daemon=True)
        for source, target in ((process.stdout, 1), (process.stderr, 2))
    ]
    for thread in threads:
        thread.start()
    while True:
        try:
            code = process.wait()
            break
        except KeyboardInterrupt:
            continue  # Ctrl-C reaches every process of the console
    for thread in threads:
        thread.join()
    return Ran(code, kept.text())
