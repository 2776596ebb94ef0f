"""The index of a folder world: words in any form, titles first, no query that breaks it."""

from __future__ import annotations

import threading

import pytest

from agent.types import Outcome
from agent.web.engines.folder import FolderIndex, extract_terms
from agent.web.search_results import RawResult

DOCS = [
    RawResult(
        "https://a.test/1",
        "Ostrava dairy",
        "The dairy was founded in 1921 by two sisters. "
        + "Filler words stand here. " * 40
        + "Its butter won prizes.",
    ),
    RawResult("https://a.test/2", "Butter", "Butter is made from cream."),
    RawResult("https://a.test/3", "Cafe Müller", "The caf\u00e9 in Bjørn street sells cheeses."),
]


@pytest.fixture(scope="module")
def index() -> FolderIndex:
    return FolderIndex(DOCS)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("When was the Ostrava dairy founded?", 1),
        ("founding of dairies", 1),
        ("butter", 2),
        ("cafe muller", 3),
        ("CHEESE", 3),
        ("who sells a cheese", 3),
    ],
)
def test_the_best_page_comes_first(index: FolderIndex, query: str, first: int) -> None:
    result = index.search(query, 10)
    assert result.outcome is Outcome.OK
    assert result.hits[0].url == f"https://a.test/{first}"


def test_the_snippet_is_the_window_that_answers(index: FolderIndex) -> None:
    snippet = index.search("prizes won", 10).hits[0].snippet
    assert "won prizes" in snippet
    assert len(snippet.split()) <= 32


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "a AND",
        "NEAR(",
        "title:x",
        "*",
        "(",
        "-",
        "'; DROP TABLE docs; --",
        "\x00",
        "^x",
        "{a b}: c",
        "🜁",
    ],
)
def test_no_query_breaks_it(index: FolderIndex, query: str) -> None:
    assert index.search(query, 10).outcome in (Outcome.OK, Outcome.EMPTY)
    assert index.search("butter", 10).outcome is Outcome.OK


def test_nothing_found_says_so(index: FolderIndex) -> None:
    result = index.search("zeppelin", 10)
    assert (result.outcome, result.hits) == (Outcome.EMPTY, [])
    assert "other words" in result.detail


def test_words_that_every_text_has_are_not_searched_for() -> None:
    assert extract_terms("What is the capital of the dairy, the DAIRY?") == ["capital", "dairy"]
    assert extract_terms("The Who") == ["the", "who"]


def test_threads_share_it(index: FolderIndex) -> None:
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(len(index.search("butter dairy", 10).hits)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [2] * 8
