"""What modules on a hook's path use of `typing`, without its import and without what its classes cost.

To a type checker these are the names of `typing`. In a running program a protocol is a plain class, and a named
tuple gets its `__new__`, the same as `collections.namedtuple` would write, when the first one is made.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, LiteralString, NamedTuple, NoReturn, Protocol, assert_never, cast
else:
    from operator import itemgetter

    def cast(kind, value):  # noqa: ANN001, ANN201
        """`value`."""
        return value

    def assert_never(value):  # noqa: ANN001, ANN201
        """Raises: the value is of a kind that nobody thought of."""
        raise AssertionError(f"Expected code to be unreachable, but got: {value!r}")

    class Protocol:
        """A base without behaviour."""

        __slots__ = ()

        def __class_getitem__(cls, item):  # noqa: ANN001, ANN204
            return cls

    class _Subscriptable:
        def __getitem__(self, item):  # noqa: ANN001, ANN204
            return self

        def __or__(self, other):  # noqa: ANN001, ANN204
            return self

        __ror__ = __or__

    Any = NoReturn = LiteralString = object
    Literal = _Subscriptable()

    class _Named(type):
        """Turns a class body of annotations into a class of tuples."""

        def __new__(meta, name, bases, body):  # noqa: ANN001, ANN204
            if not bases:
                return type.__new__(meta, name, bases, body)
            fields = tuple(body.get("__annotations__") or ())
            defaults = {field: body.pop(field) for field in fields if field in body}
            made = {field: property(itemgetter(at)) for at, field in enumerate(fields)}
            made |= {
                "__slots__": (),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
                "_make": classmethod(_make),
                "_replace": _replace,
                "_asdict": _asdict,
                "__repr__": _shown,
                "__getnewargs__": _given,
                "__new__": _first_new,
            }
            return type(name, (tuple,), made | body)

    class NamedTuple(metaclass=_Named):
        """As `typing.NamedTuple`, for classes written as annotations."""

    def _first_new(cls, /, *values, **named):  # noqa: ANN001, ANN002, ANN003, ANN202
        """Gives the class its own `__new__`, in place of this one, and calls it."""
        owner = next(one for one in cls.__mro__ if "_field_defaults" in one.__dict__)
        defaults = owner._field_defaults
        scope = {"_new": tuple.__new__} | {f"_default_{field}": value for field, value in defaults.items()}
        head = ", ".join(f"{f}=_default_{f}" if f in defaults else f for f in owner._fields)
        members = "".join(f"{field}, " for field in owner._fields)
        # The names are those of the class's own annotations: nothing of it comes from outside.
        code = f"lambda _cls, {head}: _new(_cls, ({members}))"
        owner.__new__ = made = eval(code, scope)  # noqa: S307
        return made(cls, *values, **named)

    def _make(cls, values):  # noqa: ANN001, ANN202
        made = tuple.__new__(cls, values)
        if len(made) != len(cls._fields):
            raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
        return made

    def _replace(self, /, **changes):  # noqa: ANN001, ANN003, ANN202
        made = self._make(map(changes.pop, self._fields, self))
        if changes:
            raise ValueError(f"Got unexpected field names: {list(changes)!r}")
        return made

    def _given(self):  # noqa: ANN001, ANN202
        return tuple(self)

    def _asdict(self):  # noqa: ANN001, ANN202
        return dict(zip(self._fields, self, strict=True))

    def _shown(self):  # noqa: ANN001, ANN202
        fields = ", ".join(f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True))
        return f"{type(self).__name__}({fields})"


__all__ = [
    "TYPE_CHECKING",
    "Any",
    "Literal",
    "LiteralString",
    "NamedTuple",
    "NoReturn",
    "Protocol",
    "assert_never",
    "cast",
]
