"""How much of a question is covered by what is known, and which of its words are still missing. Counts words,
not truths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.text.answer_type import has_answer_type
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.tokens import fold, stem, stem_words, tokenize
from agent.types import Fact

TITLE_WEIGHT = 0.8
"""What a question's word counts that stands only in the title of the quoted page: its subject, not its
statement."""


_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W_]+?(?=['’ʼ]s\b)|[^\W_]+(?:['’ʼ][^\W_]+)*", re.IGNORECASE)


@dataclass(frozen=True)
class Coverage:
    """`best` is the largest share one quote covers alone, `share` what all cover together; `missing` are the
    question's own words."""

    share: float
    best_share: float
    missing: tuple[str, ...]


def covered_share(asked: ParsedQuestion, text: str, title: str = "") -> float:
    """The share of the question's weight that a sentence covers, its page's title counting a little less."""
    here, around = set(stem_words(text)), set(stem_words(title))
    got = sum(
        w if word in here else TITLE_WEIGHT * w if word in around else 0.0
        for word, w in asked.weights.items()
    )
    return got / asked.total_weight


def measure_coverage(question: str, facts: Iterable[Fact]) -> Coverage:
    """The coverage of a question by facts (the usable ones count, not those of a person's word alone)."""
    asked = parse_question(question)
    got: dict[str, float] = {}
    best = 0.0
    for fact in facts:
        if not fact.can_support or fact.rests_on_person:
            continue
        here, around = set(stem_words(fact.quote)), set(stem_words(fact.title))
        for word in asked.weights:
            got[word] = max(
                got.get(word, 0.0), 1.0 if word in here else TITLE_WEIGHT if word in around else 0.0
            )
        alone = covered_share(asked, fact.quote, fact.title)
        if alone > best and has_answer_type(
            asked.answer_type, fact.quote, frozenset(name.casefold() for name in asked.names)
        ):
            best = alone
    whole = sum(got.get(word, 0.0) * weight for word, weight in asked.weights.items()) / asked.total_weight
    return Coverage(
        round(whole, 4),
        round(best, 4),
        find_missing_words(asked, [word for word, value in got.items() if value > 0]),
    )


def find_missing_words(asked: ParsedQuestion, covered: Sequence[str]) -> tuple[str, ...]:
    """The question's words, as it spells them (of unspaced scripts the pairs of characters), whose stems are
    not covered."""
    lacking = set(asked.weights) - set(covered)
    found: dict[str, str] = {}
    for spelled in _WORD.findall(asked.text):
        folded = tokenize(spelled)
        for word in folded:
            if stem(word) in lacking:
                found.setdefault(word, spelled if len(folded) == 1 else word)
    return tuple(found.values())


def added_share(asked: ParsedQuestion, text: str, covered: set[str]) -> float:
    """The share of the question's weight a text covers beyond what is covered."""
    return (
        sum(
            asked.weights[word]
            for word in set(stem_words(text))
            if word in asked.weights and word not in covered
        )
        / asked.total_weight
    )


def folded_names(asked: ParsedQuestion) -> frozenset[str]:
    """The question's names, folded, to tell an answer from a repetition."""
    return frozenset(fold(name) for name in asked.names)
