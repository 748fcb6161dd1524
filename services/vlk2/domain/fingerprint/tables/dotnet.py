"""C#, F#, Visual Basic and MSBuild."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CODED, CRASH, TEST, TRAILER, WARNING, Found, Row, Table


def _exceptions(page: Page) -> list[Found]:
    """`Unhandled exception. Namespace.Name: message`, with its `--->` causes."""
    found: list[Found] = []
    for literal in ("Unhandled exception. ", "Unhandled Exception: "):
        for index, line in page.containing(literal):
            if not line.startswith(literal):
                continue
            head, _, cause = line[len(literal) :].partition(" ---> ")
            name, _, message = head.partition(": ")
            found.append(
                Found(
                    "dotnet-exception", CRASH, "csharp", name.rpartition(".")[2], message, index, detail=cause
                )
            )
    return found


_PLACE = r"(?:\s{0,8}\d+>)? {0,8}(?:(?P<file>[^\s(][^(\n]{0,300}?)(?:\(\d+(?:,\d+){0,3}\))? ?: )?"
_SAID = r"\d{1,6}) ?: (?P<message>.*?)(?: \[[^\]]*proj[^\]]*\])?$"


def _coded(prefix: str, *, language: str = "csharp", rank: int = CODED) -> Row:
    return Row(
        f"msbuild-{prefix}",
        f"error {prefix}",
        _PLACE + rf"(?:fatal )?error (?P<type>{prefix}" + _SAID,
        rank,
        language=language,
        specific=True,
    )


TABLE = Table(
    "csharp",
    (
        *(_coded(prefix) for prefix in ("CS", "FS", "BC", "CA", "IDE", "SA", "xUnit", "NUnit", "RZ")),
        *(_coded(prefix, language="msbuild", rank=CODED - 5) for prefix in ("MSB", "NETSDK", "NU", "MC", "APT", "XA")),
        *(Row(f"warning-{prefix}", f"warning {prefix}", _PLACE + rf"warning (?P<type>{prefix}" + _SAID, WARNING, specific=True, strong=False) for prefix in ("CS", "FS", "CA", "MSB", "NU", "NETSDK", "SA")),
        Row("mcs-trailer", "Compilation failed: ", r"Compilation failed: \d+ error.*", TRAILER, type="failed", fixed=True),
        Row("dotnet-test", "  Failed ", r"\s+Failed (?P<test>[\w.+<>(), \"]+?)(?: \[[^\]]*\])?$", TEST, type="test", fixed=True),
        Row("powershell", "FullyQualifiedErrorId", r"\s*\+ FullyQualifiedErrorId : (?P<type>[\w.]+)(?P<message>.*)", TEST, language="powershell"),
    ),
    finders=(_exceptions,),
)  # fmt: skip
