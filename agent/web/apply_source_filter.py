"""What of a search or a fetch counts, by the sources a run may use. What is left out is told, with the
reason; nothing is asked for here."""

from __future__ import annotations

from agent.types import Outcome, Page, SearchResult, SourceFilter
from agent.web import page_language


def filter_hits(result: SearchResult, reach: SourceFilter) -> SearchResult:
    """The results that lie inside, and how many do not. When none does, the search is `empty`, and says
    why."""
    good = [
        hit
        for hit in result.hits
        if reach.allows(hit.url) and not (hit.published_at and reach.date_problem(hit.published_at))
    ]
    out = len(result.hits) - len(good)
    if not out:
        return result
    told = f"{out} of {len(result.hits)} results lie outside the chosen sources and were left out."
    outcome = result.outcome if good else Outcome.EMPTY
    return result.model_copy(
        update={
            "hits": good,
            "left_out": out,
            "detail": f"{result.detail} {told}".strip(),
            "outcome": outcome,
        }
    )


def filter_page(read: Page, reach: SourceFilter) -> Page:
    """The page, or, when its date or its language is not asked for, the refusal: without its text, with its
    links."""
    if read.outcome is not Outcome.OK or not reach.needs_page:
        return read
    why = reach.date_problem(read.published_at) or (
        reach.language_problem(page_language.detect_page_language(read)) if reach.language else ""
    )
    if not why:
        return read
    bare = {"text": "", "headings": [], "tables": [], "raw": b"", "sha256": ""}
    return read.model_copy(update={"outcome": Outcome.REFUSED, "detail": why, **bare})
