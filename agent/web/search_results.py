"""Results of any engine in one form: real addresses, one per page, plain text, ranks from 1. Knows no
engine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape
from typing import NamedTuple, Protocol

from agent.text import urls
from agent.types import SearchHit, SearchResult, SourceFilter

_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")


class RawResult(NamedTuple):
    """A result as an engine gave it, markup and all."""

    url: str
    title: str
    snippet: str
    published_at: str = ""


class SearchEngine(Protocol):
    """A search engine. `search` never raises for what the web does."""

    name: str
    label: str

    def search(self, query: str, max_results: int, reach: SourceFilter) -> SearchResult:
        """Up to `max_results` hits, best first; those inside `reach` as far as the engine can be told of
        it."""


def build_hits(engine: str, results: Iterable[RawResult], max_results: int) -> list[SearchHit]:
    """The results worth showing: http(s) addresses only, the first of each page, text without tags and
    entities."""
    found: dict[str, SearchHit] = {}
    for raw in results:
        key = urls.canonicalize(raw.url)
        if key and key not in found:
            title, snippet = strip_markup(raw.title), strip_markup(raw.snippet)
            found[key] = SearchHit(
                url=raw.url.strip(),
                title=title,
                snippet=snippet,
                rank=len(found) + 1,
                engine=engine,
                published_at=raw.published_at,
            )
        if len(found) >= max_results:
            break
    return list(found.values())


def strip_markup(text: str) -> str:
    """A line of text without markup. Entities are read after tags are gone, so that "&lt;b&gt;" stays what it
    says."""
    return " ".join(unescape(_TAG.sub("", text or "")).split())
