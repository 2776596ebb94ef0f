"""Do two statements contradict each other? It knows only the two statements, not their sources.

They do when they differ in exactly one point and are otherwise nearly the same: in a date, a number of one
unit, a name or a few words in one place, or in that one denies what the other affirms. Two points or more are
another event, a namesake, or figures of different times. Values agree when one is within the other (1912 and
April 1912, 12,000 and 12,340, "Quill" and "Ada Quill"). Ordinals and numbers that belong to a name ("HD 40")
tell things apart and never contradict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeVar

from rapidfuzz.distance import Levenshtein

from agent.evidence.statement_features import StatementFeatures
from agent.text.date_intervals import DateInterval, find_dates, is_compatible
from agent.text.names import ProperName
from agent.text.quantities import Quantity, find_quantities, is_comparable, is_same_quantity

T = TypeVar("T")
ConflictKind = Literal["number", "date", "name", "polarity"]
_Words = tuple[str, ...]

MIN_SIMILARITY = 0.6
"""Least similarity (Dice) of the content words of two statements for a conflict of dates or numbers."""
MIN_NAME_SIMILARITY, MIN_WORD_SIMILARITY = 0.7, 0.8
"""The same for one of names, these left out, and for one of plain words."""
MIN_STRICT_SIMILARITY = 0.85
"""The same for one of polarity, for several values at once, and for any within one site."""
MIN_KEYED_SIMILARITY = 0.3
"""The same for one of names when both facts were given the same subject and attribute."""
MIN_SHARED_WORDS, MIN_WORD_SHARED_WORDS = 2, 4
"""Content words that two statements share at least; where plain words differ, more."""
MIN_SPELLING_SIMILARITY = 0.6
"""Words at least this similar are one word in two forms."""


@dataclass(frozen=True)
class Contradiction:
    """The contradicting values as written; `slot` is the unit they have."""

    kind: ConflictKind
    left: str
    right: str
    slot: str = ""


def find_contradiction(
    a: StatementFeatures, b: StatementFeatures, *, keyed: bool, strict: bool
) -> Contradiction | None:
    """The one point in which two statements contradict each other, or None.

    `keyed`: both were given the same subject and attribute, so their wording need not be similar, and a date
    beside a figure need not be the figure's. `strict`:
    they come from one site, where another wording is more likely another event than another opinion."""
    similarity, shared = dice_similarity(a.words, b.words), len(a.words & b.words)
    least = MIN_STRICT_SIMILARITY if strict else MIN_SIMILARITY
    if not keyed and (shared < MIN_SHARED_WORDS or similarity < least):
        return None
    days, amounts = (
        _differing(a.dates, b.dates, is_compatible),
        _differing(a.quantities, b.quantities, is_same_quantity),
    )
    denies, rewords = a.is_negated != b.is_negated, _has_own_words(a, b, plain=not keyed)
    if all([a.labels - b.labels, b.labels - a.labels]) or sum([all(days), all(amounts), denies, rewords]) > 1:
        return None
    has_other_values = any(days) or any(amounts)
    if denies:
        fits = similarity >= MIN_STRICT_SIMILARITY and shared > MIN_SHARED_WORDS and not has_other_values
        values = ("denied", "affirmed") if a.is_negated else ("affirmed", "denied")
        return Contradiction("polarity", *values) if fits else None
    if all(days):
        fits = len(a.dates) == len(b.dates) and _is_paired(*days, similarity)
        return Contradiction("date", days[0][0].text, days[1][0].text) if fits else None
    if all(amounts):
        left, right = amounts[0][0], amounts[1][0]
        is_of_one_time = keyed or not any(days)
        fits = is_of_one_time and is_comparable(left, right) and _is_paired(*amounts, similarity)
        return Contradiction("number", left.text, right.text, left.unit) if fits else None
    return _compare_given_names(a, b) if keyed else _compare_words(a, b, has_other_values or strict)


def dice_similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of words; 0 when both are empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def is_same_value(kind: ConflictKind, a: str, b: str) -> bool:
    """Do two values of a kind, as written, say the same?"""
    if kind == "date":
        return a == b or _has_agreeing(_dates_of(a), _dates_of(b), is_compatible)
    if kind == "number":
        return a == b or _has_agreeing(_quantities_of(a), _quantities_of(b), is_same_quantity)
    left, right = _word_set(a), _word_set(b)
    return left == right or (kind == "name" and bool(left) and (left <= right or right <= left))


@lru_cache(maxsize=4096)
def _dates_of(value: str) -> list[DateInterval]:
    """The dates of a short value such as "1921"."""
    return find_dates(value) or find_dates(f"in {value}.")


@lru_cache(maxsize=4096)
def _quantities_of(value: str) -> list[Quantity]:
    return find_quantities(value)


def _has_agreeing(left: Sequence[T], right: Sequence[T], agree: Callable[[T, T], bool]) -> bool:
    return any(agree(x, y) for x in left for y in right)


def _word_set(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,;:()'\"").casefold() for word in text.split())


def _differing(
    left: Sequence[T], right: Sequence[T], agree: Callable[[T, T], bool]
) -> tuple[list[T], list[T]]:
    """The values of each side that agree with none of the other's."""
    if not left or not right:
        return list(left), list(right)
    return (
        [x for x in left if not _has_agreeing([x], right, agree)],
        [x for x in right if not _has_agreeing([x], left, agree)],
    )


def _is_paired(left: Sequence[T], right: Sequence[T], similarity: float) -> bool:
    """Is one value on each side, or the same number of them in very similar statements?"""
    return len(left) == len(right) and (len(left) == 1 or similarity >= MIN_STRICT_SIMILARITY)


def _has_own_words(a: StatementFeatures, b: StatementFeatures, *, plain: bool) -> bool:
    """Has each side a name, or with `plain` a word, of its own? Then they may be about different things."""
    names = frozenset[str]().union(*(name.words for name in (*a.names, *b.names)))
    is_reworded = plain and bool(a.words - b.words - names) and bool(b.words - a.words - names)
    return is_reworded or (bool(_own_names(a, b)) and bool(_own_names(b, a)))


def _own_names(one: StatementFeatures, other: StatementFeatures) -> list[ProperName]:
    """The names of one side that share no word with the other side."""
    return [name for name in one.names if not name.words & other.words]


def _compare_given_names(a: StatementFeatures, b: StatementFeatures) -> Contradiction | None:
    """One name each, in statements that were given the same subject and attribute."""
    left, right = _own_names(a, b), _own_names(b, a)
    if len(left) != 1 or len(right) != 1 or is_spelling_variant(left[0].text, right[0].text):
        return None
    rest = dice_similarity(a.words - left[0].words, b.words - right[0].words)
    return Contradiction("name", left[0].text, right[0].text) if rest >= MIN_KEYED_SIMILARITY else None


def _compare_words(a: StatementFeatures, b: StatementFeatures, has_more: bool) -> Contradiction | None:
    """The same statement but for a name, or a few words, in one place that is not the subject's. With
    `has_more` (other values differ, or one site) only names are compared."""
    places = {place for place in _differing_places(a.frame, b.frame) if not _is_one_word(*place)}
    if len(places) != 1:
        return None
    [(left, right)] = places
    rest_a, rest_b = a.words - set(left), b.words - set(right)
    one, other = _name_at(a, left), _name_at(b, right)
    is_name, similarity = bool(one and other), dice_similarity(rest_a, rest_b)
    least = MIN_NAME_SIMILARITY if is_name else MIN_WORD_SIMILARITY
    least_shared = MIN_SHARED_WORDS if is_name else MIN_WORD_SHARED_WORDS
    is_subject = a.frame[: len(left)] == left and b.frame[: len(right)] == right
    if is_subject or similarity < least or len(rest_a & rest_b) < least_shared or (has_more and not is_name):
        return None
    return Contradiction("name", one or " ".join(left), other or " ".join(right))


def _differing_places(left: _Words, right: _Words) -> list[tuple[_Words, _Words]]:
    """What stands on each side between runs of the same words, where both have words of their own."""
    runs = [op for op in Levenshtein.opcodes(left, right) if op.tag == "equal"]
    bounds = [(0, 0, 0, 0), *((op.src_start, op.src_end, op.dest_start, op.dest_end) for op in runs)]
    bounds.append((len(left), len(left), len(right), len(right)))
    found = [(left[i:j], right[k:m]) for (_, i, _, k), (j, _, m, _) in pairwise(bounds)]
    return [(one, other) for one, other in found if one and other]


def _is_one_word(left: _Words, right: _Words) -> bool:
    return (
        set(left) <= set(right)
        or set(right) <= set(left)
        or is_spelling_variant(*map(" ".join, (left, right)))
    )


def _name_at(said: StatementFeatures, words: _Words) -> str:
    """The names that consist of these words, else the first that has one of them; "" without any."""
    within = [name.text for name in said.names if name.words <= set(words)]
    partly = [name.text for name in said.names if name.words & set(words)][:1]
    return ", ".join(dict.fromkeys(within)) or "".join(partly)


def is_spelling_variant(left: str, right: str) -> bool:
    """Are two values one in two forms: nearly the same letters, initials, or an initial and its name?"""
    one, other = left.casefold().replace(".", "").split(), right.casefold().replace(".", "").split()
    if len(one) == len(other) and all(
        x == y or (min(len(x), len(y)) == 1 and x[0] == y[0]) for x, y in zip(one, other, strict=True)
    ):
        return True
    short, full = sorted((one, other), key=len)
    if len(short) == 1 < len(full) and short[0] == "".join(word[0] for word in full):
        return True
    return Levenshtein.normalized_similarity("".join(one), "".join(other)) >= MIN_SPELLING_SIMILARITY
