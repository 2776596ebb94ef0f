"""Writes the answer of a research run: sentences that cite facts. Writes no URL."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.extractive_answer import MIN_COVERED_SHARE
from agent.retrieval.fact_selection import (
    choose_facts,
    choose_facts_for_note,
    render_statement,
)
from agent.retrieval.term_coverage import best_share, measure_coverage
from agent.roles.placed_sentence import PlacedSentence
from agent.roles.role import Role, RoleReply
from agent.text.question_analysis import parse_question
from agent.types import Action, Answer, Conflict, Fact

MAX_WORDS, MAX_SENTENCES = 120, 6
MIN_RELEVANCE_SHARE = 0.8
"""Share of the best disputed fact's relevance below which a fact is beside the point."""
MIN_COVERED_SHARE_GIVEN_PAGE = 0.25
"""The least share of the question that the facts of one page must cover where the person named the page: then
the question need not name its subject."""


class ReportSentence(PlacedSentence):
    """One sentence of the answer and the ids of the facts that state it."""

    text: str
    fact_ids: list[str] = Field(default_factory=list)


class ReportReply(RoleReply):
    """The answer as parts; the renderer numbers the sources and writes every address."""

    answer: list[ReportSentence] = Field(
        default_factory=list, description="empty when the facts do not answer the question"
    )


def fallback(
    *,
    question: str,
    notes: list[str],
    facts: list[Fact],
    conflicts: list[Conflict],
    history: list[Action],
    former: Answer | None,
) -> ReportReply:
    """The quotes that fit best: two for the newest note, pinned ones, and where the facts cover enough of the
    question the most relevant."""
    known = measure_coverage(question, facts)
    usable = _choose_usable(facts)
    noted = choose_facts_for_note(notes[-1], [fact for fact in facts if fact.can_support]) if notes else []
    starts_at_page = bool(history) and history[0].action == "crawl_url"
    least = MIN_COVERED_SHARE_GIVEN_PAGE if starts_at_page else MIN_COVERED_SHARE
    texts = [(fact.url, f"{fact.title} {fact.quote}") for fact in usable if not fact.is_own_knowledge]
    asked = parse_question(question)
    covers = (known.share if asked.is_multi_hop else best_share(asked, texts)) >= least
    rest = [fact for fact in usable if fact not in noted and (covers or fact.decision == "pinned")]
    room = MAX_WORDS - sum(len(render_statement(fact).split()) for fact in noted)
    picked = noted + (choose_facts(question, rest, words=room, sentences=MAX_SENTENCES) if room > 0 else [])
    return ReportReply(
        answer=[ReportSentence(text=render_statement(fact), fact_ids=[fact.id]) for fact in picked],
    )


def _choose_usable(facts: list[Fact]) -> list[Fact]:
    """The facts that nothing disputes. Where the best fact is disputed, those that are less to the point than
    it are left out: they must not fill the answer in its place."""
    usable = [fact for fact in facts if fact.can_support]
    best = max((fact.relevance for fact in usable), default=0.0)
    disputed = max((fact.relevance for fact in facts if fact.disputed), default=0.0)
    least = MIN_RELEVANCE_SHARE * disputed if disputed > best else 0.0
    return [fact for fact in usable if fact.decision == "pinned" or fact.relevance >= least]


REPORT = Role(name="report", reply=ReportReply, fallback=fallback, tier="strong")
