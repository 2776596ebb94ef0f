"""Writes the answer of a chat from passages, quotes to every sentence, or writes nothing. Knows passages, not where they came from.

The keyless side quotes the sentences that answer best, from the passages that are nearly as relevant as the best; when the
passages are not likely to answer it writes nothing.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.answerability import ANSWERS
from agent.roles.answering import candidates, row_statement, topic
from agent.roles.choosing import chosen, told
from agent.roles.draft import DraftQuote, DraftSentence
from agent.roles.role import Role
from agent.text.question import read
from agent.text.words import rough, stems
from agent.types import Fact, Passage, Turn

NEAR = 0.6
"""A passage is quoted when it is at least this relevant, measured by the most relevant one."""
BEARS = 0.2
"""The least score of a sentence that is quoted."""
OF_PAGE = 5
"""Sentences of one page that are thought of."""
WORDS, SENTENCES = 120, 6
POINTED = ("person", "date", "number", "place")
"""Kinds of answers that stand in one sentence."""


class GenerateReply(BaseModel):
    """An answer of cited sentences; none when the passages do not answer."""

    model_config = ConfigDict(extra="ignore")

    answer: list[DraftSentence] = Field(description="empty when the passages do not answer the question")
    missing: str = Field(default="", description="what was asked for and is not in the passages; empty when nothing")
    confidence: float = Field(default=0.0, ge=0.0, le=1.0)


def keyless(
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
    if likelihood < ANSWERS or not passages:
        return GenerateReply(answer=[], missing=lacking, confidence=likelihood)
    picked = _without_lesser_rows(asked, passages, chosen(asked, candidate_facts(asked, passages), words=WORDS, sentences=SENTENCES))
    answer = [DraftSentence(text=told(fact), quotes=[DraftQuote(passage_id=fact.part, quote=fact.quote)]) for fact in _in_order(asked, picked)]
    return GenerateReply(answer=answer, missing=lacking, confidence=likelihood)


def _without_lesser_rows(asked: str, passages: list[Passage], facts: list[Fact]) -> list[Fact]:
    """The facts without rows of a table that hold less of what is asked than another row of it: they are of other things."""
    tables = {passage.id for passage in passages if passage.rows}
    wanted = read(asked).rough
    holds = {fact.id: wanted.keys() & {rough(word) for word in stems(fact.quote)} for fact in facts if fact.part in tables}
    pages = {fact.id: fact.page_id for fact in facts}
    lesser = {one for one in holds for other in holds if pages[one] == pages[other] and holds[one] < holds[other]}
    return [fact for fact in facts if fact.id not in lesser]


def _in_order(asked: str, facts: list[Fact]) -> list[Fact]:
    """Where a name, a date, a figure or a place is asked for, the best sentence first. Else the best page's sentences first, each page's
    in the order they stand in: steps of an instruction stay steps."""
    if read(asked).kind in POINTED:
        return facts
    pages = list(dict.fromkeys(fact.page_id for fact in facts))
    return sorted(facts, key=lambda fact: (pages.index(fact.page_id), fact.start))


def candidate_facts(asked: str, passages: list[Passage]) -> list[Fact]:
    """The sentences worth quoting as facts that are not checked yet; `part` is the passage each stands in, `step` its page's rank."""
    best = max((passage.score for passage in passages), default=0.0)
    pages: dict[str, list[Passage]] = {}
    for passage in passages:
        if passage.score >= NEAR * best:
            pages.setdefault(passage.page_id, []).append(passage)
    found: list[Fact] = []
    for rank, of_page in enumerate(pages.values()):
        for candidate in [candidate for candidate in candidates(asked, of_page) if candidate.score >= BEARS][:OF_PAGE]:
            passage = candidate.passage
            subject, attribute = topic(read(asked), passage.title, candidate.quote)
            statement = row_statement(passage.heading, candidate.quote) if passage.rows else candidate.quote
            found.append(
                Fact(
                    id=f"c{len(found)}", statement=statement, quote=candidate.quote, page_id=passage.page_id, url=passage.url, title=passage.title,
                    start=passage.start + passage.text.find(candidate.quote), subject=subject, attribute=attribute, relevance=candidate.score,
                    part=passage.id, verified=True, step=rank,
                )
            )  # fmt: skip
    return found


GENERATE = Role(name="generate", reply=GenerateReply, keyless=keyless, tier="strong")
