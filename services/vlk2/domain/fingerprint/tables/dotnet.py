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


TABLE = Table(
    "csharp",
    (
        Row("csc", "error ", r"(?:\s{0,8}\d+>)? {0,8}(?:(?P<file>[^\s(][^(\n]{0,300}?)(?:\(\d+(?:,\d+){0,3}\))? ?: )?(?:fatal )?error (?P<type>(?:CS|FS|BC|CA|IDE|SA|xUnit|NUnit)\d{1,6}) ?: (?P<message>.*?)(?: \[[^\]]*proj[^\]]*\])?$", CODED, specific=True),
        Row("msbuild", "error ", r"(?:\s{0,8}\d+>)? {0,8}(?:(?P<file>[^\s(][^(\n]{0,300}?)(?:\(\d+(?:,\d+){0,3}\))? ?: )?(?:fatal )?error (?P<type>(?:MSB|NETSDK|NU|MC|APT|XA)\d{3,5}) ?: (?P<message>.*?)(?: \[[^\]]*proj[^\]]*\])?$", CODED - 5, language="msbuild", specific=True),
        Row("csc-warning", "warning ", r"(?:\s{0,8}\d+>)? {0,8}(?:(?P<file>[^\s(][^(\n]{0,300}?)(?:\(\d+(?:,\d+){0,3}\))? ?: )?warning (?P<type>[A-Z]{2,6}\d{3,5}) ?: (?P<message>.*?)(?: \[[^\]]*proj[^\]]*\])?$", WARNING, specific=True, strong=False),
        Row("mcs-trailer", "Compilation failed: ", r"Compilation failed: \d+ error.*", TRAILER, type="failed", fixed=True),
        Row("dotnet-test", "  Failed ", r"\s+Failed (?P<test>[\w.+<>(), \"]+?)(?: \[[^\]]*\])?$", TEST, type="test", fixed=True),
        Row("powershell", "FullyQualifiedErrorId", r"\s*\+ FullyQualifiedErrorId : (?P<type>[\w.]+)(?P<message>.*)", TEST, language="powershell"),
    ),
    finders=(_exceptions,),
)  # fmt: skip
