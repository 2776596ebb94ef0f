"""Reports what a search or a page brought: facts with their quotes, leads, an assessment and what to do next.
Knows no fetching.

The reply is the contract of the research flow. Nothing is ever quoted from a search snippet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from agent.evidence.quote_match import find_quote
from agent.retrieval.answer import find_best_lines
from agent.retrieval.link_scoring import make_hit_leads, rank_links
from agent.retrieval.quotation import Quotation
from agent.roles.role import Role, RoleReply, Share
from agent.text.names import find_names
from agent.text.tokens import fold
from agent.types import Conflict, Fact, Link, Outcome, Passage, PlanPart, SearchHit, SearchResult

MAX_QUOTES = 6
"""Quotes taken from one page at most."""
MIN_NOTE_SCORE = 0.35
"""The least score of a sentence that is kept for a person's note."""
MAX_PROMISING = 5


class ExtractedFact(RoleReply):
    """One statement and the verbatim words of the page that state it."""

    quote: str = Field(description="one sentence or table row, copied from the passage")
    passage_id: str = Field(default="", description="such as p1")
    statement: str = Field(default="", description="what the quote says, understandable alone")
    subject: str = ""
    attribute: str = ""
    part: str = Field(default="", description="id of the part of the question, such as 1")


class ConflictRuling(RoleReply):
    """What two sides of a conflict are to each other, by what was read."""

    id: str
    ruling: Literal["contradict", "different_things", "later_replaces", "agree"] = "contradict"
    reason: str = ""


class AnalyzerReply(RoleReply):
    """The report to the decision. Facts and leads together are what is stored as `extracted_info`."""

    facts: list[ExtractedFact] = Field(default_factory=list, description="empty when nothing helps")
    leads: list[str] = Field(default_factory=list, description="names or topics to search for later")
    answered_parts: list[str] = Field(
        default_factory=list, description="ids of the parts that the facts answer, the new ones included"
    )
    conflicts: list[ConflictRuling] = Field(
        default_factory=list, description="a ruling on each open conflict that you were shown"
    )
    assessment: str = Field(default="", description="two or three sentences")
    confidence_score: Share = 0.0
    suggestions_for_next_step: list[str] = Field(default_factory=list)
    new_potential_urls: list[str] = Field(
        default_factory=list, description="ids of the listed links to read next, such as u3"
    )
    inconsistencies_found: str = Field(default="", description="empty when nothing contradicts")


def fallback(
    *,
    question: str,
    notes: list[str],
    source: str,
    title: str,
    outcome: str,
    hits: list[SearchHit],
    passages: list[Passage],
    links: list[Link],
    facts: list[Fact],
    parts: Sequence[PlanPart] = (),
    conflicts: Sequence[Conflict] = (),
) -> AnalyzerReply:
    """Of a search the promising hits; of a page the sentences that fit the question and the newest note
    best."""
    if outcome != Outcome.OK:
        return AnalyzerReply(
            assessment=f"This step brought nothing: {source} ended as {outcome}.",
            suggestions_for_next_step=["Try another page or another search."],
        )
    if source.startswith("search:"):
        return _report_search(question, source, hits)
    quotes = find_best_lines(question, passages, MAX_QUOTES)
    for note in notes[-1:]:
        noted = [quote for quote in find_best_lines(note, passages, 2) if quote.score >= MIN_NOTE_SCORE]
        quotes += [quote for quote in noted if all(quote.quote != other.quote for other in quotes)]
    texts = {passage.id: passage.text for passage in passages}
    quotes = [quote for quote in quotes if find_quote(quote.quote, texts[quote.passage_id])]
    return _report_page(question, title, quotes, passages, links)


def _report_search(question: str, source: str, hits: list[SearchHit]) -> AnalyzerReply:
    query = source.removeprefix("search:").strip()
    result = SearchResult(engine="", query=query, outcome=Outcome.OK, hits=hits)
    best = [lead.value for lead in make_hit_leads(question, result, 0)[:MAX_PROMISING]]
    return AnalyzerReply(
        assessment=f"{len(hits)} results." if hits else "No result.",
        suggestions_for_next_step=[f"Read {url}" for url in best[:3]],
        new_potential_urls=best,
    )


def _report_page(
    question: str,
    title: str,
    quotes: list[Quotation],
    passages: list[Passage],
    links: list[Link],
) -> AnalyzerReply:
    names = [name for quote in quotes[:3] for name in find_names(quote.quote, 8)]
    new = [name for name in dict.fromkeys(names) if fold(name) not in fold(question)]
    quoted = {quote.passage_id for quote in quotes}
    text = " ".join(passage.text for passage in passages if passage.id in quoted)
    return AnalyzerReply(
        facts=[
            ExtractedFact(
                statement=quote.statement,
                quote=quote.quote,
                passage_id=quote.passage_id,
                subject=quote.subject,
            )
            for quote in quotes
        ],
        leads=new[:6],
        assessment=f"{len(quotes)} sentences of “{title}” fit the question.",
        confidence_score=max((quote.score for quote in quotes), default=0.0),
        new_potential_urls=[link.url for link in rank_links(question, links, text, limit=MAX_PROMISING)],
    )


ANALYZER = Role(name="analyzer", reply=AnalyzerReply, fallback=fallback, tier="fast")
