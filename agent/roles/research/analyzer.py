"""What a search or a page brought: facts with their quotes, leads, an assessment and what to do next. Knows
no fetching.

The reply is the contract of the research flow. The keyless side quotes the sentences that bear on the
question, and says which of the question's words are still open. Nothing is ever quoted from a search snippet.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.retrieval.link_scoring import make_hit_leads, rank_links
from agent.retrieval.multi_hop import Bridge, find_bridges, has_bridge_name, join_tokens, measure_bridge_gain
from agent.retrieval.relevance import ScoredSentence, describe_row, find_topic, score_sentences
from agent.retrieval.term_coverage import folded_names, measure_coverage
from agent.roles.role import Role
from agent.text.answer_type import has_answer_type
from agent.text.names import find_names
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.tokens import fold
from agent.types import Fact, Link, Outcome, Passage, SearchHit, SearchResult

MAX_QUOTES = 6
"""Quotes taken from one page at most."""
MIN_SCORE = 0.2
"""The least score of a sentence that is kept as a fact."""
MIN_NOTE_SCORE = 0.35
"""The least score of a sentence that is kept for a person's note."""
LINKED_PAGE_BONUS = 0.15
"""On a page that a known fact led to: what opening it, or holding the kind of thing asked for, adds to a
sentence's score. Closing all that the fact left open adds twice that."""
MAX_PROMISING = 5


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


class ExtractedInfo(BaseModel):
    """What was extracted, structured."""

    model_config = ConfigDict(extra="ignore")

    facts: list[ExtractedFact] = Field(default_factory=list)
    leads: list[ExtractedLead] = Field(default_factory=list)


class AnalyzerReply(BaseModel):
    """The report to the decision."""

    model_config = ConfigDict(extra="ignore")

    extracted_info: str | ExtractedInfo = Field(
        description="the facts and leads; a plain sentence when there are none"
    )
    assessment: str = ""
    confidence_score: float = Field(default=0.0, ge=0.0, le=1.0)
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
    """The report by rule: of a search, which hits are promising; of a page, which sentences bear on the
    question."""
    if outcome != Outcome.OK:
        return _report_failure(question, source, outcome, facts)
    if source.startswith("search:"):
        return _report_search(question, source, hits, facts)
    return _report_page(
        question, title, _choose_sentences(question, notes, title, passages, facts), links, facts
    )


def _report_failure(question: str, source: str, outcome: str, facts: list[Fact]) -> AnalyzerReply:
    known = measure_coverage(question, facts)
    return AnalyzerReply(
        extracted_info=f"Nothing could be read: {source} ended as {outcome}.",
        assessment=f"This step brought nothing ({outcome}); the question's words are covered to {known.share:.0%} by what was known.",
        confidence_score=_estimate_confidence(question, facts),
        suggestions_for_next_step=["Try another page or another search."],
    )


def _report_search(question: str, source: str, hits: list[SearchHit], facts: list[Fact]) -> AnalyzerReply:
    result = SearchResult(
        engine="", query=source.removeprefix("search:").strip(), outcome=Outcome.OK, hits=hits
    )
    leads = make_hit_leads(question, result, 0)
    best = [lead.value for lead in leads[:MAX_PROMISING]]
    return AnalyzerReply(
        extracted_info="Search results are not quoted; the promising ones are to be read.",
        assessment=f"{len(hits)} results; the best covers {leads[0].score:.0%} of what is asked by its title and snippet."
        if leads
        else "No result.",
        confidence_score=_estimate_confidence(question, facts),
        suggestions_for_next_step=[f"Read {url}" for url in best[:3]],
        new_potential_urls=best,
    )


def _choose_sentences(
    question: str, notes: list[str], title: str, passages: list[Passage], facts: list[Fact]
) -> list[ScoredSentence]:
    """The sentences worth keeping for the question, and the best two for the person's newest note."""
    chosen = _choose_relevant(parse_question(question), title, score_sentences(question, passages), facts)
    noted = [
        c for note in notes[-1:] for c in score_sentences(note, passages)[:2] if c.score >= MIN_NOTE_SCORE
    ]
    return [*chosen, *(c for c in noted if all(c.quote != other.quote for other in chosen))]


def _report_page(
    question: str, title: str, chosen: list[ScoredSentence], links: list[Link], facts: list[Fact]
) -> AnalyzerReply:
    asked = parse_question(question)
    extracted = [_make_extracted_fact(asked, title, candidate) for candidate in chosen]
    spelled = fold(question)
    named = [name for c in chosen[:3] for name in find_names(c.quote, 8) if fold(name) not in spelled]
    new = [*facts, *(_as_fact(c.quote, title) for c in chosen)]
    known = measure_coverage(question, new)
    open_words = ", ".join(known.missing)
    text = " ".join(c.passage.text for c in chosen)
    return AnalyzerReply(
        extracted_info=ExtractedInfo(
            facts=extracted,
            leads=[ExtractedLead(text=name, why="named in a good quote") for name in dict.fromkeys(named)][
                :6
            ],
        ),
        assessment=(
            f"{len(extracted)} sentences of “{title}” bear on the question; with what was known {known.share:.0%} of its words are covered"
            + (f", still open: {open_words}." if open_words else ".")
        ),
        confidence_score=_estimate_confidence(question, new),
        suggestions_for_next_step=[f"Look for: {open_words}"]
        if open_words
        else ["The question seems answered."],
        new_potential_urls=[link.url for link in rank_links(asked.text, links, text, limit=MAX_PROMISING)],
    )


def _choose_relevant(
    asked: ParsedQuestion, title: str, found: list[ScoredSentence], facts: list[Fact]
) -> list[ScoredSentence]:
    """The candidates worth keeping, best first. On a page that known facts lead to, covering what they left
    open is enough."""
    page = join_tokens(" ".join([title, *(candidate.quote for candidate in found)]))
    led = (
        [bridge for bridge in find_bridges(asked, facts) if has_bridge_name(bridge, page)]
        if asked.is_multi_hop and facts
        else []
    )
    if not led:
        return [candidate for candidate in found if candidate.score >= MIN_SCORE][:MAX_QUOTES]
    lifted = [(_raise_score(asked, candidate, led), -n, candidate) for n, candidate in enumerate(found)]
    best = sorted(lifted, reverse=True, key=lambda entry: entry[:2])[:MAX_QUOTES]
    return [candidate for score, _, candidate in best if score >= MIN_SCORE]


def _raise_score(asked: ParsedQuestion, candidate: ScoredSentence, led: list[Bridge]) -> float:
    """A candidate's score, raised by what it closes of the bridges that led to its page."""
    closed = max(max(measure_bridge_gain(bridge, candidate.words)) for bridge in led)
    fits = has_answer_type(asked.answer_type, candidate.quote, folded_names(asked))
    return candidate.score + LINKED_PAGE_BONUS * (candidate.opening + fits + 2 * closed)


def _make_extracted_fact(asked: ParsedQuestion, title: str, candidate: ScoredSentence) -> ExtractedFact:
    passage = candidate.passage
    statement = describe_row(passage.heading, candidate.quote) if passage.rows else candidate.quote
    subject, attribute = find_topic(asked, passage.title or title, candidate.quote)
    return ExtractedFact(
        statement=statement,
        quote=candidate.quote,
        passage_id=passage.id,
        subject=subject,
        attribute=attribute,
    )


def _as_fact(quote: str, title: str) -> Fact:
    return Fact(id="", statement=quote, quote=quote, title=title, verified=True)


def _estimate_confidence(question: str, facts: list[Fact]) -> float:
    known = measure_coverage(question, facts)
    return round(0.6 * known.best_share + 0.4 * known.share, 3) if facts else 0.0


ANALYZER = Role(name="analyzer", reply=AnalyzerReply, fallback=fallback, tier="fast")
