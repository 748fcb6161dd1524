"""The tools of coding agents themselves: edits that match nothing, files unread, calls malformed."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import CODED, TOOL, Row, Table


def _tool(kind: str, guard: str, pattern: str, *, rank: int = TOOL + 2) -> Row:
    return Row(
        f"agent-{kind}",
        guard,
        r"(?:<tool_use_error>|Error: |ERROR: |error: )?" + pattern,
        rank,
        type=kind,
        specific=True,
        fixed=True,
    )


def _timeout(guard: str, pattern: str) -> Row:
    return Row(
        "agent-timeout", guard, pattern, CODED, type="timeout", specific=True, transient=True, fixed=True
    )


TABLE = Table(
    "agent",
    (
        _tool("edit-no-match", "not found in", r".{0,40}?(?:String to replace not found in file|old_string not found in|oldString not found in|No match(?:es)? found for|search string not found in|Could not find .{0,30}string|could not find the string to replace).*"),
        _tool("edit-no-match", "did not appear verbatim", r".*?`?old_str`?.*did not appear verbatim(?: in (?P<file>\S+))?.*"),
        _tool("edit-no-match", "No replacement was performed", r"No replacement was performed, old_str\b.*"),
        _tool("edit-no-match", "could not find", r".{0,60}?[Ff]ailed to edit, (?:0 occurrences found|could not find the string to replace).*"),
        _tool("edit-no-match", "0 occurrences found", r".{0,60}?0 occurrences found.*"),
        _tool("edit-no-match", "SEARCH", r".{0,60}?(?:SearchReplaceNoExactMatch|SEARCH block failed to match|SEARCH/REPLACE block failed).*"),
        _tool("edit-no-match", "Failed to find expected lines", r".{0,80}?Failed to find (?:expected lines|context)(?:.*? in (?P<file>\S+))?.*"),
        _tool("edit-many-matches", "matches of the string", r"Found \d+ matches of the string to replace.*"),
        _tool("edit-many-matches", "ultiple occurrences", r".*?[Mm]ultiple occurrences of `?old_str.*"),
        _tool("edit-no-change", "exactly the same", r".*?(?:old_string and new_string|old_str and new_str).* exactly the same.*"),
        _tool("file-unread", "has not been read yet", r"File has not been read yet.*"),
        _tool("file-changed", "modified since read", r"File has been (?:unexpectedly )?modified since read.*"),
        _tool("file-not-found", "does not exist", r"(?:File|Path|Directory) (?:(?P<file>\S+) )?does not exist\b.*"),
        _tool("file-not-found", "File not found", r"File not found[:.] ?(?P<file>\S*).*"),
        _tool("file-too-large", "exceeds maximum allowed", r"File content .* exceeds maximum allowed.*"),
        _tool("invalid-arguments", "InputValidationError", r"InputValidationError.*"),
        _tool("invalid-arguments", "nvalid arguments for tool", r".{0,40}?[Ii]nvalid arguments for tool .*"),
        _tool("invalid-arguments", "Missing required parameter", r".{0,40}?Missing required parameter.*"),
        _tool("invalid-arguments", "is required for command", r"Parameter `\w+` is required for command.*"),
        _tool("edit-broken", "introduced new syntax error", r"Your proposed edit has introduced new syntax error.*", rank=CODED + 2),
        _tool("edit-broken", "have NOT been applied", r"Your changes have NOT been applied.*", rank=CODED + 1),
        _tool("malformed-call", "EXACTLY ONE action", r"Please always provide EXACTLY ONE action.*"),
        _tool("unknown-tool", "No such tool available", r"No such tool available.*"),
        _tool("unknown-tool", "not found in registry", r"Tool .* not found in registry.*"),
        _tool("declined", "doesn't want to", r"The user doesn't want to (?:proceed|take).*"),
        _tool("declined", "ermission to use", r".{0,60}?[Pp]ermission to use \w+ .*(?:denied|has been).*"),
        _tool("cancelled", "Sibling tool call errored", r".*Sibling tool call errored.*"),
        _tool("timeout", "Command timed out", r"Command timed out after .*", rank=TOOL - 10),
        _timeout("timed out after", r"<exception>.*timed out after [\d.]+ seconds.*"),
        _timeout("timed out and has been killed", r"The last command <command>.*"),
        _timeout("timed out and has been killed", r".*</command> timed out and has been killed.*"),
        Row("agent-tool-error", "<tool_use_error>", r"<tool_use_error>(?P<message>.*?)(?:</tool_use_error>)?$", TOOL, type="tool-use-error"),
    ),
)  # fmt: skip
