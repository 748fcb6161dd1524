"""Frozen dataclasses that are made when they are first used behave as `dataclasses` has them."""

import copy
import dataclasses
import pickle
import subprocess
import sys

import pytest

from vlk2.frozen import dataclass, replace


@dataclass(frozen=True, slots=True)
class Point:
    """A point."""

    x: int
    y: int = 2
    name: str = ""

    @property
    def sum(self) -> int:
        return self.x + self.y


@dataclass(frozen=True, slots=True)
class Other:
    x: int
    y: int = 2
    name: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


def test_values_come_by_place_by_name_and_by_default():
    assert (Point(1).x, Point(1).y, Point(1, name="a").name, Point(1, 5).sum) == (1, 2, "a", 6)
    assert isinstance(Nothing(), Nothing)


@pytest.mark.parametrize(
    "call", [Point, lambda: Point(1, 2, "", 4), lambda: Point(1, z=3), lambda: Point(1, x=1)]
)
def test_a_wrong_call_is_a_type_error(call):
    with pytest.raises(TypeError):
        call()


def test_an_instance_cannot_be_changed_and_takes_no_other_attribute():
    point = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.x
    assert not hasattr(point, "__dict__")


def test_equality_and_hash_are_of_class_and_values():
    assert Point(1) == Point(1, 2) != Point(2)
    assert Point(1) != Other(1)
    assert len({Point(1), Point(1), Point(2)}) == 2


def test_it_shows_its_class_and_fields():
    assert repr(Point(1, 2, "a")) == "Point(x=1, y=2, name='a')"
    assert Point.__doc__ == "A point."


def test_it_matches_by_place():
    match Point(1, 7):
        case Point(x, y):
            assert (x, y) == (1, 7)


def test_replace_makes_a_changed_copy_and_knows_its_fields():
    assert replace(Point(1), y=9) == Point(1, 9)
    with pytest.raises(TypeError):
        replace(Point(1), z=1)


def test_the_functions_of_dataclasses_take_it():
    assert [field.name for field in dataclasses.fields(Point)] == ["x", "y", "name"]
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2, "name": ""}
    assert dataclasses.replace(Point(1), x=4) == Point(4)
    assert dataclasses.is_dataclass(Point)


def test_it_can_be_copied_and_pickled():
    assert copy.deepcopy(Point(1)) == Point(1)
    assert pickle.loads(pickle.dumps(Point(1, name="a"))) == Point(1, name="a")


def test_another_form_than_frozen_and_slotted_is_refused():
    with pytest.raises(TypeError):
        dataclass(frozen=True, slots=False)


def test_defining_and_using_one_does_not_import_dataclasses():
    code = (
        "import sys\nfrom vlk2.frozen import dataclass, replace\n"
        "@dataclass(frozen=True, slots=True)\nclass A:\n    x: int\n"
        "assert replace(A(1), x=2) == A(2) and 'dataclasses' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
