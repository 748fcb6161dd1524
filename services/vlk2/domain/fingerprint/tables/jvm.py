"""The JVM: stack traces with their causes, javac, Kotlin, Scala, Maven, Gradle and JUnit."""

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

_PLUMBING = (
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "junit.",
    "org.junit.",
    "org.testng.",
    "org.gradle.",
    "org.apache.maven.",
    "org.mockito.",
    "org.hamcrest.",
    "org.assertj.",
    "kotlin.",
    "scala.",
    "org.springframework.cglib.",
    "net.bytebuddy.",
)


@cache
def _exception() -> re.Pattern[str]:
    return re.compile(
        r"(?:\[ERROR\] )?\s*(?:Exception in thread \"[^\"]*\" |Caused by: |Suppressed: |Wrapped by: |== Java Exception: )?"
        r"(?P<fqcn>(?:[a-z_][\w$]*\.)+[A-Z][\w$]*)(?:: ?(?P<message>.*))?$"
    )


def _is_frame(line: str) -> bool:
    body = line.removeprefix("[ERROR] ").lstrip()
    return body.startswith("at ") and "(" in body


def _own_frame(page: Page, index: int) -> str:
    for line in page.lines[index : index + 40]:
        body = line.removeprefix("[ERROR] ").strip()
        if not body.startswith("at "):
            if body.startswith("Caused by: "):
                break
            continue
        name = body[3:].partition("(")[0].rpartition("/")[2]
        if not name.startswith(_PLUMBING):
            owner, _, method = name.rpartition(".")
            return f"{owner.rpartition('.')[2]}.{method}"
    return ""


def _test_above(page: Page, index: int) -> str:
    """The test whose failure this is: Surefire's `test(Class) … <<< FAILURE!` or Gradle's `Class > test FAILED`."""
    for at in range(index - 1, max(-1, index - 3), -1):
        line = page.lines[at].removeprefix("[ERROR] ").strip()
        if "<<< " in line:
            return line.split("  ")[0].split(" -- ")[0].strip()
        if line.endswith(" FAILED") and " > " in line:
            return line[: -len(" FAILED")]
    return ""


def _traces(page: Page) -> list[Found]:
    """The outermost exception names a trace; the last `Caused by` completes its template."""
    if not page.holds("\tat ") and not page.holds(" at "):
        return []
    found: list[Found] = []
    lines = page.lines
    pattern = _exception()
    index = 0
    seen_frame = -10
    for index, line in enumerate(lines):
        if "." not in line or _is_frame(line):
            if _is_frame(line):
                seen_frame = index
            continue
        hit = pattern.match(line)
        if hit is None:
            continue
        below = index + 1
        last = min(len(lines), index + 60)
        while below < last and not _is_frame(lines[below]):
            if "." in lines[below] and pattern.match(lines[below]):
                break
            below += 1
        framed = below < last and _is_frame(lines[below])
        if not framed and not (
            hit["message"] is not None and hit["fqcn"].endswith(("Error", "Exception", "Failure"))
        ):
            continue
        name = hit["fqcn"].rpartition(".")[2]
        message = hit["message"] or ""
        body = line.removeprefix("[ERROR] ").strip()
        if body.startswith(("Caused by: ", "Suppressed: ")) and found and seen_frame >= 0:
            found[-1] = found[-1]._replace(
                detail=f"caused by {name}: {message}" if body[0] == "C" else found[-1].detail
            )
            continue
        own = _own_frame(page, below)
        found.append(
            Found(
                "jvm-exception",
                CRASH if framed else CRASH - 4,
                "java",
                name,
                message,
                index,
                test=_test_above(page, index),
                symbols=(own,) if own and not message else (),
                headline=body,
            )
        )
    return found


def _javac(page: Page) -> list[Found]:
    """javac's diagnostics; the indented lines below the caret complete the message."""
    found: list[Found] = []
    lines = page.lines
    for literal, rank in ((": error: ", UNCODED), (": warning: ", WARNING)):
        for index, line in page.containing(literal):
            head, _, message = line.partition(literal)
            file, _, number = head.rpartition(":")
            if not (file.endswith(".java") and number.isdigit()):
                continue
            lint = ""
            if message.startswith("["):
                lint, _, message = message[1:].partition("] ")
            detail: list[str] = []
            for below in lines[index + 1 : index + 14]:
                if ".java:" in below or (
                    below[:1].isdigit()
                    and below.rstrip().endswith(("error", "errors", "warning", "warnings"))
                ):
                    break
                detail.append(below)
            caret = next((at for at, text in enumerate(detail) if text.strip() == "^"), -1)
            said = [
                text.strip()
                for at, text in enumerate(detail)
                if at > caret and text.startswith("  ") and text.strip() != "^"
            ]
            if caret >= 1:  # lines between the head and the echoed source belong to the message
                said = [text.strip() for text in detail[: caret - 1]] + said
            found.append(
                Found(
                    "javac",
                    rank + (1 if lint else 0),
                    "java",
                    lint,
                    message,
                    index,
                    file=file,
                    detail="\n".join(said),
                    specific=bool(lint),
                    strong=rank == UNCODED,
                )
            )
    return found


def _scala3(page: Page) -> list[Found]:
    """Scala 3: `-- [E007] Type Mismatch Error: file:3:5 ---`, the source, and the text behind `|`."""
    found: list[Found] = []
    pattern = re.compile(
        r"(?:\[error\] )?-- (?:\[(E\d{1,4})\] )?([A-Z][\w -]*?(?:Error|Warning)): (\S.*?):\d+:\d+ -*$"
    )
    for index, line in page.containing("-- "):
        hit = pattern.match(line)
        if hit is None:
            continue
        message = ""
        caret = False
        for below in page.lines[index + 1 : index + 30]:
            body = below.removeprefix("[error] ").lstrip(" 0123456789")
            if not body.startswith("|"):
                break
            body = body[1:].strip()
            if not body.strip("^ ") and "^" in body:
                caret = True
            elif caret and body:
                message = body
                break
        serious = hit[2].endswith("Error")
        found.append(
            Found(
                "scala3",
                (CODED if hit[1] else UNCODED) if serious else WARNING,
                "scala",
                hit[1] or "",
                message,
                index,
                file=hit[3],
                detail=hit[2],
                specific=bool(hit[1]),
                strong=serious,
                headline=f"{line.rstrip(' -')}: {message}",
            )
        )
    return found


TABLE = Table(
    "java",
    (
        Row(
            "kotlin",
            ".kt",
            r"e: (?:file://)?(?P<file>\S+\.kts?)(?::\d+:\d+|: \(\d+, \d+\))?:? (?P<message>.*)",
            UNCODED,
            language="kotlin",
        ),
        Row(
            "scala2",
            "[error] ",
            r"\[error\] (?P<file>\S+\.scala):\d+(?::\d+)?: (?P<message>.*)",
            UNCODED,
            language="scala",
        ),
        Row(
            "scala2-plain",
            ".scala:",
            r"(?P<file>\S+\.scala):\d+(?::\d+)?: error: (?P<message>.*)",
            UNCODED,
            language="scala",
        ),
        Row(
            "checkstyle",
            "[ERROR] ",
            r"\[ERROR\] (?P<file>\S+\.java):\[\d+(?:,\d+)?\] \(\w+\) (?P<type>\w+): (?P<message>.*)",
            CODED,
            specific=True,
        ),
        Row(
            "maven-compile",
            "[ERROR] ",
            r"\[ERROR\] (?P<file>\S+\.(?:java|kt|scala|groovy)):\[\d+,\d+\] (?:error: )?(?P<message>.*)",
            UNCODED,
        ),
        Row(
            "maven-goal",
            "[ERROR] Failed to execute goal",
            r"\[ERROR\] Failed to execute goal \S+ (?:\(\S+\) )?on project (?P<symbol>[\w.-]+): (?P<message>.*?)(?: -> \[Help 1\])?$",
            TRAILER + 1,
            language="maven",
        ),
        Row(
            "maven-test",
            "<<< ",
            r"\[ERROR\] (?P<test>\S.*?)\s+(?:Time elapsed: \S+ s\s+)?<<< (?P<type>FAILURE|ERROR)!",
            TEST,
        ),
        Row(
            "maven-pom",
            "[ERROR] ",
            r"\[ERROR\] (?P<message>(?:Non-resolvable|'dependencies|Malformed POM|Unknown lifecycle|The goal you specified|No plugin found|Could not find (?:goal|artifact)|Plugin \S+ or one).*)",
            TOOL,
            language="maven",
        ),
        Row(
            "gradle-wrong",
            "Execution failed for task",
            r"Execution failed for task '(?P<symbol>[^']*)'\.",
            TRAILER + 1,
            language="gradle",
            type="task-failed",
            fixed=True,
        ),
        *(
            Row("gradle-cause", f"> {said}", rf"\s*> (?P<message>{said}.*)", TOOL, language="gradle")
            for said in (
                "Could not ",
                "Cannot ",
                "A problem occurred",
                "Unsupported class file",
                "No such property",
                "Plugin ",
            )
        ),
        Row(
            "gradle-missing",
            "not found in root project",
            r"(?P<message>Task '.*' not found in .*project.*)",
            TOOL,
            language="gradle",
            type="task-not-found",
        ),
        Row(
            "gradle-test",
            " FAILED",
            r"(?P<test>\S+ > .*?) FAILED$",
            TEST,
            language="java",
            type="test",
            fixed=True,
        ),
        Row(
            "gradle-build",
            "Build file '",
            r"Build file '(?P<file>[^']+)' line: \d+",
            TRAILER + 1,
            language="gradle",
            type="build-file",
            fixed=True,
        ),
        Row(
            "java-main",
            "Could not find or load main class",
            r"Error: Could not find or load main class (?P<symbol>\S+)",
            TOOL,
            type="main-class-not-found",
            fixed=True,
        ),
        Row(
            "jvm-fatal",
            "A fatal error has been detected by the Java",
            r"# A fatal error has been detected by the Java.*",
            CRASH,
            type="fatal-error",
            fixed=True,
        ),
    ),
    finders=(_traces, _javac, _scala3),
)
