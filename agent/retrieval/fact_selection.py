"""Chooses the facts that make an answer when no model writes it: the best by relevance, pinned ones first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agent.retrieval.link_scoring import strip_title_suffix
from agent.retrieval.relevance import score_fact, weigh_by_pages
from agent.text.question_analysis import parse_question
from agent.text.tokens import stem_words
from agent.types import Fact

EARLY_PAGE_WEIGHT = 0.3
"""What a fact of the page that was read first gains; of the nth page the nth part of it."""
MAX_GAP_TO_BEST, MAX_GAP_MULTI_HOP = 0.5, 0.8
"""A fact this far behind the best is left out; of a question that takes several pages one further behind."""
SAME_PAGE_PENALTY = 0.05
"""What each fact already chosen from a page takes from the page's others."""
MIN_NOTE_SCORE = 0.35
"""The least score of a fact that is quoted for a person's note."""
MAX_TITLE_CHARS = 60


def choose_facts(question: str, facts: Sequence[Fact], *, words: int, sentences: int) -> list[Fact]:
    """The facts that make the answer, pinned ones first, then the best; within a number of words and
    sentences, no statement twice."""
    asked = weigh_by_pages(
        parse_question(question), ((fact.url, f"{fact.title} {fact.quote}") for fact in facts)
    )
    gap = MAX_GAP_MULTI_HOP if asked.is_multi_hop else MAX_GAP_TO_BEST
    order = {step: n for n, step in enumerate(sorted({fact.step for fact in facts}))}
    scores = {fact.id: score_fact(asked, fact) + EARLY_PAGE_WEIGHT / (1 + order[fact.step]) for fact in facts}
    least = max(scores.values(), default=0.0) - gap
    pool = [fact for fact in facts if fact.decision == "pinned" or scores[fact.id] >= least]
    taken: list[Fact] = []
    pages: Counter[str] = Counter()

    def rank(fact: Fact) -> tuple[bool, float]:
        return fact.decision == "pinned", scores[fact.id] - SAME_PAGE_PENALTY * pages[fact.url]

    while pool and len(taken) < sentences:
        fact = max(pool, key=rank)
        pool.remove(fact)
        length = len(render_statement(fact).split())
        if not taken or (length <= words and all(fact.statement != other.statement for other in taken)):
            taken.append(fact)
            pages[fact.url] += 1
            words -= length
    return taken


def choose_facts_for_note(note: str, facts: Sequence[Fact]) -> list[Fact]:
    """Up to two facts that fit a person's note; none when no fact does."""
    chosen = choose_facts(note, facts, words=50, sentences=2)
    return [fact for fact in chosen if score_fact(note, fact) >= MIN_NOTE_SCORE]


def render_statement(fact: Fact) -> str:
    """The statement; a quoted one with its page's title in front when it has no word of that title."""
    title = strip_title_suffix(fact.title)
    if fact.by != "keyless" or not title or len(title) > MAX_TITLE_CHARS:
        return fact.statement
    return (
        fact.statement
        if set(stem_words(title)) & set(stem_words(fact.statement))
        else f"{title}: {fact.statement}"
    )
