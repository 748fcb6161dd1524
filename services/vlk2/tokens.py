"""How many tokens a text costs: exactly by o200k_base, or by its UTF-8 bytes while that is not loaded.

The ranks ship inside the wheel of `bpe-openai`; nothing is fetched. Every token stands for at least one byte, so
the bytes are an upper bound and a budget that holds by bytes holds by tokens. A hook only ever uses `ByteCounter`.
"""

from __future__ import annotations

import importlib
import sys

from vlk2.hints import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from types import ModuleType

_PACKAGE = "bpe_openai"
_EXTENSION = "bpe_openai._bindings"


class _Tokenizer(Protocol):
    def count(self, text: str, /) -> int: ...


class _Bindings(Protocol):
    def tokenizer_for_encoding(self, encoding_name: str, /) -> _Tokenizer: ...


class ByteCounter:
    """Counts UTF-8 bytes: never less than the tokens. Needs nothing loaded; a lone surrogate counts three."""

    exact = False

    def count(self, text: str) -> int:
        if text.isascii():
            return len(text)
        return len(text.encode("utf-8", "surrogatepass"))


class ExactCounter:
    """Counts o200k_base tokens, in time linear in the text, from any thread.

    Making one loads the ranks and holds the interpreter meanwhile: `background` keeps that off the way of a
    start. Raises ImportError where the installed `bpe-openai` has no tokenizer for this platform. What looks
    like a special token (`<|endoftext|>`) is text as any other, and a lone surrogate counts as U+FFFD.
    """

    exact = True

    def __init__(self) -> None:
        self._tokenizer = _load()

    def count(self, text: str) -> int:
        try:
            return self._tokenizer.count(text)
        except UnicodeEncodeError:
            return self._tokenizer.count(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


class LoadingCounter:
    """Counts bytes until the exact counter is there, then tokens: for one text, the answer only ever shrinks.

    A failed load leaves it counting bytes for good, with the cause in `error`.
    """

    def __init__(self) -> None:
        import threading  # a hook counts bytes and needs none

        self._counter: ByteCounter | ExactCounter = ByteCounter()
        self._done = threading.Event()
        self._error: Exception | None = None

    @property
    def exact(self) -> bool:
        return self._counter.exact

    @property
    def error(self) -> Exception | None:
        """Why the exact counter could not be loaded, or None."""
        return self._error

    def count(self, text: str) -> int:
        return self._counter.count(text)

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the load has ended, at most `timeout` seconds, and say whether counts are exact now."""
        self._done.wait(timeout)
        return self.exact

    def load(self) -> None:
        """Load the exact counter in this thread. Never raises: see `error`."""
        try:
            self._counter = ExactCounter()
        except Exception as error:
            self._error = error
        finally:
            self._done.set()


def background() -> LoadingCounter:
    """Start loading the exact counter in a daemon thread and return the counter that answers meanwhile."""
    import threading

    counter = LoadingCounter()
    threading.Thread(target=counter.load, name="vlk2-tokenizer", daemon=True).start()
    return counter


def _load() -> _Tokenizer:
    return cast("_Bindings", _bindings()).tokenizer_for_encoding("o200k_base")


def _bindings() -> ModuleType:
    """The package's extension module alone.

    Importing the package first parses the ranks of every encoding into Python dicts (0.8 s and 65 MiB measured,
    twelve times the load of the extension) for an API that `count` does not need and that refuses a text of a
    million characters.
    """
    loaded = sys.modules.get(_EXTENSION)
    if loaded is not None:
        return loaded
    from importlib.machinery import PathFinder
    from importlib.util import find_spec, module_from_spec

    package = find_spec(_PACKAGE)
    if package is None:
        raise ImportError("bpe-openai is not installed", name=_PACKAGE)
    spec = PathFinder.find_spec(_EXTENSION, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        return importlib.import_module(_EXTENSION)
    module = module_from_spec(spec)
    # Registered before it runs: the extension may be initialised once in a process, so a later import of the
    # package has to find this one.
    sys.modules[_EXTENSION] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[_EXTENSION]
        raise
    return module
