"""Which way does a turn of a chat go: answer from what is known, search, complete and search, ask back, or
find a place?

The five routes are those of seed 004. The fallback decides by words: a kind of facility and a "where", a first
question that names nothing, facts of earlier answers that hold all that is asked. It knows no library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.chat.classify import fallback as classified
from agent.roles.refusal_messages import is_unresolved_reference
from agent.roles.role import Role
from agent.text.answer_type import has_answer_type
from agent.text.dialogue_acts import classify_small_talk, is_repeat_request
from agent.text.question_analysis import parse_question
from agent.text.tokens import stem, stem_prefix, stem_words
from agent.types import Fact, Turn

Route = Literal["DIRECT_ANSWER", "RETRIEVE", "REWRITE_THEN_RETRIEVE", "ASK_CLARIFICATION", "LOCATION_SEARCH"]
MIN_COVERED_SHARE = 0.999
"""The share of a follow-up's own weight that one known fact must hold to answer it."""
MIN_CONTENT_WORDS = 2
"""The least number of weighty words that such a follow-up has."""
_OPEN_KINDS = ("thing", "manner")


class RouterReply(BaseModel):
    """The way a turn goes, and the question to ask back when it goes no way."""

    model_config = ConfigDict(extra="ignore")

    route: Route
    reasoning: str = Field(default="", description="one short sentence")
    confidence: float = Field(default=0.5, ge=0.0, le=1.0)
    clarifying_question: str = Field(
        default="", description="with ASK_CLARIFICATION only: what you ask the person, in their own terms"
    )


def fallback(*, question: str, history: list[Turn], prior: list[Fact], kinds: list[str]) -> RouterReply:
    """The first route that fits: small talk, a place, a question back, an answer at hand, a search."""
    if classify_small_talk(question):
        return RouterReply(route="DIRECT_ANSWER", reasoning="It asks nothing yet.", confidence=0.8)
    if kinds and classified(question=question, kinds=kinds).intent == "location_search":
        return RouterReply(
            route="LOCATION_SEARCH", reasoning="It asks where to find a facility.", confidence=0.8
        )
    if not history and is_unresolved_reference(question):
        return RouterReply(
            route="ASK_CLARIFICATION",
            reasoning="The question does not say what it is about.",
            confidence=0.7,
            clarifying_question=f"What would you like to know? “{question.strip()}” alone does not tell me what it is about.",
        )
    if history and prior and _is_answered_by_facts(question, prior):
        return RouterReply(
            route="DIRECT_ANSWER",
            reasoning="A fact of an earlier answer holds all that is asked.",
            confidence=0.6,
        )
    return RouterReply(
        route="RETRIEVE",
        reasoning="It is searched for together with the previous question."
        if history
        else "It opens the conversation.",
        confidence=0.7,
    )


def _is_answered_by_facts(question: str, prior: Sequence[Fact]) -> bool:
    """Is it asked to say the same again, or does one fact hold the question's own words and the kind of
    answer it wants?"""
    asked = parse_question(question)
    if is_repeat_request(question) and len(asked.weights) <= MIN_CONTENT_WORDS + 1:
        return True
    if len(asked.weights) < MIN_CONTENT_WORDS or asked.answer_type in _OPEN_KINDS:
        return False
    own = {stem_prefix(stem(word)): weight for word, weight in asked.weights.items()}
    total = sum(own.values()) or 1.0
    for fact in prior:
        there = {stem_prefix(word) for word in stem_words(f"{fact.statement} {fact.quote}")}
        if sum(
            weight for word, weight in own.items() if word in there
        ) / total >= MIN_COVERED_SHARE and has_answer_type(asked.answer_type, fact.quote):
            return True
    return False


ROUTER = Role(name="router", reply=RouterReply, fallback=fallback, tier="fast")
