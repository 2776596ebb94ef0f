"""Results of any search engine in one form: real addresses, one per page, plain text, ranks from 1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import NamedTuple, Protocol

from agent.text import urls
from agent.types import Outcome, Publication, SearchHit, SearchResult, SourceFilter

DEFAULT_PAUSE_S = 60.0
"""Seconds to leave an engine alone that asks for a pause without a time."""
PAUSES_S = {
    Outcome.RATE_LIMITED: DEFAULT_PAUSE_S,
    Outcome.BLOCKED: 300.0,
    Outcome.TIMEOUT: 60.0,
    Outcome.ERROR: 60.0,
}
"""Seconds to leave a failed engine alone that named none (our own judgement: a block outlasts a fault)."""
MAX_CHARACTERS = 5_000
"""Characters of a field that are looked at, many times what an engine shows."""
MAX_SNIPPET_CHARACTERS = 500
"""Abstracts are cut to about the length of a web engine's longest snippets."""
MAX_DATE = 40
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")


class RawResult(NamedTuple):
    """A result as an engine gave it, markup and all."""

    url: str
    title: str
    snippet: str
    published_at: str = ""
    publication: Publication | None = None


class SearchEngine(Protocol):
    """A search engine. For what the web does `search` raises nothing but MISREAD."""

    name: str
    label: str

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """Up to `max_results` hits, best first, inside `reach` as far as the engine supports it."""


def explain_failure(
    engine: SearchEngine, query: str, outcome: Outcome, detail: str = "", wait_s: float | None = None
) -> SearchResult:
    """A search without hits: why, with a sentence for the usual outcomes."""
    usual = {
        Outcome.TIMEOUT: "did not answer in time. Try again, or search with another engine.",
        Outcome.EMPTY: "found nothing for these words. Try fewer or other words.",
    }
    detail = detail or f"{engine.label} {usual[outcome]}"
    return SearchResult(engine=engine.name, query=query, outcome=outcome, detail=detail, retry_after_s=wait_s)


def find_pause(result: SearchResult) -> float:
    """Seconds for which the engine of a search is not asked again; 0 where it answered."""
    pause = PAUSES_S.get(result.outcome, 0.0)
    return result.retry_after_s if pause and result.retry_after_s is not None else pause


def build_hits(
    engine: str,
    results: Iterable[RawResult],
    max_results: int,
    snippet_characters: int = MAX_CHARACTERS,
) -> list[SearchHit]:
    """The results worth showing: http(s) only, the first of each page, text without tags and entities."""
    found: dict[str, SearchHit] = {}
    for raw in results:
        key = urls.canonicalize(raw.url)
        if key and key not in found:
            found[key] = SearchHit(
                url=raw.url.strip(),
                title=strip_markup(raw.title),
                snippet=shorten(raw.snippet, snippet_characters),
                rank=len(found) + 1,
                engine=engine,
                published_at=raw.published_at[:MAX_DATE],
                publication=raw.publication,
            )
        if len(found) >= max_results:
            break
    return list(found.values())


def strip_markup(text: str) -> str:
    """One line without markup. Tags go before entities are read, so that "&lt;b&gt;" stays what it says."""
    return " ".join(unescape(_TAG.sub("", (text or "")[:MAX_CHARACTERS])).split())


def shorten(text: str, most: int = MAX_SNIPPET_CHARACTERS) -> str:
    """One line without markup, cut at a word."""
    plain = strip_markup(text)
    return plain if len(plain) <= most else f"{plain[:most].rpartition(' ')[0]}…"
