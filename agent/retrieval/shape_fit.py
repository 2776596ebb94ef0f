"""Whether a line has the shape that a question asks for: "X is …" or the entry of X for a definition, an
option's name, a list, else a value of the type."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.retrieval.asked_question import Asked
from agent.retrieval.candidates import Candidate
from agent.text.answer_type import has_answer_type
from agent.text.tokens import (
    content_stems,
    find_function_words,
    fold,
    stem,
    tokenize,
)

HALF = 0.6
"""The fit of a line that has a weaker sign of the shape."""
MAX_WORDS_BEFORE = 2
"""Words before X where a sentence begins with it ("The word X means …")."""
MIN_STEM, MAX_ENDING = 4, 2
"""Letters of a stem that may have an ending, and of the ending."""
_DEFINES = frozenset(
    "is are was were means mean refers denotes describes stands ist sind bedeutet bezeichnet heisst steht"
    " nennt est sont signifie designe es son significa ar betyder kallas".split()
)
"""Verbs that follow X where it is defined, folded."""
_COPULAS = frozenset("is are was were ist sind est sont es son ar".split())
_ARTICLES = frozenset(
    "a an the one any ein eine einer eines der die das un une le la les l des el los las uno una en"
    " ett".split()
)
"""Copulas, and what follows one that defines ("X is a …", not "X is created …"), folded."""


def fit_shape(asked: Asked, candidate: Candidate) -> float:
    """How well a line has the shape that is asked for (0..1)."""
    kind = asked.shape.kind
    if fit := _FITS.get(kind):
        return fit(asked, candidate)
    if kind in ("thing", "manner"):
        return HALF
    return float(has_answer_type(kind, candidate.body, asked.names))


def _fit_definition(asked: Asked, candidate: Candidate) -> float:
    if not asked.subject:
        return float(has_answer_type("definition", candidate.body))
    if candidate.passage.kind == "rows":
        cell = candidate.body.split("|")[0]
        is_named = _names(asked.subject, cell) and all(one.search(cell) for one in asked.codes.values())
        return float(is_named)
    label = candidate.passage.label if candidate.passage.kind == "definition" else ""
    if label and _names(asked.subject, label):
        return 1.0 if candidate.place == 0 else HALF
    # 1 when a sentence begins with "X is …", less when it has these words later
    words = tokenize(candidate.body)
    stems = [stem(word) for word in words]
    subject, size, best = asked.subject, len(asked.subject), 0.0
    for n in range(len(stems) - size + 1):
        if all(map(_is_same_word, subject, stems[n : n + size])):
            after = words[n + size : n + size + 3]
            if _DEFINES.intersection(after):
                tells = _COPULAS.intersection(after) and not _ARTICLES.intersection(after)
                before = set(words[:n]) - find_function_words(words[:n]) - asked.words
                best = max(best, HALF if tells or before or n > MAX_WORDS_BEFORE else 1.0)
    return best


def _names(subject: tuple[str, ...], label: str) -> bool:
    """Whether a term or cell is X, but for one more word and what is in brackets."""
    words = content_stems(re.sub(r"\([^)]*\)", " ", label))
    return len(words) <= len(subject) + 1 and all(
        any(_is_same_word(one, word) for word in words) for one in subject
    )


def _is_same_word(one: str, other: str) -> bool:
    """Whether two stems are one word, but for an ending."""
    short, long = sorted((one, other), key=len)
    return one == other or (
        len(short) >= MIN_STEM and len(long) - len(short) <= MAX_ENDING and long.startswith(short)
    )


def _fit_option(asked: Asked, candidate: Candidate) -> float:
    if candidate.passage.kind == "definition" and has_answer_type("option", candidate.passage.label):
        return 1.0 if candidate.place == 0 else HALF
    return HALF * has_answer_type("option", _new_words(asked, candidate))


def _fit_list(asked: Asked, candidate: Candidate) -> float:
    if candidate.passage.kind == "list" and candidate.place == 0:
        return 1.0
    return HALF * has_answer_type("list", candidate.body)


def _new_words(asked: Asked, candidate: Candidate) -> str:
    """The line without the words of the question."""
    words = candidate.statement.split()
    return " ".join(word for word in words if fold(word.strip(".,;:()")) not in asked.words)


_FITS: dict[str, Callable[[Asked, Candidate], float]] = {
    "definition": _fit_definition,
    "option": _fit_option,
    "list": _fit_list,
}
