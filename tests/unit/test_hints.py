"""Named tuples that are finished when they are first used behave as `typing` has them."""

import copy
import pickle
import subprocess
import sys
import typing

import pytest

from vlk2.hints import Literal, NamedTuple, Protocol, assert_never, cast


class Place(NamedTuple):
    """A place."""

    name: str
    line: int = 0
    parts: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        return f"{self.name}:{self.line}"


class Known(typing.NamedTuple):
    name: str
    line: int = 0
    parts: tuple[str, ...] = ()


def test_it_is_made_as_that_of_typing():
    for arguments, named in (
        (("a",), {}),
        (("a", 3), {}),
        (("a",), {"parts": ("x",)}),
        ((), {"name": "a", "line": 1}),
    ):
        assert tuple(Place(*arguments, **named)) == tuple(Known(*arguments, **named))


@pytest.mark.parametrize("arguments", [(), ("a", 1, (), 4)])
def test_a_wrong_call_is_a_type_error(arguments):
    with pytest.raises(TypeError):
        Place(*arguments)
    with pytest.raises(TypeError):
        Place("a", nothing=1)


def test_it_is_a_tuple_with_names():
    place = Place("a", 3)
    assert (place.name, place.line, place.parts, place.shown) == ("a", 3, (), "a:3")
    assert place == ("a", 3, ())
    assert hash(place) == hash(("a", 3, ()))
    name, line, _ = place
    assert (name, line, place[1:], Place._fields) == ("a", 3, (3, ()), Known._fields)
    assert repr(place) == repr(Known("a", 3)).replace("Known", "Place")
    assert place._replace(line=4) == Place("a", 4)
    assert place._asdict() == Known("a", 3)._asdict()
    assert Place._make(["b", 1, ()]) == Place("b", 1)
    assert Place.__doc__ == "A place."


def test_it_cannot_be_changed_and_refuses_unknown_names():
    with pytest.raises(AttributeError):
        Place("a").name = "b"
    with pytest.raises(AttributeError):
        Place("a").other = "b"
    with pytest.raises(ValueError, match="other"):
        Place("a")._replace(other=1)


def test_it_can_be_copied_pickled_and_matched():
    assert copy.deepcopy(Place("a", 3)) == Place("a", 3)
    assert type(pickle.loads(pickle.dumps(Place("a", 3)))) is Place
    match Place("a", 3):
        case Place(name, line):
            assert (name, line) == ("a", 3)


def test_the_rest_is_there_for_the_checker_alone():
    class Speaks(Protocol):
        def speak(self) -> Literal[1, 2]: ...

    assert cast("int", "x") == "x"
    assert Speaks
    with pytest.raises(AssertionError):
        assert_never(3)  # pyright: ignore[reportArgumentType]


def test_using_them_does_not_import_typing():
    code = (
        "import sys\nfrom vlk2.hints import NamedTuple, Protocol\n"
        "class A(NamedTuple):\n    x: int\n"
        "assert A(1).x == 1 and 'typing' not in sys.modules, 'typing' in sys.modules"
    )
    bare = subprocess.run([sys.executable, "-c", "import sys; sys.exit('typing' in sys.modules)"])
    if bare.returncode:
        pytest.skip("this interpreter imports typing at its start")
    subprocess.run([sys.executable, "-c", code], check=True)
