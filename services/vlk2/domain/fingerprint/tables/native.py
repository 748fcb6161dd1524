"""C and its kin: gcc, clang, MSVC, linkers, make, CMake, ninja; and every compiler that prints the GNU way."""

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

_LANGUAGES = {
    "c": "c", "h": "c", "cc": "c", "cpp": "c", "cxx": "c", "c++": "c", "hpp": "c", "hh": "c", "hxx": "c", "C": "c",
    "inl": "c", "i": "c", "m": "c", "mm": "c", "cu": "c", "S": "c", "swift": "swift", "kt": "kotlin", "kts": "kotlin",
    "hs": "haskell", "lhs": "haskell", "ml": "ocaml", "mli": "ocaml", "rs": "rust", "zig": "zig", "nim": "nim",
    "d": "d", "f90": "fortran", "f": "fortran", "f95": "fortran", "v": "verilog", "sv": "verilog", "vhd": "vhdl",
    "proto": "protobuf", "py": "python", "pyi": "python", "pyx": "python", "js": "javascript", "ts": "typescript",
    "tsx": "typescript", "jsx": "javascript", "rb": "ruby", "lua": "lua", "pl": "perl", "php": "php", "cs": "csharp",
    "scala": "scala", "java": "java", "go": "go", "ex": "elixir", "exs": "elixir", "erl": "erlang", "dart": "dart",
    "sh": "shell", "sql": "sql", "tf": "terraform", "yml": "yaml", "yaml": "yaml", "sol": "solidity", "groovy": "java",
}  # fmt: skip


def language_of(file: str, default: str = "c") -> str:
    """The language that a file's extension tells."""
    return _LANGUAGES.get(file.rpartition(".")[2], default)


@cache
def _gnu() -> re.Pattern[str]:
    return re.compile(
        r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]{0,300}):\d+(?:[:.]\d+(?:-\d+(?:\.\d+)?)?)?: "
        r"(?P<kind>fatal error|internal compiler error|error|Error|ERROR|warning|sorry, unimplemented): (?P<message>.*)$"
    )


def _flag(message: str) -> tuple[str, str]:
    """The option that a diagnostic names at its end, `[-Wshadow]`, and the message without it."""
    if message.endswith("]"):
        head, bracket, tail = message[:-1].rpartition(" [-")
        if bracket and " " not in tail:
            flag = "-" + tail.partition(",-")[2] if tail.startswith("Werror,-") else "-" + tail
            return flag.replace("-Werror=", "-W"), head
    return "", message


def _diagnostics(page: Page) -> list[Found]:
    found: list[Found] = []
    pattern = _gnu()
    for literal in ("rror: ", "ERROR: ", "arning: ", "unimplemented: "):
        for index, line in page.candidates(literal, pattern):
            hit = pattern.match(line)
            if hit is None:
                continue
            kind, file = hit["kind"], hit["file"]
            language = language_of(file)
            if language == "java" or (language == "python" and line.endswith("]") and "  [" in line):
                continue
            flag, message = _flag(hit["message"])
            serious = kind != "warning"
            found.append(
                Found(
                    "gnu",
                    (UNCODED + 5 if flag else UNCODED) if serious else WARNING,
                    language,
                    flag,
                    message,
                    index,
                    file=file,
                    specific=bool(flag),
                    strong=serious,
                    detail="" if serious else "warning",
                )
            )
    return found


def _cmake(page: Page) -> list[Found]:
    """`CMake Error at FILE:LINE (command):`, an empty line, then the indented message."""
    found: list[Found] = []
    for index, line in page.containing("CMake Error"):
        if not line.startswith("CMake Error"):
            continue
        message = line.partition("CMake Error: ")[2]
        if not message:
            message = next((text.strip() for text in page.lines[index + 1 : index + 5] if text.strip()), "")
        file = line.partition(" at ")[2].partition(":")[0]
        found.append(
            Found(
                "cmake", UNCODED, "cmake", "", message, index, file=file, headline=f"CMake Error: {message}"
            )
        )
    return found


TABLE = Table(
    "c",
    (
        *(
            Row("msvc", f"error {prefix}", r" ?(?:(?P<file>[^\s(:][^(\n]{0,300}?)(?:\(\d+(?:,\d+){0,3}\))? ?: )(?:(?:[\w .-]{1,40} )?: )?(?:fatal )?error (?P<type>" + prefix + r"\d{3,4}) ?: (?P<message>.*?)(?: \[[^\]]*proj\])?$", CODED, specific=True)
            for prefix in ("C", "LNK", "D", "RC", "U")
        ),
        Row("ld-undefined", "undefined reference to ", r"(?:.*?[:(])?.*?(?P<message>undefined reference to .*)", UNCODED - 1, type="undefined-reference", specific=True),
        Row("ld-undefined-symbol", "ndefined symbol", r"(?:\S*ld\S*: )?(?:error: )?(?P<message>[Uu]ndefined symbols?(?: for architecture \w+)?: ?.*)", UNCODED - 1, type="undefined-symbol", specific=True),
        Row("ld-missing", "cannot find -l", r"\S*ld\S*: (?P<message>cannot find) -l(?P<symbol>\S+?)(?::.*)?$", UNCODED - 1, type="library-not-found", specific=True, fixed=True),
        Row("ld-duplicate", "multiple definition of ", r".*?(?P<message>multiple definition of [`'‘].*?[`'’])", UNCODED - 1, type="multiple-definition", specific=True),
        Row("clang-limit", "too many errors emitted", r"fatal error: too many errors emitted.*", TRAILER, type="too-many-errors", fixed=True),
        Row("collect2", "ld returned", r"collect2: error: ld returned \d+ exit status", TRAILER, type="ld", fixed=True),
        Row("clang-trailer", ": error: linker command failed", r".*: error: linker command failed.*", TRAILER, type="ld", fixed=True),
        Row("driver", " error: ", r"(?:\S*[/\\])?(?:cc1\w*|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|clang-\d+|ld|ld\.\w+|lld|cl)(?:\.exe)?: (?:fatal )?error: (?P<message>.*)", UNCODED - 2),
        Row("loader", "error while loading shared libraries", r"\S+: (?P<message>error while loading shared libraries): (?P<symbol>\S+?): .*", TOOL, type="missing-library", fixed=True),
        Row("loader-android", "CANNOT LINK EXECUTABLE", r"CANNOT LINK EXECUTABLE .*?: (?P<message>.*)", TOOL, type="missing-library"),
        Row("make-rule", "No rule to make target", r"(?:g|n)?make(?:\[\d+\])?: \*\*\* (?:\[.*\] )?(?P<message>No rule to make target .*?)\.? +Stop\.|(?:g|n)?make(?:\[\d+\])?: \*\*\* (?P<symbol>No rule to make target .*)", TOOL, language="make", type="no-rule"),
        Row("make-parse", "*** ", r"(?P<file>[^\s:]+):\d+: \*\*\* (?P<message>.*?)\.? +Stop\.", UNCODED, language="make"),
        Row("make-trailer", "*** [", r"(?:g|n)?make(?:\[\d+\])?: \*\*\* \[.*", TRAILER, language="make", type="recipe-failed", fixed=True),
        Row("ninja-trailer", "ninja: ", r"ninja: (?P<message>(?:build stopped|error|fatal).*)", TRAILER, language="ninja"),
        Row("gtest", "[  FAILED  ]", r"\[  FAILED  \] (?P<test>[\w/]+\.[\w/]+)", TEST, type="test", fixed=True),
        Row("gtest-place", ": Failure", r"(?P<file>[^\s:]+):\d+: Failure$", TEST + 1, type="expectation"),
        Row("assert-c", "Assertion ", r"(?:\S+: )?(?P<file>[^\s:]+):\d+: (?P<symbol>.{1,300}?): Assertion [`'](?P<message>.*)['`] failed", CRASH, type="assertion-failed"),
        Row("assert-mac", "Assertion failed: ", r"Assertion failed: \(?(?P<message>.*?)\)?, (?:function (?P<symbol>\w+), )?file (?P<file>[^,]+), line \d+", CRASH, type="assertion-failed"),
        Row("terminate", "terminate called after throwing", r"terminate called after throwing an instance of '(?P<type>[^']+)'(?P<message>)", CRASH - 1),
        Row("uncaught-cpp", "terminating ", r"(?:libc\+\+abi: |libc\+\+abi\.dylib: )?terminating (?:due to|with) uncaught exception of type (?P<type>[\w:]+)(?:: (?P<message>.*))?", CRASH - 1),
        Row("segfault", "egmentation fault", r"(?:.*: )?(?:line \d+: +\d+ )?Segmentation fault(?P<message>).*", CRASH - 5, type="SIGSEGV"),
        Row("glibc", "*** ", r"\*\*\* (?P<message>stack smashing detected|buffer overflow detected)\b.*|(?:free|malloc|double free|corrupted|munmap_chunk|realloc)\S*\(?.*\): (?:invalid|memory|double).*", CRASH - 3, type="SIGABRT"),
    ),
    finders=(_diagnostics, _cmake),
)  # fmt: skip
