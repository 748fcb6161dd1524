"""Edits of foreign files: ours goes in and comes out, and every other byte stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vlk2.clients.editing import jsonc, nested_hooks, toml, yaml
from vlk2.clients.editing.unreadable import Unreadable

OURS = {"command": "/opt/vlk2/bin/vlk2", "args": ["serve"]}
GROUP = {"hooks": [{"type": "command", "command": "/opt/vlk2/bin/vlk2-hook claude-code", "timeout": 5}]}

_keys = st.sampled_from(["a", "b", "hooks", "mcpServers", "PreToolUse", "env", "model", 'quo"te', "naïve"])
_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-99, 99), st.text(max_size=6), st.just("// no comment")
)
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_keys, inner, max_size=3)),
    max_leaves=8,
)


class _Printer:
    """Prints a value as a person might have: with comments, trailing commas, tabs, CRLF, or all in one line."""

    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self._unit = draw(st.sampled_from(["  ", "    ", "\t"]))
        self.line = draw(st.sampled_from(["\n", "\r\n"]))
        self._comments = draw(st.booleans())

    def remark(self) -> str:
        if not self._comments:
            return ""
        return self._draw(st.sampled_from(["", "", ' /* note, " { */', f' // it\'s: "x" ]{self.line}']))

    def of(self, value: Any, depth: int = 0) -> str:
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=self._draw(st.booleans()))
        opener, closer = ("{", "}") if isinstance(value, dict) else ("[", "]")
        parts = (
            [
                f"{json.dumps(k)}{self.remark()}:{self.remark()} {self.of(v, depth + 1)}"
                for k, v in value.items()
            ]
            if isinstance(value, dict)
            else [self.of(v, depth + 1) for v in value]
        )
        if not parts:
            return opener + self._draw(st.sampled_from(["", " ", self.line])) + closer
        comma = self._draw(st.sampled_from(["", "", ","]))
        if self._draw(st.booleans()):
            return f"{opener}{', '.join(parts)}{comma}{closer}"
        pad = self.line + self._unit * (depth + 1)
        body = ("," + pad).join(parts)
        last = self._draw(st.sampled_from(["", " // last", " /* last */"])) if self._comments else ""
        return f"{opener}{pad}{body}{comma}{last}{self.line}{self._unit * depth}{closer}"


@st.composite
def documents(draw: Any) -> str:
    value = draw(st.dictionaries(_keys, _values, max_size=4))
    printer = _Printer(draw)
    head = draw(st.sampled_from(["", "\ufeff", printer.line, f"// my settings{printer.line}"]))
    return head + printer.of(value) + draw(st.sampled_from(["", printer.line, f" // end{printer.line}"]))


@settings(max_examples=60, deadline=None)
@given(documents())
def test_the_generated_documents_are_read_as_any_reader_reads_them(text: str) -> None:
    again = jsonc.parse(text)
    assert jsonc.parse(json.dumps(again)) == again


@settings(max_examples=60, deadline=None)
@given(documents())
def test_a_json_entry_goes_in_beside_all_that_was_there_and_twice_is_once(text: str) -> None:
    before = jsonc.parse(text)
    if not isinstance(before.get("mcpServers", {}), dict):
        with pytest.raises(Unreadable):
            jsonc.put(text, ("mcpServers", "vlk2"), OURS)
        return
    after = jsonc.put(text, ("mcpServers", "vlk2"), OURS)
    assert jsonc.parse(after) == {**before, "mcpServers": {**before.get("mcpServers", {}), "vlk2": OURS}}
    assert list(jsonc.parse(after))[: len(before)] == list(before)
    assert jsonc.put(after, ("mcpServers", "vlk2"), OURS) == after


@settings(max_examples=60, deadline=None)
@given(documents())
def test_a_json_entry_comes_out_again_and_leaves_the_words_as_they_were(text: str) -> None:
    before = jsonc.parse(text)
    if not isinstance(before.get("mcpServers", {}), dict):
        return
    after = jsonc.drop(jsonc.put(text, ("mcpServers", "vlk2"), OURS), ("mcpServers", "vlk2"), keep=before)
    assert jsonc.alike(after, text)


@settings(max_examples=60, deadline=None)
@given(documents())
def test_hooks_go_in_and_come_out_beside_foreign_ones(text: str) -> None:
    before = jsonc.parse(text)
    wanted = {"PreToolUse": GROUP, "PostToolUse": GROUP}
    try:
        after = nested_hooks.put(text, wanted)
    except Unreadable:
        hooks = before.get("hooks", {})
        assert not isinstance(hooks, dict) or not isinstance(hooks.get("PreToolUse", []), list)
        return
    assert nested_hooks.put(after, wanted) == after
    assert jsonc.parse(after)["hooks"]["PreToolUse"][-1] == GROUP
    assert jsonc.alike(nested_hooks.drop(after, before), text)


def test_every_line_that_was_there_stands_there_still() -> None:
    text = (
        '// team settings\n{\n\t"model": "x", // pinned\n\t"hooks": {\n\t\t"PreToolUse": [\n'
        '\t\t\t{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint" }] } // ours too\n'
        '\t\t]\n\t},\n\t/* keep */\n\t"list": [1, 2,],\n}\n'
    )
    after = nested_hooks.put(text, {"PreToolUse": GROUP})
    gone = [line for line in text.splitlines() if line not in after.splitlines()]
    assert gone == [line for line in text.splitlines() if "lint" in line], (
        "only a comma was added to that line"
    )
    assert nested_hooks.drop(after, jsonc.parse(text)) == text


def test_a_launcher_that_moved_replaces_our_entry_where_it_stands() -> None:
    old = json.loads(json.dumps(GROUP).replace("/opt/vlk2", "/home/x/.local"))
    text = json.dumps({"hooks": {"PreToolUse": [old, {"hooks": [{"command": "other"}]}]}}, indent=2)
    groups = jsonc.parse(nested_hooks.put(text, {"PreToolUse": GROUP}))["hooks"]["PreToolUse"]
    assert groups == [GROUP, {"hooks": [{"command": "other"}]}]


def test_our_hook_in_a_group_with_a_foreign_one_is_taken_out_alone() -> None:
    foreign = {"type": "command", "command": "lint"}
    mixed = {"matcher": "Bash", "hooks": [GROUP["hooks"][0], foreign]}
    text = json.dumps({"hooks": {"PreToolUse": [mixed]}}, indent=2)
    after = jsonc.parse(nested_hooks.drop(text, None))
    assert after == {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [foreign]}]}}


def test_an_event_that_we_no_longer_hear_is_given_back() -> None:
    text = nested_hooks.put("", {"Stop": GROUP, "PreToolUse": GROUP})
    assert list(jsonc.parse(nested_hooks.put(text, {"PreToolUse": GROUP}))["hooks"]) == ["PreToolUse"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a" 1}',
        '{"a": 1} x',
        "[1,,2]",
        "{'a': 1}",
        '{"a": 01}',
        '"\\x"',
        "{,}",
        "[" * 900 + "]" * 900,
        '{"a": 1 "b": 2}',
    ],
)
def test_broken_json_is_never_edited(text: str) -> None:
    with pytest.raises(Unreadable):
        jsonc.put(text, ("mcpServers", "vlk2"), OURS)


# TOML ------------------------------------------------------------------------------------------------------

_toml_texts = st.lists(
    st.sampled_from(
        [
            'model = "gpt-5" # mine\n',
            "# a comment\n\n",
            "[analytics]\nenabled = false\n",
            '[mcp_servers.other]\ncommand = "x"\nargs = ["[mcp_servers.vlk2]"]\n\n',
            '[[hooks.PreToolUse]]\nmatcher = "^Bash$"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "lint"\n',
            '[notes]\ntext = """\n[a line like a header]\n"""\n',
            "[profiles.fast]\nlist = [\n  1,\n  2,\n]\n",
        ]
    ),
    max_size=5,
    unique=True,
).map(lambda parts: "".join(sorted(parts, key=lambda part: part.startswith("["))))


def _with_server(text: str) -> str:
    document = toml.parse(text)
    servers = {**document.get("mcp_servers", {}), "vlk2": OURS}
    return toml.append(text, toml.table(("mcp_servers", "vlk2"), OURS), {**document, "mcp_servers": servers})


@settings(max_examples=60, deadline=None)
@given(_toml_texts, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_a_toml_table_is_appended_and_all_before_it_is_as_it_was(text: str, line: str, ends: bool) -> None:
    text = (text if ends else text.rstrip("\n")).replace("\n", line)
    after = _with_server(text)
    assert after.startswith(text)
    assert toml.parse(after)["mcp_servers"]["vlk2"] == OURS


def test_a_table_that_cannot_be_appended_is_not() -> None:
    with pytest.raises(Unreadable):
        _with_server('mcp_servers = { other = { command = "x" } }\n')


def test_an_inner_table_and_odd_names_are_written_as_toml() -> None:
    entry = {
        "command": 'C:\\Tools\\"vlk2"',
        "args": ["serve"],
        "env": {"VLK2_CONFIG": "/x y/ü", "odd name": "1"},
    }
    assert toml.parse(toml.table(("mcp_servers", "vlk2"), entry)) == {"mcp_servers": {"vlk2": entry}}


# YAML ------------------------------------------------------------------------------------------------------

_YAML = [
    "",
    "# only a comment\n",
    "model:\n  default: m1 # mine\n",
    "mcp_servers:\n",
    "mcp_servers: {}\n",
    "plugins:\n  enabled:\nmodel: m\n",
    "mcp_servers: {other: {command: x}}\nplugins: {enabled: [a, b]}\n",
    "mcp_servers:\n    # first\n    other:\n        command: x\n        args: [serve]\n    # last\n\nmodel: m\n",
    "plugins:\n  enabled:\n  - a\n  # note\n  - b\nmodel: m",
    "plugins:\n  enabled: []\n  disabled:\n    - z\n",
    "text: |\n  mcp_servers:\n    vlk2: no\nlist:\n- 1\n- 2\n",
    "model: m\r\nplugins:\r\n  disabled:\r\n    - z\r\n",
]


@pytest.mark.parametrize("text", _YAML)
def test_yaml_entries_go_in_and_come_out_and_comments_stay(text: str) -> None:
    before = yaml.parse(text)
    after = yaml.put_item(yaml.put(text, ("mcp_servers", "vlk2"), OURS), ("plugins", "enabled"), "vlk2")
    found = yaml.parse(after)
    assert found["mcp_servers"] == {**(before.get("mcp_servers") or {}), "vlk2": OURS}
    assert sorted(found["plugins"]["enabled"]) == sorted(
        [*(before.get("plugins", {}).get("enabled") or []), "vlk2"]
    )
    assert {key: found[key] for key in before if key not in ("mcp_servers", "plugins")} == {
        key: before[key] for key in before if key not in ("mcp_servers", "plugins")
    }
    assert all(remark in after for remark in ("# first", "# last", "# note", "# mine") if remark in text)
    assert yaml.put(after, ("mcp_servers", "vlk2"), OURS) == after
    back = yaml.drop(after, ("mcp_servers", "vlk2"), keep=before)
    assert yaml.parse(yaml.drop_item(back, ("plugins", "enabled"), "vlk2", keep=before)) == before


@pytest.mark.parametrize("text", ["a: [", "- 1\n- 2\n", "a: b: c\n", "mcp_servers: text\n", "\t- x: {\n"])
def test_broken_or_foreign_yaml_is_never_edited(text: str) -> None:
    with pytest.raises(Unreadable):
        yaml.put(text, ("mcp_servers", "vlk2"), OURS)
