"""The project's own invented outputs, one file, given to every test that asks for a `case`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent


class Case(NamedTuple):
    name: str
    text: str
    is_error: bool | None
    exit_code: int | None
    action: str

    @property
    def verdict(self) -> dict[str, object]:
        return {"is_error": self.is_error, "exit_code": self.exit_code, "action": self.action}


def _case(block: str) -> Case:
    head, _, text = block.partition("\n")
    name, _, said = head.partition(" | ")
    is_error: bool | None = None
    exit_code: int | None = None
    action = ""
    for part in said.split(", "):
        key, _, value = part.partition("=")
        if key == "is_error":
            is_error = value != "false"
        elif key == "exit_code":
            exit_code = int(value)
        elif key == "action":
            action = value
    return Case(name.strip(), text, is_error, exit_code, action)


def _cases() -> list[Case]:
    text = (HERE / "cases.txt").read_text(encoding="utf-8")
    return [_case(block) for block in ("\n" + text).split("\n=== ")[1:]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        metafunc.parametrize("case", _cases(), ids=lambda case: case.name)


@pytest.fixture(scope="session")
def cases() -> list[Case]:
    return _cases()
