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

from agent.evidence.claims.words import ClockTime, ReadText, Word, align, list_content, split_sentences
from agent.text.dates import DAYS_PER_YEAR, DateInterval, is_compatible
from agent.text.names import find_proper_names
from agent.text.normalization import is_negation
from agent.text.quantities import Quantity, is_given
from agent.text.tokens import fold, is_stopword, load_function_words, stem
from agent.types import ClaimFinding, FindingKind

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


def find_differences(
    claim: ReadText, quotes: Sequence[ReadText], around: ReadText, computed: Sequence[Quantity] = ()
) -> list[ClaimFinding]:
    """The differences of a claim; `around` is what stands around its quotes, `computed` the figures of the
    claim that a calculation gives."""
    given, dates, times = [*quotes, around], list[DateInterval](), list[ClockTime]()
    numbers, digits = list[Quantity](), set[str]()
    for text in given:
        dates += text.dates
        times += text.times
        numbers += text.quantities
        digits.update(_list_digits(text.text))
    found = _find_rivals(claim, quotes)
    for date in claim.dates:
        if not has_date(date, dates) and not (date.text.isdigit() and date.text in digits):
            found.append(_tell("date", date.text, dates, digits.isdisjoint(_list_digits(date.text))))
    for time in claim.times:
        is_written = digits.issuperset(_list_digits(time.text))
        if (times or not is_written) and not any(time.minutes & other.minutes for other in times):
            found.append(_tell("time", time.text, times, not is_written))
    labels = [match.span() for pattern in (_LABEL, _IDENTIFIER) for match in pattern.finditer(claim.text)]
    for n in claim.quantities:
        is_label = any(start <= n.start < end for start, end in labels)
        bound = _BOUND.search(claim.text, max(0, n.start - 24), n.start)  # "over 100" of 120
        is_bound = bound and any(
            (o.value > n.value) == bool(bound["more"]) for o in numbers if o.unit == n.unit
        )
        if not (is_label or is_bound or n in computed or any(is_given(n, other) for other in numbers)):
            found += _describe_figure(n, numbers, digits)
    words = frozenset(claim.keys)
    if not any(key.isalpha() and key in words for quote in quotes for key in quote.keys):
        return found  # quotes in another language
    found += _find_negation(claim, quotes)
    if len(words & load_function_words("de")) <= len(words & load_function_words("en")):
        found += _find_absent_names(claim, given)  # in German every noun has a capital
    return found


def _describe_figure(n: Quantity, numbers: Sequence[Quantity], digits: set[str]) -> list[ClaimFinding]:
    """The difference of a number that is none of these, if there is one."""
    same = [other for other in numbers if abs(other.number) == abs(n.number)]
    if same or not digits.isdisjoint(_list_digits(n.text)):
        is_unit = n.is_measured and same and all(other.is_measured for other in same)
        return [_tell("unit", n.text, same, False)] if is_unit else []
    like = [other for other in numbers if other.unit == n.unit]
    is_count = not any(map(str.isdigit, n.text)) and not n.is_measured  # "two friends": a reader may count
    if is_count and not (n.unit and like):
        return []
    return [_tell("figure", n.text, like or numbers, not is_count)]


def _find_rivals(claim: ReadText, quotes: Sequence[ReadText]) -> list[ClaimFinding]:
    """A measured figure in whose place another quote has only others, which the claim does not give."""
    for n in claim.quantities if len(quotes) > 1 else ():
        same = [[other for other in quote.quantities if other.unit == n.unit] for quote in quotes]
        rivals = [found for found in same if found and not any(is_given(n, other) for other in found)]
        if not n.is_measured or len(rivals) == sum(map(bool, same)):
            continue
        for found in rivals:
            if not any(is_given(one, other) for one in claim.quantities for other in found):
                return [_tell("figure", n.text, found, False)]
    return []


def _find_negation(claim: ReadText, quotes: Sequence[ReadText]) -> list[ClaimFinding]:
    """What is denied on one side and affirmed on the other, in sentences that speak of the same."""
    if (closest := align(claim, quotes)) is None:
        return []
    mine, there = _find_denials(claim.words), {stemmed for stemmed, _ in list_content(closest[1])}
    theirs = list[tuple[str, list[str]]]()
    for _, words in (sentence for quote in quotes for sentence in split_sentences(quote)):
        theirs += _find_denials(words)
    denials, claimed = Counter[str](), {stemmed for stemmed, _ in list_content(claim.words)}
    for _, denied in theirs:
        denials.update(denied)
    if mine:
        own = {stemmed for _, denied in mine for stemmed in denied}
        is_same = claimed and len(claimed & there) >= MIN_SHARE * len(claimed)
        if is_same and own & there and own.isdisjoint(denials):
            return [_tell("negation", " … ".join(text for text, _ in mine), (), False)]
        return []
    times = Counter(stemmed for quote in quotes for stemmed, _ in list_content(quote.words))
    only_denied = {one for one in claimed if one in denials and denials[one] >= times[one]}
    told = next((text for text, denied in theirs if only_denied.intersection(denied)), "")
    return [ClaimFinding(kind="negation", claimed="", quoted=told, is_absent=False)] if told else []


def _find_denials(words: Sequence[Word]) -> list[tuple[str, list[str]]]:
    """Each negation with the next three words, and the stems of the content words that it denies: those after
    it, or else the one before it ("meals are not"). The "No, …" that an answer may begin with is none."""
    found = list[tuple[str, list[str]]]()
    opens = len(words) > 1 and words[0].key == "no" and words[1].start - words[0].end > 1
    for n, word in enumerate(words):
        if n >= opens and is_negation(word.key):
            denied = list_content(words[n + 1 : n + 8])[:_SCOPE] or list_content(words[:n])[-1:]
            said = " ".join(one.text for one in words[n : n + 4])
            found.append((said, [stemmed for stemmed, _ in denied]))
    return found


def _tell(
    kind: FindingKind, claimed: str, instead: Iterable[DateInterval | ClockTime | Quantity], is_absent: bool
) -> ClaimFinding:
    quoted = dict.fromkeys(" ".join(one.text.split()) for one in instead)
    return ClaimFinding(
        kind=kind,
        claimed=" ".join(claimed.split()),
        quoted=", ".join(list(quoted)[:MAX_SHOWN]),
        is_absent=is_absent,
    )


def has_date(date: DateInterval, others: Sequence[DateInterval]) -> bool:
    """Is this date given, or one inside it, or its day or month and its year in two places?"""
    compatible, (first, last) = [other for other in others if is_compatible(date, other)], date.spans[0]
    for other in compatible:
        is_wider = other.is_yearless or other.spans[0][1] - other.spans[0][0] > last - first
        if date.is_yearless or not is_wider:
            return True
    years = {other.spans[0][0] // DAYS_PER_YEAR for other in others if not other.is_yearless}
    return first // DAYS_PER_YEAR in years and any(other.is_yearless for other in compatible)


def _list_digits(text: str) -> list[str]:
    return _DIGITS.findall(_GROUPING.sub("", text))


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
        if any(start < name.end and name.start < end for start, end in values):
            continue  # a unit or a month
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
