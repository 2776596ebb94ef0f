"""What a search or a page brought: facts with their quotes, leads, an assessment and what to do next. Knows no fetching.

The reply is the contract of the research flow. The keyless side quotes the sentences that bear on the question, and says which
of the question's words are still open. Nothing is ever quoted from a search snippet.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.answering import candidates, row_statement, subject_of
from agent.roles.role import Role
from agent.text.coverage import cover
from agent.text.leads import from_hits, worth_showing
from agent.text.names import names
from agent.text.question import read
from agent.text.words import fold
from agent.types import Fact, Hit, Link, Outcome, Passage, SearchResult

QUOTES = 6
"""Quotes taken from one page at most."""
BEARS = 0.2
"""The least score of a sentence that is kept as a fact."""
PROMISING = 5


class ExtractedFact(BaseModel):
    """One statement and the verbatim words of the page it stands on."""

    model_config = ConfigDict(extra="ignore")

    statement: str
    quote: str = Field(description="verbatim from the passage, one sentence or table row")
    passage_id: str = ""
    subject: str = ""
    attribute: str = ""
    part: str = Field(default="", description="the part of the question it bears on; empty for the whole")


class ExtractedLead(BaseModel):
    """Something to look into later: a name or topic, and why."""

    model_config = ConfigDict(extra="ignore")

    text: str
    why: str = ""


class Extracted(BaseModel):
    """What was extracted, structured."""

    model_config = ConfigDict(extra="ignore")

    facts: list[ExtractedFact] = Field(default_factory=list)
    leads: list[ExtractedLead] = Field(default_factory=list)


class AnalyzerReply(BaseModel):
    """The report to the decision."""

    model_config = ConfigDict(extra="ignore")

    extracted_info: str | Extracted = Field(description="the facts and leads; a plain sentence when there are none")
    assessment: str = ""
    confidence_score: float = Field(default=0.0, ge=0.0, le=1.0)
    suggestions_for_next_step: list[str] = Field(default_factory=list)
    new_potential_urls: list[str] = Field(default_factory=list)
    inconsistencies_found: str | None = None


def keyless(
    *,
    question: str,
    notes: list[str],
    source: str,
    title: str,
    outcome: str,
    hits: list[Hit],
    passages: list[Passage],
    links: list[Link],
    facts: list[Fact],
) -> AnalyzerReply:
    """The report by rule: of a search, which hits are promising; of a page, which sentences bear on the question."""
    if outcome != Outcome.OK:
        return _nothing(question, source, outcome, facts)
    if source.startswith("search:"):
        return _of_search(question, source, hits, facts)
    return _of_page(question, title, passages, links, facts)


def _nothing(question: str, source: str, outcome: str, facts: list[Fact]) -> AnalyzerReply:
    known = cover(question, facts)
    return AnalyzerReply(
        extracted_info=f"Nothing could be read: {source} ended as {outcome}.",
        assessment=f"This step brought nothing ({outcome}); the question's words are covered to {known.share:.0%} by what was known.",
        confidence_score=_confidence(question, facts),
        suggestions_for_next_step=["Try another page or another search."],
    )


def _of_search(question: str, source: str, hits: list[Hit], facts: list[Fact]) -> AnalyzerReply:
    result = SearchResult(engine="", query=source.removeprefix("search:").strip(), outcome=Outcome.OK, hits=hits)
    leads = from_hits(question, result, 0)
    best = [lead.value for lead in leads[:PROMISING]]
    return AnalyzerReply(
        extracted_info="Search results are not quoted; the promising ones are to be read.",
        assessment=f"{len(hits)} results; the best covers {leads[0].score:.0%} of what is asked by its title and snippet." if leads else "No result.",
        confidence_score=_confidence(question, facts),
        suggestions_for_next_step=[f"Read {url}" for url in best[:3]],
        new_potential_urls=best,
    )


def _of_page(question: str, title: str, passages: list[Passage], links: list[Link], facts: list[Fact]) -> AnalyzerReply:
    asked = read(question)
    chosen = [candidate for candidate in candidates(question, passages)[:QUOTES] if candidate.score >= BEARS]
    extracted = [
        ExtractedFact(
            statement=row_statement(c.passage.heading, c.quote) if c.passage.rows else c.quote,
            quote=c.quote,
            passage_id=c.passage.id,
            subject=subject_of(c.passage.title or title, c.quote),
        )
        for c in chosen
    ]
    spelled = fold(question)
    named = [name for c in chosen[:3] for name in names(c.quote, 8) if fold(name) not in spelled]
    new = [*facts, *(_as_fact(c.quote, title) for c in chosen)]
    known = cover(question, new)
    open_words = ", ".join(known.missing)
    text = " ".join(p.text for p in passages[:8])
    return AnalyzerReply(
        extracted_info=Extracted(
            facts=extracted, leads=[ExtractedLead(text=name, why="named in a good quote") for name in dict.fromkeys(named)][:6]
        ),
        assessment=(
            f"{len(extracted)} sentences of “{title}” bear on the question; with what was known {known.share:.0%} of its words are covered"
            + (f", still open: {open_words}." if open_words else ".")
        ),
        confidence_score=_confidence(question, new),
        suggestions_for_next_step=[f"Look for: {open_words}"] if open_words else ["The question seems answered."],
        new_potential_urls=[link.url for link in worth_showing(asked.text, links, text, limit=PROMISING)],
    )


def _as_fact(quote: str, title: str) -> Fact:
    return Fact(id="", statement=quote, quote=quote, title=title, verified=True)


def _confidence(question: str, facts: list[Fact]) -> float:
    known = cover(question, facts)
    return round(0.6 * known.best + 0.4 * known.share, 3) if facts else 0.0


ANALYZER = Role(name="analyzer", reply=AnalyzerReply, keyless=keyless, tier="fast")
