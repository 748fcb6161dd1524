"""Ruby: uncaught exceptions, RSpec, Minitest, RuboCop."""

from __future__ import annotations

from vlk2.domain.fingerprint.page import Page
from vlk2.domain.fingerprint.rows import CODED, CRASH, TEST, TRAILER, Found, Row, Table


def _class_line(text: str) -> str:
    """`Foo::BarError:` as its class; empty where the line is no such head."""
    name = text[:-1] if text.endswith(":") and text != "Diff:" else ""
    return name if name and name[0].isupper() and name.replace("::", "").isidentifier() else ""


def _rspec(page: Page) -> list[Found]:
    """RSpec's numbered failures: the class, if one is named, else an expectation that was not met."""
    found: list[Found] = []
    lines = page.lines
    for index, line in page.containing("Failure/Error:"):
        if not line.lstrip().startswith("Failure/Error:"):
            continue
        title = ""
        for above in range(index - 1, max(-1, index - 8), -1):
            number, _, rest = lines[above].strip().partition(") ")
            if number.replace(".", "").isdigit():
                title = rest
                break
        body: list[str] = []
        for below in lines[index + 1 : index + 40]:
            text = below.strip()
            if (text.startswith("# ") and ":" in text) or (text[:1].isdigit() and ") " in text[:6]):
                break
            body.append(text)
        at = next((n for n, text in enumerate(body) if text[-1:] == ":" and _class_line(text)), -1)
        kind = _class_line(body[at]) if at >= 0 else "ExpectationNotMetError"
        if (
            at < 0
            and page.holds("received")
            and any(
                text.startswith(("received: ", "received :")) or " received unexpected " in text
                for text in body
            )
        ):
            kind = "MockExpectationError"
        paragraphs = [n for n, text in enumerate(body) if not text]
        start = at + 1 if at >= 0 else (paragraphs[0] + 1 if paragraphs else 0)
        message = next((text for text in body[start:] if text), "") if body else ""
        found.append(
            Found(
                "rspec",
                CRASH if at >= 0 else CRASH - 1,
                "ruby",
                kind.rpartition("::")[2],
                message,
                index,
                test=title,
                headline=f"{kind}: {message}" if message else kind,
            )
        )
    first = min(found, key=lambda one: one.line, default=None)
    return [one._replace(rank=CRASH) if one is first else one for one in found]


def _suite(page: Page) -> list[Found]:
    """RSpec's errors outside of examples: `An error occurred while loading ./x_spec.rb.`"""
    found: list[Found] = []
    for index, line in page.containing("An error occurred "):
        if not line.startswith("An error occurred "):
            continue
        for at in range(index + 1, min(index + 12, len(page.lines))):
            kind = _class_line(page.lines[at].strip())
            if kind:
                message = page.lines[at + 1].strip() if at + 1 < len(page.lines) else ""
                found.append(Found("rspec-load", CRASH, "ruby", kind.rpartition("::")[2], message, at))
                break
    return found


TABLE = Table(
    "ruby",
    (
        Row("ruby-uncaught", ".rb:", r"\s*(?:from )?(?P<file>[^\s:][^:\n]*\.rb):\d+:in [`'][^']*': (?P<message>.*) \((?P<type>[A-Z][\w:]*)\)$", CRASH),
        Row("ruby-script", "-e:", r"-e:\d+:in [`'][^']*': (?P<message>.*) \((?P<type>[A-Z][\w:]*)\)$", CRASH),
        Row("ruby-syntax", ".rb:", r"(?P<file>[^\s:][^:\n]*\.rb):\d+: (?P<message>syntax error.*)", CRASH, type="SyntaxError"),
        Row("rubocop", ".rb:", r"\s*(?P<file>[^\s:][^:\n]*\.(?:rb|rake|gemspec)):\d+:\d+: (?:[CWEFRI]: )?(?:\[Corr\w+\] )?(?P<type>[A-Z]\w+/\w+): (?P<message>.*)", CODED, specific=True),
        Row("minitest", "Failure:", r"\s+\d+\) (?:Failure|Error):", TEST - 5, type="test", fixed=True),
        Row("rspec-example", "rspec ./", r"rspec (?P<file>\./\S+?):\d+ # (?P<test>.*)", TEST - 10, type="ExpectationNotMetError", fixed=True),
        Row("rake-trailer", "rake aborted!", r"rake aborted!", TRAILER, type="aborted", fixed=True),
    ),
    finders=(_rspec, _suite),
)  # fmt: skip
