"""Do two statements contradict each other? Knows statements alone: not whose they are, nor how many say so.

Two statements are compared only when they speak of the same thing: either someone gave both the same subject
and attribute, or their frames (content words outside the values) are nearly the same and no proper name
stands on one side against another on the other. Then they contradict each other when
* their dates exclude each other while their numbers don't (figures of different dates are a series, not a conflict), or
* one number each, of the same unit, differs while their dates don't (several, in order, when the frames are very much alike;
  ordinals and numbers that belong to a name, as in "HD 40", tell things apart and never contradict), or
* they are the same but for one proper name, or
* they are the same but one denies what the other affirms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Literal, TypeVar

from rapidfuzz.distance import Levenshtein

from agent.evidence.statement_features import StatementFeatures
from agent.text import date_intervals, quantities
from agent.text.date_intervals import DateInterval
from agent.text.names import ProperName
from agent.text.quantities import Quantity

T = TypeVar("T", DateInterval, Quantity)
ConflictKind = Literal["number", "date", "name", "polarity"]

MIN_FRAME_SIMILARITY = 0.6
"""Least likeness (Dice) of two frames for a conflict of dates or numbers."""
MIN_NAME_FRAME_SIMILARITY = 0.7
"""The same for a conflict of names, the differing names left out."""
MIN_SEVERAL_FRAME_SIMILARITY = 0.8
"""The same where several dates or numbers differ and are paired in their order."""
MIN_DENIAL_FRAME_SIMILARITY = 0.85
"""The same for a conflict of polarity."""
MIN_SHARED_RATIO = 0.35
"""Statements that share less than this of the shorter one's content words are not compared at all."""
MIN_SHARED_WORDS = 2
"""Least number of content words that two frames share."""

MIN_KEYED_FRAME_SIMILARITY = 0.3
"""The same for a conflict of names when someone gave both facts the same subject and attribute."""

MIN_WORD_FRAME_SIMILARITY, MIN_WORD_SHARED_WORDS = 0.8, 4
"""Least likeness, and content words shared, for a conflict of one plain word."""
MIN_SPELLING_SIMILARITY = 0.6
"""Words at least this alike are one word in two forms."""

_NAME_PLACEHOLDER = ""


@dataclass(frozen=True)
class Contradiction:
    """What contradicts what: `left` and `right` are the values as written, `slot` the unit or shared frame
    they fill."""

    kind: ConflictKind
    left: str
    right: str
    slot: str = ""


def find_contradiction(
    a: StatementFeatures, b: StatementFeatures, *, keyed: bool, strict: bool
) -> Contradiction | None:
    """The first contradiction between two statements, or None.

    `keyed`: both were given the same subject and attribute, so their wording need not be alike. `strict`:
    they come from one site, where another wording is more likely another event than another opinion."""
    alike = dice_similarity(a.words, b.words)
    near = len(a.words & b.words) >= MIN_SHARED_WORDS and alike >= (
        MIN_DENIAL_FRAME_SIMILARITY if strict else MIN_FRAME_SIMILARITY
    )
    if a.is_negated != b.is_negated:
        return _find_polarity_contradiction(a, b, alike)
    if not keyed and (not near or _has_different_labels(a, b)):
        return None
    if not keyed and _has_different_names(a.names, b.names):
        return _find_name_contradiction(a, b, keyed)
    days, amounts = _differing_dates(a, b), _differing_quantities(a, b)
    if not keyed and _has_own_words_on_both_sides(a, b):
        return (
            None
            if strict or days.on_any_side or amounts.on_any_side
            else _find_word_contradiction(a, b, alike)
        )
    if days.on_both_sides and not amounts.on_both_sides:
        return (
            Contradiction("date", days.left[0].text, days.right[0].text)
            if _is_paired(a, b, days, alike)
            else None
        )
    if amounts.on_both_sides and not days.left and not days.right:
        left, right = amounts.left[0], amounts.right[0]
        fits = quantities.is_comparable(left, right) and _is_paired(a, b, amounts, alike)
        return Contradiction("number", left.text, right.text, left.unit) if fits else None
    if days.on_both_sides or amounts.on_both_sides:
        return None
    return _find_name_contradiction(a, b, keyed) or (
        None if strict else _find_word_contradiction(a, b, alike)
    )


def is_series(a: StatementFeatures, b: StatementFeatures) -> bool:
    """Are two statements dated differently while their numbers differ, too? Figures of different times are a
    series."""
    return _differing_dates(a, b).on_both_sides and _differing_quantities(a, b).on_both_sides


def dice_similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of words; 0 when both are empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def is_same_value(kind: ConflictKind, a: str, b: str) -> bool:
    """Do two values of a kind, as written, say the same?"""
    if kind == "date":
        return a == b or any(
            date_intervals.is_compatible(x, y) for x in _find_dates(a) for y in _find_dates(b)
        )
    if kind == "number":
        return a == b or any(
            quantities.is_same_quantity(x, y) for x in _find_quantities(a) for y in _find_quantities(b)
        )
    left, right = _word_set(a), _word_set(b)
    return left == right or (kind == "name" and bool(left) and (left <= right or right <= left))


@lru_cache(maxsize=4096)
def _find_dates(text: str) -> tuple[DateInterval, ...]:
    return tuple(date_intervals.find_dates(text) or date_intervals.find_dates(f"in {text}."))


@lru_cache(maxsize=4096)
def _find_quantities(text: str) -> tuple[Quantity, ...]:
    return tuple(quantities.find_quantities(text))


def _word_set(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,;:()'\"").casefold() for word in text.split())


def _find_polarity_contradiction(
    a: StatementFeatures, b: StatementFeatures, alike: float
) -> Contradiction | None:
    apart = (
        _differing_dates(a, b).on_any_side
        or _differing_quantities(a, b).on_any_side
        or _has_different_labels(a, b)
        or _has_different_names(a.names, b.names)
    )
    if apart or alike < MIN_DENIAL_FRAME_SIMILARITY or len(a.words & b.words) <= MIN_SHARED_WORDS:
        return None
    return Contradiction("polarity", *(("denied", "affirmed") if a.is_negated else ("affirmed", "denied")))


def _has_own_words_on_both_sides(a: StatementFeatures, b: StatementFeatures) -> bool:
    """Does each side have a plain word of its own, as "founded" against "sold"? Then they may speak of
    different things."""
    named = _name_words(a.names) | _name_words(b.names)
    return bool(a.words - b.words - named) and bool(b.words - a.words - named)


def _has_different_labels(a: StatementFeatures, b: StatementFeatures) -> bool:
    """Do numbers that belong to names, or ordinals, tell the two things apart?"""
    return bool(a.labels - b.labels) and bool(b.labels - a.labels)


def _has_different_names(a: tuple[ProperName, ...], b: tuple[ProperName, ...]) -> bool:
    """Does each side name someone or something the other does not?"""
    return bool(_names_of_one_side(a, b)) and bool(_names_of_one_side(b, a))


def _names_of_one_side(mine: tuple[ProperName, ...], theirs: tuple[ProperName, ...]) -> list[ProperName]:
    told = frozenset().union(*(name.words for name in theirs)) if theirs else frozenset()
    return [name for name in mine if not name.words & told]


@dataclass(frozen=True)
class _Differing(Generic[T]):
    """The values of each side that no value of the other side agrees with."""

    left: list[T]
    right: list[T]

    @property
    def on_both_sides(self) -> bool:
        return bool(self.left) and bool(self.right)

    @property
    def on_any_side(self) -> bool:
        return bool(self.left) or bool(self.right)


def _differing_dates(a: StatementFeatures, b: StatementFeatures) -> _Differing[DateInterval]:
    mine = [d for d in a.dates if not any(date_intervals.is_compatible(d, other) for other in b.dates)]
    return _Differing(
        mine, [d for d in b.dates if not any(date_intervals.is_compatible(d, other) for other in a.dates)]
    )


def _differing_quantities(a: StatementFeatures, b: StatementFeatures) -> _Differing[Quantity]:
    mine = [
        q for q in a.quantities if not any(quantities.is_same_quantity(q, other) for other in b.quantities)
    ]
    return _Differing(
        mine,
        [q for q in b.quantities if not any(quantities.is_same_quantity(q, other) for other in a.quantities)],
    )


def _is_paired(a: StatementFeatures, b: StatementFeatures, apart: _Differing[T], alike: float) -> bool:
    """Do the values that differ stand against each other: one each, or the same number of them in very
    similar frames?"""
    same_count = len(apart.left) == len(apart.right) and len(a.dates) == len(b.dates)
    return same_count and (
        len(apart.left) == 1
        or (alike >= MIN_SEVERAL_FRAME_SIMILARITY and len(a.quantities) == len(b.quantities))
    )


def _find_name_contradiction(a: StatementFeatures, b: StatementFeatures, keyed: bool) -> Contradiction | None:
    """One name each, in the same place of otherwise the same sentence about something both name."""
    mine, theirs = _names_of_one_side(a.names, b.names), _names_of_one_side(b.names, a.names)
    if (
        len(mine) != 1
        or len(theirs) != 1
        or _differing_dates(a, b).on_both_sides
        or _differing_quantities(a, b).on_both_sides
        or _is_acronym(mine[0], theirs[0])
    ):
        return None
    left, right = a.words - mine[0].words, b.words - theirs[0].words
    if keyed:
        return (
            Contradiction("name", mine[0].text, theirs[0].text)
            if dice_similarity(left, right) >= MIN_KEYED_FRAME_SIMILARITY
            else None
        )
    shared = _name_words(a.names) & _name_words(b.names)
    if (
        not shared
        or dice_similarity(left, right) < MIN_NAME_FRAME_SIMILARITY
        or len(left & right) < MIN_SHARED_WORDS
    ):
        return None
    return (
        Contradiction("name", mine[0].text, theirs[0].text)
        if _is_same_position(a, b, mine[0], theirs[0])
        else None
    )


def _find_word_contradiction(
    a: StatementFeatures, b: StatementFeatures, alike: float
) -> Contradiction | None:
    """The same sentence but for one word or two in one place ("a defender", "a forward"), told by different
    sites."""
    if alike < MIN_WORD_FRAME_SIMILARITY or len(a.words & b.words) < MIN_WORD_SHARED_WORDS:
        return None
    ops = [op for op in Levenshtein.opcodes(a.frame, b.frame) if op.tag != "equal"]
    if len(ops) != 1 or ops[0].tag != "replace":
        return None
    op = ops[0]
    left, right = " ".join(a.frame[op.src_start : op.src_end]), " ".join(b.frame[op.dest_start : op.dest_end])
    other = not is_spelling_variant(left, right)
    return (
        Contradiction("name", left, right)
        if other and max(len(left.split()), len(right.split())) <= 2
        else None
    )


def is_spelling_variant(left: str, right: str) -> bool:
    """Are two words, or two rows of words, one in two forms: nearly the same letters, or an initial and its
    name?"""
    short, full = sorted(
        (left.casefold().split(), right.casefold().split()), key=lambda words: len("".join(words))
    )
    if len(short) == len(full) and all(
        a == b or (len(a.strip(".")) == 1 and b.startswith(a.strip(".")))
        for a, b in zip(short, full, strict=True)
    ):
        return True
    return Levenshtein.normalized_similarity("".join(short), "".join(full)) >= MIN_SPELLING_SIMILARITY


def _name_words(names: tuple[ProperName, ...]) -> frozenset[str]:
    return frozenset(word for name in names for word in name.words)


def _is_same_position(
    a: StatementFeatures, b: StatementFeatures, mine: ProperName, theirs: ProperName
) -> bool:
    """Does laying one frame along the other put the two names on each other, in another place than the
    subject's (the first)?"""
    left, right = _replace_name(a.frame, mine), _replace_name(b.frame, theirs)
    if (
        left.count(_NAME_PLACEHOLDER) != 1
        or right.count(_NAME_PLACEHOLDER) != 1
        or left[0] == right[0] == _NAME_PLACEHOLDER
    ):
        return False
    i, j = left.index(_NAME_PLACEHOLDER), right.index(_NAME_PLACEHOLDER)
    equal = (op for op in Levenshtein.opcodes(left, right) if op.tag == "equal")
    return any(op.src_start <= i < op.src_end and j - op.dest_start == i - op.src_start for op in equal)


def _replace_name(frame: tuple[str, ...], name: ProperName) -> list[str]:
    """The frame with each run of a name's words replaced by one mark."""
    marked = [_NAME_PLACEHOLDER if word in name.words else word for word in frame]
    return [
        word
        for at, word in enumerate(marked)
        if word != _NAME_PLACEHOLDER or at == 0 or marked[at - 1] != _NAME_PLACEHOLDER
    ]


def _is_acronym(a: ProperName, b: ProperName) -> bool:
    """Is one name the initials of the other ("BBC", "British Broadcasting Corporation")?"""
    short, full = sorted((a.text, b.text), key=len)
    return (
        short.replace(".", "").casefold()
        == "".join(word[0] for word in full.split() if word[0].isupper()).casefold()
    )
