"""The answer a statement gives to a question: the date, figure, person or place that the question's own words
lead to; "" where no word leads to a value of the expected type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from agent.evidence.statement_features import extract_features
from agent.text.date_intervals import blank_dates, find_dates
from agent.text.names import ProperName
from agent.text.normalization import normalize_text
from agent.text.quantities import find_quantities
from agent.text.question_analysis import ParsedQuestion
from agent.text.tokens import fold, is_stopword, stem, stem_prefix
from agent.text.word_lists import read_rows

MAX_GAP_WORDS = 9
"""Words between the question's own word and the value it leads to, at most."""


def prefix(word: str) -> str:
    """The part of a word by which two forms of it are recognised."""
    return stem_prefix(stem(fold(word)))


def _prefixes(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(prefix, words))


_SYNONYMS = {
    word: group
    for row in read_rows("relation_synonyms")
    for group in [_prefixes(row.split())]
    for word in group
}
_QUESTION_WORDS = _prefixes(
    "name type kind sort called happen happened take took place use used long".split()
)
_ANSWER_TYPE_WORDS = _prefixes(
    "year date day month century decade city country town state place county region village district number "
    "amount person".split()
)
"""Words that name the type of the answer: no value follows from them."""
_BIRTH, _DEATH = _prefixes(["born", "birth"]), _prefixes(["die", "died", "death"])
_ENGLISH_DIE = re.compile(r"\b(?:did|does|when|where|how)\b.*\bdie\b", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[;:]\s|\.\s|\s(?=(?:which|who|whose|when|while|but|because|although)\b)", re.IGNORECASE
)
_LIFESPAN = re.compile(r"\([^()]{0,80}\d{3,4}\s?[–-][^()]{0,60}\d{3,4}[^()]{0,20}\)")
_BY = re.compile(r"\bby\s")
_IN = re.compile(r"\b(?:in|at|near)\s(?:the\s)?")
_LARGER = re.compile(r"(?:,\s[A-Z](?:[\w.]*\w)?(?:\s[A-Z](?:[\w.]*\w)?)*)+")
_FOLLOWING = re.compile(r"\s([a-z]+)\b")
_NEXT_CONTENT_WORD = re.compile(
    r"\s(?!(?:of|in|and|who|on|at|for|by|with|from|to|is|was|as|or|the|that|which|has|had)\b)[a-z]"
)


@lru_cache(maxsize=256)
def question_words(question: ParsedQuestion) -> frozenset[str]:
    """The prefixes of the question's content words."""
    die = _DEATH if _ENGLISH_DIE.search(question.text) else frozenset()
    return frozenset(question.prefix_weights) - _QUESTION_WORDS | die


@lru_cache(maxsize=256)
def _lead_words(question: ParsedQuestion) -> frozenset[str]:
    """The question's words that are not its names, and their synonyms."""
    bare = question_words(question) - _prefixes(question.name_words) - _ANSWER_TYPE_WORDS
    return bare.union(*(_SYNONYMS.get(word, frozenset()) for word in bare))


def _find_value_after(
    statement: str, question: ParsedQuestion, spans: Sequence[tuple[int, int]], *, alone: bool = False
) -> str:
    """The first of these spans that follows one of the question's words within MAX_GAP_WORDS and one clause.

    In a question without names only lower-case words lead to a value. `alone`: only words that no other noun
    follows at once ("population density" is not the population)."""
    text = normalize_text(statement)
    for word, at, end in zip(text.words, text.starts, text.ends, strict=True):
        if prefix(word) not in _lead_words(question) or (alone and _is_compound(statement, end)):
            continue
        if not question.name_words and statement[at].isupper():
            continue
        start, stop = next(((s, e) for s, e in spans if s >= end), (-1, -1))
        if start >= 0 and _is_within_reach(statement[end:start]):
            return statement[start:stop]
    return ""


def _is_compound(statement: str, end: int) -> bool:
    """Does a plain word in lower case follow at once?"""
    following = _FOLLOWING.match(statement, end)
    return following is not None and not is_stopword(following.group(1))


def _is_within_reach(between: str) -> bool:
    return len(between.split()) <= MAX_GAP_WORDS and not _CLAUSE.search(between)


def _extract_date(statement: str, question: ParsedQuestion) -> str:
    """The date after one of the question's words, else the year of birth or death in "(1901 – 1987)"."""
    spans = [(date.start, date.end) for date in find_dates(statement)]
    if value := _find_value_after(statement, question, spans):
        return value
    is_birth, is_death = (bool(question_words(question) & words) for words in (_BIRTH, _DEATH))
    life = _LIFESPAN.search(statement) if is_birth or is_death else None
    within = [(s, e) for s, e in spans if life and life.start() <= s and e <= life.end()]
    if len(within) != 2:
        return ""
    start, end = within[0 if is_birth else 1]
    return statement[start:end]


def _extract_figure(statement: str, question: ParsedQuestion) -> str:
    """The figure that counts what is asked about, else the one after one of the question's words; no
    ordinal."""
    found = find_quantities(blank_dates(statement, find_dates(statement)))
    spans = [(q.start, q.end) for q in found if q.unit != "th"]
    for quantity in found:
        if quantity.unit != "th" and prefix(quantity.unit) in _lead_words(question):
            return statement[quantity.start : quantity.end]
    return _find_value_after(statement, question, spans, alone=True)


def _extract_person(statement: str, question: ParsedQuestion) -> str:
    """The name after "by"."""
    by = _BY.search(statement)
    name = next((n for n in _find_other_names(statement, question) if by and n.start >= by.end()), None)
    return name.text if by and name and _is_within_reach(statement[by.end() : name.start]) else ""


def _extract_place(statement: str, question: ParsedQuestion) -> str:
    """The first place after "in" or "at" with the larger ones it is in; "" without those: it may lie in the
    other answer's place."""
    names = {name.start: name for name in _find_other_names(statement, question)}
    for at in _IN.finditer(statement):
        if name := names.get(at.end()):
            larger = _LARGER.match(statement, name.end)
            return statement[name.start : larger.end()] if larger else ""
    return ""


def _find_other_names(statement: str, question: ParsedQuestion) -> list[ProperName]:
    """The names that are not the question's, without adjectives ("American singer")."""
    return [
        name
        for name in extract_features(statement).names
        if not name.words <= question.name_words
        and (" " in name.text or not _NEXT_CONTENT_WORD.match(statement, name.end))
    ]


_EXTRACTORS = {
    "date": _extract_date,
    "number": _extract_figure,
    "person": _extract_person,
    "place": _extract_place,
}


@lru_cache(maxsize=4096)
def extract_answer(statement: str, question: ParsedQuestion) -> str:
    """The date, figure, person or place that a statement gives for what the question asks, as written; ""
    when no word leads to one."""
    extract = _EXTRACTORS.get(question.answer_type)
    return extract(statement, question) if extract else ""
