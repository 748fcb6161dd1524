"""The Go toolchain: build, vet, test, modules, and panics with their goroutine dumps."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CRASH, TEST, TOOL, TRAILER, UNCODED, Found, Row, Table


def _tests(page: Page) -> list[Found]:
    """`--- FAIL: TestX`, with the first line that the test itself reported."""
    found: list[Found] = []
    for index, line in page.containing("--- FAIL: "):
        body = line.strip()
        if not body.startswith("--- FAIL: "):
            continue
        test = body[10:].split(" ", 1)[0]
        message = ""
        for below in page.lines[index + 1 : index + 40]:
            text = below.strip()
            if text.startswith(("--- FAIL", "=== ", "FAIL", "ok ")):
                break
            if below.startswith((" ", "\t")) and ".go:" in text:
                message = text.partition(": ")[2]
                break
        found.append(
            Found(
                "go-test",
                TEST if message else TEST - 1,
                "go",
                "test",
                message,
                index,
                test=test,
                symbols=(test.split("/")[0],),
                headline=f"{test}: {message}" if message else body,
            )
        )
    return found


def _panics(page: Page) -> list[Found]:
    found: list[Found] = []
    for index, line in page.containing("panic: "):
        body = line.lstrip("\t")  # a panic that follows a recovered one stands indented below it
        if not body.startswith("panic: "):
            continue
        message = body[7:].removesuffix(" [recovered]")
        if message.startswith("runtime error: "):
            # the kind of a runtime error is its text up to the first value: `index out of range [5] with …`
            kind = message.split(" [")[0].split(": goroutine")[0]
            kind = kind if kind.count(":") == 1 else ":".join(kind.split(":")[:2])
            found.append(Found("go-panic", CRASH, "go", kind.strip(), message[len(kind) :], index))
        else:
            found.append(Found("go-panic", CRASH, "go", "panic", message, index))
    if "goroutine " in page.text or "runtime" in page.text:
        for index, line in page.containing("fatal error: "):
            if line.startswith("fatal error: "):
                found.append(Found("go-fatal", CRASH, "go", line, "", index))
    return found


TABLE = Table(
    "go",
    (
        Row(
            "go-build",
            ".go:",
            r"(?:vet: )?(?P<file>[^\s:][^:\n]*\.go):\d+(?::\d+)?: (?P<message>.*)",
            UNCODED,
        ),
        Row(
            "go-module",
            "go: ",
            r"go: (?P<message>(?!downloading|finding|extracting|added|upgraded|creating|to add|found|updates|removed|downgraded|trying|toolchain).*)",
            TOOL,
        ),
        Row(
            "go-no-module",
            "no required module provides package",
            r".*?(?P<message>no required module provides package) (?P<symbol>\S+?);.*",
            TOOL,
            type="no-required-module",
            fixed=True,
        ),
        Row(
            "go-package",
            "is not in ",
            r"(?:\S+:\d+:\d+: )?package (?P<symbol>\S+) is not in (?:GOROOT|std)\b.*",
            TOOL + 1,
            type="package-not-in-std",
            fixed=True,
        ),
        Row("go-trailer", "FAIL\t", r"FAIL\t(?P<symbol>\S+)", TRAILER, type="failed", fixed=True),
    ),
    finders=(_tests, _panics),
)
