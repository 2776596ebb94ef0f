"""How much of a question's words some texts hold, and which. Counts words, not meaning."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.text.tokens import stem, stem_prefix, stem_words, tokenize

TITLE_WEIGHT = 0.5
"""What a question's word counts that is only in the title of the quoted page: its subject, not its
statement."""


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
    """The question's content words, folded, that no text holds in any form."""
    held = stem_prefixes(*texts)
    spelled = {stem(word): word for word in reversed(tokenize(question))}
    asked = [word for word in parse_question(question).weights if word in spelled]
    return [spelled[word] for word in asked if stem_prefix(word) not in held]
