"""The Go toolchain: build, vet, test, and panics with their goroutine dumps."""

from __future__ import annotations

from vlk2.domain.fingerprint.rows import CRASH, TEST, UNCODED, Row, Table

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
            "go-runtime",
            "panic: runtime error: ",
            r"panic: (?P<type>runtime error: [a-z][^\[\d:]*?)(?: \[(?P<message>.*))?$",
            CRASH,
        ),
        Row("go-panic", "panic: ", r"panic: (?P<message>.*)", CRASH, type="panic"),
        Row("go-fatal", "fatal error: ", r"(?P<type>fatal error: .*)", CRASH),
        Row("go-test", "--- FAIL: ", r"\s*--- FAIL: (?P<test>\S+)", TEST, type="test"),
    ),
)
