"""Do two statements contradict each other, and are they about the same thing?

They contradict when they differ in exactly one point, a date or a number of one unit, and are otherwise
nearly the same. Names, denials and other words are left to a model. Two points or more are another event, a
namesake, or figures of different times. Values agree when one is within the other (1912 and April 1912,
12,000 and 12,340). Ordinals tell things apart and never contradict.

A statement is compared as a whole, and up to the end of each clause that adds a value. What two facts are
about is told by their pages' titles and given subjects. Whether a state has changed since is left to a
model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

from agent.text.dates import DateInterval, blank_spans, find_dates, is_compatible
from agent.text.names import ProperName, find_proper_names
from agent.text.normalization import is_negation, normalize_text
from agent.text.quantities import Quantity, find_quantities, is_same_quantity
from agent.text.question_analysis import parse_question
from agent.text.short_cache import CACHE_SIZE
from agent.text.tokens import is_stopword, stem_prefixes
from agent.types import Fact

T = TypeVar("T")
ConflictKind = Literal["number", "date", "name", "polarity"]
MIN_SIMILARITY = 0.6
"""Least similarity (Dice) of the content words of two statements for a conflict of dates or numbers."""
_CLAUSE_END = re.compile(
    r"[,;:](?=\s(?!\d))|\s[–—-](?=\s)|\.(?=\s)|\s(?=(?:which|who|whose|where|when|while|but|because|after"
    r"|although|since)\b)"
    r"|\s(?=and\s(?:is|was|are|were|has|had|became|\w+ed|its|his|her|their|it|he|she|they)\b)",
    re.IGNORECASE,
)
MAX_OPENING_CHARS = 12
"""A name that begins within so many characters is the subject of a sentence."""
_ASIDE = re.compile(r"\s*\([^)]*\)|\s[|·–—-]\s.*$")
"""What tells namesakes apart, and the site's name."""
_NAMESAKE = re.compile(r"([^(),]{2,100}?)(?:\s*\(|,\s)([^()]{2,60})")
"""A title with what tells it from its namesakes, in brackets or after a comma."""


@dataclass(frozen=True)
class StatementFeatures:
    """The comparable parts of a statement. `frame` is its content words outside dates and numbers, in
    order."""

    dates: list[DateInterval]
    quantities: list[Quantity]
    names: list[ProperName]
    frame: list[str]
    words: frozenset[str]


@lru_cache(CACHE_SIZE)
def extract_features(statement: str) -> StatementFeatures:
    """The comparable parts of a statement."""
    dates = find_dates(statement)
    bare = blank_spans(statement, dates)
    quantities, text, frame = find_quantities(bare), normalize_text(bare), list[str]()
    taken = {at for one in quantities for at in range(one.start, one.end)}
    for word, start in zip(text.words, text.starts, strict=True):
        if start not in taken and word[-1].isalnum() and not is_stopword(word) and not is_negation(word):
            frame.append(word.removesuffix("'s"))
    names = [name for name in find_proper_names(bare) if name.start not in taken]
    counted = [one for one in quantities if one.unit != "th"]
    return StatementFeatures(dates, counted, names, frame, frozenset(frame))


@dataclass(frozen=True)
class Contradiction:
    """The contradicting values as written; `slot` is the unit they have."""

    kind: ConflictKind
    left: str
    right: str
    slot: str = ""


def find_contradiction(a: StatementFeatures, b: StatementFeatures, *, keyed: bool) -> Contradiction | None:
    """The one point in which two statements contradict each other, or None. `keyed`: both were given the same
    subject and attribute, so their wording need not be similar."""
    if not keyed:
        names = frozenset[str]().union(*(name.words for name in (*a.names, *b.names)))
        is_reworded = a.words - b.words - names and b.words - a.words - names
        if is_reworded or dice_similarity(a.words, b.words) < MIN_SIMILARITY:
            return None
    days = _list_differing(a.dates, b.dates, is_compatible)
    amounts = _list_differing(a.quantities, b.quantities, is_same_quantity)
    if all(days) == all(amounts):
        return None
    (left, *more), (right, *others) = days if all(days) else amounts
    if len(more) != len(others):
        return None
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        slot = left.unit
        return Contradiction("number", left.text, right.text, slot) if slot == right.unit else None
    return Contradiction("date", left.text, right.text)


def dice_similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of words; 0 when both are empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def is_same_value(kind: ConflictKind, a: str, b: str) -> bool:
    """Do two values of a kind, as written, say the same?"""
    if kind == "date":
        return a == b or any(is_compatible(x, y) for x in find_dates(a) for y in find_dates(b))
    if kind == "number":
        return a == b or any(is_same_quantity(x, y) for x in find_quantities(a) for y in find_quantities(b))
    left, right = set(a.casefold().split()), set(b.casefold().split())
    return left <= right or right <= left


def _list_differing(
    left: Sequence[T], right: Sequence[T], agree: Callable[[T, T], bool]
) -> tuple[list[T], list[T]]:
    """The values of each side that agree with none of the other's."""
    return (
        [x for x in left if not any(agree(x, y) for y in right)],
        [y for y in right if not any(agree(x, y) for x in left)],
    )


@lru_cache(CACHE_SIZE)
def comparable_forms(statement: str) -> tuple[str, ...]:
    """The sentences to compare: the whole, and up to the end of each clause that adds a date or number."""
    values, forms = 0, [statement]
    for end in _CLAUSE_END.finditer(statement):
        said = extract_features(statement[: end.start()])
        if len(said.dates) + len(said.quantities) > values:
            values = len(said.dates) + len(said.quantities)
            forms.append(statement[: end.start()])
    return tuple(forms)


def is_same_thing(a: Fact, b: Fact) -> bool:
    """Whether no title or subject tells two things apart.

    "Titanic (1997 film)" and "Titanic (1953 film)" are two; so are subjects of which neither occurs in the
    other fact. The subject is the one given with an attribute, else the name a statement opens with, else the
    page's title."""
    one, other = _NAMESAKE.match(a.title.casefold()), _NAMESAKE.match(b.title.casefold())
    if one and other and one[1] == other[1]:
        mine, theirs = set(one[2].split()), set(other[2].split())
        if not (mine <= theirs or theirs <= mine):
            return False
    subjects, stated = list[frozenset[str]](), list[frozenset[str]]()
    for fact in (a, b):
        said, subject = extract_features(fact.statement), fact.subject if fact.attribute else ""
        title = _ASIDE.sub("", fact.title)
        opening = next((name for name in said.names if name.start <= MAX_OPENING_CHARS), None)
        own = opening.words if opening and not subject else extract_features(subject or title).words
        subjects.append(own)
        stated.append(extract_features(f"{fact.statement} . {title} . {subject}").words)
    return not all(subjects) or subjects[0] <= stated[1] or subjects[1] <= stated[0]


def is_on_question(fact: Fact, question: str) -> bool:
    """Whether a fact, with its page's title, has half of the question's content words, and where it has any a
    word of its names and figures and one beside these."""
    asked = parse_question(question)
    names = stem_prefixes(*asked.name_words, *asked.figures)
    stated = stem_prefixes(fact.title, fact.subject, fact.attribute, fact.statement)
    is_about = all(part & stated for part in (names, asked.words - names) if part)
    return is_about and 2 * len(asked.words & stated) >= len(asked.words)
