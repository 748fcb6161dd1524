"""YAML edited in place: a parser's marks say where, lines are spliced, and the parser confirms the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import yaml

from vlk2.clients.editing.shape import items, mapping, value_at
from vlk2.clients.editing.unreadable import Unreadable


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of the text: `kind` is "mapping", "sequence", "null" or "scalar"; a mapping's children have keys."""

    kind: str
    start: int
    end: int
    column: int
    flow: bool
    text: str
    children: tuple[_Child, ...]


@dataclass(frozen=True, slots=True)
class _Child:
    key: _Node | None
    node: _Node

    @property
    def start(self) -> int:
        return (self.key or self.node).start


def parse(text: str) -> dict[str, Any]:
    """The document's mapping, {} for an empty one. Unreadable says what is wrong, and where."""
    try:
        found: object = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _wrong(error) from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Unreadable("the file is not a mapping")
    return mapping(found)  # pyright: ignore[reportUnknownArgumentType]


def put(text: str, path: Sequence[str], value: object) -> str:
    """The text with `value` at `path` (mappings on the way are made): unchanged where it is there already."""
    before = parse(text)
    held = value_at(before, *path)
    if held == value:
        return text
    if held is not None:
        text = drop(text, path, keep=before)
    return _confirmed(_put(text, path, value), _with(parse(text), path, value))


def put_item(text: str, path: Sequence[str], item: str) -> str:
    """The text with the text `item` in the list at `path`, first of all."""
    before = parse(text)
    held = value_at(before, *path)
    if held is None:
        return put(text, path, [item])
    if not isinstance(held, list):
        raise Unreadable(f"{'.'.join(path)} is not a list")
    if item in held:
        return text
    node = _at(text, path)
    if node.flow:
        at = node.start + 1
        result = text[:at] + _scalar(item) + (", " if node.children else "") + text[at:]
    else:
        at = _line_start(text, node.children[0].start)
        result = text[:at] + " " * node.column + f"- {_scalar(item)}{_newline(text)}" + text[at:]
    return _confirmed(result, _with(before, path, [item, *items(cast("object", held))]))


def drop(text: str, path: Sequence[str], *, keep: object = None) -> str:
    """The text without the key at `path`, and without the containers that this leaves empty, but for those
    that `keep` (the document before) holds too."""
    before = parse(text)
    if value_at(before, *path) is None:
        return text
    path = _highest(before, path, keep)
    parent = _at(text, path[:-1])
    index = next(i for i, child in enumerate(parent.children) if child.key and child.key.text == path[-1])
    expected = _without(before, path)
    if parent.flow:
        return _confirmed(_cut_flow(text, parent, index), expected)
    start, end = _lines(text, parent.children[index])
    if len(parent.children) > 1 or len(path) == 1:
        return _confirmed(text[:start] + text[end:], expected)
    void = _is_void(keep, path[:-1])
    head = text[: parent.start].rstrip() + ("" if void else " {}") + _newline(text)
    return _confirmed(head + text[end:], _with(before, path[:-1], None) if void else expected)


def drop_item(text: str, path: Sequence[str], item: str, *, keep: object = None) -> str:
    """The text without `item` in the list at `path`, and without the containers that this leaves empty."""
    before = parse(text)
    held = items(value_at(before, *path))
    if item not in held:
        return text
    rest = [other for other in held if other != item]
    void = _is_void(keep, path)
    if not rest and not void and not isinstance(value_at(keep, *path), list):
        return drop(text, path, keep=keep)
    node = _at(text, path)
    index = next(i for i, child in enumerate(node.children) if child.node.text == item)
    if node.flow:
        result = _cut_flow(text, node, index)
    elif rest:
        start, end = _lines(text, node.children[index])
        result = text[:start] + text[end:]
    else:
        result = text[: node.start].rstrip() + ("" if void else " []") + text[node.children[index].node.end :]
    return _confirmed(result, _with(before, path, rest or (None if void else [])))


def alike(one: str, other: str) -> bool:
    """Whether two texts differ in blank lines and ends of lines only."""
    return _shown(one) == _shown(other)


def _shown(text: str) -> list[str]:
    return [line.rstrip() for line in text.removeprefix("\ufeff").splitlines() if line.strip()]


# splicing ------------------------------------------------------------------------------------------------


def _put(text: str, path: Sequence[str], value: object) -> str:
    line = _newline(text)
    node, depth, key = _root(text), 0, None
    while node is not None and node.kind == "mapping" and depth < len(path):
        child = next((c for c in node.children if c.key and c.key.text == path[depth]), None)
        if child is None:
            break
        node, key, depth = child.node, child.key, depth + 1
    rest = path[depth:]
    if node is not None and node.kind not in ("mapping", "null"):
        raise Unreadable(f"{'.'.join(path[:depth])} is not a mapping")
    if node is not None and node.flow:
        for name in reversed(rest[1:]):
            value = {name: value}
        at = node.start + 1
        entry = f"{_scalar(rest[0])}: {_scalar(value)}" + (", " if node.children else "")
        return text[:at] + entry + text[at:]
    if node is None or key is None:
        ended = text if not text or text.endswith("\n") else text + line
        return ended + _nested(rest, value, "", line)
    if node.kind == "mapping":
        at = _line_start(text, node.start)
        return text[:at] + _nested(rest, value, " " * node.column, line) + text[at:]
    # A key without a value: ours goes under it.
    inner = " " * (key.column + 2)
    at = text.find("\n", key.end)
    if at < 0:
        return text + line + _nested(rest, value, inner, line)
    return text[: at + 1] + _nested(rest, value, inner, line) + text[at + 1 :]


def _nested(path: Sequence[str], value: object, indent: str, line: str) -> str:
    """The keys of a path, each under the one before, and the value under the last; whole lines."""
    if not path:
        return line.join(_body(value, indent)) + line
    if len(path) == 1 and not _body(value, ""):
        return f"{indent}{path[0]}: {_scalar(value)}{line}"
    return f"{indent}{path[0]}:{line}" + _nested(path[1:], value, indent + "  ", line)


def _body(value: object, indent: str) -> list[str]:
    lines = [f"{indent}{key}: {_scalar(held)}" for key, held in mapping(value).items()]
    return lines + [f"{indent}- {_scalar(held)}" for held in items(value)]


def _cut_flow(text: str, node: _Node, index: int) -> str:
    spans = [(child.start, child.node.end) for child in node.children]
    start, end = spans[index]
    if index + 1 < len(spans):
        end = spans[index + 1][0]
    elif index:
        start = spans[index - 1][1]
    return text[:start] + text[end:]


def _lines(text: str, child: _Child) -> tuple[int, int]:
    """The lines from a key (or dash) to the end of its value, without what follows that."""
    end = text.find("\n", _last(child.node))
    return _line_start(text, child.start), len(text) if end < 0 else end + 1


def _last(node: _Node) -> int:
    """Where a node's text ends. The mark of a block collection lies after the blanks and comments behind it."""
    return _last(node.children[-1].node) if node.children and not node.flow else node.end


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _scalar(value: object) -> str:
    """A value in one line: plain where a text is plainly one, else as JSON, which is YAML too."""
    if (
        isinstance(value, str)
        and value[:1] not in ("", "-")
        and all(c.isalnum() or c in "_-./" for c in value)
    ):
        plain: object = yaml.safe_load(value)
        if plain == value:
            return value
    return json.dumps(value, ensure_ascii=False)


# the parser's nodes --------------------------------------------------------------------------------------


def _root(text: str) -> _Node | None:
    try:
        found: Any = yaml.compose(text, Loader=yaml.SafeLoader)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    except (yaml.YAMLError, RecursionError) as error:
        raise _wrong(error) from None
    return None if found is None else _node(found)


def _node(found: Any) -> _Node:
    children: tuple[_Child, ...] = ()
    kind, text = "scalar", ""
    if isinstance(found, yaml.MappingNode):
        kind = "mapping"
        pairs = cast("list[tuple[Any, Any]]", found.value)
        children = tuple(_Child(_node(key), _node(value)) for key, value in pairs)
    elif isinstance(found, yaml.SequenceNode):
        kind = "sequence"
        children = tuple(_Child(None, _node(value)) for value in cast("list[Any]", found.value))
    else:
        text = str(found.value)
        kind = "null" if str(found.tag).endswith(":null") else "scalar"
    start: Any = found.start_mark
    return _Node(
        kind,
        int(start.index),
        int(found.end_mark.index),
        int(start.column),
        bool(getattr(found, "flow_style", False)) and kind in ("mapping", "sequence"),
        text,
        children,
    )


def _at(text: str, path: Sequence[str]) -> _Node:
    """The node at a path that is known to be there."""
    node = _root(text)
    for name in path:
        assert node is not None
        node = next(child.node for child in reversed(node.children) if child.key and child.key.text == name)
    assert node is not None
    return node


# documents -----------------------------------------------------------------------------------------------


def _highest(document: object, path: Sequence[str], keep: object) -> Sequence[str]:
    """The path to cut: a parent that holds nothing else goes as well, where `keep` does not hold it."""
    while len(path) > 1:
        if len(mapping(value_at(document, *path[:-1]))) > 1 or _has(keep, path[:-1]):
            return path
        path = path[:-1]
    return path


def _has(document: object, path: Sequence[str]) -> bool:
    return path[-1] in mapping(value_at(document, *path[:-1]))


def _is_void(document: object, path: Sequence[str]) -> bool:
    """Whether the key is there without a value."""
    return _has(document, path) and value_at(document, *path) is None


def _with(document: Mapping[str, Any], path: Sequence[str], value: object) -> dict[str, Any]:
    inner = value if len(path) == 1 else _with(mapping(document.get(path[0])), path[1:], value)
    return {**document, path[0]: inner}


def _without(document: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    if len(path) > 1:
        return {**document, path[0]: _without(document[path[0]], path[1:])}
    return {key: value for key, value in document.items() if key != path[0]}


def _confirmed(text: str, expected: Mapping[str, Any]) -> str:
    if parse(text) != expected:
        raise Unreadable("its layout leaves no sure place for our lines")
    return text


def _wrong(error: Exception) -> Unreadable:
    return Unreadable(f"no valid YAML: {' '.join(str(error).split())}")
