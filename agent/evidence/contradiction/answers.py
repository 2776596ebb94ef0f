"""Different answers of different sources to one question, among the facts that are most relevant to it.

`statements` compares any two statements and so needs nearly the same wording. Here the question says what is
compared. Two facts of different sites give different answers when

* they are one text but for a few words in one place (an altered copy), with the same words beside that place,
  or
* the date, figure, person or place that the question's own words lead to differs (`answer_extraction`), and
  neither statement has the other's.

Not different: a value within the other (1912 and April 1912, York and New York City), figures of different
dates (a series), a fact that names both values, and two spellings of one word. At most MAX_COMPARED_FACTS
facts are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from agent.evidence.contradiction.answer_extraction import extract_answer, prefix, question_words
from agent.evidence.contradiction.statements import (
    Contradiction,
    dates_of,
    has_agreeing,
    is_series,
    is_spelling_variant,
    quantities_of,
)
from agent.evidence.statement_features import extract_features
from agent.text import urls
from agent.text.date_intervals import is_compatible
from agent.text.normalization import is_negation, normalize_text
from agent.text.quantities import is_same_quantity
from agent.text.question_analysis import ParsedQuestion
from agent.text.tokens import is_stopword
from agent.types import Fact

MAX_COMPARED_FACTS = 40
"""The most relevant facts are compared, at most so many."""
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
"""Most words of a differing place, and most words compared on each side of it."""

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
    words = normalize_text(f"{fact.title} {fact.subject} {fact.statement}").words
    stated = frozenset(word.removesuffix("'s") for word in words)
    if not (question.figures | question.name_words) <= stated:
        return False
    if question.name_words and not question.is_multi_hop:
        return True
    asked = question_words(question)
    if not question.name_words and len(asked) < MIN_QUESTION_WORDS:
        return False
    least = MIN_COVERAGE_MULTI_HOP if question.name_words else MIN_COVERAGE
    return len(asked & {prefix(word) for word in stated}) >= least * len(asked)


def compare_answers(a: str, b: str, question: ParsedQuestion) -> Contradiction | None:
    """How two statements answer a question differently, or None."""
    if is_series(extract_features(a), extract_features(b)):
        return None
    return _compare_altered_copies(a, b, question) or _compare_values(
        extract_answer(a, question), extract_answer(b, question), a, b, question
    )


@dataclass(frozen=True)
class _WordRow:
    """The words of a statement with their offsets."""

    text: str
    words: tuple[str, ...]
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@lru_cache(maxsize=4096)
def _split_words(text: str) -> _WordRow:
    row = normalize_text(text)
    kept = [
        (word, start, end)
        for word, start, end in zip(row.words, row.starts, row.ends, strict=True)
        if word == "%" or any(c.isalnum() for c in word)
    ]
    words, starts, ends = zip(*kept, strict=True) if kept else ((), (), ())
    return _WordRow(text, words, starts, ends)


@dataclass(frozen=True)
class _DifferingPlace:
    """Words that differ between two rows, and where the same words around them begin and end in the left
    one."""

    context_start: int
    left: tuple[int, int]
    context_end: int
    right: tuple[int, int]


def _compare_altered_copies(a: str, b: str, question: ParsedQuestion) -> Contradiction | None:
    """One text but for a place or two: the values in the first place that answers the question; in brackets
    only if no other does."""
    left, right = _split_words(a), _split_words(b)
    in_brackets: list[Contradiction] = []
    for place in _find_differing_places(left.words, right.words):
        if not _has_same_context(place, left):
            continue
        values = [
            _expand_to_value(row, *_shorten_place(row, *span))
            for row, span in ((left, place.left), (right, place.right))
        ]
        found = _compare_values(values[0], values[1], a, b, question)
        if found and not (_is_in_brackets(left, place.left[0]) and _is_in_brackets(right, place.right[0])):
            return found
        in_brackets += [found] if found else []
    return in_brackets[0] if in_brackets else None


def _find_differing_places(left: tuple[str, ...], right: tuple[str, ...]) -> Iterator[_DifferingPlace]:
    """The places between runs of the same words, where both rows have words of their own."""
    runs = [
        (op.src_start, op.src_end, op.dest_start, op.dest_end)
        for op in Levenshtein.opcodes(left, right)
        if op.tag == "equal"
    ]
    for (start, i, _, k), (j, end, m, _) in pairwise([*runs, (len(left), len(left), len(right), len(right))]):
        if i < j and k < m:
            context_start, context_end = max(start, i - MAX_CONTEXT_WORDS), min(end, j + MAX_CONTEXT_WORDS)
            yield _DifferingPlace(context_start, (i, j), context_end, (k, m))


def _has_same_context(place: _DifferingPlace, row: _WordRow) -> bool:
    """Are enough of the same words right beside the place? Where it is long, before it."""
    start, end = place.left
    around = row.words[place.context_start : start]
    if max(end - start, place.right[1] - place.right[0]) <= MAX_PLACE_WORDS:
        around += row.words[end : place.context_end]
    content = sum(not is_stopword(word) for word in around)
    return (
        place.context_start < start
        and len(around) >= MIN_CONTEXT_WORDS
        and content >= MIN_CONTEXT_CONTENT_WORDS
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
    """The value at a place: without function words at its ends, with the rest of the date or name it is part
    of; "" when it is several things."""
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
    """Is a word in brackets, where things of one name are told apart?"""
    before = cut.text[: cut.starts[i]]
    return before.count("(") > before.count(")")


def _compare_values(left: str, right: str, a: str, b: str, question: ParsedQuestion) -> Contradiction | None:
    """The contradiction of two values, of the statements `a` and `b`, when they exclude each other as answers
    of the type that is asked for."""
    wanted = question.answer_type
    if not left or not right or wanted == "reason":
        return None
    if dates_of(left) and dates_of(right):
        agree = has_agreeing(dates_of(left), dates_of(right), is_compatible)
        return Contradiction("date", left, right) if wanted == "date" and not agree else None
    mine, theirs = quantities_of(left), quantities_of(right)
    if mine and theirs:
        units = {quantity.unit for quantity in (*mine, *theirs)}
        fits = wanted == "number" or (mine[0].unit and wanted in _OPEN_ANSWER_TYPES)
        is_comparable = "th" not in units and len(units - {""}) <= 1
        agree = has_agreeing(mine, theirs, is_same_quantity)
        return (
            Contradiction("number", left, right, mine[0].unit)
            if fits and is_comparable and not agree
            else None
        )
    if wanted in ("date", "number") or not _is_exclusive(left, right, a, b, question):
        return None
    return Contradiction("name", left, right)


def _is_exclusive(left: str, right: str, a: str, b: str, question: ParsedQuestion) -> bool:
    """Are two values quite other words, and neither is in the other's statement or in the question?"""
    mine, theirs = _content_words(left), _content_words(right)
    if not mine or not theirs or mine <= theirs or theirs <= mine:
        return False
    if (mine | theirs) & (question.name_words | question.figures):
        return False
    if _contains_phrase(b, left) or _contains_phrase(a, right):
        return False
    if any({prefix(word) for word in words} <= question_words(question) for words in (mine, theirs)):
        return False
    if question.answer_type in ("person", "place") and not (_has_capital(left) and _has_capital(right)):
        return False
    may_contain = question.answer_type == "place" and left.count(",") != right.count(",")
    return not may_contain and not is_spelling_variant(left, right)


def _contains_phrase(text: str, phrase: str) -> bool:
    return f" {' '.join(_split_words(phrase).words)} " in f" {' '.join(_split_words(text).words)} "


def _content_words(text: str) -> frozenset[str]:
    return frozenset(
        w.removesuffix("'s")
        for w in normalize_text(text).words
        if not is_stopword(w) and not is_negation(w) and any(c.isalnum() for c in w)
    )


def _has_capital(text: str) -> bool:
    return any(word[:1].isupper() for word in text.split())
