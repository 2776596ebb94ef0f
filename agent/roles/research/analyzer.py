"""Reports what a search or a page brought: facts with their quotes, leads, an assessment and what to do next.
Knows no fetching.

The reply is the contract of the research flow. Nothing is ever quoted from a search snippet."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.extractive_answer import Quotation, find_best_quotes
from agent.retrieval.link_scoring import make_hit_leads, rank_links
from agent.retrieval.term_coverage import measure_coverage
from agent.roles.role import Role, RoleReply, Share
from agent.text.names import find_names
from agent.text.tokens import fold
from agent.types import Fact, Link, Outcome, Passage, SearchHit, SearchResult

MAX_QUOTES = 6
"""Quotes taken from one page at most."""
MIN_NOTE_SCORE = 0.35
"""The least score of a sentence that is kept for a person's note."""
MAX_PROMISING = 5


class ExtractedFact(RoleReply):
    """One statement and the verbatim words of the page that state it."""

    statement: str
    quote: str = Field(description="verbatim from the passage, one sentence or table row")
    passage_id: str = ""
    subject: str = ""
    attribute: str = ""
    part: str = Field(
        default="", description="the part of the question that it bears on; empty for the whole"
    )


class ExtractedLead(RoleReply):
    """A name or topic to search for later, and why."""

    text: str
    why: str = ""


class ExtractedInfo(RoleReply):
    """What was extracted."""

    facts: list[ExtractedFact] = Field(default_factory=list)
    leads: list[ExtractedLead] = Field(default_factory=list)


class AnalyzerReply(RoleReply):
    """The report to the decision."""

    extracted_info: str | ExtractedInfo = Field(
        description="the facts and leads; a plain sentence when there are none"
    )
    assessment: str = ""
    confidence_score: Share = 0.0
    suggestions_for_next_step: list[str] = Field(default_factory=list)
    new_potential_urls: list[str] = Field(default_factory=list)
    inconsistencies_found: str | None = None


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
) -> AnalyzerReply:
    """Of a search the promising hits; of a page the sentences that fit the question and the newest note
    best."""
    if outcome != Outcome.OK:
        return AnalyzerReply(
            extracted_info=f"Nothing could be read: {source} ended as {outcome}.",
            assessment=f"This step brought nothing ({outcome}).",
            confidence_score=_estimate_confidence(question, facts),
            suggestions_for_next_step=["Try another page or another search."],
        )
    if source.startswith("search:"):
        return _report_search(question, source, hits, facts)
    quotes = find_best_quotes(question, passages, MAX_QUOTES)
    for note in notes[-1:]:
        noted = [quote for quote in find_best_quotes(note, passages, 2) if quote.score >= MIN_NOTE_SCORE]
        quotes += [quote for quote in noted if all(quote.quote != other.quote for other in quotes)]
    return _report_page(question, title, quotes, passages, links, facts)


def _report_search(question: str, source: str, hits: list[SearchHit], facts: list[Fact]) -> AnalyzerReply:
    query = source.removeprefix("search:").strip()
    result = SearchResult(engine="", query=query, outcome=Outcome.OK, hits=hits)
    best = [lead.value for lead in make_hit_leads(question, result, 0)[:MAX_PROMISING]]
    return AnalyzerReply(
        extracted_info="Search results are not quoted; the promising ones are to be read.",
        assessment=f"{len(hits)} results." if hits else "No result.",
        confidence_score=_estimate_confidence(question, facts),
        suggestions_for_next_step=[f"Read {url}" for url in best[:3]],
        new_potential_urls=best,
    )


def _report_page(
    question: str,
    title: str,
    quotes: list[Quotation],
    passages: list[Passage],
    links: list[Link],
    facts: list[Fact],
) -> AnalyzerReply:
    names = [name for quote in quotes[:3] for name in find_names(quote.quote, 8)]
    new = [name for name in dict.fromkeys(names) if fold(name) not in fold(question)]
    known = [*facts, *(_as_fact(quote, title) for quote in quotes)]
    missing = ", ".join(measure_coverage(question, known).missing)
    quoted = {quote.passage_id for quote in quotes}
    text = " ".join(passage.text for passage in passages if passage.id in quoted)
    return AnalyzerReply(
        extracted_info=ExtractedInfo(
            facts=[
                ExtractedFact(
                    statement=quote.statement,
                    quote=quote.quote,
                    passage_id=quote.passage_id,
                    subject=quote.subject,
                )
                for quote in quotes
            ],
            leads=[ExtractedLead(text=name, why="named in a good quote") for name in new[:6]],
        ),
        assessment=f"{len(quotes)} sentences of “{title}” fit the question"
        + (f"; words not found yet: {missing}." if missing else "."),
        confidence_score=_estimate_confidence(question, known),
        suggestions_for_next_step=[f"Look for: {missing}"]
        if missing
        else ["Each word of the question is found."],
        new_potential_urls=[link.url for link in rank_links(question, links, text, limit=MAX_PROMISING)],
    )


def _as_fact(quote: Quotation, title: str) -> Fact:
    return Fact(id="", statement=quote.quote, quote=quote.quote, title=title, verified=True)


def _estimate_confidence(question: str, facts: list[Fact]) -> float:
    known = measure_coverage(question, facts)
    return round(0.6 * known.best_share + 0.4 * known.share, 3) if facts else 0.0


ANALYZER = Role(name="analyzer", reply=AnalyzerReply, fallback=fallback, tier="fast")
