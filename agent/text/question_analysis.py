"""What a question says by its words alone: its names and figures, and the words it is searched by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agent.text.names import find_names, find_proper_names
from agent.text.tokens import content_stems, fold, stem_prefix
from agent.text.word_lists import STOPWORDS

_URL_PHRASE = re.compile(
    r"(?:,?\s*\b(?:according to|on the page|on|at|see|from|in|laut|auf|enligt|på|selon|sur|según"
    r"|en)\s+)?<?\bhttps?://[^\s<>\"]*[^\s<>\".,;:!?)]>?",
    re.IGNORECASE,
)


@dataclass(frozen=True, eq=False)
class ParsedQuestion:
    """A question without addresses, its names, and its content words by their stem prefixes."""

    text: str
    words: frozenset[str]
    names: tuple[str, ...]

    @cached_property
    def name_words(self) -> frozenset[str]:
        """The words of its names in unified spelling, without a capital that only begins the question."""
        names = [name for name in find_proper_names(self.text) if name.start > 0 or len(name.words) > 1]
        return frozenset[str]().union(*(name.words for name in names))

    @property
    def figures(self) -> frozenset[str]:
        """Its numbers and years."""
        return frozenset(word for word in self.words if word.isdigit())


@lru_cache(maxsize=512)
def parse_question(question: str) -> ParsedQuestion:
    """A question's words and names. Never fails; an empty one has none."""
    question = strip_question(question)
    names = tuple(name for name in find_names(question) if name.casefold() != question.casefold())
    return ParsedQuestion(question, frozenset(map(stem_prefix, content_stems(question))), names)


def strip_question(question: str) -> str:
    """A question without addresses and an "according to" before one; "" where nothing else is left."""
    bare = " ".join(_URL_PHRASE.sub(" ", " ".join(question.split())).split())
    return re.sub(r"\s+(?=[?.!,;]$)", "", bare)


def extract_keywords(question: str) -> str:
    """The question without function words and addresses; a word that is no name stands once."""
    question = strip_question(question) or question
    words = [
        word for word in re.findall(r"[^\s?,;!]+", question) if fold(word).strip(".'\"") not in STOPWORDS
    ]
    kept = [word for n, word in enumerate(words) if not word.islower() or word not in words[:n]]
    return " ".join(kept) or question


def format_question(question: str) -> str:
    """A question as a heading: with a capital."""
    text = question.strip(" ,;:")
    return f"{text[:1].upper()}{text[1:]}"
