"""Applies a run's choice of sources to results and pages; what is left out is told with the reason."""

from __future__ import annotations

from agent.text.language import detect_language
from agent.types import Outcome, Page, SearchResult, SourceFilter
from agent.types.source_filter import normalize_language


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
    why = reach.date_problem(read.published_at) or (
        reach.language_problem(detect_page_language(read)) if reach.language else ""
    )
    if not why:
        return read
    bare = {"text": "", "headings": [], "tables": [], "raw": b"", "sha256": ""}
    return read.replace(outcome=Outcome.REFUSED, detail=why, **bare)


def detect_page_language(page: Page) -> str:
    """The code of a page's language: what it states, else what its text is written in; "" for neither."""
    return normalize_language(page.language) or detect_language(page.text)
