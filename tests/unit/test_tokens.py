"""Claims about token counts: exact by o200k_base, bounded by the bytes, never raising."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlk2 import tokens
from vlk2.tokens import ByteCounter, ExactCounter, LoadingCounter, background

EXACT = ExactCounter()
BYTES = ByteCounter()
ANY_TEXT = st.text(st.characters(), max_size=200)
MEBI = 1 << 20


# As tiktoken 0.14.0, the encoding's reference implementation, counts them.
@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("1234567", 3),
        (" " * 128, 1),
        ("お誕生日おめでとう", 8),
        ("2 + 2 = 4", 7),
        ("antidisestablishmentarianism", 6),
    ],
)
def test_counts_are_those_of_o200k_base(text: str, count: int) -> None:
    assert EXACT.count(text) == count


@given(ANY_TEXT)
def test_bytes_are_never_fewer_than_tokens(text: str) -> None:
    assert EXACT.count(text) <= BYTES.count(text)


@given(st.text(st.sampled_from("aA1 \n\r\t'/<|>漢é😀"), max_size=400))
def test_bytes_are_never_fewer_than_tokens_where_split_rules_meet(text: str) -> None:
    assert EXACT.count(text) <= BYTES.count(text)


@given(ANY_TEXT, ANY_TEXT)
def test_bytes_of_a_whole_are_the_bytes_of_its_parts(left: str, right: str) -> None:
    assert BYTES.count(left + "-" + right) == BYTES.count(left) + 1 + BYTES.count(right)


@pytest.mark.parametrize("look_alike", ["<|endoftext|>", "<|endofprompt|>", "<|fim_prefix|>"])
def test_what_looks_like_a_special_token_is_text(look_alike: str) -> None:
    assert EXACT.count(look_alike) > 1


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ude00\ud83d"])
def test_a_lone_surrogate_counts_and_never_raises(text: str) -> None:
    replaced = "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)
    assert EXACT.count(text) == EXACT.count(replaced)
    assert BYTES.count(text) == BYTES.count(replaced)


@pytest.mark.parametrize("unit", ["a", " ", "\n", "漢", "Zm9vYmFy", "'S", "\t ", "\0", "😀"])
def test_a_mebibyte_of_one_thing_is_counted_whole(unit: str) -> None:
    text = unit * (MEBI // len(unit.encode()))
    quarter = text[: len(text) // 4]
    assert 0 < EXACT.count(quarter) < EXACT.count(text) <= BYTES.count(text)


def test_a_text_longer_than_a_million_characters_is_counted() -> None:
    assert EXACT.count("word " * 300_000) >= 300_000


def test_many_threads_get_the_same_counts() -> None:
    texts = [f"error[E{n:04}]: mismatched types in src/lib_{n}.rs:{n}:7 漢" for n in range(200)]
    alone = [EXACT.count(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: [EXACT.count(text) for text in texts], range(16))) == [alone] * 16


def test_a_background_counter_becomes_exact() -> None:
    counter = background()
    assert counter.wait(60)
    assert counter.exact
    assert counter.error is None
    assert counter.count("hello world") == 2


def test_until_it_is_loaded_the_bytes_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    real = tokens.ExactCounter

    def held_back() -> ExactCounter:
        go.wait(60)
        return real()

    monkeypatch.setattr(tokens, "ExactCounter", held_back)
    counter = background()
    assert not counter.exact
    assert counter.count("hello wörld") == 12
    assert not counter.wait(0)
    go.set()
    assert counter.wait(60)
    assert counter.count("hello world") == 2


def test_a_load_that_fails_leaves_the_bytes_and_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> ExactCounter:
        raise ImportError("no wheel for this platform")

    monkeypatch.setattr(tokens, "ExactCounter", broken)
    counter = LoadingCounter()
    counter.load()
    assert not counter.wait()
    assert isinstance(counter.error, ImportError)
    assert counter.count("hello") == 5


def test_an_absent_package_is_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "bpe_openai._bindings")
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ImportError, match="bpe-openai is not installed"):
        ExactCounter()


def test_the_shipped_ranks_are_the_published_ones() -> None:
    shipped = files("bpe_openai.data").joinpath("o200k_base.tiktoken.gz").read_bytes()
    digest = hashlib.sha256(gzip.decompress(shipped)).hexdigest()
    # The digest by which tiktoken accepts its download of o200k_base.
    assert digest == "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


@pytest.mark.filterwarnings("ignore::DeprecationWarning:bpe_openai")
def test_the_package_itself_still_imports_and_agrees() -> None:
    package = importlib.import_module("bpe_openai")
    text = 'let x: i32 = "five"; // 五 <|not special|>'
    assert len(package.get_encoding("o200k_base").encode_ordinary(text)) == EXACT.count(text)
