"""The search engine of a folder world: a full-text index in memory, ranked by BM25 with weight on titles.

Built once, then read by many threads (one connection behind a lock). Knows documents by address, title and
text."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable

from agent.types import Outcome, SearchResult, SourceFilter
from agent.web.search_results import RawResult, build_hits

_WORD = re.compile(r"\w+")
_TITLE_WEIGHT = 3.0
_SNIPPET_WORDS = 30
_MAX_TERMS = 32
OVERFETCH_FACTOR = 50
"""How many times more documents are searched when only some hosts are allowed."""
_STOPWORDS = frozenset(
    "a about an and any are as at be been by can could did do does for from had has have he her his how "
    "i if in into is it its me my not of on or our she should so than that the their them then there "
    "these they this to those us was we were what when where which who whom whose why will with would "
    "you your s t".split()
)


class FolderIndex:
    """The engine. `name` is the engine it stands in for; `label` is the name shown to a person."""

    def __init__(
        self,
        documents: Iterable[RawResult],
        *,
        name: str = "duckduckgo",
        label: str = "the world's own index",
    ) -> None:
        self.name = name
        self.label = label
        self._lock = threading.Lock()
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        tokenizer = 'tokenize = "porter unicode61 remove_diacritics 2"'
        self._db.execute(f"CREATE VIRTUAL TABLE docs USING fts5(url UNINDEXED, title, body, {tokenizer})")
        rows = (found[:3] for found in documents)
        self._db.executemany("INSERT INTO docs (url, title, body) VALUES (?, ?, ?)", rows)
        rank = f"bm25(0.0, {_TITLE_WEIGHT}, 1.0)"
        self._db.execute("INSERT INTO docs (docs, rank) VALUES ('rank', ?)", (rank,))
        self._db.execute("INSERT INTO docs (docs) VALUES ('optimize')")
        self._db.commit()

    def search(self, query: str, max_results: int, reach: SourceFilter | None = None) -> SearchResult:
        """The best documents for any of the query's words, on the allowed hosts; `empty` when none has
        one."""
        reach = reach or SourceFilter()
        terms = extract_terms(query)
        most = OVERFETCH_FACTOR * max_results if reach.allowed or reach.blocked else max_results
        rows = self._run_query(" OR ".join(f'"{term}"' for term in terms), most) if terms else []
        hits = build_hits(self.name, [row for row in rows if reach.allows(row.url)], max_results)
        outcome = Outcome.OK if hits else Outcome.EMPTY
        detail = "" if hits else f"{self.label} has no page with these words. Try other words."
        return SearchResult(engine=self.name, query=query, outcome=outcome, hits=hits, detail=detail)

    def _run_query(self, match: str, limit: int) -> list[RawResult]:
        snippet = f"snippet(docs, 2, '', '', '\u2026', {_SNIPPET_WORDS})"
        sql = f"SELECT url, title, {snippet} FROM docs WHERE docs MATCH ? ORDER BY rank LIMIT ?"
        with self._lock:
            return [RawResult(*row) for row in self._db.execute(sql, (match, limit))]

    def close(self) -> None:
        """Free the memory."""
        self._db.close()


def extract_terms(query: str) -> list[str]:
    """The query's words, each once, without stop words (unless there are no others)."""
    words = list(dict.fromkeys(_WORD.findall(query.lower())))
    return ([word for word in words if word not in _STOPWORDS] or words)[:_MAX_TERMS]
