"""Python: tracebacks, chained and grouped, syntax errors, pytest and unittest."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CRASH, TEST, TOOL, TRAILER, Found, Row, Table

_HEAD = "Traceback (most recent call last)"
_HANDLING = "During handling of the above exception"
_CAUSE = "The above exception was the direct cause"
_PLUMBING = (
    "_pytest/",
    "/unittest/",
    "pluggy/",
    "/concurrent/futures/",
    "importlib/",
    "<frozen ",
    "/runpy.py",
)


def exception(line: str) -> tuple[str, str] | None:
    """`pkg.Name: message` or `pkg.Name` as (Name, message); None where the line has not that shape."""
    name, colon, message = line.partition(": ")
    if not colon:
        name = name.rstrip(":")
    name = name.strip()
    if len(name) > 200 or not name.replace("<locals>.", "").replace(".", "").isidentifier():
        return None
    return name.rpartition(".")[2], message.strip()


def _unittest_name(page: Page, head: int) -> str:
    """The test that unittest names above a traceback: `FAIL: test_x (mod.Class.test_x)`."""
    for index in range(max(0, head - 4), head):
        line = page.lines[index]
        if line.startswith(("FAIL: ", "ERROR: ")) and " (" in line:
            test, _, owner = line.partition(": ")[2].partition(" (")
            owner = owner.rstrip(")")
            if owner.endswith("." + test):
                owner = owner[: -len(test) - 1]
            return f"{owner.rpartition('.')[2]}.{test}"
    return ""


def _one_traceback(page: Page, start: int) -> tuple[Found, int, bool] | None:
    """The exception that the traceback from line `start` ends in, its last line, and whether it is a group."""
    lines = page.lines
    head = lines[start]
    margin = head.find(_HEAD)
    group = "Exception Group" in head
    if group:
        margin = head.find("Exception Group")
    strip = head[:margin]
    bar = strip.replace("+", " ").rstrip("- ")
    width = len(bar) if group or "|" not in strip else margin
    file = function = source = ""
    index = start + 1
    while index < len(lines):
        line = lines[index]
        body = line[width:].removeprefix("| ") if group else line[margin:]
        if line[: min(margin, width)].strip(" |+-"):
            return None
        if body.startswith("  File "):
            if not any(part in body for part in _PLUMBING) or not file:
                quoted = body.split('"', 2)
                file = quoted[1] if len(quoted) > 2 else ""
                function = body.rpartition(", in ")[2] if ", in " in body else ""
                source = lines[index + 1][margin:].strip() if index + 1 < len(lines) else ""
        elif (body.strip() and not body.startswith((" ", "\t"))) and (
            file or exception(body) is not None or index > start + 20
        ):
            break  # until the first frame, what the program printed may stand in between
        index += 1
    if index >= len(lines):
        return None
    body = (lines[index][width:].removeprefix("| ") if group else lines[index][margin:]).rstrip()
    named = exception(body)
    if named is None:
        return None
    name, message = named
    symbols = ()
    if not message:
        symbols = (function,) if function and function != "<module>" else ()
    detail = source if not message and source.startswith("assert ") else ""
    return (
        Found(
            "python-traceback",
            CRASH,
            "python",
            name,
            message,
            index,
            file=file,
            test=_unittest_name(page, start),
            symbols=symbols,
            detail=detail,
            headline=body,
        ),
        index,
        group,
    )


def _tracebacks(page: Page) -> list[Found]:
    """Every traceback. Of a chain the last is the headline and its template names the first, the cause; of a
    group the first member is."""
    found: list[Found] = []
    cause = ""
    done = -1
    for start, _ in page.containing(_HEAD):
        if start <= done:
            continue
        read = _one_traceback(page, start)
        if read is None:
            cause = ""
            continue
        one, done, group = read
        after = (
            "\n".join(page.lines[done + 1 : done + 40]) if page.holds(_CAUSE) or page.holds(_HANDLING) else ""
        )
        following = after.partition(_HEAD)[0]
        linked = (_CAUSE in following or _HANDLING in following) and _HEAD in after
        if group:
            one = one._replace(rank=CRASH - 3)
        if page.lines[start].startswith("    ") and any(
            ">>> " in text for text in page.lines[max(0, start - 6) : start]
        ):
            one = one._replace(strong=False)  # a doctest in a source file shows what would be raised
        if linked:
            found.append(one._replace(rank=CRASH - 2))
            cause = cause or one.type
            continue
        found.append(one._replace(detail=f"{one.detail} from {cause}") if cause else one)
        cause = ""
    return found


def _syntax(page: Page) -> list[Found]:
    """Errors of the parser, which come without a traceback head."""
    found: list[Found] = []
    for literal in ("SyntaxError: ", "IndentationError: ", "TabError: "):
        for index, line in page.containing(literal):
            above = page.lines[max(0, index - 5) : index]
            place = next((text for text in above if text.lstrip().startswith('File "')), "")
            if line.startswith(literal) and place and _HEAD not in page.text:
                found.append(
                    Found(
                        "python-syntax",
                        CRASH,
                        "python",
                        literal[:-2],
                        line[len(literal) :],
                        index,
                        file=place.split('"')[1],
                    )
                )
    return found


def _located(line: str) -> tuple[str, str] | None:
    """pytest's closing line of a block, `tests/test_x.py:12: ValueError`, as (file, name)."""
    place, colon, name = line.rpartition(": ")
    if not colon or place.count(":") < 1 or not name.replace(".", "").isidentifier():
        return None
    file, _, number = place.rpartition(":")
    return (file, name.rpartition(".")[2]) if number.isdigit() and ".py" in file else None


def _test_name(line: str) -> str:
    """The test that heads a block, `____ TestX.test_y ____`; empty where the line is no head."""
    if line.startswith("__") and line.endswith("__"):
        name = line.strip("_").strip()
        return name if name and line.count("_ _") < 3 else ""
    return ""


def _blocks(page: Page) -> list[Found]:
    """The failure blocks of pytest: the last exception of each block, with its first line of explanation."""
    if not page.holds("\nE  ") and not page.text.startswith("E  "):
        return []
    found: list[Found] = []
    test = ""
    run: list[tuple[int, str]] = []
    runs: list[list[tuple[int, str]]] = []
    place: tuple[str, str] | None = None

    def close() -> None:
        if not runs and not run:
            return
        last = run or runs[-1]
        index, first = last[0]
        named = exception(first)
        if named is not None and not (
            named[0][0].isupper() and (named[1] or place is not None or first[0] != " ")
        ):
            named = None
        name = place[1] if place is not None else named[0] if named else "AssertionError"
        message = named[1] if named is not None and (place is None or named[0] == name) else first
        found.append(
            Found(
                "pytest-block",
                CRASH,
                "python",
                name,
                message,
                index,
                file=place[0] if place else "",
                test=test,
                headline=first if named else f"{name}: {first}",
            )
        )

    for index, line in enumerate(page.lines):
        if line.startswith("E  "):
            if place is not None:
                runs, place = [], None
            run.append((index, line[1:].strip()))
            continue
        if run:
            runs.append(run)
            run = []
        head = _test_name(line)
        if head or line.startswith(("=====", "FAILED ")):
            close()
            runs, place, test = [], None, head or test
        elif runs and place is None and line:
            place = _located(line)
    close()
    return found


def _summary(page: Page) -> list[Found]:
    """The short summary of pytest. A test whose block stands above is not told twice."""
    if not any(page.holds(word) for word in ("FAILED ", "ERROR ")):
        return []
    told = {one.test for one in _blocks(page)}
    found: list[Found] = []
    for literal in ("FAILED ", "ERROR "):
        for index, line in page.containing(literal):
            if not line.startswith(literal):
                continue
            rest = line[len(literal) :]
            cut = (
                rest.find("] - ") + 1
                if "[" in rest.partition(" - ")[0] and "] - " in rest
                else rest.find(" - ")
            )
            node, reason = (rest[:cut], rest[cut + 3 :]) if cut > 0 else (rest, "")
            if ".py" not in node or (" " in node and "[" not in node):
                continue
            file, _, name = node.partition("::")
            test = name.replace("::", ".")
            if test and test in told:
                continue
            named = exception(reason)
            if named is None and reason.startswith(("assert ", "AssertionError")):
                named = ("AssertionError", reason)
            kind, message = named if named is not None else ("failed", reason)
            found.append(Found("pytest-summary", TEST, "python", kind, message, index, file=file, test=test))
    return found


def _launched(page: Page) -> list[Found]:
    """`python -m NAME` of a missing module, as the exception that an import of it would raise."""
    found: list[Found] = []
    for guard, head in (
        (": No module named ", ": No module named "),
        ("module specification", "(ModuleNotFoundError: No module named "),
    ):
        for index, line in page.containing(guard):
            start, mark, rest = line.partition(head)
            program = start.split(":", 1)[0].rsplit("/", 1)[-1].removesuffix(".exe")
            if mark and program.startswith("python") and " " not in program:
                name = rest.strip().strip("'\").")
                message = f"No module named '{name}'"
                found.append(
                    Found("python-no-module", CRASH, "python", "ModuleNotFoundError", message, index)
                )
    return found


TABLE = Table(
    "python",
    (
        Row(
            "python-fatal",
            "Fatal Python error",
            r"Fatal Python error: (?P<message>.*)",
            CRASH,
            type="Fatal Python error",
        ),
        Row(
            "python-no-script",
            "can't open file",
            r"\S*python[\d.]*(?:\.exe)?: (?P<message>can't open file .*)",
            TOOL,
            type="FileNotFoundError",
        ),
        *(
            Row(
                "unittest-head",
                f"{kind}: ",
                rf"{kind}: (?P<test>\w+) \([\w.]+\)$",
                TEST - 3,
                type="test",
                fixed=True,
            )
            for kind in ("FAIL", "ERROR")
        ),
        Row(
            "pytest-missing",
            "ERROR: ",
            r"ERROR: (?P<type>file or directory not found|not found): (?P<file>\S+)",
            TOOL,
            fixed=True,
        ),
        Row(
            "py-compile",
            "Sorry: ",
            r"Sorry: (?P<type>\w+Error): (?P<message>.*?) \((?P<file>[^(),]+), line \d+\)",
            CRASH,
        ),
        Row(
            "unittest-trailer",
            "FAILED (",
            r"FAILED \((?:failures|errors|skipped|unexpected)[^)]*\)",
            TRAILER,
            type="failed",
            fixed=True,
        ),
    ),
    finders=(_launched, _tracebacks, _syntax, _blocks, _summary),
)
