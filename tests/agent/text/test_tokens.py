"""Folding, tokens and stems, in any script."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from agent.text.tokens import content_stems, fold, stem, stem_words, tokenize
from agent.text.word_lists import STOPWORDS
from tests.tables import by_table


@by_table
def test_folding_takes_case_and_accents_away(text: str, folded: str) -> None:
    assert fold(text) == folded


@by_table
def test_words_and_numbers_in_order(text: str, found: list[str]) -> None:
    assert tokenize(text) == found


@by_table
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
