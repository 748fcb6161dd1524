"""What a compiler names without quotes, by the words that announce it: per language, a few cues.

A cue is a pattern whose group 1 is the name. Each is tried once from left to right over the message, and is
anchored on literal words, so that the work stays linear.
"""

from __future__ import annotations

import re
from functools import cache

_STOP = (
    r"(?!(?:is|in|does|do|might|may|not|cannot|must|has|have|or|and|to|of|with|expected|that|reference|declaration|type"
    r"|types|name|names|body|parameter|parameters|argument|arguments|definition|variable|constant|initializer|only|should"
    r"|can|will|be|are|at|on|for|from|a|an|the|as|level|file|clause|pattern|expression|value|here|given|it|its|this"
    r"|invocation|call|modifier|header|literal|found|required|size|bound|bounds|inference|access|member|method|class"
    r"|interface|declarations|signature|supported|allowed|missing|already)\b)"
)
_GO_NAME = r"([A-Za-z_][\w]*)"

_CUES: dict[str, tuple[str, ...]] = {
    "go": (
        rf"\bundefined: {_GO_NAME}\.{_GO_NAME}",
        rf"\bundefined: {_GO_NAME}",
        rf"^{_GO_NAME} (?:declared|redeclared)\b",
        rf"\bdeclared and not used: {_GO_NAME}",
        r"\bcall to ([\w.]+)",
        r"\bcannot use (.{1,200}?) \(",
        r"\bcannot use (.{1,200}?) as ",
        r"\) as (.{1,200}?) (?:value|type) in ",
        r"^(\S+) undefined \(",
        r"\bof type (.{1,200}?)\)",
        r"\(type (.{1,200}?) has ",
        r"\bfield or method (\w+)",
        r"\bmissing method (\w+)",
        r"\) does not implement (\S+)",
        r"\bmismatched types (.{1,100}?) and ",
        r"\bmismatched types \S+ and (.{1,100}?)\)",
        r"\binvalid operation: (?!(?:cannot|operator|not|invalid|shift|indirect|missing|unknown)\b|complex\()(.{1,200}?) \(",
        r"\binvalid operation: (?:cannot|invalid|shift count) [a-z -]{0,40}?(\S+) \(",
        r"^(\S+) is not (?:a type|an expression|used)",
        r"\binvalid argument:? (.{1,200}?) (?:\(|for |is )",
        r"\blabel (\w+) ",
        r"\bpackage (\S+)",
        r"\bunexpected (?!newline|end|comma|semicolon|name\b|keyword|literal)(\S+?)(?:,|$)",
    ),
    "java": (
        rf"\b(?:class|interface|enum|record|method|variable|constructor|package|module|exception|label|annotation|type-variable) {_STOP}([A-Za-z_$][\w.$]*(?:<[^<>]{{0,100}}>)?(?:\([^()]{{0,200}}\))?(?:\[\])*)",
        r"\bof type ([A-Za-z_$][\w.$]*(?:<[^<>]{0,100}>)?(?:\[\])*)",
        r"\bfile named (\S+)",
        r"^(?:incompatible types: )?([\w.$<>\[\], ?]{1,120}?) cannot be (?:converted|dereferenced|applied|inherited)",
        r"\bconverted to ([\w.$<>\[\], ?]{1,120})",
        r"^([\w.$]+(?:\([^()]{0,200}\))?) (?:is not abstract|has private access|has protected access|is already|is not public|in \S+ cannot)",
        r"\boverride abstract method ([\w.$]+\([^()]{0,200}\))",
        r"\) in ([\w.$<>]+)",
        r"\bunreported exception ([\w.$]+)",
        r"\binvolving ([\w.$]+)",
        r"\baccess in ([\w.$<>]+)",
        rf"\b(?:symbol|location): +(?:@?\w+) +{_STOP}(\S+)",
    ),
    "ocaml": (
        r"\bUnbound (?:value|module|constructor|type constructor|record field|class|type|instance variable) (\S+)",
        r"\bThe (?:value|constructor|function|variant type|record type|module) (\S+) ",
    ),
    "haskell": (
        r"\bnot in scope: (?:data constructor |type constructor or class |type variable )?(.+)$",
        r"\bNo instance for (.+)$",
    ),
    "sql": (r"\bno such (?:table|column|function|module|index): (\S+)", r"\bconstraint failed: (.+)$"),
    "scala": (
        r"^Found: +(.+)$",
        r"\b(?:value|method|class|object|trait|type|constructor|function|variable|given instance|parameter) (?!of\b|is\b|in\b|and\b|or\b|with\b|parameters?\b|arguments?\b|has\b|cannot\b|must\b|does\b|may\b)(\S+)",
        r"\bNot found: (?:type )?(\S+)",
        r"\bfor parameter (\S+)",
    ),
    "elixir": (r"\bkey (.+?) not found", r"\bundefined function (\S+)", r"\bfunction (\S+) is undefined", r"\bfor (%?\{.*)$"),
    "pip": (r"\bwheels? for ([\w.-]+)", r"\binstall ([\w.-]+==\S+)", r"\band ([\w.-]+==\S+)"),
    "kotlin": (r"\b[Uu]nresolved reference: (\S+)",),
}  # fmt: skip


@cache
def _cues(language: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(cue) for cue in _CUES.get(language, ()))


def masked(language: str, message: str) -> tuple[str, tuple[str, ...]]:
    """The message with the names that its language leaves unquoted as `<q>`, and those names in order."""
    places: list[tuple[int, int]] = []
    for cue in _cues(language):
        for found in cue.finditer(message):
            for group in range(1, (cue.groups or 0) + 1):
                start, end = found.span(group)
                if start < end and not any(start < other_end and other < end for other, other_end in places):
                    places.append((start, end))
    if not places:
        return message, ()
    out: list[str] = []
    names: list[str] = []
    at = 0
    for start, end in sorted(places):
        name = message[start:end]
        if name[0] in "'\"`<‘“" or name.isdigit():
            continue  # quoted names and numbers are the common masks' part
        out += (message[at:start], "<q>")
        names.append(name)
        at = end
    out.append(message[at:])
    return "".join(out), tuple(names)
