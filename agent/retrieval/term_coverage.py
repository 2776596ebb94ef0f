"""How much of a question's words some texts hold, and which. Counts words, not meaning."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.text.answer_type import has_answer_type
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.tokens import fold, stem, stem_prefix, stem_words, tokenize
from agent.types import Fact

TITLE_WEIGHT = 0.8
"""What a question's word counts that is only in the title of the quoted page: its subject, not its
statement."""
SHORT_STEM = 5
"""A stem with fewer letters is looked for with an ending only: many other words begin with "red"."""
MAX_ENDING = 2
"""Letters of an ending."""


@dataclass(frozen=True)
class Coverage:
    """`best_share` is the largest share of the question that one quote covers, `share` what all cover
    together; `covered` are the stems of the question's words that they hold."""

    share: float
    best_share: float
    covered: frozenset[str]


def stem_prefixes(*texts: str) -> frozenset[str]:
    """The stem prefixes of the words of some texts."""
    return frozenset(stem_prefix(word) for text in texts for word in stem_words(text))


def prefix_share(asked: ParsedQuestion, words: Collection[str]) -> float:
    """The share of the question's weight whose stem prefixes are among `words`."""
    weights = asked.prefix_weights
    return sum(weight for word, weight in weights.items() if word in words) / (sum(weights.values()) or 1.0)


def best_share(asked: ParsedQuestion, texts: Iterable[tuple[str, str]]) -> float:
    """The largest share (0..1) of the question's words that the texts of one page hold, given as pairs of
    page and text."""
    pages: dict[str, set[str]] = {}
    for page, text in texts:
        pages.setdefault(page, set()).update(stem_prefixes(text))
    return max((prefix_share(asked, words) for words in pages.values()), default=0.0)


def covered_share(asked: ParsedQuestion, text: str, title: str = "") -> float:
    """The share of the question's weight that a text covers, words of its title counting a little less."""
    here, around = set(stem_words(text)), set(stem_words(title))
    got = sum(
        weight * (1.0 if word in here else TITLE_WEIGHT if word in around else 0.0)
        for word, weight in asked.weights.items()
    )
    return got / asked.total_weight


def measure_coverage(question: str, facts: Iterable[Fact]) -> Coverage:
    """The coverage of a question by the facts that can support an answer, without a person's word alone."""
    asked = parse_question(question)
    got: dict[str, float] = {}
    best = 0.0
    for fact in facts:
        if not fact.can_support or fact.rests_on_person:
            continue
        here, around = set(stem_words(fact.quote)), set(stem_words(fact.title))
        for word in asked.weights:
            value = 1.0 if word in here else TITLE_WEIGHT if word in around else 0.0
            got[word] = max(got.get(word, 0.0), value)
        alone = covered_share(asked, fact.quote, fact.title)
        if alone > best and has_answer_type(asked.answer_type, fact.quote, folded_names(asked)):
            best = alone
    whole = sum(got.get(word, 0.0) * weight for word, weight in asked.weights.items()) / asked.total_weight
    return Coverage(round(whole, 4), round(best, 4), frozenset(word for word in got if got[word]))


def added_share(asked: ParsedQuestion, text: str, covered: Collection[str]) -> float:
    """The share of the question's weight a text covers beyond what is covered."""
    new = {word for word in stem_words(text) if word in asked.weights and word not in covered}
    return sum(asked.weights[word] for word in new) / asked.total_weight


def folded_names(asked: ParsedQuestion) -> frozenset[str]:
    """The question's names, folded, to tell an answer from a repetition."""
    return frozenset(fold(name) for name in asked.names)


def find_unseen_terms(question: str, texts: Iterable[str]) -> list[str]:
    """The question's content words, folded, that no text holds in any form; codes and numbers have one
    form."""
    spelled = {stem(word): word for word in reversed(tokenize(question))}
    left: Sequence[str] = [word for word in parse_question(question).weights if word in spelled]
    for text in texts:
        if not left:
            break
        folded = fold(text)
        left = [word for word in left if not _word_form_pattern(word).search(folded)]
    return [spelled[word] for word in left]


@lru_cache(maxsize=4096)
def _word_form_pattern(stemmed: str) -> re.Pattern[str]:
    """Finds the forms of a word: by its beginning if the stem is long, with a short ending if it is short,
    exactly if it is a code or number."""
    if any(c.isdigit() for c in stemmed):
        grouped = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",?", stemmed)
        spelled = grouped if stemmed.isdigit() else re.escape(stemmed)
        return re.compile(rf"(?<![\w.,]){spelled}(?![.,]?\d)(?!\w)")
    if len(stemmed) <= 2 and not stemmed.isascii():
        return re.compile(re.escape(stemmed))
    begin = stem_prefix(stemmed)
    begin = f"{re.escape(begin[:-1])}[iy]" if begin.endswith("i") else re.escape(begin)
    ending = rf"\w{{0,{MAX_ENDING}}}(?!\w)" if len(stemmed) < SHORT_STEM else ""
    return re.compile(rf"(?<!\w){begin}{ending}")
