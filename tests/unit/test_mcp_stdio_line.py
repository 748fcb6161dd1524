"""One line of input: a message, a refusal with the request's id, or nothing to answer."""

from __future__ import annotations

import json
import tracemalloc

import mcp_types as types
import pytest

from vlk2.mcp.line import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Ignored,
    Refusal,
    oversize,
    read,
    whole,
)


def call(arguments: bytes, request_id: bytes = b"7") -> bytes:
    return b'{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"t","arguments":%s}}' % (
        request_id,
        arguments,
    )


def accepted(line: bytes) -> types.JSONRPCRequest:
    (item,) = read(line)
    assert isinstance(item, types.JSONRPCRequest), item
    return item


def refused(line: bytes) -> tuple[object, int]:
    (item,) = read(line)
    assert isinstance(item, Refusal), item
    answer = json.loads(item.encode())
    assert answer["jsonrpc"] == "2.0"
    assert answer["error"]["message"]
    return answer["id"], answer["error"]["code"]


def text_of(line: bytes) -> object:
    params = accepted(line).params
    assert params is not None
    return params["arguments"]["text"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (rb'{"text":"a\ud800b"}', "a\ufffdb"),
        (rb'{"text":"a\udc00\ud800b"}', "a\ufffd\ufffdb"),
        (rb'{"text":"\ud83d\ude00 \ud83d"}', "\U0001f600 \ufffd"),
        (b'{"text":"a\xffb"}', "a\ufffdb"),
        (b'{"text":"a\xed\xa0\x80b"}', "a\ufffd\ufffd\ufffdb"),
        (b'{"text":"a\x00b"}', "a\x00b"),
        (b'{"text":"\x1b[31mred\x1b[0m\tx"}', "\x1b[31mred\x1b[0m\tx"),
        (rb'{"text":"a\u0000b"}', "a\x00b"),
    ],
)
def test_text_that_the_sdk_would_drop_is_repaired_and_goes_through(arguments: bytes, text: str) -> None:
    assert text_of(call(arguments)) == text


def test_a_byte_order_mark_and_a_carriage_return_do_not_matter() -> None:
    assert accepted(b"\xef\xbb\xbf" + call(b'{"text":"x"}') + b"\r").id == 7


def test_a_repaired_line_keeps_its_numbers_and_its_order() -> None:
    params = accepted(call(rb'{"text":"\ud800","n":1,"x":1.5,"big":123456789012345678901234567890}')).params
    assert params is not None
    assert list(params["arguments"].items())[1:] == [
        ("n", 1),
        ("x", 1.5),
        ("big", 123456789012345678901234567890),
    ]


def test_a_repaired_key_is_the_repaired_text() -> None:
    params = accepted(call(rb'{"\ud800":1}')).params
    assert params is not None
    assert params["arguments"] == {"\ufffd": 1}


@pytest.mark.parametrize("depth", [250, 900, 5_000, 1_000_000])
def test_extreme_depth_is_refused_with_the_id_even_where_it_stands_behind(depth: int) -> None:
    nest = b"[" * depth + b"]" * depth
    assert refused(call(b'{"text":' + nest + b"}")) == (7, INVALID_REQUEST)
    behind = b'{"jsonrpc":"2.0","method":"tools/call","params":{"id":1,"z":%s},"id":"late"}' % nest
    assert refused(behind) == ("late", INVALID_REQUEST)


def test_an_id_inside_the_parameters_is_not_the_id_of_the_request() -> None:
    line = b'{"method":"m","params":{"id":5,"s":"\\"id\\":6","z":%s},"jsonrpc":"2.0","id":4}' % (
        b'{"id":' * 3000 + b"1" + b"}" * 3000
    )
    assert refused(line) == (4, INVALID_REQUEST)


def test_an_integer_of_too_many_digits_is_refused() -> None:
    assert refused(call(b'{"n":' + b"9" * 5000 + b"}")) == (7, INVALID_REQUEST)
    assert refused(call(b"{}", b"9" * 5000)) == (None, INVALID_REQUEST)


@pytest.mark.parametrize("params", [b"[1]", b'"x"', b"5", b"true"])
def test_parameters_that_are_no_object_are_refused(params: bytes) -> None:
    line = b'{"jsonrpc":"2.0","id":"a","method":"tools/list","params":%s}' % params
    assert refused(line) == ("a", INVALID_PARAMS)


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"1.0","id":7,"method":"tools/list"}',
        b'{"id":7,"method":"tools/list"}',
        b'{"jsonrpc":"2.0","id":7,"method":5}',
        b'{"jsonrpc":"2.0","id":7}',
        b'{"jsonrpc":"2.0","id":7,"method":null,"result":{}}',
    ],
)
def test_a_broken_frame_is_refused_with_its_id(line: bytes) -> None:
    assert refused(line) == (7, INVALID_REQUEST)


@pytest.mark.parametrize(
    ("request_id", "echoed"),
    [
        (b"7.5", 7.5),
        (b"1e2", 100.0),
        (rb'"\ud800"', "\ud800"),
        (b"null", None),
        (b"true", None),
        (b"[7]", None),
    ],
)
def test_an_id_of_a_wrong_kind_is_refused_and_not_taken_for_a_notification(
    request_id: bytes, echoed: object
) -> None:
    assert refused(call(b"{}", request_id)) == (echoed, INVALID_REQUEST)


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"hello", None),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/list",}', 7),
        (b'{"jsonrpc":"2.0","method":"tools/list","params":{"a":"b', None),
        (b'{"jsonrpc":"2.0","id":"x\\"y","method":"tools/call","params":{"a":"cut of', 'x"y'),
        (b'{"jsonrpc":"2.0","id":7,"method":"a"}{"jsonrpc":"2.0","id":8,"method":"b"}', 7),
        (b"\x00" + call(b"{}"), 7),
    ],
)
def test_what_is_not_json_is_a_parse_error_with_the_id_that_can_be_made_out(
    line: bytes, request_id: object
) -> None:
    assert refused(line) == (request_id, PARSE_ERROR)


@pytest.mark.parametrize("line", [b"5", b'"x"', b"null", b"[]"])
def test_a_value_that_is_no_message_is_refused(line: bytes) -> None:
    assert refused(line) == (None, INVALID_REQUEST)


def test_each_request_of_a_batch_is_refused_under_its_own_id() -> None:
    items = read(b"[" + call(b"{}", b"1") + b',{"jsonrpc":"2.0","method":"n"},' + call(b"{}", b'"b"') + b"]")
    assert [item.id for item in items if isinstance(item, Refusal)] == ["1", '"b"']


def test_a_request_with_members_of_an_answer_is_still_a_request() -> None:
    line = b'{"jsonrpc":"2.0","id":7,"method":"tools/list","error":{"code":1,"message":"x"}}'
    assert accepted(line).method == "tools/list"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":[]}',
        b'{"jsonrpc":"2.0","id":9,"result":[]}',
        b'{"jsonrpc":"2.0","method":"notifications/x","params":{"z":' + b"[" * 5000 + b"]" * 5000 + b"}}",
    ],
)
def test_what_asks_for_no_answer_gets_none(line: bytes) -> None:
    (item,) = read(line)
    assert isinstance(item, Ignored)


def test_ordinary_messages_of_every_kind_are_read() -> None:
    kinds = [
        read(line)[0]
        for line in (
            call(b'{"text":"x"}'),
            b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"id":7}}',
            b'{"jsonrpc":"2.0","id":1,"result":{"method":"x"}}',
            b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
        )
    ]
    assert [type(kind) for kind in kinds] == [
        types.JSONRPCRequest,
        types.JSONRPCNotification,
        types.JSONRPCResponse,
        types.JSONRPCError,
    ]


@pytest.mark.parametrize(
    ("head", "tail", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"t":"aaaa', b'aaa"}}', 7),
        (b'{"jsonrpc":"2.0","method":"tools/call","params":{"id":3,"t":"aaaa', b'aaa"},"id":"z"}', "z"),
        (b'{"params":{"t":"aaaa', b'aaa"},"id":8,"method":"tools/call","jsonrpc":"2.0"} \r', 8),
        (b'{"params":{"t":"aaaa', b'aaa","id":8}}', None),
        (b"aaaa", b"aaaa", None),
    ],
)
def test_the_id_of_a_line_over_the_limit_is_found_in_its_head_or_at_its_end(
    head: bytes, tail: bytes, request_id: object
) -> None:
    answer = oversize(head, tail, 99, 50)
    assert isinstance(answer, Refusal)
    assert json.loads(answer.encode())["id"] == request_id
    assert "99" in answer.message
    assert "50" in answer.message


def test_a_notification_over_the_limit_is_dropped() -> None:
    head = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"t":"aaaa'
    assert isinstance(oversize(head, b'aaa"}}', 99, 50), Ignored)


def test_a_broken_line_of_many_megabytes_costs_memory_in_proportion() -> None:
    line = (
        b'{"jsonrpc":"2.0","params":{"t":"' + rb"\\" * 2_000_000 + b'","z":' + b"[" * 2_000_000 + b'},"id":7}'
    )
    tracemalloc.start()
    answer = read(line)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(answer[0], Refusal)
    assert peak < 12 * len(line)


def test_whole_leaves_text_without_lone_surrogates_as_it_is() -> None:
    assert whole("a\U0001f600\x00\u2028") == "a\U0001f600\x00\u2028"
    assert whole("\ud83d\ude00") == "\U0001f600"
