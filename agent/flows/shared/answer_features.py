"""Counts of how clearly the facts answer a question: inputs of the formula in `agent.evidence.confidence`,
which says what each is worth and how it was fitted."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agent.evidence.confidence import AnswerFeatures
from agent.flows.shared.fact_view import ignore_disputes
from agent.retrieval.fact_selection import choose_facts
from agent.text.answer_type import detect_answer_type, has_answer_type
from agent.text.names import find_names
from agent.text.question_analysis import ParsedQuestion, find_relations, parse_question
from agent.text.tokens import stem_prefix, stem_words
from agent.types import Fact

MAX_WORDS, MAX_SENTENCES = 110, 6
"""The length of the answer that is counted."""
OPENING_CHARS = 40
"""Characters after the title line that count as the opening of a page."""
_YES_OR_NO = re.compile(
    r"(?:are|is|was|were|did|do|does|has|have|had|can|could|will|would|ist|sind|hat|haben|est-ce)\b",
    re.IGNORECASE,
)
MAX_NAMES = 16
"""Names of a sentence that are compared with the question."""


def count_answer_features(question: str, facts: Sequence[Fact]) -> AnswerFeatures:
    """The counts for a question and these facts; disputed ones count in full, agreement and conflicts lower
    the confidence for them."""
    asked = parse_question(question)
    usable = [fact for fact in ignore_disputes(facts) if fact.can_support and not fact.rests_on_person]
    told = choose_facts(question, usable, words=MAX_WORDS, sentences=MAX_SENTENCES)
    held = [_stem_set(f"{fact.title} {fact.quote}") for fact in told]
    together = frozenset[str]().union(*held)
    shares = [_covered_share(asked, words) for words in held]
    return AnswerFeatures(
        answering_facts=sum(_holds_answer(asked, fact.quote) for fact in told),
        relevant_facts=len(usable),
        missing_words=sum(word not in together for word in asked.prefix_weights),
        joined_share=round(_covered_share(asked, together) - max(shares, default=0.0), 4),
        is_multi_hop=asked.is_multi_hop or bool(find_relations(asked.text)),
        answer_type=detect_answer_type(asked.text),
        opens_page=bool(told) and 0 <= told[0].start <= len(told[0].title) + OPENING_CHARS,
        linked_share=round(_share_in_quotes_alone(asked, told), 4),
        is_yes_no=bool(_YES_OR_NO.match(asked.text)),
    )


def restore_answer_features(question: str, basis: Mapping[str, float]) -> AnswerFeatures:
    """The counts from the `basis` of a confidence since which no fact was added."""
    told, bearing, missing = (int(basis[name]) for name in ("told", "bearing", "missing"))
    return AnswerFeatures(
        told,
        bearing,
        missing,
        basis["joined"],
        bool(basis["chain"]),
        detect_answer_type(parse_question(question).text),
        bool(basis["opens"]),
        basis["linked"],
        bool(basis["closed"]),
    )


def _holds_answer(asked: ParsedQuestion, quote: str) -> bool:
    """Whether a quote holds a value of the kind asked for that is not in the question."""
    known = {stem_prefix(word) for word in stem_words(asked.text)}
    new = [
        name
        for name in find_names(quote, MAX_NAMES)
        if (words := [stem_prefix(word) for word in stem_words(name)]) and not known.intersection(words)
    ]
    if asked.answer_type == "person":
        return any(" " in name for name in new)
    if asked.answer_type == "place":
        return bool(new)
    return has_answer_type(asked.answer_type, quote)


def _share_in_quotes_alone(asked: ParsedQuestion, told: Sequence[Fact]) -> float:
    """Of the question's weight that is in no title of the facts, the share in their quotes; 1 where the
    titles hold all."""
    titles, quotes = (
        frozenset[str]().union(*(_stem_set(getattr(fact, part)) for fact in told))
        for part in ("title", "quote")
    )
    beyond = {word: weight for word, weight in asked.prefix_weights.items() if word not in titles}
    return (
        sum(weight for word, weight in beyond.items() if word in quotes) / sum(beyond.values())
        if beyond
        else 1.0
    )


def _stem_set(text: str) -> frozenset[str]:
    return frozenset(stem_prefix(word) for word in stem_words(text))


def _covered_share(asked: ParsedQuestion, words: frozenset[str]) -> float:
    return sum(weight for word, weight in asked.prefix_weights.items() if word in words) / (
        sum(asked.prefix_weights.values()) or 1.0
    )
