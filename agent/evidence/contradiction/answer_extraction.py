"""What a statement gives for the thing a question asks: the date, figure, person or place that the question's
own words lead to.

By rule, and careful: "" where no word of the question leads to a value of the kind that is asked for. Knows a
question and statements, no facts; whether two values exclude each other is not its business."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from agent.evidence.statement_features import extract_features
from agent.text import date_intervals, quantities
from agent.text.names import ProperName
from agent.text.normalization import normalize_text
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
    "year date day month century decade city country town state place county region village district number amount person".split()
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


@lru_cache(maxsize=4096)
def extract_answer(statement: str, question: ParsedQuestion) -> str:
    """The date, figure, person or place that a statement gives for what the question asks, as written; ""
    when no word leads to one."""
    find = {
        "date": _extract_date,
        "number": _extract_figure,
        "person": _extract_person,
        "place": _extract_place,
    }.get(question.answer_type)
    return find(statement, question) if find else ""


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
    """The first of these spans that follows one of the question's words within REACH words and one clause.

    A question without capitals does not tell its names: then only words in small letters lead to a value.
    `alone`: none that another noun follows at once ("population density" is not the population)."""
    told = normalize_text(statement)
    for word, at, end in zip(told.words, told.starts, told.ends, strict=True):
        if (
            prefix(word) not in _lead_words(question)
            or (not question.name_words and statement[at].isupper())
            or (alone and _is_compound(statement, end))
        ):
            continue
        start, stop = next(((s, e) for s, e in spans if s >= end), (-1, -1))
        if start >= 0 and _is_within_reach(statement[end:start]):
            return statement[start:stop]
    return ""


def _is_compound(statement: str, end: int) -> bool:
    """Does a plain word in small letters follow at once?"""
    following = _FOLLOWING.match(statement, end)
    return following is not None and not is_stopword(following.group(1))


def _is_within_reach(between: str) -> bool:
    return len(between.split()) <= MAX_GAP_WORDS and not _CLAUSE.search(between)


def _extract_date(statement: str, question: ParsedQuestion) -> str:
    """The date after one of the question's words; of "(3 May 1901 – 1987)" the one that a birth or a death is
    asked by."""
    found = [(d.start, d.end) for d in date_intervals.find_dates(statement)]
    told = _find_value_after(statement, question, found)
    born = bool(question_words(question) & _BIRTH)
    life = _LIFESPAN.search(statement) if not told and (born or question_words(question) & _DEATH) else None
    within = [(s, e) for s, e in found if life and life.start() <= s and e <= life.end()]
    if len(within) != 2:
        return told
    start, stop = within[0 if born else 1]
    return statement[start:stop]


def _extract_figure(statement: str, question: ParsedQuestion) -> str:
    """The figure that counts what is asked about, else the one after one of the question's words; no
    ordinal."""
    found = [
        q
        for q in quantities.find_quantities(
            date_intervals.blank_dates(statement, date_intervals.find_dates(statement))
        )
        if q.unit != "th"
    ]
    counted = next((q for q in found if prefix(q.unit) in _lead_words(question)), None)
    if counted:
        return statement[counted.start : counted.end]
    return _find_value_after(statement, question, [(q.start, q.end) for q in found], alone=True)


def _extract_person(statement: str, question: ParsedQuestion) -> str:
    """The name after "by"."""
    by = _BY.search(statement)
    name = next((n for n in _find_other_names(statement, question) if by and n.start >= by.end()), None)
    return name.text if by and name and _is_within_reach(statement[by.end() : name.start]) else ""


def _extract_place(statement: str, question: ParsedQuestion) -> str:
    """The first place after "in" or "at", with the larger ones it is in; "" where none is told: it may lie in
    the other's."""
    named = {n.start: n for n in _find_other_names(statement, question)}
    for at in _IN.finditer(statement):
        if name := named.get(at.end()):
            larger = _LARGER.match(statement, name.end)
            return statement[name.start : larger.end()] if larger else ""
    return ""


def _find_other_names(statement: str, question: ParsedQuestion) -> list[ProperName]:
    """The names of a statement that are not the question's, without those that only describe what follows
    ("American singer")."""
    return [
        n
        for n in extract_features(statement).names
        if not n.words <= question.name_words
        and not (" " not in n.text and _NEXT_CONTENT_WORD.match(statement, n.end))
    ]
