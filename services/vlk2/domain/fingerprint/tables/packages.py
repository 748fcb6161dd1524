"""Package managers: pip, uv, poetry, npm, yarn, pnpm, bundler, apt."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import TOOL, TRAILER, Found, Row, Table


def _npm(page: Page) -> list[Found]:
    """npm tells an error over several prefixed lines: its code, then what happened."""
    found: list[Found] = []
    for mark in ("npm ERR! ", "npm error "):
        code = message = ""
        at = -1
        told: list[int] = []
        for index, line in page.containing(mark):
            if not line.startswith(mark):
                continue
            rest = line[len(mark) :].strip()
            told.append(index)
            if rest.startswith("code ") and not code:
                code, at = rest[5:].strip(), index
            elif (
                not message
                and rest
                and not rest.startswith(
                    (
                        "errno ",
                        "syscall ",
                        "path ",
                        "A complete log",
                        "code ",
                        "Lifecycle script",
                        "command ",
                        "in workspace",
                        "location",
                    )
                )
            ):
                message = rest.removeprefix(code + " ")
                at = index if at < 0 else at
        if at < 0:
            continue
        trailer = (
            code in ("ELIFECYCLE", "1", "2")
            or code.isdigit()
            or message.startswith(("Test failed", "Lifecycle", "Exit status", "weird error"))
        )
        # every other line of npm's only goes with that one
        found += [
            Found("npm-line", TRAILER, "npm", "script-failed", "", index) for index in told if index != at
        ]
        found.append(
            Found(
                "npm",
                TRAILER if trailer else TOOL,
                "npm",
                code or "error",
                message,
                at,
                specific=bool(code) and not trailer,
                strong=True,
            )
        )
    return found


TABLE = Table(
    "packages",
    (
        Row(
            "pip-no-version",
            "ERROR: Could not find a version",
            r"ERROR: (?P<message>Could not find a version that satisfies the requirement) (?P<symbol>[^\s(]+)",
            TOOL,
            language="pip",
            type="no-matching-distribution",
            specific=True,
            fixed=True,
        ),
        Row(
            "pip-no-match",
            "ERROR: No matching distribution",
            r"ERROR: No matching distribution found for (?P<symbol>\S+)",
            TOOL - 1,
            language="pip",
            type="no-matching-distribution",
            specific=True,
            fixed=True,
        ),
        Row(
            "pip",
            "ERROR: ",
            r"ERROR: (?P<message>(?:Could not (?:install|build|open|import|resolve|detect)|Cannot (?:install|uninstall|unpack|find)|Failed to build|Invalid requirement|Package '|Error while checking|ResolutionImpossible|No \\.egg|HTTP error|THESE PACKAGES|Directory ').*)",
            TOOL - 2,
            language="pip",
        ),
        Row(
            "pip-trailer",
            "ERROR: Failed building wheel",
            r"\s*ERROR: (?P<message>Failed building wheel for .*)",
            TRAILER,
            language="pip",
        ),
        Row(
            "pip-environment",
            "error: externally-managed-environment",
            r"error: (?P<type>externally-managed-environment)",
            TOOL,
            language="pip",
            fixed=True,
        ),
        Row(
            "pip-step",
            "error: ",
            r"\s*(?:×|error:) (?P<message>.* did not run successfully.*)",
            TRAILER + 1,
            language="pip",
            type="subprocess-failed",
        ),
        Row("uv", "× ", r"\s*× (?P<message>.*)", TOOL, language="uv"),
        Row(
            "pnpm",
            "ERR_PNPM_",
            r"\s*(?P<type>ERR_PNPM_\w+)\s+(?P<message>.*)",
            TOOL,
            language="npm",
            specific=True,
        ),
        Row(
            "yarn-trailer",
            "error Command failed with exit code",
            r"error Command failed with exit code \d+",
            TRAILER,
            language="npm",
            type="exit",
            fixed=True,
        ),
        *(
            Row("yarn", f"error {said}", rf"error (?P<message>{said}.*)", TOOL, language="npm")
            for said in (
                "Couldn't",
                "An unexpected",
                "Your lockfile",
                "Found incompatible",
                "The engine",
                "Received malformed",
            )
        ),
        Row(
            "yarn-berry",
            "YN0",
            r"➤ (?P<type>YN\d{4}): .*?(?P<message>(?:[\w@/.-]+ )?(?:couldn't|can't|error|Error|not found|exited).*)",
            TOOL,
            language="npm",
            specific=True,
        ),
        Row("apt", "E: ", r"E: (?P<message>.*)", TOOL, language="apt"),
        Row(
            "bundler",
            "Could not find gem",
            r"(?P<message>Could not find gem .*)",
            TOOL,
            language="ruby",
            type="gem-not-found",
        ),
    ),
    finders=(_npm,),
)
