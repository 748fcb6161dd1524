"""Unknown tools: the most error-like line, and its template token by token; stateless and deterministic.

A token that is a plain word stays. What carries a digit, a path, a host name or a value behind `=` is masked
whole, also beside `_`, `-` and `=`, so that `blk_-17`, `pid=3` and `v2_17` go without a word boundary. Runs of
masked tokens become one, so that a list of any length has one template.
"""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.fingerprint.masks import Masked, Template
from vlk2.domain.fingerprint.page import Page

MASK = "<*>"
MASK_COMMA = "<*>,"
_MASKED = (MASK, MASK_COMMA)
_TOKEN_LIMIT = 200
_LINE_LIMIT = 1_000

_UNITS = frozenset(
    ["B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "ns", "us", "ms", "s", "sec", "secs", "seconds", "min"]
)
_DATES = frozenset(
    "Mon Tue Wed Thu Fri Sat Sun Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec UTC GMT CST EST PST PDT".split()  # noqa: SIM905
)
NO_WORD = "0123456789 \t.,:;-+*/=()[]{}<>|#"
_NO_DIGITS = str.maketrans("", "", "0123456789")
_VALUES = frozenset(["true", "false", "null", "none", "True", "False", "None", "NULL", "nil", "yes", "no"])
_DOMAINS = frozenset(
    "com net org edu gov mil io co info biz local localdomain internal lan home arpa dev app test example "  # noqa: SIM905
    "cn hk tw jp kr in uk de fr nl it es se no fi dk pl cz ru ua br mx ca us au nz ch at be eu tv me cc".split()
)
_NAMED_AFTER = frozenset(["user", "User", "username", "logname", "host", "hostname"])
_AFTER_NAME = frozenset(["from", "by", "on", "at", "via"])
_CODED_BY = frozenset(["exit", "status", "code", "errno", "signal", "http"])
_LOOK_BACK = _NAMED_AFTER | {"=", "for"}
_LOOK_AT = _UNITS | _DATES | _VALUES


_ERROR_WORDS = (
    "fatal", "panic", "exception", "error", "failed", "failure", "cannot", "denied", "refused", "unable", "invalid",
    "not found", "no such", "missing", "undefined", "unknown", "timeout", "timed out", "abort",
)  # fmt: skip


def headline(page: Page) -> int:
    """The index of the line to go by: the first with an error word, else the last that has a word; else -1."""
    lines = page.lines
    if len(lines) == 1:
        return 0 if lines[0].strip(NO_WORD) else -1
    if lines:
        # lower() may change the length of exotic letters; the line is then the one next to it, deterministically
        lowered = page.text.lower()
        places = [place for word in _ERROR_WORDS if (place := lowered.find(word)) >= 0]
        if places:
            return page.index_at(min(*places, len(page.text) - 1))
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        if line and any(char.isalpha() for char in line[:_LINE_LIMIT]):
            return index
    return -1


@cache
def _pieces() -> re.Pattern[str]:
    return re.compile(r"[^\s:\[\](){}<>,;\"'`|#!?*]+")


@cache
def _quoted_value() -> re.Pattern[str]:
    return re.compile(r"(?<=\w)=\"[^\"]*\"")


@cache
def _assigned() -> re.Pattern[str]:
    return re.compile(r"(?<=[\w\])\"'-])=(?!=)(?:\"[^\"]*\"|'[^']*'|[^\s,;()\[\]{}])[^\s,;()\[\]{}]*")


def _piece(found: re.Match[str]) -> str:
    text = found[0]
    if text.isalpha():
        return MASK if len(text) >= 8 and not text.strip("abcdef") else text
    if len(text.translate(_NO_DIGITS)) != len(text):
        return MASK
    if "/" in text or "\\" in text:
        parts = text.replace("\\", "/").split("/")
        return text if len(parts) == 2 and all(part.isalpha() for part in parts) else MASK
    if "@" in text:
        return MASK
    if "." in text:
        labels = text.strip(".").split(".")
        if (
            len(labels) > 1
            and labels[-1] in _DOMAINS
            and labels[0] not in ("org", "com", "net", "io", "java")
        ):
            return MASK
    return text


@cache
def _one_piece() -> re.Pattern[str]:
    """A token of one piece that carries a digit, and what stands before and behind it."""
    piece = r"(?=[^\s:\[\](){}<>,;\"'`|#!?*=]*\d)[^\s:\[\](){}<>,;\"'`|#!?*=]+"
    return re.compile(rf"([\"'`(\[{{<,;:]*){piece}(?::{piece})*([\"'`)\]}}>,;:.!?]*)\Z")


@cache
def _hardware() -> re.Pattern[str]:
    """A hardware or version 6 address, whose groups may be letters alone."""
    return re.compile(r"[(\[<\"']?[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{0,4}){2,7}[)\]>\"',;.]*\Z")


def _token(token: str) -> str:
    """The masked form of one token that is no plain word."""
    if len(token) > _TOKEN_LIMIT:
        return MASK
    simple = _one_piece().match(token)
    if simple is not None:
        before, behind = simple.groups()
        return _tidy(before + MASK + behind) if before or behind else MASK
    if token.count(":") > 1 and _hardware().match(token):
        return MASK_COMMA if token[-1] == "," else MASK
    key, equals, value = token.partition("=")
    if equals and key.isalpha() and value.isalnum():
        return key + "=" + MASK
    bare = token.rstrip(",.;:!?")
    if bare.isalpha():
        return token
    if "=" in token:
        token = _assigned().sub("=" + MASK, token)
        if token.endswith("=" + MASK) or MASK in token:
            head, mark, tail = token.partition("=" + MASK)
            return _tidy(_pieces().sub(_piece, head) + mark + (_token(tail) if tail else ""))
    if "://" in token:
        return MASK
    return _tidy(_pieces().sub(_piece, token))


def _joined(token: str) -> str:
    """One mask where masks touch."""
    while MASK + MASK in token:
        token = token.replace(MASK + MASK, MASK)
    return token


def _tidy(token: str) -> str:
    """One mask for a token that is nothing but masks and what joins them: an address with its port, `<1`."""
    if MASK in token:
        token = _joined(token)
        rest = token.replace(MASK, "").strip(":,;.<>|#*-")
        if not rest:
            return MASK + ("," if token.endswith(",") else "")
    return token


def _symbol(word: str) -> str:
    """The name in a quoted or path-like word, or nothing where it is volatile."""
    name = word.strip("\"'`()[]{}<>,;:.!?")
    cut = max(name.rfind("/"), name.rfind("\\"))
    name = name[cut + 1 :]
    cut = name.find(":")
    if cut > 0 and name[cut + 1 : cut + 2].isdigit():  # the line of a file
        name = name[:cut]
    if name.isalpha():
        return name if len(name) <= 80 else ""
    bare = name.translate(_NO_DIGITS)
    return (
        name
        if len(name) <= 80 and len(name) - len(bare) <= 2 and not bare.isspace() and bare.strip("_-.:")
        else ""
    )


def _code(before: str, number: str) -> bool:
    """Whether a number is an exit or error status, which stays; a 2xx or 3xx of HTTP is no failure and goes."""
    return (
        before.rstrip(":=").lower() in _CODED_BY
        and len(number) <= 3
        and not (len(number) == 3 and number[0] in "123")
    )


def template(line: str, *, explain: bool = False) -> Template:
    """The template of a line of an unknown tool, and the names that it quotes or reaches by a path."""
    out: list[str] = []
    symbols: list[str] = []
    masked: list[Masked] = []
    title: list[str] = []
    before = put = ""
    watch = False  # the word before says what kind of thing follows
    line = line[:_LINE_LIMIT]
    if '="' in line:  # a value in quotes may hold spaces
        line = _quoted_value().sub("=" + MASK, line)
    words = line.split()
    last = len(words) - 1
    for at, word in enumerate(words):
        if word.isalpha():
            if not watch and word not in _LOOK_AT and (len(word) < 8 or word.strip("abcdef")):
                out.append(word)
                if len(title) < 6 and len(word) > 1:
                    title.append(word)
                before = put = word
                watch = word in _LOOK_BACK
                continue
            watch = word in _LOOK_BACK
            if word in _UNITS and put == MASK:
                before = word
                continue
            if (
                word in _DATES
                or before in _NAMED_AFTER
                or before == "="
                or (
                    before == "for"
                    and at < last
                    and (words[at + 1] in _AFTER_NAME or words[at + 1][0] == "[")
                )
                or (word in _VALUES and before[-1:] in (":", "="))
                or (len(word) >= 8 and not word.strip("abcdef"))
            ):
                now = MASK
            else:
                now = word
                if len(title) < 6 and len(word) > 1:
                    title.append(word)
        elif word.isdigit():
            watch = False
            now = word if put == before and _code(before, word) else MASK
        elif word.isalnum():
            watch = False
            now = MASK
        else:
            now = _token(word)
            if watch and before in _NAMED_AFTER and MASK not in now and now[0] not in "=:(":
                now = MASK
            elif (before == "=" and now != MASK) or (
                watch and before[-1:] in (":", "=") and word.rstrip(",;.)") in _VALUES
            ):
                now = MASK_COMMA if now[-1] == "," else MASK
            elif put == MASK and (unit := now.rstrip(",.;:)")) in _UNITS:
                out[-1] = put = MASK_COMMA if now[len(unit) :].startswith(",") else MASK
                before = word
                continue
            watch = word[-1] in ":="
            if (word[0] in "\"'`" or "/" in word or "\\" in word) and len(symbols) < 8:
                name = _symbol(word)
                if name:
                    symbols.append(name)
            if len(title) < 6 and "<" not in now:
                plain = now.strip("\"'`()[]{},;:.!?*=-")
                if len(plain) > 1 and plain.replace("-", "").replace("'", "").isalpha():
                    title.append(plain)
        if explain and now != word:
            masked.append(Masked("token", word, now))
        if now[0] == "<" and put in _MASKED and now in _MASKED:
            out[-1] = put = MASK
        else:
            out.append(now)
            put = now
        before = word
    return Template(" ".join(out), tuple(symbols), tuple(masked), tuple(title))
