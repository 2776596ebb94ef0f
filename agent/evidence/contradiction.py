"""Do two statements contradict each other, and are they about the same thing at the same time?

They contradict when they differ in exactly one point, a date or a number of one unit, and are otherwise
nearly the same. Names, denials and other words are left to a model. Two points or more are another event, a
namesake, or figures of different times. Values agree when one is within the other (1912 and April 1912,
12,000 and 12,340). Ordinals and numbers that belong to a name ("HD 40") tell things apart and never
contradict.

A statement is compared as a whole, up to the end of each clause that adds a value, and each cell of a table
row as a sentence of its own ("Nordvik Dairy, founded: 1923"). What two facts are about is told by their
pages' titles and given subjects. Whether a state has changed since is left to a model. Of the value that a
question asks for the wording need not be alike, but both must speak of what happened or holds by the
question's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeVar

from agent.evidence.statement_features import StatementFeatures, extract_features
from agent.text.dates import DateInterval, find_dates, is_compatible
from agent.text.quantities import find_quantities, is_comparable, is_same_quantity
from agent.text.question_analysis import ParsedQuestion
from agent.text.short_cache import CACHE_SIZE
from agent.text.tokens import stem_prefixes
from agent.types import Fact

T = TypeVar("T")
ConflictKind = Literal["number", "date", "name", "polarity"]
MIN_SIMILARITY = 0.6
"""Least similarity (Dice) of the content words of two statements for a conflict of dates or numbers."""
_CELL = re.compile(r"^([^.;:|]{1,40}): (.+)$")
_CLAUSE_END = re.compile(
    r"[,;:](?=\s(?!\d))|\s[–—-](?=\s)|\.(?=\s)|\s(?=(?:which|who|whose|where|when|while|but|because|after"
    r"|although|since)\b)"
    r"|\s(?=and\s(?:is|was|are|were|has|had|became|\w+ed|its|his|her|their|it|he|she|they)\b)",
    re.IGNORECASE,
)
MIN_CLAUSE_WORDS, MAX_CLAUSES = 2, 3
"""Content words of an opening clause at least, and clauses of one statement at most."""
MAX_OPENING_CHARS = 12
"""A name that begins within so many characters is the subject of a sentence."""
_SITE_NAME = re.compile(r"\s[|·–—-]\s.*$")
_QUALIFIER = re.compile(
    r"^(?P<base>[^(),]{2,100}?)(?:\s*\((?P<bracket>[^()]{2,60})\)|,\s(?P<larger>[^(),]{2,60}))"
)
MIN_ASKED_SHARE = 0.5
"""Share of a question's content words that a fact about it has at least (our own judgement: more than a name
in common, less than the same wording)."""


@dataclass(frozen=True)
class Contradiction:
    """The contradicting values as written; `slot` is the unit they have."""

    kind: ConflictKind
    left: str
    right: str
    slot: str = ""


def find_contradiction(a: StatementFeatures, b: StatementFeatures, *, keyed: bool) -> Contradiction | None:
    """The one point in which two statements contradict each other, or None.

    `keyed`: both were given the same subject and attribute, so their wording need not be similar, and a date
    beside a figure need not be the figure's."""
    if not keyed and dice_similarity(a.words, b.words) < MIN_SIMILARITY:
        return None
    days, amounts = (
        _differing(a.dates, b.dates, is_compatible),
        _differing(a.quantities, b.quantities, is_same_quantity),
    )
    names = _join_names(a, b)
    is_reworded = not keyed and bool(a.words - b.words - names) and bool(b.words - a.words - names)
    has_other_labels = all([a.labels - b.labels, b.labels - a.labels])
    if has_other_labels or is_reworded or bool(all(days)) == bool(all(amounts)):
        return None
    if all(days):
        fits = len(a.dates) == len(b.dates) and len(days[0]) == len(days[1])
        return Contradiction("date", days[0][0].text, days[1][0].text) if fits else None
    left, right = amounts[0][0], amounts[1][0]
    is_of_one_time = keyed or not any(days)
    fits = is_of_one_time and is_comparable(left, right) and len(amounts[0]) == len(amounts[1])
    return Contradiction("number", left.text, right.text, left.unit) if fits else None


def dice_similarity(a: frozenset[str], b: frozenset[str]) -> float:
    """Dice's coefficient of two sets of words; 0 when both are empty."""
    return 2 * len(a & b) / (len(a) + len(b)) if a or b else 0.0


def is_same_value(kind: ConflictKind, a: str, b: str) -> bool:
    """Do two values of a kind, as written, say the same?"""
    if kind == "date":
        return a == b or any(is_compatible(x, y) for x in _dates_of(a) for y in _dates_of(b))
    if kind == "number":
        return a == b or any(is_same_quantity(x, y) for x in find_quantities(a) for y in find_quantities(b))
    left, right = _word_set(a), _word_set(b)
    return left == right or (kind == "name" and bool(left) and (left <= right or right <= left))


@lru_cache(CACHE_SIZE)
def _dates_of(value: str) -> list[DateInterval]:
    """The dates of a short value such as "1921"."""
    return find_dates(value) or find_dates(f"in {value}.")


def _word_set(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,;:()'\"").casefold() for word in text.split())


def _differing(
    left: Sequence[T], right: Sequence[T], agree: Callable[[T, T], bool]
) -> tuple[list[T], list[T]]:
    """The values of each side that agree with none of the other's."""
    if not left or not right:
        return list(left), list(right)
    return (
        [x for x in left if not any(agree(x, y) for y in right)],
        [y for y in right if not any(agree(x, y) for x in left)],
    )


@lru_cache(CACHE_SIZE)
def comparable_forms(statement: str) -> tuple[str, ...]:
    """The sentences to compare: the whole, and up to the end of each clause that adds a date or number; of a
    table row one for each cell but the first, which names what the row is about."""
    if cells := read_cells(statement):
        return tuple(f"{cells[0][1]}, {name.casefold()}: {value}" for name, value in cells[1:])
    values, forms = 0, [statement]
    for end in _CLAUSE_END.finditer(statement):
        said = extract_features(statement[: end.start()])
        count = len(said.dates) + len(said.quantities)
        if len(said.frame) >= MIN_CLAUSE_WORDS and count > values and len(forms) <= MAX_CLAUSES:
            values = count
            forms.append(statement[: end.start()])
    return tuple(forms)


@lru_cache(CACHE_SIZE)
def read_cells(statement: str) -> tuple[tuple[str, str], ...]:
    """The column names and values of a row such as "Dairy: Nordvik; Founded: 1923"; () for prose."""
    cells = [_CELL.match(part.strip()) for part in statement.rstrip(". ").split("; ")]
    if len(cells) < 2 or not all(cells):
        return ()
    return tuple((cell[1], cell[2]) for cell in cells if cell)


def is_same_thing(a: Fact, b: Fact) -> bool:
    """Whether no title or subject tells two things apart.

    "Titanic (1997 film)" and "Titanic (1953 film)" are two; so are subjects of which neither occurs in the
    other fact, and those of "Selm has more mills than Orrin" and "Orrin has fewer mills than Selm". The
    subject is the given one, else the name a statement opens with, else the page's title.
    Above titles stands a name with a day that both statements give: what is born or released on one day under
    one name is one thing."""
    one, other = extract_features(a.statement), extract_features(b.statement)
    if dice_similarity(one.words, other.words) >= MIN_SIMILARITY:
        days, there = (
            {day for date in said.dates for day in date.spans if day[0] == day[1]} for said in (one, other)
        )
        if days & there and _join_names(one) & _join_names(other):
            return True
    # the subject that was given with an attribute; alone it is only the page's title
    subjects = [fact.subject if fact.attribute else "" for fact in (a, b)]
    for left, right in ((a.title, b.title), subjects):
        (base, mine), (base_there, theirs) = _split_qualifier(left), _split_qualifier(right)
        if base and base == base_there and not (mine <= theirs or theirs <= mine):
            return False
    first = [said.names[:1] for said in (one, other)]
    if not (a.attribute or b.attribute) and all(first) and not first[0][0].words & first[1][0].words:
        frames = [
            [*fact.statement[: name.start].split(), *fact.statement[name.end :].split()[:1]]
            for fact, (name,) in zip((a, b), first, strict=True)
        ]
        if frames[0] == frames[1]:  # the same of another name each; not "X founded Y", "Y was founded by X"
            return False
    own, stated = list[frozenset[str]](), list[frozenset[str]]()
    for fact, subject, said in zip((a, b), subjects, (one, other), strict=True):
        opening = next((name for name in said.names if name.start <= MAX_OPENING_CHARS), None)
        if opening and not subject:
            own.append(opening.words)
        else:
            own.append(extract_features(_base_title(subject or fact.title)).words)
        stated.append(extract_features(f"{fact.statement} . {_base_title(fact.title)} . {subject}").words)
    return not all(own) or own[0] <= stated[1] or own[1] <= stated[0]


def _join_names(*statements: StatementFeatures) -> frozenset[str]:
    """The words of all names."""
    return frozenset[str]().union(*(name.words for said in statements for name in said.names))


def _base_title(title: str) -> str:
    """A title without the site's name and without what tells namesakes apart."""
    return re.sub(r"\([^)]*\)", " ", _SITE_NAME.sub("", title))


@lru_cache(CACHE_SIZE)
def _split_qualifier(title: str) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a title and of what tells it from its namesakes: in brackets, or after a comma."""
    match = _QUALIFIER.match(_SITE_NAME.sub("", title))
    if match is None:
        return frozenset(), frozenset()
    words = (match["bracket"] or match["larger"]).casefold().split()
    return frozenset(match["base"].casefold().split()), frozenset(words)


def is_on_question(fact: Fact, question: ParsedQuestion) -> bool:
    """Whether a fact, with its page's title, has half of the question's content words, and where it has any a
    word of its names and one beside them."""
    names, words = stem_prefixes(*question.name_words, *question.figures), question.words
    stated = stem_prefixes(fact.title, fact.subject, fact.attribute, fact.statement)
    is_about = all(part & stated for part in (names, words - names) if part)
    return is_about and len(words & stated) >= MIN_ASKED_SHARE * len(words)
