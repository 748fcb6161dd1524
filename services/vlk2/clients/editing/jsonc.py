"""JSON and JSONC (comments, trailing commas) edited in place: spans are cut and spliced, nothing is re-printed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vlk2.clients.editing.unreadable import Unreadable

_DEEPEST = 200
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[{}\[\]:,]|[^\s{}\[\]:,"/]+|.', re.DOTALL)


class _Child(NamedTuple):
    """A member of an object or an item of an array: `start` is where its key (or itself) begins."""

    key: str
    start: int
    node: _Node


@dataclass(slots=True)
class _Node:
    start: int
    end: int
    value: Any
    children: list[_Child] = field(default_factory=list[_Child])
    trailing: bool = False

    @property
    def container(self) -> bool:
        return isinstance(self.value, (dict, list))


def parse(text: str) -> Any:
    """The value of a JSONC text; {} for one without any. Unreadable names the line of what is wrong."""
    node = _parse(text)
    return {} if node is None else node.value


def put(text: str, path: Sequence[str], value: object) -> str:
    """The text with `value` at `path`; objects on the way are made. Unchanged where it is there already."""
    text = _rooted(text)
    node = _root(text)
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise Unreadable(f"{'.'.join(path[:depth]) or 'the file'} is not an object")
        found = _member(node, key)
        if found is None:
            for name in reversed(path[depth + 1 :]):
                value = {name: value}
            return _insert(text, node, key, value)
        node = found.node
    if node.value == value:
        return text
    return text[: node.start] + _printed(text, value, node.start) + text[node.end :]


def put_item(text: str, path: Sequence[str], item: object, mine: Callable[[Any], bool]) -> str:
    """The text with `item` as the only item of ours in the array at `path`: in the place of the one that is
    there, else at the end."""
    array = _find(_parse(text), path)
    if array is None:
        return put(text, path, [item])
    if not isinstance(array.value, list):
        raise Unreadable(f"{'.'.join(path)} is not a list")
    own = [child for child in array.children if mine(child.node.value)]
    if len(own) > 1:
        text = drop_items(text, path, mine)
        own = []
    if own:
        node = own[0].node
        if node.value == item:
            return text
        return text[: node.start] + _printed(text, item, node.start) + text[node.end :]
    array = _find(_parse(text), path)
    assert array is not None
    return _insert(text, array, None, item)


def drop(text: str, path: Sequence[str], *, keep: object = None) -> str:
    """The text without the member at `path`, and without the objects on the way that this leaves empty, but
    for those that `keep` (the value of the file before) holds too."""
    parent = _find(_parse(text), path[:-1])
    if parent is None or not isinstance(parent.value, dict):
        return text
    for index, child in enumerate(parent.children):
        if child.key == path[-1]:
            return prune(_cut(text, parent, index), path[:-1], keep)
    return text


def drop_items(text: str, path: Sequence[str], mine: Callable[[Any], bool]) -> str:
    """The text without our items of the array at `path` (the array itself stays: see `prune`)."""
    while True:
        array = _find(_parse(text), path)
        if array is None or not isinstance(array.value, list):
            return text
        index = next((i for i, child in enumerate(array.children) if mine(child.node.value)), None)
        if index is None:
            return text
        text = _cut(text, array, index)


def drop_inner_items(
    text: str, path: Sequence[str], outer: int, key: str, mine: Callable[[Any], bool]
) -> str:
    """The same for the array `key` of item `outer` of the array at `path`."""
    while True:
        array = _find(_parse(text), path)
        inner = _member(array.children[outer].node, key) if array is not None else None
        if inner is None or not isinstance(inner.node.value, list):
            return text
        index = next((i for i, child in enumerate(inner.node.children) if mine(child.node.value)), None)
        if index is None:
            return text
        text = _cut(text, inner.node, index)


def prune(text: str, path: Sequence[str], keep: object = None) -> str:
    """The text without the empty container at `path`, and those that this empties, but for what `keep` holds."""
    while path:
        node = _find(_parse(text), path)
        if node is None or not node.container or node.value or _held(keep, path):
            return text
        parent = _find(_parse(text), path[:-1])
        assert parent is not None
        index = next(i for i, child in enumerate(parent.children) if child.node.start == node.start)
        text = _cut(text, parent, index)
        path = path[:-1]
    return text


def alike(one: str, other: str) -> bool:
    """Whether two texts differ in white space between tokens only; nothing and `{}` are alike."""
    return _tokens(one) == _tokens(other)


def indented(value: object) -> str:
    """`value` as we print it where there is no style to follow."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def _tokens(text: str) -> list[str]:
    found = [token.rstrip() for token in _TOKEN.findall(text.removeprefix("\ufeff")) if not token.isspace()]
    words = [token for token in found if not token.startswith(("//", "/*"))]
    return [token for token in found if token not in words] if words == ["{", "}"] else found


def _held(keep: object, path: Sequence[str]) -> bool:
    for key in path:
        if not isinstance(keep, dict) or key not in keep:
            return False
        keep = keep[key]  # pyright: ignore[reportUnknownVariableType]
    return True


def _rooted(text: str) -> str:
    """The text with a root object, where it had none."""
    if _parse(text) is not None:
        return text
    line = "\r\n" if "\r\n" in text else "\n"
    return text + ("" if not text.strip("\ufeff") or text.endswith("\n") else line) + "{}" + line


def _root(text: str) -> _Node:
    node = _parse(text)
    assert node is not None
    return node


def _member(node: _Node, key: str) -> _Child | None:
    found = None
    for child in node.children:
        if child.key == key:
            found = child  # the last one counts, as for every reader
    return found


def _find(node: _Node | None, path: Sequence[str]) -> _Node | None:
    for key in path:
        if node is None or not isinstance(node.value, dict):
            return None
        child = _member(node, key)
        node = child.node if child else None
    return node


# splicing ------------------------------------------------------------------------------------------------


def _insert(text: str, node: _Node, key: str | None, value: object) -> str:
    """The text with one more child at the end of a container."""
    prefix = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    line = "\r\n" if "\r\n" in text else "\n"
    close = node.end - 1
    if not node.children:
        at = node.start + 1 + len(text[node.start + 1 : close].rstrip())
        outer = _indent(text, node.start)
        indent = outer + _unit(text)
        body = line + indent + prefix + _laid_out(value, indent, text)
        rest = text[at:close]
        return text[:at] + body + (rest if "\n" in rest else line + outer) + text[close:]
    last = node.children[-1].node.end
    if "\n" not in text[node.start : close]:
        flat = prefix + json.dumps(value, ensure_ascii=False)
        if node.trailing:
            comma = text.index(",", _skip(text, last))
            return text[: comma + 1] + " " + flat + "," + text[comma + 1 :]
        return text[:last] + ", " + flat + text[last:]
    first = node.children[-1].start
    indent = _indent(text, first)
    if text[:first].rpartition("\n")[2].strip():
        indent = _indent(text, node.start) + _unit(text)
    body = line + indent + prefix + _laid_out(value, indent, text)
    if node.trailing:
        after = text.index(",", _skip(text, last)) + 1
        head, body = text[:after], body + ","
    else:
        after = last
        head = text[:last] + ","
    remark = _same_line(text, after, close)
    return head + text[after:remark] + body + text[remark:]


def _cut(text: str, node: _Node, index: int) -> str:
    """The text without child `index` of a container, its comma and its lines."""
    children, close = node.children, node.end - 1
    start, end = children[index].start, children[index].node.end
    if len(children) == 1:
        after = _skip(text, end) + 1 if node.trailing else end
        inside = text[node.start + 1 : start].rstrip() + text[after:close]
        return text[: node.start + 1] + (inside if inside.strip() else "") + text[close:]
    before = text.rindex("\n", 0, start) if "\n" in text[:start] else 0
    own_line = before > node.start and not text[before:start].strip()
    if own_line and text[before - 1] == "\r":
        before -= 1
    if index < len(children) - 1 or node.trailing:
        comma = _skip(text, end) + 1
        if own_line:
            return text[:before] + text[comma:]
        return text[:start] + text[comma:].lstrip(" \t")
    previous = children[index - 1].node.end
    comma = _skip(text, previous)
    head = before if own_line else len(text[:start].rstrip(" \t"))
    return text[:comma] + text[comma + 1 : max(head, comma + 1)] + text[end:]


def _skip(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


def _same_line(text: str, at: int, close: int) -> int:
    """The end of what stands beside a child on its line: blanks and comments, but not the next token."""
    end = at
    while at < close:
        if text[at] in " \t":
            at += 1
        elif text.startswith("//", at):
            stop = text.find("\n", at)
            return stop - 1 if text[stop - 1] == "\r" else stop
        elif text.startswith("/*", at):
            at = end = text.index("*/", at) + 2
        else:
            break
    return end


def _indent(text: str, at: int) -> str:
    """The white space that begins the line of a position."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One step of indentation as the file has it; two blanks where it shows none."""
    found = re.search(r"^([ \t]+)[\"\[{]", text, re.MULTILINE)
    return found.group(1) if found else "  "


def _printed(text: str, value: object, at: int) -> str:
    return _laid_out(value, _indent(text, at), text)


def _laid_out(value: object, indent: str, text: str) -> str:
    line = "\r\n" if "\r\n" in text else "\n"
    lines = json.dumps(value, indent=_unit(text), ensure_ascii=False).split("\n")
    return (line + indent).join(lines)


# parsing -------------------------------------------------------------------------------------------------


def _parse(text: str) -> _Node | None:
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return None
    node = _value(text, at, 0)
    rest = _skip(text, node.end)
    if rest != len(text):
        raise _wrong(text, rest)
    return node


def _value(text: str, at: int, depth: int) -> _Node:
    if depth > _DEEPEST:
        raise Unreadable("nested too deeply")
    head = text[at : at + 1]
    if head == "{":
        return _container(text, at, depth, "}")
    if head == "[":
        return _container(text, at, depth, "]")
    found = _STRING.match(text, at) or _ATOM.match(text, at)
    if not found:
        raise _wrong(text, at)
    return _Node(at, found.end(), _scalar(text, at, found.group()))


def _container(text: str, start: int, depth: int, closer: str) -> _Node:
    children: list[_Child] = []
    at = _skip(text, start + 1)
    trailing = False
    while text[at : at + 1] != closer:
        if children and not trailing:
            raise _wrong(text, at)
        key, begin = "", at
        if closer == "}":
            name = _STRING.match(text, at)
            if not name:
                raise _wrong(text, at)
            key = _scalar(text, at, name.group())
            at = _skip(text, name.end())
            if text[at : at + 1] != ":":
                raise _wrong(text, at)
            at = _skip(text, at + 1)
        node = _value(text, at, depth + 1)
        children.append(_Child(key, begin, node))
        at = _skip(text, node.end)
        trailing = text[at : at + 1] == ","
        if trailing:
            at = _skip(text, at + 1)
    values = [child.node.value for child in children]
    value = dict(zip((c.key for c in children), values, strict=True)) if closer == "}" else values
    return _Node(start, at + 1, value, children, trailing)


def _scalar(text: str, at: int, written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError:
        raise _wrong(text, at) from None


def _wrong(text: str, at: int) -> Unreadable:
    line = text.count("\n", 0, at) + 1
    what = "it ends too early" if at >= len(text) else f"unexpected {text[at]!r}"
    return Unreadable(f"no valid JSON in line {line}: {what}")
