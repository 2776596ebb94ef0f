"""Roles of the research flow until it has facts: PLAN splits the question, DECISION proposes a round of
actions, and ANALYZER reports what their pages brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from agent.evidence.quote_match import find_quote
from agent.retrieval.answer import Quotation, find_best_lines
from agent.retrieval.link_scoring import rank_links
from agent.roles.next_step import Decision, DecisionContext, decide_by_rule, hand_over
from agent.roles.role import Role, RoleReply, Share
from agent.text.names import find_names
from agent.text.question_parts import resolve_parts, split_compound_question
from agent.text.tokens import fold
from agent.types import (
    Action,
    Actor,
    Fact,
    Lead,
    Link,
    Passage,
    PlanPart,
    Record,
    Refusal,
)

MAX_PARTS = 8
MAX_READINGS = 4


class PlannedPart(RoleReply):
    """One sub-question."""

    question: str = Field(description="one question that stands alone")
    after: list[int] = Field(
        default_factory=list, description="numbers of the parts, from 1, whose answers it needs"
    )
    answered_by: str = Field(default="", description="what would count as an answer, in a few words")
    where: str = Field(default="", description="where to look, in a few words")


class PlanReply(RoleReply):
    """The plan, and where the question can mean different things a question to the person."""

    parts: list[PlannedPart] = Field(default_factory=list, description="one to eight, in order")
    ask: str = Field(default="", description="a question to the person; empty unless meanings differ")
    readings: list[str] = Field(
        default_factory=list, description="the meanings that `ask` is about, the likeliest first"
    )

    def to_parts(self, question: str, by: Actor) -> list[PlanPart]:
        """The parts as the run keeps them, numbered from "1"; the question itself where there is none. A part
        depends only on parts before it, so that no two wait for each other."""
        asked = [part for part in self.parts if part.question.strip()][:MAX_PARTS]
        if not asked:
            return [PlanPart(id="1", question=question.strip(), by=by)]
        return [
            PlanPart(
                id=str(n),
                question=" ".join(part.question.split()),
                after=[str(k) for k in dict.fromkeys(part.after) if 0 < k < n],
                answered_by=" ".join(part.answered_by.split()),
                where=" ".join(part.where.split()),
                by=by,
            )
            for n, part in enumerate(asked, 1)
        ]

    @property
    def choices(self) -> list[str]:
        """The different readings; none when there is nothing to choose or to ask."""
        named = list(dict.fromkeys(" ".join(reading.split()) for reading in self.readings if reading.strip()))
        return named[:MAX_READINGS] if self.ask.strip() and len(named) > 1 else []


def plan_fallback(*, question: str, **others: object) -> PlanReply:
    """The clauses of a compound question that ask something, with what they plainly refer to."""
    parts = resolve_parts(split_compound_question(question))
    return PlanReply(parts=[PlannedPart(question=part) for part in parts])


PLAN = Role(name="plan", reply=PlanReply, fallback=plan_fallback)
"""Splits a question into parts before anything is searched, and says where it can be read in two ways."""


class DecisionReply(RoleReply):
    """The actions of the next round."""

    actions: list[Decision] = Field(min_length=1, description="one to four actions, carried out side by side")

    @model_validator(mode="before")
    @classmethod
    def read_single_action(cls, data: Any) -> Any:
        """The data, where one action stands at the top as a list of one: small models write it so."""
        is_single = isinstance(data, dict) and "next_action" in data and not data.get("actions")
        return {"actions": [data]} if is_single else data


def decision_fallback(
    *,
    question: str,
    notes: list[str],
    history: list[Action],
    facts: list[Fact],
    leads: list[Lead],
    actions: list[str],
    blockage: Any | None,
    threshold: float,
    remaining: int,
    refused: Sequence[Refusal] = (),
    wishes: Sequence[str] = (),
    **others: object,
) -> DecisionReply:
    """One action by rule; the person when no action is left. `wishes`: what the notes ask to look for, the
    newest first."""
    if remaining <= 0:
        stop = hand_over("The run's tool actions are used up; what was found goes to the person.")
        return DecisionReply(actions=[stop])
    now = DecisionContext(question, notes, wishes, history, facts, leads, actions, threshold, refused)
    return DecisionReply(actions=[decide_by_rule(now, str(blockage.rung) if blockage is not None else "")])


DECISION = Role(
    name="decision",
    reply=DecisionReply,
    fallback=decision_fallback,
    cut=("facts", "results", "leads", "unread", "history", "refused", "wishes"),
)
"""Chooses the next round: up to four searches and pages for named parts of the question, or the hand-over to
the person. The rules of the fallback are in `next_step`.

Each action has the contract of the research flow: `next_action`, `query_or_url`, `reasoning`."""


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


class ShownPage(Record):
    """What a prompt shows of one page: the passages chosen of it, and its links."""

    url: str
    title: str = ""
    part: str = ""
    """The id of the plan's part it was opened for; "" for the whole question."""
    passages: list[Passage] = Field(default_factory=list)
    links: list[Link] = Field(default_factory=list)
    unread: int = 0
    """Passages of it that were never shown."""


def analyzer_fallback(
    *,
    question: str,
    notes: list[str],
    pages: list[ShownPage],
    parts: Sequence[PlanPart] = (),
    wishes: Sequence[str] = (),
    **others: object,
) -> AnalyzerReply:
    """Of each page the sentences that fit best the question, the parts of the plan that a person wrote, and
    what the notes ask to look for, newest first, or the newest note itself."""
    own = [part.question for part in parts if part.by == "person" and part.question != question]
    wanted = [*own, *[*notes, *wishes[:1]][-1:]]
    replies: list[AnalyzerReply] = []
    for page in pages:
        quotes = find_best_lines(question, page.passages, MAX_QUOTES)
        for text in wanted:
            noted = [q for q in find_best_lines(text, page.passages, 2) if q.score >= MIN_NOTE_SCORE]
            quotes += [quote for quote in noted if all(quote.quote != other.quote for other in quotes)]
        texts = {passage.id: passage.text for passage in page.passages}
        exact = [quote for quote in quotes if find_quote(quote.quote, texts[quote.passage_id])]
        replies.append(_report_page(question, page, exact))
    return join_replies(replies)


def join_replies(replies: Sequence[AnalyzerReply]) -> AnalyzerReply:
    """Several reports as one. A part is answered when one of them says so; the last estimate and word on an
    inconsistency stand."""
    if len(replies) == 1:
        return replies[0]

    def join(name: str) -> list[Any]:
        return [item for reply in replies for item in getattr(reply, name)]

    said = [reply.inconsistencies_found for reply in replies if reply.inconsistencies_found]
    return AnalyzerReply(
        facts=join("facts"),
        leads=list(dict.fromkeys(join("leads"))),
        answered_parts=list(dict.fromkeys(join("answered_parts"))),
        conflicts=join("conflicts"),
        assessment=" ".join(filter(None, (reply.assessment for reply in replies))),
        confidence_score=max((reply.confidence_score for reply in replies), default=0.0),
        suggestions_for_next_step=list(dict.fromkeys(join("suggestions_for_next_step"))),
        new_potential_urls=list(dict.fromkeys(join("new_potential_urls"))),
        inconsistencies_found=" ".join(said),
    )


def _report_page(question: str, page: ShownPage, quotes: list[Quotation]) -> AnalyzerReply:
    names = [name for quote in quotes[:3] for name in find_names(quote.quote, 8)]
    new = [name for name in dict.fromkeys(names) if fold(name) not in fold(question)]
    quoted = {quote.passage_id for quote in quotes}
    text = " ".join(passage.text for passage in page.passages if passage.id in quoted)
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
        assessment=f"{len(quotes)} sentences of “{page.title}” fit the question.",
        confidence_score=max((quote.score for quote in quotes), default=0.0),
        new_potential_urls=[link.url for link in rank_links(question, page.links, text, limit=MAX_PROMISING)],
    )


ANALYZER = Role(
    name="analyzer",
    reply=AnalyzerReply,
    fallback=analyzer_fallback,
    tier="fast",
    cut=("facts", "conflicts", "wishes"),
    keeps="facts",
)
"""Reports what the pages of a round brought: facts with their quotes, leads, an assessment and what to do
next. Knows no fetching.

The reply is the contract of the research flow. Nothing is ever quoted from a search snippet."""
