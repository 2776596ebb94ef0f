"""Writes the answer of a chat from passages, quotes to every sentence, or writes nothing. Knows passages, not
where they came from.

The keyless side quotes the sentences that answer best, from the passages that are nearly as relevant as the
best; when the passages are not likely to answer it writes nothing."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.retrieval.answerability import MIN_ANSWER_PROBABILITY
from agent.retrieval.fact_selection import choose_facts, render_statement
from agent.retrieval.relevance import describe_row, find_topic, score_sentences
from agent.roles.role import Role
from agent.roles.site.draft import DraftQuote, DraftSentence
from agent.text.question_analysis import parse_question
from agent.text.tokens import stem_prefix, stem_words
from agent.types import Fact, Passage, Turn

MIN_SHARE_OF_BEST = 0.6
"""A passage is quoted when it is at least this relevant, measured by the most relevant one."""
MIN_SCORE = 0.2
"""The least score of a sentence that is quoted."""
MAX_PER_PAGE = 5
"""Sentences of one page that are thought of."""
MAX_WORDS, MAX_SENTENCES = 120, 6
FACT_KINDS = ("person", "date", "number", "place")
"""Kinds of answers that stand in one sentence."""


class GenerateReply(BaseModel):
    """An answer of cited sentences; none when the passages do not answer."""

    model_config = ConfigDict(extra="ignore")

    answer: list[DraftSentence] = Field(description="empty when the passages do not answer the question")
    missing: str = Field(
        default="", description="what was asked for and is not in the passages; empty when nothing"
    )
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)


def fallback(
    *,
    question: str,
    asked: str,
    history: list[Turn],
    notes: list[str],
    passages: list[Passage],
    likelihood: float,
    missing: list[str],
    caveat: str,
) -> GenerateReply:
    """Quoted sentences when the passages are likely to answer, else nothing."""
    lacking = f"Not found: {', '.join(missing)}." if missing else ""
    if likelihood < MIN_ANSWER_PROBABILITY or not passages:
        return GenerateReply(answer=[], missing=lacking, confidence=likelihood)
    picked = _drop_weaker_rows(
        asked,
        passages,
        choose_facts(asked, make_candidate_facts(asked, passages), words=MAX_WORDS, sentences=MAX_SENTENCES),
    )
    answer = [
        DraftSentence(
            text=render_statement(fact), quotes=[DraftQuote(passage_id=fact.part, quote=fact.quote)]
        )
        for fact in _order_facts(asked, picked)
    ]
    return GenerateReply(answer=answer, missing=lacking, confidence=likelihood)


def _drop_weaker_rows(asked: str, passages: list[Passage], facts: list[Fact]) -> list[Fact]:
    """The facts without rows of a table that hold less of what is asked than another row of it: they are of
    other things."""
    tables = {passage.id for passage in passages if passage.rows}
    wanted = parse_question(asked).prefix_weights
    holds = {
        fact.id: wanted.keys() & {stem_prefix(word) for word in stem_words(fact.quote)}
        for fact in facts
        if fact.part in tables
    }
    pages = {fact.id: fact.page_id for fact in facts}
    lesser = {
        one for one in holds for other in holds if pages[one] == pages[other] and holds[one] < holds[other]
    }
    return [fact for fact in facts if fact.id not in lesser]


def _order_facts(asked: str, facts: list[Fact]) -> list[Fact]:
    """Where a name, a date, a figure or a place is asked for, the best sentence first. Else the best page's
    sentences first, each page's in the order they stand in: steps of an instruction stay steps."""
    if parse_question(asked).answer_type in FACT_KINDS:
        return facts
    pages = list(dict.fromkeys(fact.page_id for fact in facts))
    return sorted(facts, key=lambda fact: (pages.index(fact.page_id), fact.start))


def make_candidate_facts(asked: str, passages: list[Passage]) -> list[Fact]:
    """The sentences worth quoting as facts that are not checked yet; `part` is the passage each stands in,
    `step` its page's rank."""
    best = max((passage.score for passage in passages), default=0.0)
    pages: dict[str, list[Passage]] = {}
    for passage in passages:
        if passage.score >= MIN_SHARE_OF_BEST * best:
            pages.setdefault(passage.page_id, []).append(passage)
    found: list[Fact] = []
    for rank, of_page in enumerate(pages.values()):
        for candidate in [
            candidate for candidate in score_sentences(asked, of_page) if candidate.score >= MIN_SCORE
        ][:MAX_PER_PAGE]:
            passage = candidate.passage
            subject, attribute = find_topic(parse_question(asked), passage.title, candidate.quote)
            statement = describe_row(passage.heading, candidate.quote) if passage.rows else candidate.quote
            found.append(
                Fact(
                    id=f"c{len(found)}",
                    statement=statement,
                    quote=candidate.quote,
                    page_id=passage.page_id,
                    url=passage.url,
                    title=passage.title,
                    start=passage.start + passage.text.find(candidate.quote),
                    subject=subject,
                    attribute=attribute,
                    relevance=candidate.score,
                    part=passage.id,
                    verified=True,
                    step=rank,
                )
            )
    return found


GENERATE = Role(name="generate", reply=GenerateReply, fallback=fallback, tier="strong")
