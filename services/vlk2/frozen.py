"""Frozen, slotted dataclasses that cost a process next to nothing until they are used.

`dataclasses` is imported, with `inspect` and `ast` behind it, and writes the methods of each class as source that it
compiles: about a millisecond a class, where a hook that lives for some tens of them defines fifty and uses ten.
Here a class gets its `__init__` when it first makes an instance. Everything else is as `dataclasses` has it, whose
`fields`, `asdict` and `replace` take these classes too.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass, replace
else:

    def dataclass(*, frozen: bool, slots: bool):  # noqa: ANN201
        """`@dataclass(frozen=True, slots=True)`, the only form that there is here."""
        if not (frozen and slots):
            raise TypeError("use dataclasses.dataclass for what is not both frozen and slotted")
        return _frozen

    def replace(instance: object, /, **changes: object) -> object:
        """A copy of `instance` with other values for the fields that `changes` names."""
        kind = type(instance)
        names = kind.__match_args__
        if not changes.keys() <= set(names):
            raise TypeError(f"{kind.__name__} has no field {sorted(changes.keys() - set(names))}")
        return kind(*[changes[name] if name in changes else getattr(instance, name) for name in names])


__all__ = ["dataclass", "replace"]


class _Fields:
    """`__dataclass_fields__`, made by `dataclasses` itself for whoever asks first."""

    def __init__(self) -> None:
        self._made: object = None

    def __get__(self, instance: object, owner: type) -> object:
        if self._made is not None:
            return self._made
        import dataclasses

        defaults: dict[str, object] = owner.__dict__["__frozen_defaults__"]
        members = [
            (
                name,
                kind,
                dataclasses.field(default=defaults[name]) if name in defaults else dataclasses.field(),
            )
            for name, kind in owner.__annotations__.items()
        ]
        made = dataclasses.make_dataclass(owner.__name__, members, frozen=True)
        self._made = made.__dict__["__dataclass_fields__"]
        return self._made


def _frozen(cls: type) -> type:
    names = tuple(cls.__annotations__)
    held = dict(cls.__dict__)
    defaults = {name: held.pop(name) for name in names if name in held}
    for name in ("__dict__", "__weakref__"):
        held.pop(name, None)
    held |= {
        "__slots__": names,
        "__match_args__": names,
        "__frozen_defaults__": defaults,
        "__dataclass_fields__": _Fields(),
        "__init__": _first_init,
        "__eq__": _equal,
        "__hash__": _hash,
        "__repr__": _shown,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__reduce__": _reduced,
    }
    return type(cls)(cls.__name__, cls.__bases__, held)


def _first_init(self: object, /, *values: object, **named: object) -> None:
    """Gives the class its own `__init__`, in place of this one, and calls it."""
    cls = type(self)
    defaults: dict[str, object] = cls.__dict__["__frozen_defaults__"]
    names: tuple[str, ...] = cls.__dict__["__match_args__"]
    scope: dict[str, object] = {f"_default_{name}": value for name, value in defaults.items()}
    scope |= {f"_set_{name}": cls.__dict__[name].__set__ for name in names}
    head = ", ".join(f"{name}=_default_{name}" if name in defaults else name for name in names)
    body = "\n".join(f" _set_{name}(self, {name})" for name in names)
    # The names are those of the class's own annotations: nothing of it comes from outside.
    exec(f"def __init__(self, {head}):\n{body or ' pass'}", scope)  # noqa: S102
    made = scope["__init__"]
    cls.__init__ = made  # pyright: ignore[reportAttributeAccessIssue]
    made(self, *values, **named)  # pyright: ignore[reportCallIssue]


def _names(instance: object) -> tuple[str, ...]:
    return type(instance).__dict__["__match_args__"]


def _values(instance: object) -> tuple[object, ...]:
    return tuple([getattr(instance, name) for name in _names(instance)])


def _equal(self: object, other: object) -> bool:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: object) -> int:
    return hash(_values(self))


def _shown(self: object) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in _names(self))
    return f"{type(self).__qualname__}({fields})"


def _refuse(self: object, name: str, value: object = None) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to or delete field {name!r}")


def _reduced(self: object) -> tuple[type, tuple[object, ...]]:
    return type(self), _values(self)
