"""The search engine of a folder world: the full-text index of its documents."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.text.tokens import content_stems, stem_words
from agent.types import Outcome, SearchResult, SourceFilter
from agent.web.folder_store import FolderStore
from agent.web.search_results import RawResult, build_hits

SNIPPET_WORDS = 30
MAX_TERMS = 48
WINDOWS_PER_RESULT = 5
"""Windows searched for each result that is wanted: a long document has many."""
OVERFETCH_FACTOR = 50
"""How many times more documents are searched when only some hosts are allowed."""
_WORD = re.compile(r"\S+")


class FolderIndex:
    """The engine. `name` is the engine it stands in for; `label` is the name shown to a person."""

    def __init__(
        self, store: FolderStore, *, name: str = "duckduckgo", label: str = "the world's own index"
    ) -> None:
        self.name, self.label = name, label
        self._store = store

    def search(self, query: str, max_results: int, reach: SourceFilter | None = None) -> SearchResult:
        """The best documents for any word of the query, on the allowed hosts; `empty` for none."""
        reach = reach or SourceFilter()
        terms = content_stems(query)[:MAX_TERMS]
        most = max_results * (OVERFETCH_FACTOR if reach.allowed or reach.blocked else 1)
        found = [row for row in self._store.search(terms, most * WINDOWS_PER_RESULT) if reach.allows(row[0])]
        rows = (RawResult(url, title, cut_snippet(text, terms)) for url, title, text in found)
        hits = build_hits(self.name, rows, max_results)
        outcome = Outcome.OK if hits else Outcome.EMPTY
        detail = "" if hits else f"{self.label} has no page with these words. Try other words."
        return SearchResult(engine=self.name, query=query, outcome=outcome, hits=hits, detail=detail)


def cut_snippet(text: str, terms: Sequence[str]) -> str:
    """The first `SNIPPET_WORDS` words in a row that hold most of the terms, with ellipses at cuts."""
    words = _WORD.findall(text)
    held = [[term for term in stem_words(word) if term in terms] for word in words]
    starts = [n for n, found in enumerate(held) if found] or [0]
    best = max(starts, key=lambda n: len({term for found in held[n : n + SNIPPET_WORDS] for term in found}))
    start = max(0, min(best - 3, len(words) - SNIPPET_WORDS))
    before, after = "\u2026" * (start > 0), "\u2026" * (start + SNIPPET_WORDS < len(words))
    return f"{before}{' '.join(words[start : start + SNIPPET_WORDS])}{after}"
