"""The index of a folder world: words in any form, titles first, no query that breaks it."""

from __future__ import annotations

import json

import pytest

from agent.types import Outcome
from agent.web.folder_store import FolderIndex, open_folder_store
from tests.tables import by_table

DOCS = [
    (
        "https://a.test/1",
        "Ostrava dairy",
        "The dairy was founded in 1921 by two sisters. "
        + "Filler words stand here. " * 40
        + "Its butter won prizes.",
    ),
    ("https://a.test/2", "Butter", "Butter is made from cream."),
    ("https://a.test/3", "Cafe Müller", "The caf\u00e9 in Bjørn street sells cheeses."),
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> FolderIndex:
    folder = tmp_path_factory.mktemp("world")
    lines = (json.dumps({"url": url, "title": title, "text": text}) for url, title, text in DOCS)
    (folder / "docs.jsonl").write_text("\n".join(lines))
    read = lambda doc: (doc["title"], doc["text"])  # noqa: E731
    return FolderIndex(open_folder_store(folder, folder / "kept", read))


@by_table
def test_the_best_page_comes_first(index: FolderIndex, query: str, first: int) -> None:
    result = index.search(query, 10)
    assert result.outcome is Outcome.OK
    assert result.hits[0].url == f"https://a.test/{first}"


def test_the_snippet_is_the_window_that_answers(index: FolderIndex) -> None:
    snippet = index.search("prizes won", 10).hits[0].snippet
    assert "won prizes" in snippet
    assert len(snippet.split()) <= 32


@by_table
def test_no_query_breaks_it(index: FolderIndex, query: str) -> None:
    assert index.search(query, 10).outcome in (Outcome.OK, Outcome.EMPTY)
    assert index.search("butter", 10).outcome is Outcome.OK


def test_nothing_found_says_so(index: FolderIndex) -> None:
    result = index.search("zeppelin", 10)
    assert (result.outcome, result.hits) == (Outcome.EMPTY, [])
    assert "other words" in result.detail
