"""Chooses the way of a turn of a chat: answer from what is known, search, complete and search, ask back, or
find a place.

The five routes are those of seed 004. Knows no library."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.retrieval.term_coverage import prefix_share, stem_prefixes
from agent.roles.chat.classify import is_location_search
from agent.roles.refusal_messages import is_unresolved_reference
from agent.roles.role import Role, RoleReply, Share
from agent.text.answer_type import has_answer_type
from agent.text.dialogue_acts import classify_small_talk, is_bare_repeat_request
from agent.text.question_analysis import parse_question
from agent.types import Fact, Turn

Route = Literal["DIRECT_ANSWER", "RETRIEVE", "REWRITE_THEN_RETRIEVE", "ASK_CLARIFICATION", "LOCATION_SEARCH"]
MIN_COVERED_SHARE = 0.999
"""The share of a follow-up that one known fact must hold to answer it."""


class RouterReply(RoleReply):
    """The way a turn goes, and the question to ask back when it goes no way."""

    route: Route
    reasoning: str = Field(default="", description="one short sentence")
    confidence: Share = 0.5
    asks_nothing: bool = Field(
        default=False, description="true for thanks, a greeting and the like: nothing to answer or search"
    )
    clarifying_question: str = Field(
        default="", description="with ASK_CLARIFICATION only: what you ask the person, in their own terms"
    )


def fallback(*, question: str, history: list[Turn], prior: list[Fact], kinds: list[str]) -> RouterReply:
    """The first route that fits: small talk, a place, a question back, an answer at hand, a search."""
    if classify_small_talk(question):
        reason = "It is small talk, so it gets a short reply without a search."
        return RouterReply(route="DIRECT_ANSWER", reasoning=reason, confidence=0.8, asks_nothing=True)
    if is_location_search(question, kinds):
        return RouterReply(
            route="LOCATION_SEARCH", reasoning="It asks where to find a facility.", confidence=0.8
        )
    if not history and is_unresolved_reference(question):
        return RouterReply(
            route="ASK_CLARIFICATION",
            reasoning="The question does not say what it is about.",
            confidence=0.7,
            clarifying_question="What would you like to know? "
            f"“{question.strip()}” alone does not say what it is about.",
        )
    if history and _is_answered_by_facts(question, prior):
        reason = "A fact of an earlier answer holds all that is asked."
        return RouterReply(route="DIRECT_ANSWER", reasoning=reason, confidence=0.6)
    reason = (
        "It is searched for together with the previous question." if history else "It opens the conversation."
    )
    return RouterReply(route="RETRIEVE", reasoning=reason, confidence=0.7)


def _is_answered_by_facts(question: str, prior: list[Fact]) -> bool:
    """Does a turn ask for the same again, or does one fact hold its words and the type of answer it wants?"""
    asked = parse_question(question)
    if prior and is_bare_repeat_request(question):
        return True
    if len(asked.weights) < 2 or asked.answer_type in ("thing", "manner"):
        return False
    return any(
        prefix_share(asked, stem_prefixes(fact.statement, fact.quote)) >= MIN_COVERED_SHARE
        and has_answer_type(asked.answer_type, fact.quote)
        for fact in prior
    )


ROUTER = Role(name="router", reply=RouterReply, fallback=fallback, tier="fast")
