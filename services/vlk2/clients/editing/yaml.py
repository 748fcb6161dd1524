"""YAML edited in place: a parser's marks say where, lines are spliced, and the parser confirms the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from vlk2.clients.editing.unreadable import Unreadable


def parse(text: str) -> dict[str, Any]:
    """The document's mapping, {} for an empty one. Unreadable says what is wrong, and where."""
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Unreadable(f"no valid YAML: {' '.join(str(error).split())}") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise Unreadable("the file is not a mapping")
    return found  # pyright: ignore[reportUnknownVariableType]


def put(text: str, path: Sequence[str], value: object) -> str:
    """The text with `value` at `path` (mappings on the way are made): unchanged where it is there already."""
    before = parse(text)
    held = _at(before, path)
    if held == value:
        return text
    if held is not None:
        text = drop(text, path, keep=before)
    return _confirmed(_put(text, path, value), _with(parse(text), path, value))


def put_item(text: str, path: Sequence[str], item: str) -> str:
    """The text with the text `item` in the list at `path`."""
    before = parse(text)
    held = _at(before, path)
    if held is None:
        return put(text, path, [item])
    if not isinstance(held, list):
        raise Unreadable(f"{'.'.join(path)} is not a list")
    if item in held:
        return text
    node = _find(_root(text), path)
    assert isinstance(node, yaml.SequenceNode)
    if node.flow_style:
        at = node.start_mark.index + 1
        result = text[:at] + _scalar(item) + (", " if node.value else "") + text[at:]
    else:
        column = node.start_mark.column
        at = _line_start(text, node.value[0].start_mark.index)
        result = text[:at] + " " * column + f"- {_scalar(item)}{_newline(text)}" + text[at:]
    return _confirmed(result, _with(before, path, [item, *held]))


def drop(text: str, path: Sequence[str], *, keep: object = None) -> str:
    """The text without the key at `path`, and without the containers that this leaves empty, but for those
    that `keep` (the document before) holds too."""
    before = parse(text)
    if _at(before, path) is None:
        return text
    path = _highest(before, path, keep)
    mapping = _find(_root(text), path[:-1])
    assert isinstance(mapping, yaml.MappingNode)
    index = next(i for i, (key, _) in enumerate(mapping.value) if key.value == path[-1])
    key, value = mapping.value[index]
    expected = _without(before, path)
    if mapping.flow_style:
        return _confirmed(_cut_flow(text, mapping, index), expected)
    if len(mapping.value) == 1 and len(path) > 1:
        cut = _lines(text, key.start_mark.index, value)
        marks = (mapping.start_mark.index, cut[1])
        head = text[: marks[0]].rstrip()
        result = head + " {}" + _newline(text) + text[marks[1] :]
    else:
        start, end = _lines(text, key.start_mark.index, value)
        result = text[:start] + text[end:]
    return _confirmed(result, expected)


def drop_item(text: str, path: Sequence[str], item: str, *, keep: object = None) -> str:
    """The text without `item` in the list at `path`, and without the containers that this leaves empty."""
    before = parse(text)
    held = _at(before, path)
    if not isinstance(held, list) or item not in held:
        return text
    rest = [other for other in held if other != item]  # pyright: ignore[reportUnknownVariableType]
    if not rest and not isinstance(_at(keep, path), list):
        return drop(text, path, keep=keep)
    node = _find(_root(text), path)
    assert isinstance(node, yaml.SequenceNode)
    index = next(i for i, child in enumerate(node.value) if child.value == item)
    child = node.value[index]
    if node.flow_style:
        result = _cut_flow(text, node, index)
    elif not rest:
        result = text[: node.start_mark.index].rstrip() + " []" + text[child.end_mark.index :]
    else:
        start, end = _lines(text, child.start_mark.index, child)
        result = text[:start] + text[end:]
    return _confirmed(result, _with(before, path, rest))


def alike(one: str, other: str) -> bool:
    """Whether two texts differ in blank lines and ends of lines only."""
    return _shown(one) == _shown(other)


def block(value: Mapping[str, Any], indent: str = "") -> str:
    """A mapping as block YAML: texts quoted where they need it, lists and inner mappings in flow style."""
    lines: list[str] = []
    for key, held in value.items():
        if isinstance(held, Mapping) and held and indent == "":
            lines += [f"{key}:", block(held, "  ").rstrip("\n")]  # pyright: ignore[reportUnknownArgumentType]
        else:
            lines.append(f"{indent}{key}: {_scalar(held)}")
    return "\n".join(lines) + "\n"


def _shown(text: str) -> list[str]:
    return [line.rstrip() for line in text.removeprefix("\ufeff").splitlines() if line.strip()]


def _put(text: str, path: Sequence[str], value: object) -> str:
    line = _newline(text)
    root = _root(text)
    depth = 0
    node: yaml.Node | None = root
    while node is not None and depth < len(path):
        if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"):
            break
        if not isinstance(node, yaml.MappingNode):
            raise Unreadable(f"{'.'.join(path[:depth])} is not a mapping")
        child = _find(node, path[depth : depth + 1])
        if child is None:
            break
        node, depth = child, depth + 1
    rest = path[depth:]
    if node is None or depth == 0:
        if isinstance(node, yaml.MappingNode) and node.flow_style:
            return _into_flow(text, node, rest, value)
        ended = text if not text or text.endswith("\n") else text + line
        return ended + _nested(rest, value, "", line)
    if isinstance(node, yaml.MappingNode):
        if node.flow_style:
            return _into_flow(text, node, rest, value)
        at = _line_start(text, node.start_mark.index)
        return text[:at] + _nested(rest, value, " " * node.start_mark.column, line) + text[at:]
    # A key without a value: ours goes under it.
    key = _key_of(root, path[:depth])
    at = text.find("\n", key.end_mark.index)
    inner = " " * (key.start_mark.column + 2)
    if at < 0:
        return text + line + _nested(rest, value, inner, line)
    return text[: at + 1] + _nested(rest, value, inner, line) + text[at + 1 :]


def _into_flow(text: str, node: yaml.MappingNode, path: Sequence[str], value: object) -> str:
    for name in reversed(path[1:]):
        value = {name: value}
    at = node.start_mark.index + 1
    return text[:at] + f"{_scalar(path[0])}: {_scalar(value)}" + (", " if node.value else "") + text[at:]


def _nested(path: Sequence[str], value: object, indent: str, line: str) -> str:
    lines: list[str] = []
    for name in path[:-1]:
        lines.append(f"{indent}{name}:")
        indent += "  "
    if isinstance(value, Mapping):
        lines.append(f"{indent}{path[-1]}:")
        lines += [f"{indent}  {key}: {_scalar(held)}" for key, held in value.items()]  # pyright: ignore[reportUnknownVariableType]
    elif isinstance(value, list):
        lines.append(f"{indent}{path[-1]}:")
        lines += [f"{indent}  - {_scalar(held)}" for held in value]  # pyright: ignore[reportUnknownVariableType]
    else:
        lines.append(f"{indent}{path[-1]}: {_scalar(value)}")
    return line.join(lines) + line


def _cut_flow(text: str, node: yaml.CollectionNode, index: int) -> str:
    spans: list[tuple[int, int]] = [
        (child[0].start_mark.index, child[1].end_mark.index)
        if isinstance(child, tuple)
        else (child.start_mark.index, child.end_mark.index)
        for child in node.value
    ]
    start, end = spans[index]
    if index + 1 < len(spans):
        end = spans[index + 1][0]
    elif index:
        start = spans[index - 1][1]
    return text[:start] + text[end:]


def _lines(text: str, start: int, value: yaml.Node) -> tuple[int, int]:
    """The lines from a key (or dash) to the end of its value, without what follows that."""
    end = text.find("\n", _last(value))
    return _line_start(text, start), len(text) if end < 0 else end + 1


def _last(node: yaml.Node) -> int:
    """Where a node's text ends. The mark of a block collection lies after the blanks and comments behind it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        child = node.value[-1]
        return _last(child[1] if isinstance(child, tuple) else child)  # pyright: ignore[reportUnknownArgumentType]
    return node.end_mark.index


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _root(text: str) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise Unreadable(f"no valid YAML: {' '.join(str(error).split())}") from None


def _find(node: yaml.Node | None, path: Sequence[str]) -> yaml.Node | None:
    for name in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for key, value in node.value if key.value == name), None)
    return node


def _key_of(node: yaml.Node | None, path: Sequence[str]) -> yaml.Node:
    parent = _find(node, path[:-1])
    assert isinstance(parent, yaml.MappingNode)
    return next(key for key, _ in parent.value if key.value == path[-1])


def _scalar(value: object) -> str:
    """A value in one line: plain where a text is plainly one, else as JSON, which is YAML too."""
    if isinstance(value, str) and value and all(c.isalnum() or c in "_-./" for c in value):
        plain = yaml.safe_load(value) if not value.startswith("-") else None
        if plain == value:
            return value
    return json.dumps(value, ensure_ascii=False)


def _highest(document: object, path: Sequence[str], keep: object) -> Sequence[str]:
    """The path to cut: a parent that holds nothing else goes as well, where `keep` does not hold it."""
    while len(path) > 1:
        parent = _at(document, path[:-1])
        if not isinstance(parent, Mapping) or len(parent) > 1 or _has(keep, path[:-1]):  # pyright: ignore[reportUnknownArgumentType]
            return path
        path = path[:-1]
    return path


def _at(document: object, path: Sequence[str]) -> Any:
    for name in path:
        if not isinstance(document, Mapping):
            return None
        document = document.get(name)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return document


def _has(document: object, path: Sequence[str]) -> bool:
    parent = _at(document, path[:-1])
    return isinstance(parent, Mapping) and path[-1] in parent


def _with(document: Mapping[str, Any], path: Sequence[str], value: object) -> dict[str, Any]:
    held = dict(document)
    held[path[0]] = value if len(path) == 1 else _with(held.get(path[0]) or {}, path[1:], value)
    return held


def _without(document: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    held = dict(document)
    if len(path) == 1:
        held.pop(path[0], None)
    else:
        held[path[0]] = _without(held[path[0]], path[1:])
    return held


def _confirmed(text: str, expected: Mapping[str, Any]) -> str:
    found = parse(text)
    if found != expected and not (not found and not expected):
        raise Unreadable("its layout leaves no sure place for our lines")
    return text
