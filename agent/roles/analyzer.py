"""What a search or a page brought: facts with their quotes, leads, an assessment and what to do next. Knows no fetching.

The reply is the contract of the research flow. The keyless side quotes the sentences that bear on the question, and says which
of the question's words are still open. Nothing is ever quoted from a search snippet.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.answering import Candidate, candidates, row_statement, topic
from agent.roles.role import Role
from agent.text.chains import Bridge, bridges, closes, follows, spaced
from agent.text.coverage import cover, folded_names
from agent.text.expected import holds
from agent.text.leads import from_hits, worth_showing
from agent.text.names import names
from agent.text.question import Asked, read
from agent.text.words import fold
from agent.types import Fact, Hit, Link, Outcome, Passage, SearchResult

QUOTES = 6
"""Quotes taken from one page at most."""
BEARS = 0.2
"""The least score of a sentence that is kept as a fact."""
NOTED = 0.35
"""The least score of a sentence that is kept for a person's note."""
LIFT = 0.15
"""On a page that a known fact led to: what opening it, or holding the kind of thing asked for, adds to a sentence's score. Closing
all that the fact left open adds twice that."""
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
    return _of_page(question, title, _worth(question, notes, title, passages, facts), links, facts)


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


def _worth(question: str, notes: list[str], title: str, passages: list[Passage], facts: list[Fact]) -> list[Candidate]:
    """The sentences worth keeping for the question, and the best two for the person's newest note."""
    chosen = _bearing(read(question), title, candidates(question, passages), facts)
    noted = [c for note in notes[-1:] for c in candidates(note, passages)[:2] if c.score >= NOTED]
    return [*chosen, *(c for c in noted if all(c.quote != other.quote for other in chosen))]


def _of_page(question: str, title: str, chosen: list[Candidate], links: list[Link], facts: list[Fact]) -> AnalyzerReply:
    asked = read(question)
    extracted = [_extracted(asked, title, candidate) for candidate in chosen]
    spelled = fold(question)
    named = [name for c in chosen[:3] for name in names(c.quote, 8) if fold(name) not in spelled]
    new = [*facts, *(_as_fact(c.quote, title) for c in chosen)]
    known = cover(question, new)
    open_words = ", ".join(known.missing)
    text = " ".join(c.passage.text for c in chosen)
    return AnalyzerReply(
        extracted_info=Extracted(facts=extracted, leads=[ExtractedLead(text=name, why="named in a good quote") for name in dict.fromkeys(named)][:6]),
        assessment=(
            f"{len(extracted)} sentences of “{title}” bear on the question; with what was known {known.share:.0%} of its words are covered"
            + (f", still open: {open_words}." if open_words else ".")
        ),
        confidence_score=_confidence(question, new),
        suggestions_for_next_step=[f"Look for: {open_words}"] if open_words else ["The question seems answered."],
        new_potential_urls=[link.url for link in worth_showing(asked.text, links, text, limit=PROMISING)],
    )


def _bearing(asked: Asked, title: str, found: list[Candidate], facts: list[Fact]) -> list[Candidate]:
    """The candidates worth keeping, best first. On a page that known facts lead to, covering what they left open is enough."""
    page = spaced(" ".join([title, *(candidate.quote for candidate in found)]))
    led = [bridge for bridge in bridges(asked, facts) if follows(bridge, page)] if asked.hops and facts else []
    if not led:
        return [candidate for candidate in found if candidate.score >= BEARS][:QUOTES]
    lifted = [(_lifted(asked, candidate, led), -n, candidate) for n, candidate in enumerate(found)]
    best = sorted(lifted, reverse=True, key=lambda entry: entry[:2])[:QUOTES]
    return [candidate for score, _, candidate in best if score >= BEARS]


def _lifted(asked: Asked, candidate: Candidate, led: list[Bridge]) -> float:
    """A candidate's score, raised by what it closes of the bridges that led to its page."""
    closed = max(max(closes(bridge, candidate.words)) for bridge in led)
    fits = holds(asked.kind, candidate.quote, folded_names(asked))
    return candidate.score + LIFT * (candidate.opening + fits + 2 * closed)


def _extracted(asked: Asked, title: str, candidate: Candidate) -> ExtractedFact:
    passage = candidate.passage
    statement = row_statement(passage.heading, candidate.quote) if passage.rows else candidate.quote
    subject, attribute = topic(asked, passage.title or title, candidate.quote)
    return ExtractedFact(
        statement=statement, quote=candidate.quote, passage_id=passage.id, subject=subject, attribute=attribute
    )  # fmt: skip


def _as_fact(quote: str, title: str) -> Fact:
    return Fact(id="", statement=quote, quote=quote, title=title, verified=True)


def _confidence(question: str, facts: list[Fact]) -> float:
    known = cover(question, facts)
    return round(0.6 * known.best + 0.4 * known.share, 3) if facts else 0.0


ANALYZER = Role(name="analyzer", reply=AnalyzerReply, keyless=keyless, tier="fast")
