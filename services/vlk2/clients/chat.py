"""Conversations in the OpenAI chat shape: `tool_calls` of an assistant, results of the role `tool`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from vlk2.clients.loose import mapping, parsed, plain, sequence, string
from vlk2.clients.recorded import Call, Run, Step

_FINISHED: Final = re.compile(
    r"\[(?:Command finished with|The command completed with) exit code (-?\d+)\.?\]"
)


def has_calls(messages: object) -> bool:
    """Whether a message of the conversation calls a tool."""
    return any(mapping(message).get("tool_calls") for message in sequence(messages))


def conversation(run: Run, messages: object) -> Iterator[Step]:
    """The prompts and results of one conversation; the exit code that OpenHands writes below a command's output
    is taken from the text. Calls without an answer are left out."""
    waiting: dict[str, Call] = {}
    for number, message in enumerate(map(mapping, sequence(messages))):
        text = plain(message.get("content"))
        match message.get("role"):
            case "user" if text:
                yield run.prompt(text)
            case "assistant":
                for made in map(mapping, sequence(message.get("tool_calls"))):
                    function = mapping(made.get("function"))
                    given = function.get("arguments")
                    arguments = parsed(given) if isinstance(given, str) else given
                    use_id = string(made.get("id"))
                    waiting[use_id] = Call(string(function.get("name")), arguments, use_id, f"m{number}")
            case "tool":
                call = waiting.pop(string(message.get("tool_call_id")), None)
                if call is None:
                    call = Call(string(message.get("name")), None, command="")
                found: list[str] = _FINISHED.findall(text[-500:])
                code = int(found[-1]) if found else None
                code = None if code == -1 else code
                yield from run.result(
                    call, text, is_error=None if code is None else code != 0, exit_code=code
                )
            case _:
                pass
