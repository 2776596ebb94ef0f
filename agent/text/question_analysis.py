"""The parts of a question: weighted words, names, answer type, and whether it takes more than one page.

By rule, in several languages; a wrong guess costs a little ranking, never a fact."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agent.text.answer_type import detect_answer_type
from agent.text.names import find_names, find_proper_names
from agent.text.question_parts import remove_output_form
from agent.text.tokens import content_stems, fold, stem, stem_prefix, stem_words, tokenize
from agent.text.word_lists import COMMON_WORDS, STOPWORDS, read_patterns

NAME_WEIGHT, NUMBER_WEIGHT, WORD_WEIGHT, COMMON_WORD_WEIGHT = 1.25, 1.2, 1.0, 0.5
"""Weights of a question's words: part of a name, a number, any other word, a common English word."""

_SPACE_BEFORE_MARK = re.compile(r"\s+(?=[?.!,;]$)")
_URL_PHRASE = re.compile(
    r"(?:,?\s*\b(?:according to|on the page|on|at|see|from|in|laut|auf|enligt|på|selon|sur|según"
    r"|en)\s+)?<?\bhttps?://[^\s<>\"]*[^\s<>\".,;:!?)]>?",
    re.IGNORECASE,
)
_COMMON_STEMS = frozenset(stem(word) for word in COMMON_WORDS)
_PATTERNS = read_patterns("question_patterns")
_RELATIVE_CHAIN = re.compile(_PATTERNS["chain"], re.IGNORECASE)
_COMPARISON = re.compile(_PATTERNS["comparison"], re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class ParsedQuestion:
    """The parts of a question. `weights` gives each content stem its weight, `prefix_weights` the same by
    their first letters; `answer_type` is one of `answer_type.ANSWER_TYPES`; `text` has no addresses."""

    text: str
    weights: dict[str, float]
    prefix_weights: dict[str, float]
    names: tuple[str, ...]
    answer_type: str
    is_multi_hop: bool
    """Does it look as if it takes several pages: a comparison, a chain of possessives, several names?"""

    @property
    def total_weight(self) -> float:
        """The weight of all its words."""
        return sum(self.weights.values()) or 1.0

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of its names in unified spelling, without a capital that only begins the question."""
        names = [name for name in find_proper_names(self.text) if name.start > 0 or len(name.words) > 1]
        return frozenset[str]().union(*(name.words for name in names))

    @property
    def figures(self) -> frozenset[str]:
        """Its numbers and years."""
        return frozenset(word for word in self.weights if word.isdigit())


@lru_cache(maxsize=512)
def parse_question(question: str) -> ParsedQuestion:
    """The parts of a question, without the addresses in it. Never fails; an empty one has no words."""
    question = strip_question(question)
    found = tuple(name for name in find_names(question) if name.casefold() != question.casefold())
    in_names = {s for name in found for s in stem_words(name)}
    weights: dict[str, float] = {}
    rough_weights: dict[str, float] = {}
    for word in content_stems(question):
        weight = COMMON_WORD_WEIGHT if word in _COMMON_STEMS else WORD_WEIGHT
        weight = NAME_WEIGHT if word in in_names else NUMBER_WEIGHT if word.isdigit() else weight
        weights[word] = weight
        rough_weights[stem_prefix(word)] = max(weight, rough_weights.get(stem_prefix(word), 0.0))
    takes_several = len(found) > 1 or _RELATIVE_CHAIN.search(question) or _COMPARISON.search(question)
    kind = detect_answer_type(question)
    return ParsedQuestion(question, weights, rough_weights, found, kind, bool(takes_several))


def strip_question(question: str) -> str:
    """What a question asks: without addresses and an "according to" before one, and without words on the form
    of its answer. "" where nothing else is left."""
    bare = " ".join(_URL_PHRASE.sub(" ", " ".join(question.split())).split())
    return remove_output_form(_SPACE_BEFORE_MARK.sub("", bare))


def split_question(question: str) -> list[str]:
    """The parts a question can be narrowed to: names and clauses, longest first; at least itself."""
    asked = parse_question(question)
    question = asked.text or question
    clauses = re.split(
        r"[,;:?]|\b(?:and|or|that|which|who|whose|where|und|oder|och|et|y)\b", question, flags=re.IGNORECASE
    )
    found = [*asked.names, *sorted((clause.strip() for clause in clauses), key=len, reverse=True)]
    kept = [part for part in found if any(word not in STOPWORDS for word in tokenize(part))]
    return list(dict.fromkeys(kept)) or [question]


def extract_keywords(question: str) -> str:
    """The question without function words and addresses; a word that is no name stands once."""
    question = strip_question(question) or question
    words = [
        word for word in re.findall(r"[^\s?,;!]+", question) if fold(word).strip(".'\"") not in STOPWORDS
    ]
    kept = [word for n, word in enumerate(words) if not word.islower() or word not in words[:n]]
    return " ".join(kept) or question
