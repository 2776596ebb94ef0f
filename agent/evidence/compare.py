"""Do two statements contradict each other? Knows statements alone: not whose they are, nor how many say so.

Two statements are compared only when they speak of the same thing: either someone gave both the same subject and attribute, or
their frames (content words outside the values) are nearly the same and no proper name stands on one side against another
on the other. Then they contradict each other when
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

from agent.evidence import dates, numbers
from agent.evidence.dates import Date
from agent.evidence.numbers import Quantity
from agent.evidence.values import Name, Values

T = TypeVar("T", Date, Quantity)
Kind = Literal["number", "date", "name", "polarity"]

FRAME = 0.6
"""Least likeness (Dice) of two frames for a conflict of dates or numbers."""
FRAME_NAME = 0.7
"""The same for a conflict of names, the differing names left out."""
FRAME_SEVERAL = 0.8
"""The same where several dates or numbers differ and are paired in their order."""
FRAME_DENIAL = 0.85
"""The same for a conflict of polarity."""
LEAST = 0.35
"""Statements that share less than this of the shorter one's content words are not compared at all."""
SHARED = 2
"""Least number of content words that two frames share."""

FRAME_KEYED = 0.3
"""The same for a conflict of names when someone gave both facts the same subject and attribute."""

FRAME_WORD, SHARED_WORD = 0.8, 4
"""Least likeness, and content words shared, for a conflict of one plain word."""
SPELLING = 0.6
"""Words at least this alike are one word in two forms."""

_SLOT = ""


@dataclass(frozen=True)
class Clash:
    """What contradicts what: `left` and `right` are the values as written, `slot` the unit or shared frame they fill."""

    kind: Kind
    left: str
    right: str
    slot: str = ""


def clash(a: Values, b: Values, *, keyed: bool, strict: bool) -> Clash | None:
    """The first contradiction between two statements, or None.

    `keyed`: both were given the same subject and attribute, so their wording need not be alike. `strict`: they come from
    one site, where another wording is more likely another event than another opinion.
    """
    alike = likeness(a.words, b.words)
    near = len(a.words & b.words) >= SHARED and alike >= (FRAME_DENIAL if strict else FRAME)
    if a.denied != b.denied:
        return _denied(a, b, alike)
    if not keyed and (not near or _apart_labels(a, b)):
        return None
    if not keyed and _other_names(a.names, b.names):
        return _named(a, b, keyed)
    days, amounts = _apart_dates(a, b), _apart_amounts(a, b)
    if not keyed and _other_matter(a, b):
        return None if strict or days.any or amounts.any else _reworded(a, b, alike)
    if days.both and not amounts.both:
        return Clash("date", days.mine[0].text, days.theirs[0].text) if _paired(a, b, days, alike) else None
    if amounts.both and not days.mine and not days.theirs:
        left, right = amounts.mine[0], amounts.theirs[0]
        fits = numbers.comparable(left, right) and _paired(a, b, amounts, alike)
        return Clash("number", left.text, right.text, left.unit) if fits else None
    if days.both or amounts.both:
        return None
    return _named(a, b, keyed) or (None if strict else _reworded(a, b, alike))


def series(a: Values, b: Values) -> bool:
    """Are two statements dated differently while their numbers differ, too? Figures of different times are a series."""
    return _apart_dates(a, b).both and _apart_amounts(a, b).both


def likeness(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of words; 0 when both are empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def same_value(kind: Kind, a: str, b: str) -> bool:
    """Do two values of a kind, as written, say the same?"""
    if kind == "date":
        return a == b or any(dates.agree(x, y) for x in _dates(a) for y in _dates(b))
    if kind == "number":
        return a == b or any(numbers.agree(x, y) for x in _amounts(a) for y in _amounts(b))
    left, right = _bag(a), _bag(b)
    return left == right or (kind == "name" and bool(left) and (left <= right or right <= left))


@lru_cache(maxsize=4096)
def _dates(text: str) -> tuple[Date, ...]:
    return tuple(dates.dates(text) or dates.dates(f"in {text}."))


@lru_cache(maxsize=4096)
def _amounts(text: str) -> tuple[Quantity, ...]:
    return tuple(numbers.quantities(text))


def _bag(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,;:()'\"").casefold() for word in text.split())


def _denied(a: Values, b: Values, alike: float) -> Clash | None:
    apart = _apart_dates(a, b).any or _apart_amounts(a, b).any or _apart_labels(a, b) or _other_names(a.names, b.names)
    if apart or alike < FRAME_DENIAL or len(a.words & b.words) <= SHARED:
        return None
    return Clash("polarity", *(("denied", "affirmed") if a.denied else ("affirmed", "denied")))


def _other_matter(a: Values, b: Values) -> bool:
    """Does each side have a plain word of its own, as "founded" against "sold"? Then they may speak of different things."""
    named = _name_words(a.names) | _name_words(b.names)
    return bool(a.words - b.words - named) and bool(b.words - a.words - named)


def _apart_labels(a: Values, b: Values) -> bool:
    """Do numbers that belong to names, or ordinals, tell the two things apart?"""
    return bool(a.labels - b.labels) and bool(b.labels - a.labels)


def _other_names(a: tuple[Name, ...], b: tuple[Name, ...]) -> bool:
    """Does each side name someone or something the other does not?"""
    return bool(_own(a, b)) and bool(_own(b, a))


def _own(mine: tuple[Name, ...], theirs: tuple[Name, ...]) -> list[Name]:
    told = frozenset().union(*(name.words for name in theirs)) if theirs else frozenset()
    return [name for name in mine if not name.words & told]


@dataclass(frozen=True)
class _Apart(Generic[T]):
    """The values of each side that no value of the other side agrees with."""

    mine: list[T]
    theirs: list[T]

    @property
    def both(self) -> bool:
        return bool(self.mine) and bool(self.theirs)

    @property
    def any(self) -> bool:
        return bool(self.mine) or bool(self.theirs)


def _apart_dates(a: Values, b: Values) -> _Apart[Date]:
    mine = [d for d in a.dates if not any(dates.agree(d, other) for other in b.dates)]
    return _Apart(mine, [d for d in b.dates if not any(dates.agree(d, other) for other in a.dates)])


def _apart_amounts(a: Values, b: Values) -> _Apart[Quantity]:
    mine = [q for q in a.quantities if not any(numbers.agree(q, other) for other in b.quantities)]
    return _Apart(mine, [q for q in b.quantities if not any(numbers.agree(q, other) for other in a.quantities)])


def _paired(a: Values, b: Values, apart: _Apart[T], alike: float) -> bool:
    """Do the values that differ stand against each other: one each, or the same number of them in very similar frames?"""
    same_count = len(apart.mine) == len(apart.theirs) and len(a.dates) == len(b.dates)
    return same_count and (len(apart.mine) == 1 or (alike >= FRAME_SEVERAL and len(a.quantities) == len(b.quantities)))


def _named(a: Values, b: Values, keyed: bool) -> Clash | None:
    """One name each, in the same place of otherwise the same sentence about something both name."""
    mine, theirs = _own(a.names, b.names), _own(b.names, a.names)
    if len(mine) != 1 or len(theirs) != 1 or _apart_dates(a, b).both or _apart_amounts(a, b).both or _short_form(mine[0], theirs[0]):
        return None
    left, right = a.words - mine[0].words, b.words - theirs[0].words
    if keyed:
        return Clash("name", mine[0].text, theirs[0].text) if likeness(left, right) >= FRAME_KEYED else None
    shared = _name_words(a.names) & _name_words(b.names)
    if not shared or likeness(left, right) < FRAME_NAME or len(left & right) < SHARED:
        return None
    return Clash("name", mine[0].text, theirs[0].text) if _same_slot(a, b, mine[0], theirs[0]) else None


def _reworded(a: Values, b: Values, alike: float) -> Clash | None:
    """The same sentence but for one word or two in one place ("a defender", "a forward"), told by different sites."""
    if alike < FRAME_WORD or len(a.words & b.words) < SHARED_WORD:
        return None
    ops = [op for op in Levenshtein.opcodes(a.frame, b.frame) if op.tag != "equal"]
    if len(ops) != 1 or ops[0].tag != "replace":
        return None
    op = ops[0]
    left, right = " ".join(a.frame[op.src_start : op.src_end]), " ".join(b.frame[op.dest_start : op.dest_end])
    other = not alike_spelled(left, right)
    return Clash("name", left, right) if other and max(len(left.split()), len(right.split())) <= 2 else None


def alike_spelled(left: str, right: str) -> bool:
    """Are two words, or two rows of words, one in two forms: nearly the same letters, or an initial and its name?"""
    short, full = sorted((left.casefold().split(), right.casefold().split()), key=lambda words: len("".join(words)))
    if len(short) == len(full) and all(a == b or (len(a.strip(".")) == 1 and b.startswith(a.strip("."))) for a, b in zip(short, full, strict=True)):
        return True
    return Levenshtein.normalized_similarity("".join(short), "".join(full)) >= SPELLING


def _name_words(names: tuple[Name, ...]) -> frozenset[str]:
    return frozenset(word for name in names for word in name.words)


def _same_slot(a: Values, b: Values, mine: Name, theirs: Name) -> bool:
    """Does laying one frame along the other put the two names on each other, in another place than the subject's (the first)?"""
    left, right = _slotted(a.frame, mine), _slotted(b.frame, theirs)
    if left.count(_SLOT) != 1 or right.count(_SLOT) != 1 or left[0] == right[0] == _SLOT:
        return False
    i, j = left.index(_SLOT), right.index(_SLOT)
    equal = (op for op in Levenshtein.opcodes(left, right) if op.tag == "equal")
    return any(op.src_start <= i < op.src_end and j - op.dest_start == i - op.src_start for op in equal)


def _slotted(frame: tuple[str, ...], name: Name) -> list[str]:
    """The frame with each run of a name's words replaced by one mark."""
    marked = [_SLOT if word in name.words else word for word in frame]
    return [word for at, word in enumerate(marked) if word != _SLOT or at == 0 or marked[at - 1] != _SLOT]


def _short_form(a: Name, b: Name) -> bool:
    """Is one name the initials of the other ("BBC", "British Broadcasting Corporation")?"""
    short, full = sorted((a.text, b.text), key=len)
    return short.replace(".", "").casefold() == "".join(word[0] for word in full.split() if word[0].isupper()).casefold()
