"""Roles of the research flow until it has facts: PLAN splits the question, DECISION proposes a round of
actions, and ANALYZER reports what their pages brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from agent.roles.role import Role, RoleReply, Share, optional_list, optional_text
from agent.types import Actor, Link, NextAction, Passage, PlanPart, Record

MAX_PARTS = 8
MAX_READINGS = 4


class PlannedPart(RoleReply):
    """One sub-question."""

    question: str = Field(description="one question that stands alone")
    after: list[int] = optional_list("numbers of the parts, from 1, whose answers it needs")
    answered_by: str = optional_text("what would count as an answer, in a few words")
    where: str = optional_text("where to look, in a few words")


class PlanReply(RoleReply):
    """The plan, and where the question can mean different things a question to the person."""

    parts: list[PlannedPart] = optional_list("one to eight, in order")
    ask: str = optional_text("a question to the person; empty unless meanings differ")
    readings: list[str] = optional_list("the meanings that `ask` is about, the likeliest first")

    def to_parts(self, question: str, by: Actor) -> list[PlanPart]:
        """The parts as the run keeps them, numbered from "1"; the question itself where there is none. A part
        depends only on parts before it, so that no two wait for each other."""
        parts: list[PlanPart] = []
        for part in self.parts:
            if part.question.strip() and (n := len(parts) + 1) <= MAX_PARTS:
                parts.append(
                    PlanPart(
                        id=str(n),
                        question=" ".join(part.question.split()),
                        after=[str(k) for k in dict.fromkeys(part.after) if 0 < k < n],
                        answered_by=" ".join(part.answered_by.split()),
                        where=" ".join(part.where.split()),
                        by=by,
                    )
                )
        return parts or [PlanPart(id="1", question=question.strip(), by=by)]

    @property
    def choices(self) -> list[str]:
        """The different readings; none when there is nothing to choose or to ask."""
        named = list(dict.fromkeys(" ".join(reading.split()) for reading in self.readings if reading.strip()))
        return named[:MAX_READINGS] if self.ask.strip() and len(named) > 1 else []


PLAN = Role(name="plan", reply=PlanReply)
"""Splits a question into parts before anything is searched, and says where it can be read in two ways."""


class Decision(RoleReply):
    """One action of a round. `query_or_url` is the query of a search, the address of a page, a question to
    the person, empty when the findings are handed over."""

    next_action: NextAction
    query_or_url: str = optional_text(
        "the query of a search; the id or address of a page; the question of ask; else empty"
    )
    part: str = optional_text("id of the part of the question it is for, such as 1")
    reasoning: str = optional_text("one sentence: why this action now")
    choices: list[str] = optional_list("for ask: the likeliest reading first")


class DecisionReply(RoleReply):
    """The actions of the next round."""

    actions: list[Decision] = Field(min_length=1, description="one to four actions, carried out side by side")

    @model_validator(mode="before")
    @classmethod
    def read_single_action(cls, data: Any) -> Any:
        """The data, where one action stands at the top as a list of one: small models write it so."""
        is_single = isinstance(data, dict) and "next_action" in data and not data.get("actions")
        return {"actions": [data]} if is_single else data


DECISION = Role(
    name="decision",
    reply=DecisionReply,
    on_failure="rest",
    cut=("facts", "results", "leads", "unread", "history", "refused", "wishes"),
)
"""Chooses the next round: up to four searches and pages for named parts of the question, or the hand-over to
the person.

Each action has the contract of the research flow: `next_action`, `query_or_url`, `reasoning`."""


class ExtractedFact(RoleReply):
    """One statement and the verbatim words of the page that state it."""

    quote: str = Field(description="one sentence or table row, copied from the passage")
    passage_id: str = optional_text("such as p1")
    statement: str = optional_text("what the quote says, understandable alone")
    subject: str = ""
    attribute: str = ""
    part: str = optional_text("id of the part of the question, such as 1")


class ConflictRuling(RoleReply):
    """What two sides of a conflict are to each other, by what was read."""

    id: str
    ruling: Literal["contradict", "different_things", "later_replaces", "agree"] = "contradict"
    reason: str = ""


class AnalyzerReply(RoleReply):
    """The report to the decision. Facts and leads together are what is stored as `extracted_info`."""

    facts: list[ExtractedFact] = optional_list("empty when nothing helps")
    leads: list[str] = optional_list("names or topics to search for later")
    answered_parts: list[str] = optional_list("ids of the parts that the facts answer, the new ones included")
    conflicts: list[ConflictRuling] = optional_list("a ruling on each open conflict that you were shown")
    assessment: str = optional_text("two or three sentences")
    confidence_score: Share = 0.0
    suggestions_for_next_step: list[str] = Field(default_factory=list)
    new_potential_urls: list[str] = optional_list("ids of the listed links to read next, such as u3")
    inconsistencies_found: str = optional_text("empty when nothing contradicts")
    inconsistent_fact_ids: list[str] = optional_list(
        "of an inconsistency one fact of each side: f3 is known, n1 is the first of `facts`"
    )


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
        inconsistent_fact_ids=next((r.inconsistent_fact_ids for r in replies if r.inconsistent_fact_ids), []),
    )


ANALYZER = Role(
    name="analyzer",
    reply=AnalyzerReply,
    on_failure="rest",
    tier="fast",
    cut=("facts", "conflicts", "wishes"),
    keeps="facts",
)
"""Reports what the pages of a round brought: facts with their quotes, leads, an assessment and what to do
next. Knows no fetching.

The reply is the contract of the research flow. Nothing is ever quoted from a search snippet."""
