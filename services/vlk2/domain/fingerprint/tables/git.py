"""git and its remotes."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import SYSTEM, TOOL, TRAILER, Row, Table

TABLE = Table(
    "git",
    (
        Row("git-conflict", "CONFLICT (", r"CONFLICT \((?P<type>[^)]*)\): (?P<message>.*)", TOOL + 1),
        Row("git-rejected", "[rejected]", r" ! \[(?P<type>rejected|remote rejected)\] +(?P<symbol>\S+ -> \S+) \((?P<message>[^)]*)\)", TOOL + 1),
        Row("git-apply", "patch does not apply", r"error: (?P<file>\S+): patch does not apply", TOOL, language="agent", type="patch-does-not-apply", specific=True, fixed=True),
        Row("git-patch-failed", "error: patch failed", r"error: patch failed: (?P<file>[^:]+):\d+", TOOL - 1, language="agent", type="patch-does-not-apply", specific=True, fixed=True),
        Row("git-corrupt", "corrupt patch", r"error: (?P<message>corrupt patch at .*)", TOOL, language="agent", type="corrupt-patch", fixed=True),
        Row("patch-malformed", "malformed patch", r"patch: \*\*\*\* malformed patch at line \d+.*", TOOL, language="agent", type="corrupt-patch", fixed=True),
        Row("patch-hunk", "FAILED at", r"Hunk #\d+ FAILED at \d+.*", TOOL - 1, language="agent", type="patch-does-not-apply", fixed=True),
        Row("git-push-trailer", "failed to push some refs", r"error: failed to push some refs.*", TRAILER, type="push-failed", fixed=True),
        Row("git-error", "error: ", r"error: (?P<message>pathspec .*|Your local changes .*|The following untracked .*|cannot (?:lock|rebase|pull|update|apply|run|spawn|fetch|stat|overwrite|delete) .*|unable to (?:create|unlink|write|index|resolve|append|auto-detect) .*|src refspec .*|object (?:file|directory) .*|failed to (?:merge|insert|execute prompt) .*|branch .* not found.*|unknown (?:option|switch) .*|could not (?:apply|lock|read|write|revert) .*|you need to resolve.*|Merging is not possible.*|Pulling is not possible.*|Committing is not possible.*|remote (?:\S+ already exists|ref does not exist|unpack failed).*)", TOOL),
        Row("git-transient", "fatal: unable to access", r"fatal: (?P<message>unable to access .*)", TOOL, transient=True),
        Row("git-auth", "fatal: Authentication failed", r"fatal: (?P<message>Authentication failed) for .*", TOOL, type="authentication-failed", transient=True, fixed=True),
        Row("ssh-auth", "Permission denied (publickey", r".*?Permission denied \(publickey.*", TOOL + 1, type="authentication-failed", transient=True, fixed=True),
        Row("git-fatal", "fatal: ", r"(?:remote: )?fatal: (?!error)(?P<message>.*)", TOOL),
        Row("git-hook", "hook declined", r".*?(?P<message>hook declined).*", SYSTEM, type="hook-declined", fixed=True),
        Row("gh", "gh: ", r"gh: (?P<message>.*?)(?: \(HTTP (?P<type>\d{3})\))?$", TOOL),
        Row("graphql", "GraphQL: ", r"GraphQL: (?P<message>.*)", TOOL),
    ),
)  # fmt: skip
