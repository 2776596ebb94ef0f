"""Which way does a turn of a chat go: answer from what is known, search, complete and search, ask back, or
find a place?

The five routes are those of seed 004. The keyless side decides by words: a kind of facility and a "where", a
pointing word with nothing to point at, a turn that leans on others, facts of earlier answers that hold all it
asks for. Knows no library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.chat.classify import fallback as classified
from agent.roles.role import Role
from agent.text.answer_type import has_answer_type
from agent.text.dialogue_acts import blank_unanswered_replies, classify_small_talk, is_repeat_request
from agent.text.followup import standalone
from agent.text.leaning import leans
from agent.text.question_analysis import parse_question
from agent.text.tokens import stem, stem_prefix, stem_words
from agent.text.vague import vague
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
    """The first route that fits: a place, a question back, an answer at hand, a completion, a search."""
    if classify_small_talk(question):
        return RouterReply(route="DIRECT_ANSWER", reasoning="It asks nothing yet.", confidence=0.8)
    history = blank_unanswered_replies(history)
    full = standalone(question, history)
    if kinds and (
        classified(question=question, kinds=kinds).intent == "location_search"
        or _continues_location_search(full, question, kinds)
    ):
        return RouterReply(
            route="LOCATION_SEARCH", reasoning="It asks where to find a facility.", confidence=0.8
        )
    if words := vague(question, history):
        return RouterReply(
            route="ASK_CLARIFICATION",
            reasoning=f"Nothing tells what “{words}” is.",
            confidence=0.7,
            clarifying_question=_write_clarifying_question(words, question),
        )
    if history and prior and _is_answered_by_facts(question, prior):
        return RouterReply(
            route="DIRECT_ANSWER",
            reasoning="A fact of an earlier answer holds all that is asked.",
            confidence=0.6,
        )
    if history and (full != question or leans(question)):
        return RouterReply(
            route="REWRITE_THEN_RETRIEVE", reasoning="It leans on what was said before.", confidence=0.7
        )
    return RouterReply(
        route="RETRIEVE",
        reasoning="It stands alone." if history else "It opens the conversation.",
        confidence=0.7,
    )


def _continues_location_search(full: str, question: str, kinds: list[str]) -> bool:
    """Is it a piece ("and a library?") that a former search for a place makes whole?"""
    return full != question and classified(question=full, kinds=kinds).intent == "location_search"


def _is_answered_by_facts(question: str, prior: Sequence[Fact]) -> bool:
    """Is it asked to say the same again, or does one fact hold the question's own words and the kind of
    answer it wants?"""
    asked = parse_question(question)
    if is_repeat_request(question) and len(asked.weights) <= MIN_CONTENT_WORDS + 1:
        return True
    if not leans(question) or len(asked.weights) < MIN_CONTENT_WORDS or asked.answer_type in _OPEN_KINDS:
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


def _write_clarifying_question(words: str, question: str) -> str:
    """What to ask, in the person's own words."""
    said = question.strip()
    if words.strip(" ?.!").casefold() == said.strip(" ?.!").casefold():
        return f"What would you like to know? “{said}” alone does not tell me what it is about."
    noun = words.split(None, 1)
    if len(noun) == 2:
        return f"Which {noun[1]} do you mean by “{words}”?"
    return f"What, or whom, do you mean by “{words}” in “{said}”?"


ROUTER = Role(name="router", reply=RouterReply, fallback=fallback, tier="fast")
