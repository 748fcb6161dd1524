"""JavaScript: uncaught errors of Node and browsers, ESLint, bundlers, Jest, Vitest and Mocha."""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import (
    CODED,
    CRASH,
    TEST,
    TOOL,
    TRAILER,
    UNCODED,
    WARNING,
    Found,
    Row,
    Table,
)
from vlk2.domain.fingerprint.tables.exceptions import PYTHON


@cache
def _error() -> re.Pattern[str]:
    return re.compile(
        r"\s*(?:(?:Uncaught|Unhandled Rejection|Unhandled)(?: exception)?:? |\[cause\]: |Caused by: )?"
        r"(?P<type>(?:[A-Z]\w{0,60})?(?:Error|Exception))(?: \[(?P<code>\w+)\])?(?:: (?P<message>.*))?$"
    )


def _own_frame(page: Page, index: int) -> str:
    """The function of the first frame that is not the runtime's."""
    for line in page.lines[index + 1 : index + 12]:
        frame = line.strip()
        if frame.startswith("at ") and "node:" not in frame and "node_modules" not in frame and " (" in frame:
            return frame[3:].partition(" (")[0].removeprefix("async ").removeprefix("new ")
    return ""


def _browser_frame(line: str) -> bool:
    """A frame as Firefox and Safari print it: `name@https://host/file.js:12:3`."""
    place = line.rpartition("@")[2]
    return "://" in place[:24] and place[-1:].isdigit() and " " not in place


def _errors(page: Page) -> list[Found]:
    """A line `Name: message` with a stack below it, or with the caret of a source line above."""
    if not any(page.holds(mark) for mark in (" at ", "Node.js v", "^", "@http", "@file", "@webpack", ".js:")):
        return []
    found: list[Found] = []
    lines = page.lines
    pattern = _error()
    for literal in ("Error", "Exception"):
        for index, line in page.candidates(literal, pattern):
            hit = pattern.match(line)
            if hit is None:
                continue
            below = lines[index + 1 : index + 30]
            stack = False
            for text in below:
                if text.lstrip().startswith("at ") or _browser_frame(text):
                    stack = True
                    break
                if pattern.match(text):
                    break
            caret = not any(
                text.lstrip().startswith('File "') for text in lines[max(0, index - 5) : index]
            ) and any(
                text.strip() and not text.strip().strip("^~") for text in lines[max(0, index - 3) : index]
            )
            if not stack and (not caret or hit["type"].removesuffix("Error") in PYTHON):
                continue
            message = hit["message"] or ""
            if message.endswith(":"):
                message += " " + next((text.strip() for text in below if text.strip()), "")
            own = _own_frame(page, index) if not message else ""
            cause = "[cause]" in line or line.startswith("Caused by")
            found.append(
                Found(
                    "node-error",
                    CRASH - 1 if cause else CRASH,
                    "javascript",
                    hit["type"],
                    message,
                    index,
                    detail=hit["code"] or "",
                    symbols=(own,) if own else (),
                )
            )
    return found


def _thrown(page: Page) -> list[Found]:
    """What Node prints of a thrown value that is no Error: the source, the caret, then the value."""
    found: list[Found] = []
    for index, line in page.containing("(Use `node --trace-uncaught"):
        if not line.startswith("(Use `node"):
            continue
        value = next((text for text in reversed(page.lines[max(0, index - 4) : index]) if text.strip()), "")
        found.append(
            Found(
                "node-thrown",
                CRASH - 2,
                "javascript",
                "throw",
                value,
                max(0, index - 1),
                headline=f"Uncaught {value}",
            )
        )
    return found


@cache
def _matcher() -> re.Pattern[str]:
    return re.compile(r"expect\([^()]*\)((?:\.(?:not|resolves|rejects))*)\.(\w+)\(|expect\.(\w+)\(")


def _jest(page: Page) -> list[Found]:
    """Jest's blocks: `● suite › test`, an empty line, then what was expected or the error."""
    found: list[Found] = []
    for index, line in page.containing("● "):
        title = line.strip()
        if not title.startswith("● ") or title.startswith(
            ("● Console", "● Validation Warning", "● Deprecation")
        ):
            continue
        title = title[2:].strip()
        body = [text.strip() for text in page.lines[index + 1 : index + 12]]
        first = next((text for text in body if text), "")
        if title == "Test suite failed to run":
            hit = _error().match(first)
            found.append(
                Found(
                    "jest-suite",
                    CRASH,
                    "javascript",
                    "suite-failed",
                    first,
                    index,
                    detail=hit["type"] if hit else "",
                    headline=f"{title}: {first}",
                )
            )
            continue
        if not first:
            continue
        matcher = _matcher().match(first)
        error = _error().match(first)
        if matcher is not None:
            kind = "expect" + (matcher[1] or "") + "." + (matcher[2] or matcher[3])
            message = ""
        elif error is not None:
            kind, message = error["type"], error["message"] or ""
        else:
            kind, message = "test", first
        found.append(
            Found(
                "jest-test",
                CRASH,
                "javascript",
                kind,
                message,
                index,
                test=title,
                headline=f"{title}: {first}",
            )
        )
    return found


def _eslint(page: Page) -> list[Found]:
    """ESLint's stylish form: a file, then `  2:10  error  message  rule` for each of its problems."""
    found: list[Found] = []
    pattern = re.compile(r"\s+\d+:\d+\s+(error|warning)\s+(\S.*?)(?:\s{2,}(\S+))?\s*$")
    for literal in ("  error  ", "  warning  "):
        for index, line in page.candidates(literal, pattern):
            hit = pattern.match(line)
            if hit is None:
                continue
            file = ""
            for above in range(index - 1, max(-1, index - 200), -1):
                if page.lines[above] and not page.lines[above].startswith(" "):
                    file = page.lines[above].strip()
                    break
            rule = hit[3] or ""
            serious = hit[1] == "error"
            found.append(
                Found(
                    "eslint",
                    (CODED if rule else UNCODED) if serious else WARNING,
                    "javascript",
                    rule or "parsing-error",
                    hit[2],
                    index,
                    file=file,
                    specific=bool(rule),
                    strong=serious,
                )
            )
    return found


TABLE = Table(
    "javascript",
    (
        Row(
            "vitest-file",
            " FAIL ",
            r"\s*(?:FAIL|×)\s+(?P<test>\S+\.(?:test|spec)\.\w+(?: > .*)?)",
            TEST,
            type="test",
        ),
        Row(
            "jest-file",
            "FAIL ",
            r"FAIL (?P<file>\S+\.[cm]?[jt]sx?)(?: \([\d.]+ m?s\))?$",
            TRAILER,
            type="test",
            fixed=True,
        ),
        Row("node-test", "not ok ", r"\s*not ok \d+ - (?P<test>.*)", TEST, type="not-ok", fixed=True),
        Row(
            "esbuild",
            "[ERROR] ",
            r"(?:✘|X) \[ERROR\] (?P<message>.*?)(?: \[plugin [\w-]+\])?$",
            UNCODED,
            language="bundler",
        ),
        Row(
            "webpack",
            "Module not found",
            r"(?:\[?\w+\]? )?Module not found: (?:Error: )?(?P<message>Can't resolve .*|.*)",
            UNCODED,
            language="bundler",
            type="module-not-found",
            specific=True,
        ),
        Row(
            "webpack-head",
            "ERROR in ",
            r"ERROR in (?P<file>\S+).*",
            TRAILER + 1,
            language="bundler",
            type="error-in",
            fixed=True,
        ),
        Row(
            "rollup",
            "failed to resolve import",
            r".*?(?P<message>Rollup failed to resolve import .*|Failed to resolve import .*)",
            UNCODED,
            language="bundler",
            type="module-not-found",
            specific=True,
        ),
        Row(
            "vite",
            "[vite",
            r"\[vite(?::[\w-]+)?\]:? (?P<message>.*(?:[Ee]rror|[Ff]ailed|not ).*)",
            TOOL,
            language="bundler",
        ),
        Row("node-fatal", "FATAL ERROR: ", r"FATAL ERROR: (?P<message>.*)", CRASH, type="FATAL ERROR"),
        Row(
            "deno",
            "error: Uncaught",
            r"error: Uncaught (?:\(in promise\) )?(?P<type>\w+): (?P<message>.*)",
            CRASH,
        ),
    ),
    finders=(_errors, _thrown, _jest, _eslint),
)
