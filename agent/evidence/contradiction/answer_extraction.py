"""What a statement gives for the thing a question asks: the date, figure, person or place that the question's
own words lead to.

By rule, and careful: "" where no word of the question leads to a value of the kind that is asked for. Knows a
question and statements, no facts; whether two values exclude each other is not its business."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from agent.evidence.statement_features import FUNCTION_WORDS, ProperName, extract_features
from agent.text import date_intervals, quantities
from agent.text.normalization import normalize_text

PREFIX_LENGTH = 5
"""First letters by which two words are taken for forms of one."""
MAX_GAP_WORDS = 9
"""Words between the question's own word and the value it leads to, at most."""

_SYNONYM_GROUPS = (
    "founded established formed created started launched incorporated",
    "built constructed erected",
    "died death",
    "born birth",
    "released release",
    "located situated based lies",
    "artist album performed recorded",
    "husband wife married spouse",
    "population people inhabitants residents",
)
_SYNONYMS = {
    word[:PREFIX_LENGTH]: frozenset(w[:PREFIX_LENGTH] for w in group.split())
    for group in _SYNONYM_GROUPS
    for word in group.split()
}
_QUESTION_WORDS = frozenset(
    "name type kind sort called happen happened take took place use used many much long".split()
)
_ANSWER_TYPE_PREFIXES = frozenset(
    word[:PREFIX_LENGTH]
    for word in "year date day month century decade city country town state place county region village district number amount person".split()
)
"""Words that say what kind of answer is wanted: they lead to none."""
_BIRTH, _DEATH = frozenset({"born", "birth"}), frozenset({"die", "died", "death"})
_ENGLISH = frozenset({"did", "does", "when", "where", "how", "of"})
"""Words by which "die" is no German article."""
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


@dataclass(frozen=True)
class ComparisonQuestion:
    """A question for the comparison of answers: its content words by their first letters, the words of its
    names, the kind of answer."""

    words: frozenset[str]
    names: frozenset[str]
    answer_type: str
    figures: frozenset[str] = frozenset()
    """Its numbers and years: they tell what is asked about from its like."""
    is_multi_hop: bool = False
    """Does it take more than one page, so that what stands beside its names may be another thing?"""
    text: str = ""
    subject: str = ""
    attribute: str = ""
    """What it asks of what, in its own words, to be shown."""


@lru_cache(maxsize=256)
def parse_comparison_question(question: str, kind: str, hops: bool = False) -> ComparisonQuestion:
    """Take a question apart; `kind` is the kind of answer it wants (person, date, place, number, ... or
    thing)."""
    said = extract_features(question)
    names = [name for name in said.names if name.start > 0 or len(name.words) > 1]
    named = frozenset(word for name in names for word in name.words) & frozenset(said.frame)
    words = normalize_text(question).words
    small = (FUNCTION_WORDS | _QUESTION_WORDS) - (_DEATH if _ENGLISH & set(words) else set())
    content = [w for w in words if w not in small and any(c.isalnum() for c in w)]
    subject = max((name.text.removesuffix("'s") for name in names), key=len, default="")
    inside = frozenset(normalize_text(subject).words)
    attribute = (
        " ".join(
            w
            for w in content
            if w.removesuffix("'s") not in inside and w[:PREFIX_LENGTH] not in _ANSWER_TYPE_PREFIXES
        )
        if subject
        else ""
    )
    return ComparisonQuestion(
        frozenset(w[:PREFIX_LENGTH] for w in content),
        named,
        kind,
        frozenset(w for w in content if w.isdigit()),
        hops,
        text=question,
        subject=subject or f"“{question.rstrip('? ')}”",
        attribute=attribute,
    )


@lru_cache(maxsize=4096)
def extract_answer(statement: str, question: ComparisonQuestion) -> str:
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
def _lead_words(question: ComparisonQuestion) -> frozenset[str]:
    """The question's words that are not its names, and words that mean the same."""
    bare = question.words - {name[:PREFIX_LENGTH] for name in question.names} - _ANSWER_TYPE_PREFIXES
    return bare.union(*(_SYNONYMS.get(w, frozenset()) for w in bare))


def _find_value_after(
    statement: str, question: ComparisonQuestion, spans: Sequence[tuple[int, int]], *, alone: bool = False
) -> str:
    """The first of these spans that follows one of the question's words within REACH words and one clause.

    A question without capitals does not tell its names: then only words in small letters lead to a value.
    `alone`: none that another noun follows at once ("population density" is not the population)."""
    told = normalize_text(statement)
    for word, at, end in zip(told.words, told.starts, told.ends, strict=True):
        if (
            word[:PREFIX_LENGTH] not in _lead_words(question)
            or (not question.names and statement[at].isupper())
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
    return following is not None and following.group(1) not in FUNCTION_WORDS


def _is_within_reach(between: str) -> bool:
    return len(between.split()) <= MAX_GAP_WORDS and not _CLAUSE.search(between)


def _extract_date(statement: str, question: ComparisonQuestion) -> str:
    """The date after one of the question's words; of "(3 May 1901 – 1987)" the one that a birth or a death is
    asked by."""
    found = [(d.start, d.end) for d in date_intervals.find_dates(statement)]
    told = _find_value_after(statement, question, found)
    born = bool(question.words & _BIRTH)
    life = _LIFESPAN.search(statement) if not told and (born or question.words & _DEATH) else None
    within = [(s, e) for s, e in found if life and life.start() <= s and e <= life.end()]
    if len(within) != 2:
        return told
    start, stop = within[0 if born else 1]
    return statement[start:stop]


def _extract_figure(statement: str, question: ComparisonQuestion) -> str:
    """The figure that counts what is asked about, else the one after one of the question's words; no
    ordinal."""
    found = [
        q
        for q in quantities.find_quantities(
            date_intervals.blank_dates(statement, date_intervals.find_dates(statement))
        )
        if q.unit != "th"
    ]
    counted = next((q for q in found if q.unit[:PREFIX_LENGTH] in _lead_words(question)), None)
    if counted:
        return statement[counted.start : counted.end]
    return _find_value_after(statement, question, [(q.start, q.end) for q in found], alone=True)


def _extract_person(statement: str, question: ComparisonQuestion) -> str:
    """The name after "by"."""
    by = _BY.search(statement)
    name = next((n for n in _find_other_names(statement, question) if by and n.start >= by.end()), None)
    return name.text if by and name and _is_within_reach(statement[by.end() : name.start]) else ""


def _extract_place(statement: str, question: ComparisonQuestion) -> str:
    """The first place after "in" or "at", with the larger ones it is in; "" where none is told: it may lie in
    the other's."""
    named = {n.start: n for n in _find_other_names(statement, question)}
    for at in _IN.finditer(statement):
        if name := named.get(at.end()):
            larger = _LARGER.match(statement, name.end)
            return statement[name.start : larger.end()] if larger else ""
    return ""


def _find_other_names(statement: str, question: ComparisonQuestion) -> list[ProperName]:
    """The names of a statement that are not the question's, without those that only describe what follows
    ("American singer")."""
    return [
        n
        for n in extract_features(statement).names
        if not n.words <= question.names
        and not (" " not in n.text and _NEXT_CONTENT_WORD.match(statement, n.end))
    ]
