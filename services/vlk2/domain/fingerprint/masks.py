"""What is volatile in a message, and what it names: message -> (template, symbols).

The masks are alternatives of one pattern, longest kinds first, so that a text is read once. Each alternative
is anchored at the start of its token, which keeps the scan linear.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from vlk2.hints import NamedTuple

MESSAGE_LIMIT = 2_000
_ROUNDS = 8
_QUOTES = "'\"`‘“«"


class Masked(NamedTuple):
    """One replacement that the masks made: the mask's name, what stood there, what stands there now."""

    mask: str
    original: str
    replacement: str


class Template(NamedTuple):
    """A message without what is volatile, the symbols that it names, in order, and its first plain words."""

    text: str
    symbols: tuple[str, ...]
    masked: tuple[Masked, ...] = ()
    title: tuple[str, ...] = ()


_KEEP = (
    r"(?P<keep>\b(?:[Ee]xit(?:ed)?(?:\ with)?(?:\ (?:code|status|value))?|[Ss]tatus(?:\ code)?"
    r"|HTTP(?:/\d(?:\.\d)?)?|[Ee]rrno|[Ss]ignal|[Ee]rror\ code|return\ code)[:=]?[ ]?\d{1,5}\b)"
)
_VOLATILE: tuple[tuple[str, str], ...] = (
    ("url", r"(?<![A-Za-z0-9>])[a-zA-Z][a-zA-Z0-9+.-]{1,15}://[^\s'\"`<>()\[\]{}]+"),
    ("email", r"(?<![\w.+>-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"),
    ("uuid", r"(?<![0-9A-Za-z>])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z<])"),
    (
        "time",
        r"(?<![0-9A-Za-z>])\d{4}[-/.]\d\d[-/.]\d\d(?:[T ]\d\d:\d{2,4}(?::\d{2,4}(?:[.,]\d{1,9})?)?(?:\ ?(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?)?(?![0-9A-Za-z<])"
        r"|(?<![0-9A-Za-z:>])\d{1,2}:\d{2,4}:\d{2,4}(?:[.,]\d{1,9})?(?![0-9A-Za-z:<])"
        r"|(?<![\w>])(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\ (?:\d{1,2}\ )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[ \d:,]{4,30}(?:[A-Z]{3,4})?",
    ),
    ("ip", r"(?<![0-9A-Za-z.>])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?(?![0-9A-Za-z<])"),
    ("mac", r"(?<![0-9A-Za-z:>])[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5,7}(?![0-9A-Za-z:<])"),
    ("address", r"(?<![0-9A-Za-z>])0[xX][0-9a-fA-F]+(?![0-9A-Za-z<])"),
    ("port", r"(?<![\w>])(?:localhost|[a-z][\w-]{0,62}(?:\.[\w-]{1,63}){1,6}):\d{2,5}(?![\d:<])"),
    (
        "path",
        r"(?<![\w./\\@~$:>-])(?:[A-Za-z]:(?=[\\/])|~|\$[A-Z]{1,20}|\.{1,2}(?=[\\/]))?"
        r"(?:[\\/][\w.@+~%$#=-]+)+[\\/]?(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))?"
        r"|(?<![\w./\\@~$:>-])[\w.@+~-]+(?:[\\/][\w.@+~%$#=-]+)+\.[A-Za-z]\w{0,7}(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))?",
    ),
    (
        "hash",
        r"(?<![0-9A-Za-z>])(?:sha(?:1|256|512)[:-])?(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,128}(?![0-9A-Za-z<])",
    ),
    ("hexrun", r"(?<![0-9A-Za-z>])(?=[A-F]*[0-9])(?=[0-9]*[A-F])[0-9A-F]{8,128}(?![0-9A-Za-z<])"),
    (
        "measure",
        r"(?<![0-9A-Za-z>])\d[\d.,]*\ ?(?:ns|us|µs|μs|ms|s|secs?|seconds?|mins?|minutes?|h|hrs?|hours?|days?"
        r"|[KMGT]i?B|[kKMG]b|bytes?|B|%)(?![0-9A-Za-z<])",
    ),
    (
        "file",
        r"(?<![\w./\\@~$>-])[\w.@+~-]{1,80}\.[A-Za-z]\w{0,7}(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))(?![\w<])",
    ),
    ("number", r"(?<![0-9A-Za-z.>])[-+]?\d[\d_]*(?:[.,:]\d+)*(?![0-9A-Za-z<])"),
)
_QUOTED = (
    # an apostrophe inside a word opens nothing, nor does one beside what is masked already
    r"(?P<quoted>``[^`\n]*``|`[^`'\n]*[`']|‘[^‘’\n]*’|“[^“”\n]*”|«[^«»\n]*»"
    r"|(?<![\w'>])'(?:[^'\\\n]|\\.)*'(?![\w<])|(?<![\w\">])\"(?:[^\"\\\n]|\\.)*\"(?![\w<])|`[^`'\n]{60,}$)"
)


# What a text must hold for a mask to find anything in it; the others only need a digit.
_NEEDS: dict[str, tuple[str, ...]] = {
    "url": ("://",),
    "email": ("@",),
    "uuid": ("-",),
    "time": ("-", "/", ".", ":", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    "ip": (".",),
    "mac": (":",),
    "address": ("0x", "0X"),
    "port": (":",),
    "path": ("/", "\\"),
    "file": (".",),
}
_SIGNS = tuple(dict.fromkeys(sign for signs in _NEEDS.values() for sign in signs))


@lru_cache(maxsize=128)
def _masks(*signs: str) -> re.Pattern[str]:
    """The masks for a text in which of all `_SIGNS` only these stand, and `'` where it may hold a quote."""
    able = (
        f"(?P<{name}>{pattern})"
        for name, pattern in _VOLATILE
        if name not in _NEEDS or any(sign in signs for sign in _NEEDS[name])
    )
    return re.compile("|".join([_KEEP, *([_QUOTED] if "'" in signs else []), *able]))


def _volatile(text: str) -> re.Pattern[str]:
    """The masks that may find something in `text`."""
    return _masks(*[sign for sign in _SIGNS if sign in text])


def _message(text: str) -> re.Pattern[str]:
    """The masks that may find something in `text`, what it quotes among them."""
    if not any(mark in text for mark in _QUOTES):
        return _volatile(text)
    return _masks("'", *[sign for sign in _SIGNS if sign in text])


@cache
def _quotes() -> re.Pattern[str]:
    return re.compile(_QUOTED)


_NO_DIGITS = str.maketrans("", "", "0123456789")


def _volatile_at_all(text: str) -> bool:
    """Whether any mask but that of quotes can find something: each needs a digit, a separator or an `@`.

    Most messages of compilers have none, and a hook then never compiles the large pattern.
    """
    return "/" in text or "\\" in text or "@" in text or len(text.translate(_NO_DIGITS)) != len(text)


@cache
def _spaces() -> re.Pattern[str]:
    return re.compile(r"\s+")


@cache
def _list_of_masks() -> re.Pattern[str]:
    return re.compile(r"(<(?:q|n|path|address|hash)>)(?:(?:, ?| and | or | )\1)+")


def _basename(path: str) -> str:
    cut = max(path.rfind("/"), path.rfind("\\"))
    return path[cut + 1 :] if cut >= 0 else path


def place(text: str) -> str:
    """The file that a path names, without its folder, line and column."""
    if not text:
        return ""
    text = text.rstrip("/\\")
    name = _basename(text)
    cut = name.find(":")
    if cut > 0:
        name = name[:cut]
    cut = name.find("(")
    return name[:cut] if cut > 0 else name


def symbol(text: str) -> str:
    """A named thing in the form in which it is compared: no path prefix, address, clock or random id."""
    text = text.strip()
    if not text or len(text) > 300:
        return ""

    def put(found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        if kind == "keep" or kind == "number":
            return found[0]
        return place(found[0]) if kind in ("path", "file") else f"<{kind}>"

    if _volatile_at_all(text):
        text = _volatile(text).sub(put, text)
        if text.startswith("<") and text.endswith(">") and text[1:-1].isalpha():
            return ""  # nothing but what never matters
    return _spaces().sub(" ", text)


def template(message: str, *, explain: bool = False) -> Template:
    """Mask a message. Whatever it quotes becomes `<q>` and, where it is a name, one of the symbols.

    Idempotent on its own output: masking `.text` again changes nothing.
    """
    if len(message) > MESSAGE_LIMIT:
        message = message[:MESSAGE_LIMIT]
    symbols: list[str] = []
    masked: list[Masked] = []

    def put(found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        original = found[0]
        if kind == "keep":
            return original
        if kind == "quoted":
            inner = original.strip("`'\"‘’“”«»")
            name = symbol(inner)
            if name:
                symbols.append(name)
            replacement = "<q>"
        elif kind in ("path", "file"):
            name = place(original)
            if name:
                symbols.append(name)
            replacement = "<path>"
        elif kind == "number":
            replacement = "<n>"
        else:
            replacement = f"<{kind}>"
        if explain:
            masked.append(Masked(kind, original, replacement))
        return replacement

    text = message
    for _ in range(_ROUNDS):
        pattern = _message(text) if _volatile_at_all(text) else _quotes()
        before, text = text, pattern.sub(put, text)
        # a quote that had no partner may have found one among the masks; without quotes one round is all
        if text == before or not any(mark in text for mark in _QUOTES):
            break
    text = _spaces().sub(" ", text).strip()
    if "> " in text or ">," in text:
        text = _list_of_masks().sub(r"\1", text)
    return Template(text, tuple(symbols), tuple(masked))
