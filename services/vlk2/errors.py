"""The errors that cross a layer. Each carries a stable `code` and a `message` that says what to do."""


class Vlk2Error(Exception):
    """Base of every error that Vlk² raises on purpose."""

    code = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(Vlk2Error):
    """The caller's input cannot be accepted as it is."""

    code = "invalid_input"


class NotFound(Vlk2Error):
    """No such thing in the caller's own timeline (another's id reads the same)."""

    code = "not_found"


class NotAllowed(Vlk2Error):
    """The thing exists and its state does not permit this act."""

    code = "not_allowed"


class StoreUnavailable(Vlk2Error):
    """The store cannot be opened or written; the message names the cause and the remedy."""

    code = "store_unavailable"


class StoreBusy(StoreUnavailable):
    """Another writer held the store for longer than the deadline; trying again is right."""

    code = "store_busy"


class StoreFault(StoreUnavailable):
    """The store is there and refused a statement; trying again with the same data fails again."""

    code = "store_fault"


class StoreIncompatible(StoreUnavailable):
    """The store was written by a version that this one may not read or write."""

    code = "store_incompatible"


class ConfigError(Vlk2Error):
    """A setting is wrong; the message names its source."""

    code = "config"
