"""Do two statements contradict each other? It knows only the two statements, not their sources.

Two statements are compared only when they are about the same thing: either someone gave both the same subject
and attribute, or their frames (content words outside the values) are nearly the same and no proper name on
one side is missing on the other, and the other way round. They contradict each other when
* their dates exclude each other while their numbers do not (figures of different dates are a series), or
* one number each, of the same unit, differs while their dates do not (several, in order, in very similar
  frames; ordinals and numbers that belong to a name, as in "HD 40", tell things apart and never contradict),
  or
* they are the same but for one proper name, or
* they are the same but one denies what the other affirms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, Literal, TypeVar

from rapidfuzz.distance import Levenshtein

from agent.evidence.statement_features import StatementFeatures
from agent.text.date_intervals import DateInterval, find_dates, is_compatible
from agent.text.names import ProperName
from agent.text.quantities import Quantity, find_quantities, is_comparable, is_same_quantity

T = TypeVar("T", DateInterval, Quantity)
ConflictKind = Literal["number", "date", "name", "polarity"]

MIN_FRAME_SIMILARITY = 0.6
"""Least similarity (Dice) of two frames for a conflict of dates or numbers."""
MIN_NAME_FRAME_SIMILARITY = 0.7
"""The same for a conflict of names, the differing names left out."""
MIN_SEVERAL_FRAME_SIMILARITY = 0.8
"""The same where several dates or numbers differ and are paired in order."""
MIN_DENIAL_FRAME_SIMILARITY = 0.85
"""The same for a conflict of polarity."""
MIN_KEYED_FRAME_SIMILARITY = 0.3
"""The same for a conflict of names when both facts were given the same subject and attribute."""
MIN_SHARED_RATIO = 0.35
"""Statements that share less than this of the shorter one's content words are not compared at all."""
MIN_SHARED_WORDS = 2
"""Least number of content words that two frames share."""
MIN_WORD_FRAME_SIMILARITY, MIN_WORD_SHARED_WORDS = 0.8, 4
"""Least similarity, and content words shared, for a conflict of one plain word."""
MIN_SPELLING_SIMILARITY = 0.6
"""Words at least this similar are one word in two forms."""
_NAME_PLACEHOLDER = ""


@dataclass(frozen=True)
class Contradiction:
    """The contradicting values as written; `slot` is the unit they have."""

    kind: ConflictKind
    left: str
    right: str
    slot: str = ""


@dataclass(frozen=True)
class _Differing(Generic[T]):
    """The values of each side that agree with no value of the other side."""

    left: list[T]
    right: list[T]

    @property
    def on_both_sides(self) -> bool:
        return bool(self.left) and bool(self.right)

    @property
    def on_any_side(self) -> bool:
        return bool(self.left) or bool(self.right)


def find_contradiction(
    a: StatementFeatures, b: StatementFeatures, *, keyed: bool, strict: bool
) -> Contradiction | None:
    """The first contradiction between two statements, or None.

    `keyed`: both were given the same subject and attribute, so their wording need not be similar. `strict`:
    they come from one site, where another wording is more likely another event than another opinion."""
    similarity = dice_similarity(a.words, b.words)
    least = MIN_DENIAL_FRAME_SIMILARITY if strict else MIN_FRAME_SIMILARITY
    is_near = len(a.words & b.words) >= MIN_SHARED_WORDS and similarity >= least
    if a.is_negated != b.is_negated:
        return _find_polarity_contradiction(a, b, similarity)
    if not keyed and (not is_near or _has_different_labels(a, b)):
        return None
    if not keyed and _has_different_names(a, b):
        return _find_name_contradiction(a, b, keyed)
    days, amounts = _differing_dates(a, b), _differing_quantities(a, b)
    if not keyed and _has_own_words_on_both_sides(a, b):
        has_other_values = strict or days.on_any_side or amounts.on_any_side
        return None if has_other_values else _find_word_contradiction(a, b, similarity)
    if days.on_both_sides and amounts.on_both_sides:
        return None
    if days.on_both_sides:
        is_paired = _is_paired(a, b, days, similarity)
        return Contradiction("date", days.left[0].text, days.right[0].text) if is_paired else None
    if amounts.on_both_sides:
        if days.on_any_side:
            return None
        left, right = amounts.left[0], amounts.right[0]
        fits = is_comparable(left, right) and _is_paired(a, b, amounts, similarity)
        return Contradiction("number", left.text, right.text, left.unit) if fits else None
    found = _find_name_contradiction(a, b, keyed)
    return found or (None if strict else _find_word_contradiction(a, b, similarity))


def is_series(a: StatementFeatures, b: StatementFeatures) -> bool:
    """Do two statements differ in their dates and in their numbers? Figures of different times are a
    series."""
    return _differing_dates(a, b).on_both_sides and _differing_quantities(a, b).on_both_sides


def dice_similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of words; 0 when both are empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def is_same_value(kind: ConflictKind, a: str, b: str) -> bool:
    """Do two values of a kind, as written, say the same?"""
    if kind == "date":
        return a == b or has_agreeing(dates_of(a), dates_of(b), is_compatible)
    if kind == "number":
        return a == b or has_agreeing(quantities_of(a), quantities_of(b), is_same_quantity)
    left, right = _word_set(a), _word_set(b)
    return left == right or (kind == "name" and bool(left) and (left <= right or right <= left))


def has_agreeing(left: Sequence[T], right: Sequence[T], agree: Callable[[T, T], bool]) -> bool:
    """Does a value of one side agree with one of the other?"""
    return any(agree(x, y) for x in left for y in right)


@lru_cache(maxsize=4096)
def dates_of(value: str) -> tuple[DateInterval, ...]:
    """The dates of a short value such as "1921"."""
    return tuple(find_dates(value) or find_dates(f"in {value}."))


@lru_cache(maxsize=4096)
def quantities_of(value: str) -> tuple[Quantity, ...]:
    """The numbers of a short value."""
    return tuple(find_quantities(value))


def _word_set(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,;:()'\"").casefold() for word in text.split())


def _differing(left: Sequence[T], right: Sequence[T], agree: Callable[[T, T], bool]) -> _Differing[T]:
    return _Differing(
        [x for x in left if not has_agreeing([x], right, agree)],
        [x for x in right if not has_agreeing([x], left, agree)],
    )


def _differing_dates(a: StatementFeatures, b: StatementFeatures) -> _Differing[DateInterval]:
    return _differing(a.dates, b.dates, is_compatible)


def _differing_quantities(a: StatementFeatures, b: StatementFeatures) -> _Differing[Quantity]:
    return _differing(a.quantities, b.quantities, is_same_quantity)


def _find_polarity_contradiction(
    a: StatementFeatures, b: StatementFeatures, similarity: float
) -> Contradiction | None:
    if similarity < MIN_DENIAL_FRAME_SIMILARITY or len(a.words & b.words) <= MIN_SHARED_WORDS:
        return None
    if _differing_dates(a, b).on_any_side or _differing_quantities(a, b).on_any_side:
        return None
    if _has_different_labels(a, b) or _has_different_names(a, b):
        return None
    return Contradiction("polarity", *(("denied", "affirmed") if a.is_negated else ("affirmed", "denied")))


def _has_own_words_on_both_sides(a: StatementFeatures, b: StatementFeatures) -> bool:
    """Has each side a plain word of its own ("founded", "sold")? Then they may be about different things."""
    names = _name_words(a.names) | _name_words(b.names)
    return bool(a.words - b.words - names) and bool(b.words - a.words - names)


def _has_different_labels(a: StatementFeatures, b: StatementFeatures) -> bool:
    """Do numbers that belong to names, or ordinals, tell the two things apart?"""
    return bool(a.labels - b.labels) and bool(b.labels - a.labels)


def _has_different_names(a: StatementFeatures, b: StatementFeatures) -> bool:
    """Does each side name someone or something the other does not?"""
    return bool(_names_of_one_side(a, b)) and bool(_names_of_one_side(b, a))


def _names_of_one_side(one: StatementFeatures, other: StatementFeatures) -> list[ProperName]:
    words = _name_words(other.names)
    return [name for name in one.names if not name.words & words]


def _name_words(names: Sequence[ProperName]) -> frozenset[str]:
    return frozenset(word for name in names for word in name.words)


def _is_paired(
    a: StatementFeatures, b: StatementFeatures, differing: _Differing[T], similarity: float
) -> bool:
    """Are the differing values one each, or the same number of them in very similar frames?"""
    if len(differing.left) != len(differing.right) or len(a.dates) != len(b.dates):
        return False
    is_very_similar = similarity >= MIN_SEVERAL_FRAME_SIMILARITY and len(a.quantities) == len(b.quantities)
    return len(differing.left) == 1 or is_very_similar


def _find_name_contradiction(a: StatementFeatures, b: StatementFeatures, keyed: bool) -> Contradiction | None:
    """One name each, in the same place of otherwise the same sentence about something both name."""
    left_names, right_names = _names_of_one_side(a, b), _names_of_one_side(b, a)
    if len(left_names) != 1 or len(right_names) != 1 or _is_acronym(left_names[0], right_names[0]):
        return None
    if _differing_dates(a, b).on_both_sides or _differing_quantities(a, b).on_both_sides:
        return None
    left, right = left_names[0], right_names[0]
    left_words, right_words = a.words - left.words, b.words - right.words
    similarity = dice_similarity(left_words, right_words)
    if keyed:
        fits = similarity >= MIN_KEYED_FRAME_SIMILARITY
    else:
        fits = (
            similarity >= MIN_NAME_FRAME_SIMILARITY
            and len(left_words & right_words) >= MIN_SHARED_WORDS
            and bool(_name_words(a.names) & _name_words(b.names))
            and _is_same_position(a, b, left, right)
        )
    return Contradiction("name", left.text, right.text) if fits else None


def _find_word_contradiction(
    a: StatementFeatures, b: StatementFeatures, similarity: float
) -> Contradiction | None:
    """The same sentence but for one word or two in one place ("a defender", "a forward")."""
    if similarity < MIN_WORD_FRAME_SIMILARITY or len(a.words & b.words) < MIN_WORD_SHARED_WORDS:
        return None
    ops = [op for op in Levenshtein.opcodes(a.frame, b.frame) if op.tag != "equal"]
    if len(ops) != 1 or ops[0].tag != "replace":
        return None
    left, right = a.frame[ops[0].src_start : ops[0].src_end], b.frame[ops[0].dest_start : ops[0].dest_end]
    if max(len(left), len(right)) > 2 or is_spelling_variant(" ".join(left), " ".join(right)):
        return None
    return Contradiction("name", " ".join(left), " ".join(right))


def is_spelling_variant(left: str, right: str) -> bool:
    """Are two values one in two forms: nearly the same letters, or an initial and its name?"""
    short, full = sorted((left.casefold().split(), right.casefold().split()), key=lambda w: len("".join(w)))
    if len(short) == len(full) and all(map(_is_initial_or_same, short, full)):
        return True
    return Levenshtein.normalized_similarity("".join(short), "".join(full)) >= MIN_SPELLING_SIMILARITY


def _is_initial_or_same(short: str, full: str) -> bool:
    initial = short.strip(".")
    return short == full or (len(initial) == 1 and full.startswith(initial))


def _is_same_position(
    a: StatementFeatures, b: StatementFeatures, left: ProperName, right: ProperName
) -> bool:
    """Are the two names in the same place of the aligned frames, and not the subject (the first word)?"""
    one, other = _replace_name(a.frame, left), _replace_name(b.frame, right)
    if one.count(_NAME_PLACEHOLDER) != 1 or other.count(_NAME_PLACEHOLDER) != 1:
        return False
    i, j = one.index(_NAME_PLACEHOLDER), other.index(_NAME_PLACEHOLDER)
    if i == j == 0:
        return False
    equal = (op for op in Levenshtein.opcodes(one, other) if op.tag == "equal")
    return any(op.src_start <= i < op.src_end and j - op.dest_start == i - op.src_start for op in equal)


def _replace_name(frame: tuple[str, ...], name: ProperName) -> list[str]:
    """The frame with each run of a name's words replaced by one placeholder."""
    marked = [_NAME_PLACEHOLDER if word in name.words else word for word in frame]
    return [w for i, w in enumerate(marked) if w != _NAME_PLACEHOLDER or i == 0 or marked[i - 1] != w]


def _is_acronym(a: ProperName, b: ProperName) -> bool:
    """Is one name the initials of the other ("BBC", "British Broadcasting Corporation")?"""
    short, full = sorted((a.text, b.text), key=len)
    initials = "".join(word[0] for word in full.split() if word[0].isupper())
    return short.replace(".", "").casefold() == initials.casefold()
