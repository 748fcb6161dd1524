"""What one line of a client's input is: a message, a refusal to answer with, or nothing to answer.

The SDK drops a line that its parser rejects, and the client waits for ever. Here every request gets an
answer: the line is repaired where the meaning is plain, else refused with an error that bears the request's id.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import mcp_types as types

PARSE_ERROR = types.PARSE_ERROR
INVALID_REQUEST = types.INVALID_REQUEST
INVALID_PARAMS = types.INVALID_PARAMS

_PARSE = types.jsonrpc_message_adapter.validate_json
_BATCH_ANSWERS = 100
_NULL = "null"
_TOO_DEEP = "the request nests too deep; this server reads at most 200 levels"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error answer. `id` is the request's id as JSON text, `null` where none can be found."""

    id: str
    code: int
    message: str

    def encode(self) -> bytes:
        """The answer's line, without the newline, in ASCII."""
        text = json.dumps(self.message)
        return (f'{{"jsonrpc":"2.0","id":{self.id},"error":{{"code":{self.code},"message":{text}}}}}').encode(
            "ascii"
        )


@dataclass(frozen=True, slots=True)
class Ignored:
    """A line that asks for no answer (blank, a broken notification or response); `why` is for the log."""

    why: str


Item: TypeAlias = types.JSONRPCMessage | Refusal | Ignored


def read(line: bytes) -> list[Item]:
    """Read one line (its newline may be there or not). More than one item only for a JSON-RPC batch.

    Repaired, so that the call goes through: invalid UTF-8 and lone surrogates (U+FFFD each), raw control
    characters inside strings, a byte-order mark. Never raises.
    """
    try:
        message = _PARSE(line, by_name=False)
    except Exception:  # pydantic's own error, and whatever a hostile line provokes below it
        return _read_broken(line)
    # An id of a wrong type, or a broken `method`, makes the parser take a request for something else.
    if isinstance(message, types.JSONRPCRequest):
        return [message]
    suspect = b'"id"' if isinstance(message, types.JSONRPCNotification) else b'"method"'
    if suspect in line:
        return _read_broken(line)
    return [message]


def oversize(head: bytes, tail: bytes, size: int, limit: int) -> Refusal | Ignored:
    """Answer a line of `size` bytes, over the `limit`, of which only the head and the tail were kept."""
    outline = _outline(head)
    request_id = outline.id
    if request_id is None and (found := re.search(_ID_AT_END, tail)) is not None:
        request_id = found.group(1).decode("ascii", "replace")
    if request_id is None and outline.method and _names_notification(head):
        return Ignored(f"a notification of {size} bytes, over the limit of {limit}")
    return Refusal(
        request_id or _NULL,
        INVALID_REQUEST,
        f"the request is {size} bytes long; this server reads at most {limit} bytes a line. "
        "Send less: keep the first and the last part of a long log",
    )


def _read_broken(line: bytes) -> list[Item]:
    text = line.decode("utf-8", "replace").removeprefix("\ufeff").strip()
    if not text:
        return [Ignored("")]
    try:
        value: object = json.loads(text, strict=False)
    except RecursionError:
        return [_unread(text, INVALID_REQUEST, _TOO_DEEP)]
    except ValueError as error:
        if isinstance(error, json.JSONDecodeError):
            return [_unread(text, PARSE_ERROR, f"not JSON: {error.msg} at character {error.pos}")]
        return [_unread(text, INVALID_REQUEST, "the request holds an integer of more than 4,300 digits")]
    if isinstance(value, list):
        return _refuse_batch(cast("list[object]", value))
    if not isinstance(value, dict):
        return [Refusal(_NULL, INVALID_REQUEST, "a JSON-RPC message is an object")]
    return [_judge(cast("dict[str, Any]", value))]


def _judge(value: dict[str, Any]) -> Item:
    if "method" not in value and ("result" in value or "error" in value):
        return _reparse(value) or Ignored("a response that is not JSON-RPC")
    if "id" not in value and "method" in value:
        return _reparse(value) or Ignored("a notification that is not JSON-RPC")
    request_id = _id_text(value.get("id"))
    fault = _fault(value)
    if fault is not None:
        return Refusal(request_id, *fault)
    message = _reparse(value)
    if not isinstance(message, types.JSONRPCRequest):
        return Refusal(request_id, INVALID_REQUEST, _TOO_DEEP)
    if message.id != value["id"]:
        return Refusal(request_id, INVALID_REQUEST, "a request's id is valid Unicode")
    return message


def _fault(value: dict[str, Any]) -> tuple[int, str] | None:
    """What is wrong with the frame of a request, as an error code and its message."""
    request_id = value.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, str | int):
        return INVALID_REQUEST, "a request's id is a string or an integer"
    if value.get("jsonrpc") != "2.0":
        return INVALID_REQUEST, 'a request carries "jsonrpc": "2.0"'
    if not isinstance(value.get("method"), str):
        return INVALID_REQUEST, "a request names its method in a string"
    if not isinstance(value.get("params", {}), dict | None):
        return INVALID_PARAMS, "params is an object"
    return None


def _reparse(value: dict[str, Any]) -> types.JSONRPCMessage | None:
    """The SDK's reading of the value with every lone surrogate replaced, or None."""
    # Members that do not belong to a message of its kind would sway the parser's choice of kind.
    members = (
        ("jsonrpc", "id", "method", "params") if "method" in value else ("jsonrpc", "id", "result", "error")
    )
    try:
        text = json.dumps({name: value[name] for name in members if name in value}, ensure_ascii=False)
        return _PARSE(whole(text), by_name=False)
    except (ValueError, RecursionError):
        return None


def whole(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _refuse_batch(members: list[object]) -> list[Item]:
    message = "JSON-RPC batches are not served; send each request on a line of its own"
    requests = [cast("dict[str, Any]", one) for one in members if isinstance(one, dict) and "id" in one]
    ids = [_id_text(one["id"]) for one in requests[:_BATCH_ANSWERS]]
    return [Refusal(one, INVALID_REQUEST, message) for one in ids or [_NULL]]


def _unread(text: str, code: int, message: str) -> Refusal | Ignored:
    """Answer a line that is not readable JSON, by the outline that can be made out."""
    outline = _outline(text.encode("utf-8", "surrogatepass"))
    if outline.id is None and outline.method and code != PARSE_ERROR:
        return Ignored(f"a notification: {message}")
    return Refusal(outline.id or _NULL, code, message)


def _id_text(value: object) -> str:
    """An id as JSON text; `null` for what no JSON-RPC peer could have meant as an id."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return _NULL
    if isinstance(value, float) and not math.isfinite(value):
        return _NULL
    return json.dumps(value)


@dataclass(frozen=True, slots=True)
class _Outline:
    """The top level of a line that cannot be read whole: its id as JSON text, and whether it has a method.

    `id` is None where there is none, and `null` where there is one that no answer could bear.
    """

    id: str | None
    method: bool


# Possessive throughout: linear in the line's length, and no state kept for a way back. A run of brackets is
# one token, so that a line of nothing but brackets costs one step.
_TOKEN = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]++|[\]}]++|[^\s"\[\]{},:]++|[:,]'
_ID = rb'-?[0-9]{1,4000}(?:\.[0-9]{1,100})?(?:[eE][+-]?[0-9]{1,3})?|"(?:[^"\\\x00-\x1f]|\\.){0,4000}"'
# The last brace of a line closes the message; members of plain text may stand between it and the id.
_ID_AT_END = rb'"id"\s*:\s*(' + _ID + rb')\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*){0,2}\}\s*$'


def _outline(line: bytes) -> _Outline:
    depth = 0
    request_id: str | None = None
    method = False
    key: bytes | None = None
    previous = b""
    for found in re.finditer(_TOKEN, line, re.DOTALL):
        token = found.group()
        first = token[:1]
        if first in b"[{":
            if depth == 1 and key == b'"id"' and previous == b":":
                request_id = _NULL
            depth += len(token)
            key = None
        elif first in b"]}":
            depth -= len(token)
            if depth <= 0:
                break
        elif depth != 1 or first in b":,":
            pass
        elif previous == b":":
            if key == b'"id"':
                request_id = _echo(token)
            key = None
        elif first == b'"':
            key = token
            method = method or token == b'"method"'
        previous = token
    return _Outline(request_id, method)


def _echo(token: bytes) -> str:
    """The id's token as JSON text in ASCII if it is a string or a number of sane length, else `null`."""
    if re.fullmatch(_ID, token, re.DOTALL) is None:
        return _NULL
    text = token.decode("utf-8", "replace")
    if not text.startswith('"'):
        return text
    try:
        return json.dumps(json.loads(text))
    except ValueError:
        return _NULL


def _names_notification(head: bytes) -> bool:
    return re.search(rb'"method"\s*:\s*"notifications/', head) is not None
