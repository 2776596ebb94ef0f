"""Different answers of different sources to one question: what the facts that bear on it most give for the
very thing that is asked.

`compare` sets any two statements against each other and so has to ask for nearly the same wording. Here the
question says what is to be compared: the facts that speak of its subject and bear on it, of different sites.
Two of them give different answers when

* they are one text but for a few words in one place (an altered copy), with the same words beside that place, or
* the date, figure, person or place that the question's own words lead to in each differs (`slots`), and neither statement holds the other.

No rivals: a value within the other (1912 and April 1912, York and New York City), figures of different dates
(a series), a fact that names both values, two spellings of one word, and facts of one site. Knows facts and
the question's words, no run. The work is that of the `POOL` best facts, however many a run has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from agent.evidence.contradiction.answer_extraction import extract_answer, prefix, question_words
from agent.evidence.contradiction.statements import (
    ConflictKind,
    Contradiction,
    is_series,
    is_spelling_variant,
)
from agent.evidence.statement_features import extract_features
from agent.text import date_intervals, quantities, urls
from agent.text.normalization import is_negation, normalize_text
from agent.text.question_analysis import ParsedQuestion
from agent.text.tokens import is_stopword
from agent.types import Fact

MAX_COMPARED_FACTS = 40
"""Facts that are compared, those that bear most on the question."""
MIN_RELEVANCE = 0.3
"""Least relevance of a fact that may give an answer."""
MIN_COVERAGE, MIN_COVERAGE_MULTI_HOP = 0.75, 0.6
"""Least share of the question's content words that a fact holds, its page's title counted in: when the
question names nobody; when it does, but takes more than one page."""
MIN_QUESTION_WORDS = 2
"""Content words that a question has when it names nobody; with fewer, too many things have them all."""
MIN_CONTEXT_WORDS, MIN_CONTEXT_CONTENT_WORDS = 4, 2
"""Words, and content words, that two altered copies share right beside the place where they differ."""
MAX_PLACE_WORDS, MAX_CONTEXT_WORDS = 5, 10
"""Words a differing place has at most, and words beside it that are looked at, to each side."""

_PAUSE = re.compile(r"[,;:.()|]")
_VALUE_BREAK = re.compile(r"[;:()|=\"“”\[\]]")
_OPEN_ANSWER_TYPES = ("thing", "definition", "manner")


@dataclass(frozen=True)
class RivalAnswers:
    """Two facts, the older first, and what each gives for an answer."""

    left: Fact
    right: Fact
    contradiction: Contradiction


def find_rival_answers(facts: Sequence[Fact], question: ParsedQuestion) -> Iterator[RivalAnswers]:
    """Every pair of facts of different sites that answer the question differently."""
    able = (
        fact
        for fact in facts
        if fact.relevance >= MIN_RELEVANCE and fact.url and _is_on_question(fact, question)
    )
    pool = sorted(able, key=lambda fact: (-fact.relevance, fact.step, fact.id))[:MAX_COMPARED_FACTS]
    pool.sort(key=lambda fact: (fact.step, fact.id))
    for j, b in enumerate(pool):
        for a in pool[:j]:
            if urls.site(a.url) == urls.site(b.url) or a.statement == b.statement:
                continue
            clash = compare_answers(a.statement, b.statement, question)
            if clash:
                yield RivalAnswers(a, b, clash)


def _is_on_question(fact: Fact, question: ParsedQuestion) -> bool:
    """Is a fact about what the question names, and does it hold enough of its words?"""
    told = frozenset(normalize_text(f"{fact.title} {fact.subject} {fact.statement}").words)
    if not question.figures <= told or not question.name_words <= {w.removesuffix("'s") for w in told}:
        return False
    if question.name_words and not question.is_multi_hop:
        return True
    if not question.name_words and len(question_words(question)) < MIN_QUESTION_WORDS:
        return False
    starts = {prefix(w) for w in told}
    return len(question_words(question) & starts) >= (
        MIN_COVERAGE_MULTI_HOP if question.name_words else MIN_COVERAGE
    ) * len(question_words(question))


def compare_answers(a: str, b: str, question: ParsedQuestion) -> Contradiction | None:
    """How two statements answer a question differently, or None."""
    if is_series(extract_features(a), extract_features(b)):
        return None
    return _compare_altered_copies(a, b, question) or _compare_values(
        extract_answer(a, question), extract_answer(b, question), a, b, question
    )


@dataclass(frozen=True)
class _WordRow:
    """A statement in words, each as it is compared and with its place."""

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@lru_cache(maxsize=4096)
def _split_words(text: str) -> _WordRow:
    told = normalize_text(text)
    kept = [n for n, word in enumerate(told.words) if any(c.isalnum() for c in word) or word == "%"]
    return _WordRow(
        text,
        tuple(told.words[n] for n in kept),
        tuple(told.starts[n] for n in kept),
        tuple(told.ends[n] for n in kept),
    )


@dataclass(frozen=True)
class _DifferingPlace:
    """Where two rows of words differ: from i to j in one, from k to m in the other; `start` and `end` bound
    the same words around it."""

    context_start: int
    left_start: int
    left_end: int
    context_end: int
    right_start: int
    right_end: int


def _compare_altered_copies(a: str, b: str, question: ParsedQuestion) -> Contradiction | None:
    """One text but for a place or two: the words that stand in the first place that answers the question; in
    brackets only if no other does."""
    left, right = _split_words(a), _split_words(b)
    asides: list[Contradiction] = []
    for here in _find_differing_places(left.words, right.words):
        if not _has_same_context(here, left):
            continue
        mine, theirs = (
            _expand_to_value(left, *_shorten_place(left, here.left_start, here.left_end)),
            _expand_to_value(right, *_shorten_place(right, here.right_start, here.right_end)),
        )
        clash = _compare_values(mine, theirs, a, b, question)
        if clash and not (
            _is_in_brackets(left, here.left_start) and _is_in_brackets(right, here.right_start)
        ):
            return clash
        asides += [clash] if clash else []
    return asides[0] if asides else None


def _find_differing_places(left: tuple[str, ...], right: tuple[str, ...]) -> Iterator[_DifferingPlace]:
    """The places between runs of the same words, where both rows have words of their own."""
    edges = [
        (b.src_start, b.src_end, b.dest_start, b.dest_end)
        for b in Levenshtein.opcodes(left, right)
        if b.tag == "equal"
    ]
    for (start, i, _, k), (j, end, m, _) in pairwise(
        [*edges, (len(left), len(left), len(right), len(right))]
    ):
        if i < j and k < m:
            yield _DifferingPlace(
                max(start, i - MAX_CONTEXT_WORDS), i, j, min(end, j + MAX_CONTEXT_WORDS), k, m
            )


def _has_same_context(here: _DifferingPlace, left: _WordRow) -> bool:
    """Do enough of the same words stand right beside the place? Where it is long, before it."""
    around = left.words[here.context_start : here.left_start]
    if max(here.left_end - here.left_start, here.right_end - here.right_start) <= MAX_PLACE_WORDS:
        around += left.words[here.left_end : here.context_end]
    return (
        here.context_start < here.left_start
        and len(around) >= MIN_CONTEXT_WORDS
        and sum(not is_stopword(w) for w in around) >= MIN_CONTEXT_CONTENT_WORDS
    )


def _shorten_place(cut: _WordRow, i: int, j: int) -> tuple[int, int]:
    """A place; when it is long, only its first words up to a pause."""
    if j - i <= MAX_PLACE_WORDS:
        return i, j
    end = i + 1
    while (
        end < i + MAX_PLACE_WORDS
        and not _PAUSE.search(cut.text[cut.ends[end - 1] : cut.starts[end]])
        and not is_stopword(cut.words[end])
    ):
        end += 1
    return i, end


def _expand_to_value(cut: _WordRow, i: int, j: int) -> str:
    """The words of a place without the small ones at its ends, with the rest of the date or name they are
    part of; "" when it is no one thing."""
    while i < j and is_stopword(cut.words[i]):
        i += 1
    while i < j and is_stopword(cut.words[j - 1]):
        j -= 1
    if i == j:
        return ""
    start, end = cut.starts[i], cut.ends[j - 1]
    said = extract_features(cut.text)
    wholes = [(d.start, d.end) for d in said.dates] + [(q.start, q.end) for q in said.quantities]
    wholes += [(n.start, n.end) for n in said.names if len(n.text.split()) <= MAX_PLACE_WORDS]
    first, last = next(((s, e) for s, e in wholes if s < end and start < e), (start, end))
    start, end = min(start, first), max(end, last)
    value = cut.text[start:end]
    return "" if _VALUE_BREAK.search(value) else value


def _is_in_brackets(cut: _WordRow, i: int) -> bool:
    """Does a word stand in brackets, as what tells two things of one name apart does?"""
    before = cut.text[: cut.starts[i]]
    return before.count("(") > before.count(")")


def _compare_values(left: str, right: str, a: str, b: str, question: ParsedQuestion) -> Contradiction | None:
    """Do these two values, of the statements `a` and `b`, exclude each other as answers of the kind that is
    asked for?"""
    if not left or not right or question.answer_type == "reason":
        return None
    kind, unit = _classify_values(left, right)
    if kind == "date":
        apart = not any(
            date_intervals.is_compatible(x, y) for x in _find_dates(left) for y in _find_dates(right)
        )
        return Contradiction("date", left, right) if apart and question.answer_type == "date" else None
    if kind == "number":
        apart = not any(
            quantities.is_same_quantity(x, y)
            for x in quantities.find_quantities(left)
            for y in quantities.find_quantities(right)
        )
        fits = question.answer_type == "number" or (unit and question.answer_type in _OPEN_ANSWER_TYPES)
        return (
            Contradiction("number", left, right, unit)
            if apart and fits and _has_one_unit(left, right)
            else None
        )
    return (
        Contradiction("name", left, right)
        if question.answer_type not in ("date", "number") and _is_exclusive(left, right, a, b, question)
        else None
    )


def _classify_values(left: str, right: str) -> tuple[ConflictKind, str]:
    if _find_dates(left) and _find_dates(right):
        return "date", ""
    mine, theirs = quantities.find_quantities(left), quantities.find_quantities(right)
    return ("number", mine[0].unit) if mine and theirs else ("name", "")


def _find_dates(text: str) -> list[date_intervals.DateInterval]:
    return date_intervals.find_dates(text) or date_intervals.find_dates(f"in {text}.")


def _has_one_unit(left: str, right: str) -> bool:
    """Do two figures count the same? Ordinals tell things apart and are no figures."""
    units = {
        figure.unit for figure in (*quantities.find_quantities(left), *quantities.find_quantities(right))
    }
    return "th" not in units and len(units - {""}) <= 1


def _is_exclusive(left: str, right: str, a: str, b: str, question: ParsedQuestion) -> bool:
    """Are two values in words quite other words, neither told in the other's statement nor in the
    question?"""
    mine, theirs = _content_words(left), _content_words(right)
    if (
        not mine
        or not theirs
        or mine <= theirs
        or theirs <= mine
        or (mine | theirs) & (question.name_words | question.figures)
    ):
        return False
    if (
        f" {' '.join(_split_words(left).words)} " in f" {' '.join(_split_words(b).words)} "
        or f" {' '.join(_split_words(right).words)} " in f" {' '.join(_split_words(a).words)} "
    ):
        return False
    if any({prefix(w) for w in said} <= question_words(question) for said in (mine, theirs)):
        return False
    if question.answer_type in ("person", "place") and not (_has_capital(left) and _has_capital(right)):
        return False
    if question.answer_type == "place" and left.count(",") != right.count(
        ","
    ):  # the one may lie in the other
        return False
    return not is_spelling_variant(left, right)


def _content_words(text: str) -> frozenset[str]:
    return frozenset(
        w.removesuffix("'s")
        for w in normalize_text(text).words
        if not is_stopword(w) and not is_negation(w) and any(c.isalnum() for c in w)
    )


def _has_capital(text: str) -> bool:
    return any(word[:1].isupper() for word in text.split())
