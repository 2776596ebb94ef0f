"""Folding, tokens and stems, in any script."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.text.tokens import PREFIX_LENGTH, content_stems, fold, stem, stem_prefix, stem_words, tokenize
from agent.text.word_lists import STOPWORDS


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Älvmora", "alvmora"),
        ("ÉCOLE", "ecole"),
        ("ﬁne", "fine"),
        ("Straße", "strasse"),
        ("ЁЛКА", "елка"),
        ("각하", "각하"),
        ("が", "が"),
    ],
)
def test_folding_takes_case_and_accents_away(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Älvmora's 1,200 cheeses", ["alvmora", "1200", "cheeses"]),
        ("don’t, 3.5 of C2/E17", ["dont", "3.5", "of", "c2", "e17"]),
        ("東京都", ["東京", "京都"]),
        ("京", ["京"]),
        ("IBM東京", ["ibm", "東京"]),
        ("a_b", ["a", "b"]),
        ("…!?", []),
    ],
)
def test_words_and_numbers_in_order(text: str, found: list[str]) -> None:
    assert tokenize(text) == found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("founded the cheeses", "Founding the cheese"),
        ("книга", "книги"),
        ("Quill's", "Quill"),
        ("café", "cafe"),
        ("1,200", "1200"),
    ],
)
def test_what_means_the_same_has_the_same_stems(one: str, other: str) -> None:
    assert stem_words(one) == stem_words(other)


def test_content_has_no_stop_words_each_stem_once_and_never_nothing() -> None:
    assert content_stems("Who founded the dairy, and was the dairy founded in 1979?") == [
        stem("founded"),
        stem("dairy"),
        "1979",
    ]
    assert content_stems("Who is it?") == ["who", "is", "it"], "all words when nothing else is left"
    assert content_stems("") == []


def test_stop_words_stand_as_words_are_folded() -> None:
    assert [word for word in STOPWORDS if fold(word) != word] == []


def test_a_rough_stem_joins_kindred_words() -> None:
    assert (
        stem_prefix(stem("director")) == stem_prefix(stem("directed"))
        and len(stem_prefix("directorship")) == PREFIX_LENGTH
    )


def test_long_texts_are_stemmed_like_short_ones() -> None:
    text = "The dairies of Älvmora were founded twice. " * 100
    assert stem_words(text) == stem_words(text[:43]) * 100


def test_threads_do_not_share_a_stemmer() -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(stem_words, ["running dogs bought houses " * 100] * 8))
    assert all(each == found[0] for each in found)


@given(st.text())
def test_any_text_gives_folded_words_and_always_the_same(text: str) -> None:
    words = tokenize(text)
    assert all(word and not word.isspace() for word in words)
    assert stem_words(text) == [stem(word) for word in words] == stem_words(text)
    assert set(content_stems(text)) <= set(stem_words(text))
