"""Roles of `chat`, named as the nodes of seed 004."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import Field

from agent.retrieval.answer import find_answer
from agent.retrieval.scorer import build_search_texts, prefix_share, stem_prefixes
from agent.roles.role import Role, RoleReply, Share, WriterReply
from agent.roles.site import DraftSentence, best_fit, make_sentences
from agent.text.answer_type import has_answer_type
from agent.text.dialogue_acts import classify_small_talk, is_bare_repeat_request, is_unresolved_reference
from agent.text.geo import (
    find_facility_kinds,
    find_facility_word,
    find_place_phrase,
    is_nearest_request,
    parse_coordinates,
)
from agent.text.question_analysis import COMMON_WORD_WEIGHT, extract_keywords, parse_question
from agent.text.tokens import content_stems, stem, tokenize
from agent.types import Fact, Passage, Record, Turn

_ASKS_WHERE = re.compile(
    r"\b(?:where (?:is|are|can i|do i|could i|to)|find (?:me )?(?:a|an|the|all)|is there (?:a|an|any)"
    r"|are there (?:any )?"
    r"|any \w+ (?:in|near)|(?:list|show(?: me)?) (?:me )?(?:all|every|the)\b|all (?:the )?\w+ (?:in|near)"
    r"|(?:which|what) [\w ]{2,30} (?:are|is) there|var (?:finns|ligger)|finns det|vilka [\w ]{2,30} finns"
    r"|wo (?:ist|gibt|finde)|gibt es|welche [\w ]{2,30} gibt)",
    re.IGNORECASE,
)


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


def router_fallback(
    *, question: str, history: list[Turn], prior: list[Fact], kinds: list[str]
) -> RouterReply:
    """The first route that fits: small talk, a place, a question back, an answer at hand, a search."""
    if classify_small_talk(question):
        reason = "It is small talk, so it gets a short reply without a search."
        return RouterReply(route="DIRECT_ANSWER", reasoning=reason, confidence=0.8, asks_nothing=True)
    is_place = is_nearest_request(question) or _ASKS_WHERE.search(question) or parse_coordinates(question)
    names_kind = (is_place and find_facility_kinds(question, kinds)) or find_facility_word(question)
    if kinds and names_kind:
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


ROUTER = Role(name="router", reply=RouterReply, fallback=router_fallback, tier="fast")
"""Chooses the way of a turn of a chat: answer from what is known, search, complete and search, ask back, or
find a place.

The five routes are those of seed 004. Knows no library."""


class RewriteReply(RoleReply):
    """The question in other words."""

    query: str = Field(description="one question or search that can be understood without the conversation")
    reasoning: str = Field(
        default="", description="one short sentence: what was filled in, or what is different now"
    )


def rewrite_fallback(
    *, question: str, history: list[Turn], tried: list[str], **others: object
) -> RewriteReply:
    """The first wording of which no other order was tried: the turn, with an earlier one, its keywords."""
    former = {frozenset(content_stems(query)) for query in tried}
    weights = parse_question(question).weights
    keywords = extract_keywords(question).split()
    rare = [word for word in keywords if weights.get(stem(word.casefold()), 1.0) > COMMON_WORD_WEIGHT]
    proposed = [(question, "The question as it was typed.")]
    if history:
        proposed += [(build_search_texts(question, history)[-1], "Together with the previous question.")]
    proposed += [(" ".join(rare), "Only its telling words.")]
    proposed += [
        (f"{turn.user} {question}", "Together with an earlier question.")
        for turn in reversed(history)
        if turn.answered
    ]
    for query, why in proposed:
        if query.strip() and frozenset(content_stems(query)) not in former:
            return RewriteReply(query=query, reasoning=why)
    return RewriteReply(query=question, reasoning="There are no other words that still ask for all of it.")


REWRITE = Role(name="rewrite", reply=RewriteReply, fallback=rewrite_fallback, tier="fast")
"""Puts a turn of a conversation into a question that stands alone, or a search that failed into other words.
Knows turns, no library."""


MIN_RELEVANT_SCORE = 0.5
"""The score from which a passage counts as relevant."""


class PassageGrade(RoleReply):
    """The verdict on one passage."""

    passage_id: str
    score: float = Field(
        ge=0.0, le=1.0, description="0 nothing to do with it, 0.5 helps to answer, 1 answers it"
    )
    reason: str = Field(default="", description="a few words")
    answers_alone: bool = Field(
        default=False, description="true only when this passage by itself states the whole answer"
    )


class GradeReply(RoleReply):
    """One verdict for each passage."""

    grades: list[PassageGrade]


def grade_fallback(*, passages: list[Passage], **others: object) -> GradeReply:
    """The passages' scores: the share of the question's words in each, names and numbers weighing most."""
    return GradeReply(
        grades=[
            PassageGrade(
                passage_id=passage.id,
                score=passage.score,
                reason=f"It holds {passage.score:.0%} of the question's words by weight.",
            )
            for passage in passages
        ]
    )


GRADE = Role(name="grade", reply=GradeReply, fallback=grade_fallback, tier="fast", cut=("passages",))
"""Scores how relevant each passage is to the question, all in one batch."""


class GenerateReply(WriterReply):
    """An answer of cited sentences; none when the passages do not answer."""

    answer: list[DraftSentence] = Field(description="empty when the passages do not answer the question")
    confidence: Share = 0.0


def generate_fallback(
    *, question: str, asked: str, passages: list[Passage], **others: object
) -> GenerateReply:
    """The passages that fit best, as quotes; nothing when none fits."""
    found = find_answer(asked, passages).keep_parts_of(question)
    return GenerateReply(answer=make_sentences(found), confidence=best_fit(found))


GENERATE = Role(
    name="generate",
    reply=GenerateReply,
    fallback=generate_fallback,
    cut=("passages", "history"),
)
"""Writes the answer of a chat from passages, with quotes for every sentence, or writes nothing."""


class Claim(Record):
    """A sentence of the draft, the verbatim quotes it cites, and whether its check found that they support
    it (False: nobody could judge it)."""

    n: int
    text: str
    quotes: list[str] = Field(default_factory=list)
    backed: bool = False


class ValidateReply(RoleReply):
    """The verdict. `unsupported` are the numbers of sentences that go beyond their quotes."""

    grounded: bool
    unsupported: list[int] = Field(default_factory=list)
    reason: str = ""


def validate_fallback(*, claims: list[Claim], **others: object) -> ValidateReply:
    """Grounded when there are sentences: those that their quotes do not support were left out before."""
    if not claims:
        return ValidateReply(grounded=False, reason="Nothing was written.")
    if unchecked := sum(not claim.backed for claim in claims):
        reason = f"{unchecked} of {len(claims)} sentences could not be checked."
        return ValidateReply(grounded=True, reason=reason)
    return ValidateReply(grounded=True, reason="Every sentence is supported by its quotes.")


VALIDATE = Role(name="validate", reply=ValidateReply, fallback=validate_fallback, tier="fast")
"""Checks whether a draft says only what its quotes say, and answers; after the claim check."""


MAX_CHOICES = 4


class ClarifyReply(RoleReply):
    """The question, and what may be picked as an answer instead of typing one."""

    question: str = Field(description="one friendly question, two sentences at most")
    choices: list[str] = Field(
        default_factory=list,
        description=f"up to {MAX_CHOICES} short answers that would help; empty when none can be named",
    )


def clarify_fallback(*, why: str, titles: list[str], **others: object) -> ClarifyReply:
    """A question that says what happened; the nearest titles as choices."""
    choices = list(dict.fromkeys(filter(None, titles)))[:MAX_CHOICES]
    if choices:
        ask = "Do you mean one of these, or can you say it in other words?"
    else:
        ask = "Can you say it in other words, or name what it is about?"
    return ClarifyReply(question=f"{why} {ask}", choices=choices)


CLARIFY = Role(name="clarify", reply=ClarifyReply, fallback=clarify_fallback, tier="fast")
"""Asks the person back: one question, with choices where there are some."""


DEFAULT_COUNT, MAX_COUNT = 5, 20
"""Facilities that are listed when no number is given, and at most."""
MAX_TURNS = 6
"""Earlier turns in which a kind or a place is looked for."""
_COUNT = re.compile(
    r"\b(\d{1,2})\s+(?:\w+\s+)?(?:near|clos|närm|nächst)|\b(?:near|clos)est\s+(\d{1,2})\b", re.IGNORECASE
)
_NUMBER_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10}
_ALL = re.compile(r"\b(?:all|every|list|which|alla|alle|tous|todos)\b", re.IGNORECASE)


class LocationReply(RoleReply):
    """What is looked for. `near`: a place in the person's words or a pair of coordinates; or empty."""

    kind: str = Field(
        description="one of the kinds there are, spelled as there; empty when none of them is meant"
    )
    near: str = ""
    most: int = Field(default=DEFAULT_COUNT, ge=1, le=MAX_COUNT)


def location_fallback(
    *, question: str, history: list[Turn], kinds: list[str], places: list[str]
) -> LocationReply:
    """The kind and the place that the turn names, or else the newest earlier turn that names one."""
    texts = [question, *(turn.user for turn in reversed(history[-MAX_TURNS:]))]
    near = next((place for text in texts if (place := _find_place(text, kinds, places))), "")
    # a place may be called after a kind, so its name does not count
    named = [text.replace(near, " ") if near and near != text else text for text in texts]
    kind = next((found[0] for text in named if (found := find_facility_kinds(text, kinds))), "")
    most = next((n for word, n in _NUMBER_WORDS.items() if word in tokenize(question)), 0)
    most = most or (MAX_COUNT if _ALL.search(question) else DEFAULT_COUNT)
    if match := _COUNT.search(question):
        most = max(1, min(MAX_COUNT, int(match[1] or match[2])))
    return LocationReply(kind=kind, near=near, most=most)


def _find_place(text: str, kinds: list[str], places: list[str]) -> str:
    """Coordinates; the words behind "near" or "in" with a known place among them; else a known place; else
    those words, if they name no kind."""
    if parse_coordinates(text):
        return text
    words = find_place_phrase(text)
    if words and _find_place_name(words, places):
        return words
    return _find_place_name(text, places) or ("" if find_facility_kinds(words, kinds) else words)


def _find_place_name(text: str, places: list[str]) -> str:
    """The longest place name in a text; "" for none."""
    spelled = f" {' '.join(tokenize(text))} "
    return max(
        (place for place in places if f" {' '.join(tokenize(place))} " in spelled), key=len, default=""
    )


LOCATION = Role(name="location", reply=LocationReply, fallback=location_fallback, tier="fast")
"""Reads what kind of facility is asked for, and near what. Where things are, code looks up afterwards."""
