"""Sanitizers, fuzzers, kernels and crash reports."""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CRASH, Found, Row, Table


@cache
def _frame() -> re.Pattern[str]:
    return re.compile(r"\s*#\d+ (?:0x[0-9a-fA-F]+ +)?(?:in +)?(?P<name>[A-Za-z_~][^\s(]*)")


_RUNTIME = (
    "__asan", "__interceptor", "__sanitizer", "asan_", "gsignal", "abort", "raise", "__assert", "__GI_", "malloc",
    "free", "operator", "calloc", "realloc", "memcpy", "memmove", "memset", "strlen", "__libc", "__fortify", "std::",
    "logging::LogMessage", "_asan_rtl_", "__ubsan", "fuzzer::", "libfuzzer", "rust_panic", "core::panicking",
)  # fmt: skip


def _own(page: Page, index: int) -> tuple[str, ...]:
    """The function in which it happened: the first frame that is not the runtime's."""
    for line in page.lines[index + 1 : index + 40]:
        hit = _frame().match(line)
        if hit is not None and not hit["name"].startswith(_RUNTIME):
            return (hit["name"],)
    return ()


@cache
def _report() -> re.Pattern[str]:
    return re.compile(
        r".*?(?:==\d+== ?)?(?:ERROR|WARNING): (?P<tool>\w*Sanitizer|libFuzzer|Address\w+)(?: CHECK failed)?: (?P<type>"
        r"attempting [\w-]+(?: [a-z]+)?|detected memory leaks|requested allocation size|[\w-]+(?: [a-z]+)?)(?P<rest>.*)"
    )


def _sanitizers(page: Page) -> list[Found]:
    found: list[Found] = []
    pattern = _report()
    for literal in ("Sanitizer: ", "libFuzzer: "):
        for index, line in page.containing(literal):
            if line.lstrip().startswith("SUMMARY: "):
                continue
            hit = pattern.match(line)
            if hit is None:
                continue
            kind = hit["type"].removesuffix(" on").removesuffix(" in").removesuffix(" after").strip()
            access = ""
            for below in page.lines[index + 1 : index + 4]:
                if below.startswith(("READ of", "WRITE of")) or "caused by a " in below:
                    access = "READ" if "READ" in below else "WRITE" if "WRITE" in below else ""
                    break
            # a raised signal or fuzzer exit only ends what an assertion, a check or a panic began
            last = kind in (
                "ABRT",
                "TRAP",
                "ILL",
                "breakpoint",
                "deadly signal",
                "fuzz target exited",
                "timeout",
            )
            found.append(
                Found(
                    "sanitizer",
                    CRASH - 8 if last else CRASH,
                    "sanitizer",
                    kind,
                    access,
                    index,
                    symbols=_own(page, index),
                    headline=line.strip(),
                    specific=True,
                )
            )
    return found


TABLE = Table(
    "sanitizer",
    (
        Row("ubsan", "runtime error: ", r"(?P<file>[^\s:][^:\n]*):\d+:\d+: runtime error: (?P<message>.*)", CRASH, type="undefined-behavior"),
        Row("chrome-check", "FATAL:", r"(?:.*?Abort message: '?)?.{0,40}\[[\d:/.A-Za-z_-]*FATAL:(?P<file>[^(\]:]+)[(:]\d+\)?\] ?(?P<message>.*)", CRASH, type="FATAL"),
        Row("v8-fatal", "# Fatal error in ", r"# Fatal error in (?P<message>.*)", CRASH - 1, type="Fatal error"),
        Row("v8-check", "# Check failed: ", r"# Check failed: (?P<message>.*)", CRASH, type="CHECK failure"),
        Row("v8-check-debug", "# Debug check failed: ", r"# Debug check failed: (?P<message>.*)", CRASH, type="DCHECK failure"),
        Row("v8-memory", "heap out of memory", r"#? ?(?:FATAL ERROR: )?(?P<message>.*JavaScript heap out of memory.*)", CRASH + 1, type="out-of-memory", fixed=True),
        Row("v8-runtime", "# Runtime error in ", r"# Runtime error in (?P<message>.*)", CRASH, type="Runtime error"),
        *(
            Row("glog", mark, r"F\d{4} \d\d:\d{2,4}:\d{2,4}\.\d+ +\d+ (?P<file>[^:\]]+):\d+\] (?P<message>.*)", CRASH, type="FATAL")
            for mark in ("F0", "F1")
        ),
        Row("glib", ":ERROR:", r"\S+:ERROR:(?P<file>[^:]+):\d+:(?P<symbol>\w+): (?P<message>.*)", CRASH, type="assertion-failed"),
        Row("libcheck", "assertion failed", r"(?:.{0,200}?\\] |[\w./:@-]{1,120}: )?(?:[\w.]+ )?(?P<message>[Aa]ssertion failed(?: at)?[ :].*)", CRASH - 1, type="assertion-failed"),
        Row("kernel-bug", "BUG: ", r"(?:\[[^\]]{0,30}\] ?|kernel: |# )?BUG: (?P<message>.*)", CRASH + 1, language="kernel", type="BUG"),
        Row("kernel-panic", "Kernel panic", r".{0,60}?(?P<message>Kernel panic - not syncing: .*)", CRASH, language="kernel", type="panic"),
        Row("kernel-gpf", "general protection fault", r".{0,60}?(?P<message>general protection fault)", CRASH, language="kernel", type="GPF", fixed=True),
        Row("signal", "signal ", r"(?:.*?\b[Ff]atal )?(?:Program received )?(?:Received )?signal (?P<type>\d+|SIG[A-Z]+)\b.*", CRASH - 9, specific=True, fixed=True),
        *(
            Row("valgrind", said, rf"==\d+== (?P<message>{said}.*)", CRASH - 2, type="valgrind")
            for said in ("Invalid read", "Invalid write", "Invalid free", "Conditional jump", "Use of uninit", "Process terminating")
        ),
        Row("leak", "leak of ", r"(?P<type>Direct leak|Indirect leak) of \d+ byte.*", CRASH - 1, specific=True, fixed=True),
        Row("pysecsan", "===BUG DETECTED", r"===BUG DETECTED: (?P<type>[^=]*?)(?:===|:).*", CRASH + 1, fixed=True),
        Row("minidump", "Crash reason: ", r"Crash reason: +(?P<type>[\w./]+)", CRASH - 3, fixed=True),
    ),
    finders=(_sanitizers,),
)  # fmt: skip
