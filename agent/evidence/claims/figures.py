"""Vetoes on figures: each date, clock time, duration and number of a claim must be one of its quotes'.

A figure stands above every judge because it can be compared without understanding. No veto falls where a
reader could have worked it out: a plain rounding, a bound ("over 130" of 136), a span of years, a sum or
difference that the claim announces, or a count in words ("two friends") that the quotes lack."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations

from agent.evidence.claims.words import ReadText, find_counted_noun
from agent.text.date_intervals import DAYS_PER_YEAR, MONTH_NAMES, DateInterval, is_compatible
from agent.text.quantities import BASE_UNITS, MAX_ROUNDING, Quantity, find_units
from agent.text.tokens import stem
from agent.types import ClaimFinding, FindingKind

MAX_PLAIN_ROUNDING = 0.05
"""The most that a rounded figure may differ from the full one when no word such as "about" says so."""
MAX_OPERANDS = 12
"""More figures than this give some pair for nearly every result."""
MAX_COUNTS = 4
"""The same where nothing announces a calculation."""
MAX_SHOWN = 3
"""How many of the quotes' figures a finding names."""
MONTHS_PER_YEAR = 12
ANNOUNCES_RESULT = re.compile(
    r"\b(?:total\w*|sum|altogether|combined|together|difference|older|younger|longer|shorter|more|fewer|less"
    r"|increas\w*|decreas\w*|grew|grow\w*|rose|rise\w*|risen|fell|fall\w*|dropp?\w*|gain\w*|los[est]\w*"
    r"|chang\w*)\b",
    re.IGNORECASE,
)
"""Words that announce a sum or difference."""
_MORE = re.compile(
    r"\b(?:over|more than|at least|above|exceed(?:s|ed|ing)?|beyond|no (?:fewer|less) than)\s\W?$",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"\b(?:under|less than|fewer than|below|at most|no more than|nearly|almost)\s\W?$", re.IGNORECASE
)
_BOUND = re.compile(
    r"\b(?:over|more than|at least|above|exceeding|no (?:fewer|less) than|under|less than|fewer than|below"
    r"|at most|up to|no more than)\s$",
    re.IGNORECASE,
)
_TIME_BOUND = re.compile(r"\b(?:before|earlier than|prior to|(after|later than))\s$", re.IGNORECASE)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|circa|some|nearly|almost|close to)\s\W?|\bca?\.\s|[~≈]\s?)$",
    re.IGNORECASE,
)
_ADDED_ONLY_WHERE_SAID = frozenset("% $ € £ ¥ ₹".split())
_BEFORE = 24
"""Characters before a figure in which such words stand."""
_AGE = re.compile(r"[\s-](?:olds?\b|of age)", re.IGNORECASE)
_AGED = re.compile(r"\bage(?:d|\sof)?\s$", re.IGNORECASE)
_WAS_THEN = re.compile(r"\s(?:when|as)\s(?:s?he|they|it)\b", re.IGNORECASE)
_NEXT_WORD = re.compile(r"[\s\u00a0-]*([^\W\d_]+)")
_MONTH = re.compile(rf"\b(?:{MONTH_NAMES})\b")
_MONTH_NAME = re.compile(
    r"\b(January|February|April|June|July|August|September|October|November|December"
    r"|(?<=\b[iI]n )(?:March|May))\b"
)
_WEEKDAY = re.compile(r"\b((?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)s?\b")
_LABEL = re.compile(r"(?<![\w.-])(?:[A-Za-z]{1,3}-?\d{1,4}|\d{1,3}[A-Z])(?![\w-]|\.\d)")
_QUARTERS = ["first", "second", "third", "fourth"]
_QUARTER = re.compile(r"\b(first|second|third|fourth)[\s-]quarter", re.IGNORECASE)
_QUARTER_LABEL = re.compile(r"^([1-4])q$")
_NAME_BEFORE = re.compile(r"\b([A-Z][\w-]*)[\s\u00a0]$")
_ORDINAL_TITLE = re.compile(r"\d{1,2}(?:st|nd|rd|th)[\s\u00a0][A-Z]\w+")
_DIGITS = re.compile(r"\d+")


def find_figure_vetoes(
    claim: ReadText, quotes: Sequence[ReadText], context: ReadText, sources: ReadText
) -> list[ClaimFinding]:
    """A veto for each date, time and number of a claim that no quote gives, with the quotes' own.

    The number of a name that the context has ("Heron 3") is no figure; a day in the line that code writes on
    a quote's page (`sources`) is evidence of dates."""
    days = [date for date in sources.dates if date.spans[0][0] == date.spans[0][1]]
    dates, others = list[str](), [o.spans[0] for q in quotes for o in q.dates if not o.is_yearless]
    for date in claim.dates:
        if has_date(date, quotes) or any(is_compatible(date, day) for day in days):
            continue
        bound = _TIME_BOUND.search(claim.text[max(0, date.start - _BEFORE) : date.start])
        first, last = date.spans[0]
        if (  # no bound ("before 1975") of a date that a quote gives, with its year
            not bound
            or date.is_yearless
            or not any(start > last if bound.group(1) else end < first for start, end in others)
        ):
            dates.append(date.text)
    for pattern in (_WEEKDAY, _MONTH_NAME):  # outside of dates, where the quotes have another
        there = {match.group(1) for quote in quotes for match in pattern.finditer(quote.text)}
        for match in pattern.finditer(claim.text):
            is_in_date = any(date.start <= match.start() < date.end for date in claim.dates)
            if there and not is_in_date and match.group(1) not in there:
                dates.append(match.group())
    times = [
        time.text
        for time in claim.times
        if not any(time.minutes & other.minutes for quote in quotes for other in quote.times)
    ]
    numbers = [
        n
        for n in claim.quantities
        if not _is_number_given(n, claim, quotes)
        and not _is_in_name(n, claim, context)
        and not _find_bare_figure(n, quotes, context)
    ]
    given_dates = [date.text for quote in quotes for date in quote.dates]
    given_times = [time.text for quote in quotes for time in quote.times]
    figures = [(other, quote) for quote in quotes for other in quote.quantities]
    return [
        *(_make_veto("date", text, given_dates) for text in dates),
        *(_make_veto("time", text, given_times) for text in times),
        *(
            _make_veto("figure", n.text, same or [other.text for other, _ in figures])
            for n in numbers
            for same in [[other.text for other, quote in figures if _is_same_thing(n, claim, other, quote)]]
        ),
        *(_make_veto("figure", *labels) for labels in _find_other_labels(claim, quotes)),
    ]


def find_other_bounds(claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """A doubt for each figure that is a bound on one side only: "up to 30 %" and "30 %"."""
    for n in claim.quantities:
        mine = _BOUND.search(_text_before(n, claim))
        theirs = [
            (_BOUND.search(_text_before(other, quote)), other.text)
            for quote in quotes
            for other in quote.quantities
            if is_given(n, other, is_approximate=False)
        ]
        bounds = [match.group() + text for match, text in theirs if match]
        if mine and theirs and not bounds:
            yield ClaimFinding(kind="quantifier", claimed=mine.group() + n.text, quoted=theirs[0][1])
        elif not mine and theirs and len(bounds) == len(theirs) and not is_about(n, claim):
            yield ClaimFinding(kind="quantifier", claimed=n.text, quoted=bounds[0])


def find_moved_figures(claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """A doubt for each figure that changes places: "41 people, 3 cats" on "3 people, 41 cats"."""
    found = [(n, quote) for quote in quotes for n in quote.quantities]
    counts = [n for n in claim.quantities if n.unit not in BASE_UNITS and n.unit != "th"]
    for n in counts:
        same = [other for other, quote in found if _is_same_thing(n, claim, other, quote)]
        others = {other.value for other in counts if not _is_same_thing(n, claim, other, claim)}
        if same and all(o.value != n.value and o.value in others for o in same):
            yield ClaimFinding(kind="figure", claimed=n.text, quoted=same[0].text)


def find_added_units(
    claim: ReadText, quotes: Sequence[ReadText], context: ReadText, nearby: ReadText
) -> Iterator[ClaimFinding]:
    """A doubt for each figure whose unit no quote gives, and no quote, heading or text nearby names."""
    units = set[tuple[str, float]]().union(*(find_units(t.text) for t in [*quotes, context, nearby]))
    for n in claim.quantities:
        bare = _find_bare_figure(n, quotes, context)
        if bare and not _is_number_given(n, claim, quotes) and _find_unit(n) not in units:
            yield ClaimFinding(kind="figure", claimed=n.text, quoted=bare.text)


def _find_bare_figure(n: Quantity, quotes: Sequence[ReadText], context: ReadText) -> Quantity | None:
    """The same number without its unit: a cell under "Height in metres", "five years, … of ten".

    None where the quote, or else the context, names only other units of the kind."""
    if n.unit not in BASE_UNITS:
        return None
    for quote in quotes:
        named = [unit for unit in find_units(quote.text) if unit[0] == n.unit]
        named = named or [unit for unit in find_units(context.text) if unit[0] == n.unit]
        for other in quote.quantities:
            if not other.unit and other.number == n.number and (not named or _find_unit(n) in named):
                return other
    return None


def _find_unit(n: Quantity) -> tuple[str, float]:
    """The base unit of a number and the factor to it."""
    return n.unit, n.value / n.number if n.number else 1.0


def has_date(date: DateInterval, quotes: Sequence[ReadText]) -> bool:
    """Does a quote give this date, or one inside it, or its day or month and its year in two places?"""
    others = [other for quote in quotes for other in quote.dates]
    compatible = [other for other in others if is_compatible(date, other)]
    days = date.spans[0][1] - date.spans[0][0]
    if any(
        date.is_yearless or (not o.is_yearless and days >= o.spans[0][1] - o.spans[0][0]) for o in compatible
    ):
        return True
    if date.text.isdigit():
        return is_written(date.text, quotes)
    if find_year(date) not in {find_year(other) for other in others if not other.is_yearless}:
        return False
    if any(is_compatible(date, other) for other in others if other.is_yearless):
        return True
    month = _MONTH.search(date.text.lower())
    has_day = re.search(r"\b\d{1,2}\b", date.text)
    return bool(month and not has_day) and any(
        re.search(rf"\b{month.group() if month else ''}\b", quote.text.lower()) for quote in quotes
    )


def find_year(date: DateInterval) -> int:
    """The year in which a date begins, in its first reading."""
    return date.spans[0][0] // DAYS_PER_YEAR


def is_about(n: Quantity, text: ReadText) -> bool:
    """Does a word such as "about" stand before a number?"""
    return bool(_ABOUT.search(_text_before(n, text)))


def is_given(n: Quantity, other: Quantity, is_approximate: bool) -> bool:
    """Is a number of the claim the other, perhaps rounded?"""
    if n.unit == other.unit:
        return is_rounding(n.value, other.value, find_step(n), is_approximate)
    units = {n.unit, other.unit}
    if units == {"%", ""}:
        share, bare = (n, other) if n.unit == "%" else (other, n)
        return share.number == bare.number or abs(share.number / 100 - bare.number) < 1e-9
    return not units & BASE_UNITS and is_rounding(n.number, other.number, n.step, is_approximate)


def find_step(n: Quantity) -> float:
    """The worth of a number's last digit in its base unit."""
    return n.step * (n.value / n.number if n.number else 1)


def is_rounding(value: float, full: float, step: float, is_approximate: bool = False) -> bool:
    """Is a value the full one, or that rounded to its last digit? "About 30" may be rounded to tens."""
    while is_approximate and step and value and value % (10 * step) == 0:
        step *= 10
    most = MAX_ROUNDING if is_approximate else MAX_PLAIN_ROUNDING
    apart, larger = abs(value - full), max(abs(value), abs(full))
    return apart <= 1e-9 * max(1.0, larger) or (apart <= step / 2 * 1.000001 and apart <= most * larger)


def is_written(value: str, quotes: Sequence[ReadText]) -> bool:
    """Do the digits of a value stand in the quotes, whatever they stand for there?"""
    figures = re.findall(r"\d+(?:[.,]\d+)*", value)
    patterns = [re.compile(rf"(?<![\d.,]){re.escape(figure)}(?!\d|[.,]\d)") for figure in figures]
    return bool(patterns) and all(any(p.search(quote.text) for quote in quotes) for p in patterns)


def _make_veto(kind: FindingKind, claimed: str, instead: Iterable[str]) -> ClaimFinding:
    quoted = ", ".join(list(dict.fromkeys(" ".join(text.split()) for text in instead))[:MAX_SHOWN])
    return ClaimFinding(kind=kind, claimed=" ".join(claimed.split()), quoted=quoted, is_veto=True)


def _is_in_name(n: Quantity, claim: ReadText, context: ReadText) -> bool:
    """Does the context have a number together with the name before it ("Heron 3"), or an ordinal together
    with the title after it ("4th Earl")?"""
    if (titled := _ORDINAL_TITLE.match(claim.text, n.start)) and titled.group() in context.text:
        return True
    name, figure = _NAME_BEFORE.search(claim.text, 0, n.start), _DIGITS.match(claim.text, n.start)
    return bool(name and figure and f"{name[1]} {figure[0]}" in " ".join(context.text.split()))


def _is_number_given(n: Quantity, claim: ReadText, quotes: Sequence[ReadText]) -> bool:
    """Does a quote give a number, or could a reader have worked it out?"""
    others = [other for quote in quotes for other in quote.quantities]
    if any(is_given(n, other, is_about(n, claim)) for other in others):
        return True
    is_age = n.unit == "month" and _AGE.match(claim.text, n.end)
    if is_age and any(n.number == other.number for other in others):
        return True
    if n.unit not in BASE_UNITS:
        if not any(c.isdigit() for c in n.text):
            return not any(_is_same_thing(n, claim, o, quote) for quote in quotes for o in quote.quantities)
        if is_written(n.text, quotes):
            return True
    bound = next((b for b in ((_MORE, 1), (_LESS, -1)) if b[0].search(_text_before(n, claim))), None)
    is_bound = bound and any(  # "over 130" of a quote's figure that is no such bound itself
        _is_same_thing(n, claim, other, quote)
        and bound[1] * (other.value - n.value) > 0
        and not bound[0].search(_text_before(other, quote))
        for quote in quotes
        for other in quote.quantities
    )
    return bool(is_bound) or _is_computable(n, claim, quotes)


def _text_before(n: Quantity, text: ReadText) -> str:
    return text.text[max(0, n.start - _BEFORE) : n.start]


def _is_same_thing(n: Quantity, claim: ReadText, other: Quantity, quote: ReadText) -> bool:
    """Have two numbers the same unit, or the same next word?"""
    if {n.unit, other.unit} & BASE_UNITS or (n.unit == "th") != (other.unit == "th"):
        return n.unit == other.unit
    noun = _find_next_word(n, claim)
    return bool(noun) and noun == _find_next_word(other, quote)


def _find_next_word(n: Quantity, text: ReadText) -> str:
    """The stem of the word after a number: mostly what it counts."""
    following = _NEXT_WORD.match(text.text, n.end - len(find_counted_noun(n)))
    return stem(following.group(1).lower()) if following else ""


def count_years(n: Quantity, claim: ReadText) -> int | None:
    """The years that a number of a claim stands for ("25 years", "aged 25"); None where it is none."""
    if n.unit == "month" and n.value % MONTHS_PER_YEAR == 0:
        return int(n.value) // MONTHS_PER_YEAR
    is_age = _AGED.search(_text_before(n, claim)) or _WAS_THEN.match(claim.text, n.end)
    return int(n.value) if not n.unit and is_age else None


def list_counts(quote: ReadText) -> list[Quantity]:
    """The figures of a quote that are counts; [] where they are so many that some pair gives any share."""
    counts = [n for n in quote.quantities if n.unit not in BASE_UNITS and n.unit != "th"]
    return counts if len(counts) <= MAX_COUNTS else []


def _is_computable(n: Quantity, claim: ReadText, quotes: Sequence[ReadText]) -> bool:
    """Could it be a span between two years of the quotes, a share of their counts, or a sum or difference?

    Where the claim does not announce a sum or difference, the quotes must have few figures."""
    span = count_years(n, claim)
    years = {find_year(date) for quote in quotes for date in quote.dates if not date.is_yearless}
    spans = [abs(a - b) for a, b in combinations(years, 2)] if len(years) <= MAX_OPERANDS else []
    if span is not None and any(abs(years_apart - span) <= 1 for years_apart in spans):
        return True
    counts = [count.value for quote in quotes for count in list_counts(quote)]
    if n.unit == "%" and any(
        is_rounding(n.value, 100 * a / b, n.step) for a, b in permutations(counts, 2) if b
    ):
        return True
    announces = bool(ANNOUNCES_RESULT.search(claim.text))
    if (
        n.unit == "%"
        and announces
        and any(
            is_rounding(n.value, 100 * abs(late.value / early.value - 1), n.step)
            for quote in quotes
            for early, late in list_pairs(quote)
        )
    ):
        return True
    values = {other.value for quote in quotes for other in quote.quantities if other.unit == n.unit}
    if n.unit not in BASE_UNITS and n.unit != "th":
        values |= set(counts)
    if n.unit in _ADDED_ONLY_WHERE_SAID and not announces:
        return False
    if len(values) > (MAX_OPERANDS if announces else MAX_COUNTS):
        return False
    results = [sum(values), *(result for a, b in combinations(values, 2) for result in (a + b, abs(a - b)))]
    return len(values) > 1 and any(abs(r - n.value) <= 1e-9 * max(1.0, abs(n.value)) for r in results)


def list_pairs(quote: ReadText) -> Iterator[tuple[Quantity, Quantity]]:
    """Each two figures of one unit, but of a unit with so many that some pair gives any percentage."""
    for unit in {n.unit for n in quote.quantities} - {"%", "th"}:
        same = [n for n in quote.quantities if n.unit == unit and n.value > 0]
        yield from permutations(same if len(same) <= MAX_COUNTS else [], 2)


def _find_other_labels(claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[tuple[str, list[str]]]:
    """Numbers of names ("Q3", "A380") that no quote has, with those of the same letters that they have."""
    there = {
        f"q{1 + _QUARTERS.index(match.group(1).lower())}": match.group()
        for quote in quotes
        for match in _QUARTER.finditer(quote.text)
    }
    there |= {_fold_label(match.group()): match.group() for q in quotes for match in _LABEL.finditer(q.text)}
    for match in _LABEL.finditer(claim.text):
        label = _fold_label(match.group())
        letters = _DIGITS.sub("", label)
        same = [text for other, text in there.items() if _DIGITS.sub("", other) == letters]
        if label not in there and same:
            yield match.group(), same


def _fold_label(label: str) -> str:
    return _QUARTER_LABEL.sub(r"q\1", label.lower().replace("-", ""))
