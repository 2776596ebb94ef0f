"""How much of a question's words some texts hold, and which. Counts words, not meaning."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.tokens import fold, stem, stem_prefix, stem_words, tokenize

TITLE_WEIGHT = 0.5
"""What a question's word counts that is only in the title of the quoted page: its subject, not its
statement."""
SHORT_STEM = 5
"""A stem with fewer letters is looked for with an ending only: many other words begin with "red"."""
MAX_ENDING = 2
"""Letters of an ending."""


def stem_prefixes(*texts: str) -> frozenset[str]:
    """The stem prefixes of the words of some texts."""
    return frozenset(stem_prefix(word) for text in texts for word in stem_words(text))


def prefix_share(asked: ParsedQuestion, words: Collection[str]) -> float:
    """The share of the question's weight whose stem prefixes are among `words`."""
    weights = asked.prefix_weights
    return sum(weight for word, weight in weights.items() if word in words) / (sum(weights.values()) or 1.0)


def covered_share(asked: ParsedQuestion, text: str, title: str = "") -> float:
    """The share of the question's weight that a text covers, words of its title counting a little less."""
    here, around = set(stem_words(text)), set(stem_words(title))
    got = sum(
        weight * (1.0 if word in here else TITLE_WEIGHT if word in around else 0.0)
        for word, weight in asked.weights.items()
    )
    return got / asked.total_weight


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
