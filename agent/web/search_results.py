"""Results of any search engine in one form: real addresses, one per page, plain text, ranks from 1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from html import unescape
from typing import NamedTuple, Protocol

from agent.text import urls
from agent.text.language import detect_language
from agent.text.word_lists import read_lists
from agent.types import Outcome, Page, Publication, SearchHit, SearchResult, SourceFilter
from agent.types.source_filter import normalize_language

DEFAULT_PAUSE_S = 60.0
"""Seconds to leave an engine alone that asks for a pause without a time."""
PAUSES_S = dict.fromkeys((Outcome.RATE_LIMITED, Outcome.TIMEOUT, Outcome.ERROR), DEFAULT_PAUSE_S)
PAUSES_S[Outcome.BLOCKED] = 300.0
"""Seconds to leave a failed engine alone that named none (our own judgement: a block outlasts a fault)."""
MAX_CHARACTERS = 5_000
"""Characters of a field that are looked at, many times what an engine shows."""
MAX_SNIPPET_CHARACTERS = 500
"""Abstracts are cut to about the length of a web engine's longest snippets."""
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
    """A search without hits: why, with a sentence for the usual outcomes, and for how long an engine that
    asks for a pause is left alone."""
    if outcome is Outcome.RATE_LIMITED and wait_s is None:
        wait_s = DEFAULT_PAUSE_S
    usual = {
        Outcome.TIMEOUT: "did not answer in time. Try again, or search with another engine.",
        Outcome.EMPTY: "found nothing for these words. Try fewer or other words.",
    }
    detail = detail or f"{engine.label} {usual[outcome]}"
    return SearchResult(engine=engine.name, query=query, outcome=outcome, detail=detail, retry_after_s=wait_s)


def build_result(
    engine: SearchEngine,
    query: str,
    results: Iterable[RawResult],
    max_results: int,
    snippet_characters: int = MAX_CHARACTERS,
) -> SearchResult:
    """A search that found these: http(s) only, the first of each page, text without tags and entities;
    `empty` where none is worth showing."""
    found: dict[str, SearchHit] = {}
    for raw in results:
        key = urls.canonicalize(raw.url)
        if key and key not in found:
            found[key] = SearchHit(
                url=raw.url.strip(),
                title=strip_markup(raw.title),
                snippet=shorten(raw.snippet, snippet_characters),
                rank=len(found) + 1,
                engine=engine.name,
                published_at=raw.published_at[:40],
                publication=raw.publication,
            )
        if len(found) >= max_results:
            break
    if not found:
        return explain_failure(engine, query, Outcome.EMPTY)
    hits = list(found.values())
    return SearchResult(engine=engine.name, query=query, outcome=Outcome.OK, hits=hits, detail="")


def find_pause(result: SearchResult) -> float:
    """Seconds for which the engine of a search is not asked again; 0 where it answered."""
    pause = PAUSES_S.get(result.outcome, 0.0)
    return result.retry_after_s if pause and result.retry_after_s is not None else pause


def strip_markup(text: str) -> str:
    """One line without markup. Tags go before entities are read, so that "&lt;b&gt;" stays what it says."""
    return " ".join(unescape(_TAG.sub("", (text or "")[:MAX_CHARACTERS])).split())


def shorten(text: str, most: int = MAX_SNIPPET_CHARACTERS) -> str:
    """One line without markup, cut at a word."""
    plain = strip_markup(text)
    return plain if len(plain) <= most else f"{plain[:most].rpartition(' ')[0]}…"


# A run's choice of sources as parameters of a search engine: a hint, results are filtered anyway.

MAX_SITE_OPERATORS = 5
"""Domains that a query may name: engines ignore more."""
_TIME_LIMITS = ((1, "d"), (7, "w"), (31, "m"), (366, "y"))
REGION_CODES = dict(line.split() for line in read_lists("regions")["regions"])
"""DuckDuckGo's codes of regions by language."""


def add_site_operators(query: str, reach: SourceFilter) -> str:
    """The query with the domains to search, or those to leave out, as `site:` operators."""
    names = [entry.removeprefix("*.") for entry in reach.allowed_domains]
    inside = " OR ".join(f"site:{name}" for name in names) if len(names) <= MAX_SITE_OPERATORS else ""
    if inside:
        return f"{query} ({inside})" if " " in inside else f"{query} {inside}"
    return " ".join(
        [query, *(f"-site:{name.removeprefix('*.')}" for name in reach.blocked_domains[:MAX_SITE_OPERATORS])]
    )


def days_back(reach: SourceFilter, today: date | None = None) -> int:
    """Days from the beginning of the chosen time to today; 0 for any time."""
    if not reach.since:
        return 0
    return max(1, ((today or datetime.now(UTC).date()) - date.fromisoformat(reach.since)).days)


def time_limit(reach: SourceFilter, today: date | None = None) -> str | None:
    """The shortest of DuckDuckGo's terms (day, week, month, year) that covers the chosen time, or None."""
    back = days_back(reach, today)
    return next((name for most, name in _TIME_LIMITS if 0 < back <= most), None)


# Applies a run's choice of sources to results and pages; what is left out is told with the reason.


def filter_hits(result: SearchResult, reach: SourceFilter) -> SearchResult:
    """The results inside the filter, and how many are outside. Without any it is `empty`, with the reason."""
    good = [
        hit
        for hit in result.hits
        if reach.allows(hit.url) and not (hit.published_at and reach.date_problem(hit.published_at))
    ]
    out = len(result.hits) - len(good)
    if not out:
        return result
    note = f"{out} of {len(result.hits)} results lie outside the chosen sources and were left out."
    outcome = result.outcome if good else Outcome.EMPTY
    return result.replace(hits=good, left_out=out, detail=f"{result.detail} {note}".strip(), outcome=outcome)


def filter_page(read: Page, reach: SourceFilter) -> Page:
    """The page; outside the chosen time or language a refusal, without its text but with its links."""
    if read.outcome is not Outcome.OK or not reach.needs_page:
        return read
    why = reach.date_problem(read.published_at)
    if not why and reach.language:  # as the page states it, else as its text is written
        why = reach.language_problem(normalize_language(read.language) or detect_language(read.text))
    if not why:
        return read
    bare = {"text": "", "headings": [], "tables": [], "raw": b"", "sha256": ""}
    return read.replace(outcome=Outcome.REFUSED, detail=why, **bare)
