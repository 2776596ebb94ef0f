"""Differences of a claim from its quotes that a judge should look at.

* figure: a number that the quotes do not have; unit: the same digits with another unit;
* date, time: one that no quote gives; a day may have its year from a heading or the sentence before;
* negation: the claim is denied and the closest sentence is not, or the other way round;
* name: a name or identifier that stands nowhere.

The same digits are no difference, whatever they stand for (a year, a version, a label, a cell), nor is a
plain rounding. What is looked for stands in the quotes, or else in what is around them: headings, titles, the
sentence before. A figure or name is absent when it stands in none of these."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agent.evidence.claims.words import ReadText, Word, align, list_content, split_sentences
from agent.text.dates import DAYS_PER_YEAR, DateInterval, is_compatible
from agent.text.names import find_proper_names
from agent.text.normalization import is_negation
from agent.text.quantities import Quantity
from agent.text.tokens import fold, is_stopword, load_function_words, stem
from agent.types import ClaimFinding, FindingKind

MAX_ROUNDING = 0.05
"""The most that a rounded figure may differ from the full one."""
MAX_SHOWN = 3
"""How many of the quotes' figures a finding names."""
MIN_SHARE = 0.5
"""Least share of the claim's content in a sentence that speaks of the same."""
_SCOPE = 3
"""Content words after a negation that it governs."""
_BOUND = re.compile(
    r"\b(?:(?P<more>over|more than|at least|above|beyond)|under|less than|fewer than|below|at most)\s\W?$",
    re.IGNORECASE,
)
_BEFORE = 24
"""Characters before a figure in which such words stand."""
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_GROUPING = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
_LABEL = re.compile(r"^\s*\d{1,3}[.)]\s|\w@?[\[{(]\d+[\])}]")
"""The number of a list's item, an index ("stash@{2}")."""
_PREFIX = 4
"""Letters that a name shares with its adjective at least ("Belgium", "Belgian")."""
_IDENTIFIER = re.compile(
    r"(?<![\w/.@-])(?:(?:[\w.~-]*/)+[\w.-]*\w|\w+(?:[_@]\w+)+|(?:[A-Za-z]{2,4}-?\d+(?:-\d+)*|[A-Z]-?\d{2,})(?![\w-])"
    r"|\d+(?:\.\d+){2,}|--[\w-]+\w)"
)
"""A path, an option, a version, a model's number, a name with an underscore."""
_DAY = re.compile(r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?")


def find_differences(
    claim: ReadText, quotes: Sequence[ReadText], around: ReadText, computed: Sequence[Quantity] = ()
) -> list[ClaimFinding]:
    """The differences of a claim; `around` is what stands around its quotes, `computed` the figures of the
    claim that a calculation gives."""
    given, digits = (
        [*quotes, around],
        ({figure for text in [*quotes, around] for figure in _list_digits_of(text.text)}),
    )
    words = frozenset(claim.keys)
    is_foreign = not any(key.isalpha() and key in words for quote in quotes for key in quote.keys)
    is_german = len(words & load_function_words("de")) > len(words & load_function_words("en"))
    return [
        *_find_rivals(claim, quotes),
        *_find_dates(claim, given, digits),
        *_find_times(claim, given, digits),
        *(
            finding
            for n in claim.quantities
            if n not in computed
            for finding in _find_figure(n, claim, given, digits)
        ),
        *(() if is_foreign else _find_negation(claim, quotes)),
        *(() if is_foreign or is_german else _find_absent_names(claim, given)),
    ]


def _find_dates(claim: ReadText, given: Sequence[ReadText], digits: set[str]) -> Iterator[ClaimFinding]:
    others = [date for text in given for date in text.dates]
    for date in claim.dates:
        if not has_date(date, given) and not _is_written(date.text, digits):
            yield _tell(
                "date",
                date.text,
                (other.text for other in others),
                digits.isdisjoint(_list_digits_of(date.text)),
            )


def _find_times(claim: ReadText, given: Sequence[ReadText], digits: set[str]) -> Iterator[ClaimFinding]:
    for time in claim.times:
        others = [other for text in given for other in text.times]
        if any(time.minutes & other.minutes for other in others):
            continue
        is_written = set(_list_digits_of(time.text)) <= digits
        if others or not is_written:
            yield _tell("time", time.text, (other.text for other in others), not is_written)


def _find_figure(
    n: Quantity, claim: ReadText, given: Sequence[ReadText], digits: set[str]
) -> Iterator[ClaimFinding]:
    """The difference of one number, if there is one."""
    numbers = [(other, text) for text in given for other in text.quantities]
    if _is_label(n, claim) or any(is_given(n, other) for other, _ in numbers):
        return
    same = [other for other, _ in numbers if abs(other.number) == abs(n.number)]
    measured = [other.text for other in same if other.is_measured and n.is_measured]
    is_written = bool(same) or set(_list_digits_of(n.text)) & digits
    if is_written:
        if measured and len(measured) == len(same):
            yield _tell("unit", n.text, measured, False)
        return
    like = [other for other, _ in numbers if other.unit == n.unit]
    bound = _BOUND.search(claim.text[max(0, n.start - _BEFORE) : n.start])
    if bound and any((other.value > n.value) == bool(bound["more"]) for other in like):
        return
    is_count = not any(map(str.isdigit, n.text)) and not n.is_measured  # "two friends": a reader may count
    if not is_count or (n.unit and like):
        yield _tell("figure", n.text, (other.text for other in like or [o for o, _ in numbers]), not is_count)


def _find_rivals(claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """A measured figure in whose place another quote has only others, which the claim does not give."""
    for n in claim.quantities if len(quotes) > 1 else ():
        same = [[other for other in quote.quantities if other.unit == n.unit] for quote in quotes]
        has_it = [any(is_given(n, other) for other in found) for found in same]
        if not n.is_measured or not any(has_it):
            continue
        for found, has in zip(same, has_it, strict=True):
            told = (any(is_given(one, other) for one in claim.quantities) for other in found)
            if found and not has and not any(told):
                yield _tell("figure", n.text, (other.text for other in found), False)
                return


def _is_label(n: Quantity, claim: ReadText) -> bool:
    """Is it a number that only tells items apart, or a part of an identifier?"""
    return any(
        found.start() <= n.start < found.end()
        for pattern in (_LABEL, _IDENTIFIER)
        for found in pattern.finditer(claim.text)
    )


def _find_negation(claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """What is denied on one side and affirmed on the other, in sentences that speak of the same."""
    closest = align(claim, quotes)
    if closest is None:
        return
    mine = _find_negations(claim.words)
    said = [words for quote in quotes for _, words in split_sentences(quote)]
    theirs = [(words, n) for words in said for n in _find_negations(words)]
    if mine:
        denied_there = {stemmed for words, n in theirs for stemmed in _list_denied(words, n)}
        denied = {stemmed for n in mine for stemmed in _list_denied(claim.words, n)}
        if (
            closest.share >= MIN_SHARE
            and denied & {one for one, _ in closest.quoted}
            and not denied & denied_there
        ):
            yield ClaimFinding(kind="negation", claimed=_join_around(claim.words, mine), quoted="")
        return
    times = Counter(stemmed for quote in quotes for stemmed, _ in list_content(quote.words))
    denials = Counter(stemmed for words, n in theirs for stemmed in _list_denied(words, n))
    only_denied = {one for one, _ in closest.claimed if one in denials and denials[one] >= times[one]}
    for words, n in theirs:
        if only_denied.intersection(_list_denied(words, n)):
            yield ClaimFinding(kind="negation", claimed="", quoted=_join_around(words, [n]))
            return


def _find_negations(words: Sequence[Word]) -> list[int]:
    """The places of negations, without the "No, …" that an answer may begin with."""
    opens = len(words) > 1 and words[0].key == "no" and words[1].start - words[0].end > 1
    return [n for n, word in enumerate(words) if n >= opens and is_negation(word.key)]


def _list_denied(words: Sequence[Word], n: int) -> list[str]:
    """The stems of the content words that the negation at word `n` denies: those after it, or else the one
    before it ("meals are not")."""
    denied = list_content(words[n + 1 : n + 8])[:_SCOPE] or list_content(words[:n])[-1:]
    return [stemmed for stemmed, _ in denied]


def _join_around(words: Sequence[Word], places: Sequence[int]) -> str:
    """Each word at these places with the next three, as a reader finds them in the text."""
    return " … ".join(" ".join(word.text for word in words[n : n + 4]) for n in places)


def _tell(kind: FindingKind, claimed: str, instead: Iterable[str], is_absent: bool) -> ClaimFinding:
    quoted = ", ".join(list(dict.fromkeys(" ".join(text.split()) for text in instead))[:MAX_SHOWN])
    return ClaimFinding(kind=kind, claimed=" ".join(claimed.split()), quoted=quoted, is_absent=is_absent)


def has_date(date: DateInterval, given: Sequence[ReadText]) -> bool:
    """Is this date given, or one inside it, or its day or month and its year in two places?"""
    others = [other for text in given for other in text.dates]
    compatible = [other for other in others if is_compatible(date, other)]
    days = date.spans[0][1] - date.spans[0][0]
    if any(
        date.is_yearless or (not o.is_yearless and days >= o.spans[0][1] - o.spans[0][0]) for o in compatible
    ):
        return True
    years = {find_year(other) for other in others if not other.is_yearless}
    return find_year(date) in years and any(other.is_yearless for other in compatible)


def find_year(date: DateInterval) -> int:
    """The year in which a date begins, in its first reading."""
    return date.spans[0][0] // DAYS_PER_YEAR


def is_given(n: Quantity, other: Quantity) -> bool:
    """Is a number of the claim the other, perhaps rounded?"""
    if n.unit == other.unit:
        return is_rounding(n.value, other.value, find_step(n))
    units = {n.unit, other.unit}
    if units == {"%", ""}:
        share, bare = (n, other) if n.unit == "%" else (other, n)
        return share.number == bare.number or abs(share.number / 100 - bare.number) < 1e-9
    if n.is_measured and other.is_measured:
        return False
    return is_rounding(n.number, other.number, n.step)


def find_step(n: Quantity) -> float:
    """The worth of a number's last digit in its base unit."""
    return n.step * (n.value / n.number if n.number else 1)


def is_rounding(value: float, full: float, step: float) -> bool:
    """Is a value the full one, or that rounded to its last digit?"""
    apart, larger = abs(value - full), max(abs(value), abs(full))
    return apart <= 1e-9 * max(1.0, larger) or (
        apart <= step / 2 * 1.000001 and apart <= MAX_ROUNDING * larger
    )


def _list_digits_of(text: str) -> list[str]:
    return _DIGITS.findall(_GROUPING.sub("", text))


def _is_written(text: str, digits: set[str]) -> bool:
    """Is a bare year written as any other figure?"""
    return text.isdigit() and text in digits


def _find_absent_names(claim: ReadText, given: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """The names and identifiers that no word of what is given has; one that it has in part is no absent
    one."""
    text = "\n".join(one.text for one in given)
    folded = fold(text)
    squeezed = re.sub(r"[\W_]", "", folded)
    stems = {stem(fold(key)) for one in given for key in one.keys}
    prefixes = {word[:_PREFIX] for word in stems} | {word[: len(word) - 3] for word in stems if len(word) > 7}
    initials = {_take_initials(name.text) for name in find_proper_names(text)}
    capitals = set(re.findall(r"[A-Z]{2,}", text.replace(".", "")))
    values = [(v.start, v.end) for side in (claim.dates, claim.times, claim.quantities) for v in side]
    for match in _IDENTIFIER.finditer(claim.text):
        is_version = match.group().replace(".", "").isdigit()
        parts = [match.group()] if is_version else re.findall(r"[^\W_]+", fold(match.group()))
        if not all(part in (folded if is_version else squeezed) for part in parts):
            yield ClaimFinding(kind="name", claimed=match.group(), quoted="", is_absent=True)
    starts = {start for start, _ in claim.sentences}
    for name in find_proper_names(claim.text):
        words = [
            word for word in re.findall(r"[^\W_]+", name.text) if word[0].isupper() and not is_stopword(word)
        ]
        if not words or (len(words) == 1 and {name.start, name.start - 1} & starts):
            continue  # every sentence begins with a capital
        if _DAY.fullmatch(name.text) or any(start < name.end and name.start < end for start, end in values):
            continue  # a day, a unit or a month
        known = [
            len(word) == 1
            or any(c.isdigit() for c in word)
            or stem(fold(word)) in stems
            or word.upper() in capitals | initials
            or (len(word) >= _PREFIX and fold(word)[:_PREFIX] in prefixes)
            or (len(word) > _PREFIX and fold(word) in squeezed)
            for word in words
        ]
        if all(known) or _take_initials(name.text) in capitals:
            continue
        is_absent = len(words) > 1 and not any(known)
        yield ClaimFinding(kind="name", claimed=name.text, quoted="", is_absent=is_absent)


def _take_initials(name: str) -> str:
    return "".join(word[0] for word in re.split(r"[\s-]", name) if word[:1].isupper())
