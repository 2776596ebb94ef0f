"""Figures of a claim that a calculation on its quotes' figures gives, and whether the rest of it is carried.

A span of years ("25 years after", "aged 25"), a sum or difference of two figures of one unit that the claim
announces, and a percentage. A claim is computed when besides its figure all its content words stand in the
sentences of the operands; around "after" and "before", what is named must stand with its own year."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from agent.evidence.claims.alignment import list_content
from agent.evidence.claims.figures import (
    ANNOUNCES_RESULT,
    MAX_OPERANDS,
    MONTHS_PER_YEAR,
    count_years,
    find_step,
    find_year,
    is_about,
    is_given,
    is_rounding,
    list_counts,
)
from agent.evidence.claims.words import ReadText
from agent.text.date_intervals import DAYS_PER_YEAR, DateInterval
from agent.text.quantities import Quantity
from agent.text.tokens import stem

_ORDER = re.compile(r"\b(after|later than|before|earlier than)\b", re.IGNORECASE)
_BIRTH = stem("born")
_RESULT_WORDS = frozenset(
    map(
        stem,
        "year age aged old older young younger later earlier after before between difference total sum"
        " together altogether combined more less fewer longer shorter last period span apart"
        " percent share".split(),
    )
)
"""Words that only say what kind of result the figure is."""


@dataclass(frozen=True)
class Computation:
    """A figure of a claim as the result of a calculation: "1986 − 1961 = 25"."""

    figure: Quantity
    text: str
    operands: tuple[DateInterval | Quantity, ...]
    quote: ReadText


def find_computation(claim: ReadText, quotes: Sequence[ReadText]) -> Computation | None:
    """The calculation that gives the one number of a claim that no quote gives; None without one."""
    new = [
        n
        for n in claim.quantities
        if not any(is_given(n, other, is_about(n, claim)) for quote in quotes for other in quote.quantities)
    ]
    if len(new) != 1:
        return None
    found = (one for quote in quotes for one in _compute(new[0], claim, quote))
    return next(found, None)


def is_carried(claim: ReadText, computation: Computation) -> bool:
    """Does the quote say the rest of a claim, around the figure that was computed?"""
    quote, figure = computation.quote, computation.figure
    places = [operand.start for operand in computation.operands]
    spans = [span for span in quote.sentences if any(span[0] <= at < span[1] for at in places)]
    there = _find_stems(quote, spans)
    rest = {
        stemmed
        for stemmed, word in list_content(claim.words)
        if not figure.start <= word.start < figure.end and stemmed not in _RESULT_WORDS
    }
    if not rest or not rest <= there:
        return False
    dates = [operand for operand in computation.operands if isinstance(operand, DateInterval)]
    if not dates:
        return True
    early, late = sorted(dates, key=find_year)
    order = _ORDER.search(claim.text)
    if order is None:
        return _BIRTH in _find_clause(quote, early, dates) or _is_span(quote, early, late)
    sides = [(0, order.start()), (order.end(), len(claim.text))]
    first, second = (_find_stems(claim, [side]) - _RESULT_WORDS for side in sides)
    if order.group(1).lower() in ("before", "earlier than"):
        first, second = second, first
    own, other = _find_clause(quote, late, dates), _find_clause(quote, early, dates)
    return bool(first & own - other) and bool(second & other - own)


def _compute(n: Quantity, claim: ReadText, quote: ReadText) -> Iterator[Computation]:
    if count_years(n, claim) is not None:
        yield from _find_spans(n, claim, quote)
    same = {other.value: other for other in quote.quantities if other.unit == n.unit}
    announced = ANNOUNCES_RESULT.search(claim.text)
    if announced and len(same) <= MAX_OPERANDS:
        for a, b in combinations(sorted(same.values(), key=lambda q: -q.value), 2):
            for sign, result in (("+", a.value + b.value), ("−", a.value - b.value)):
                if _is_result(n, result, claim):
                    yield Computation(n, f"{a.text} {sign} {b.text} = {n.text}", (a, b), quote)
    if n.unit == "%":
        yield from _find_shares(n, claim, quote)


def _find_spans(n: Quantity, claim: ReadText, quote: ReadText) -> Iterator[Computation]:
    dates = [date for date in quote.dates if not date.is_yearless][:MAX_OPERANDS]
    for early, late in permutations(dates, 2):
        years, is_exact = _subtract_dates(early, late)
        if _is_result(n, years * (MONTHS_PER_YEAR if n.unit else 1), claim):
            first, last = (early.text, late.text) if is_exact else (find_year(early), find_year(late))
            yield Computation(n, f"{last} − {first} = {years}", (early, late), quote)


def _subtract_dates(early: DateInterval, late: DateInterval) -> tuple[int, bool]:
    """The whole years between two days, or the difference of two years; and whether both are days."""
    years = find_year(late) - find_year(early)
    (first, first_end), (last, last_end) = early.spans[0], late.spans[0]
    is_exact = first == first_end and last == last_end
    return years - (is_exact and last % DAYS_PER_YEAR < first % DAYS_PER_YEAR), is_exact


def _find_shares(n: Quantity, claim: ReadText, quote: ReadText) -> Iterator[Computation]:
    for part, whole in permutations(list_counts(quote), 2):
        if 0 < part.value < whole.value and _is_result(n, 100 * part.value / whole.value, claim):
            yield Computation(n, f"{part.number:g} ÷ {whole.number:g} = {n.text}", (part, whole), quote)


def _is_result(n: Quantity, result: float, claim: ReadText) -> bool:
    if n.unit == "%" or is_about(n, claim):
        return is_rounding(n.value, result, find_step(n), is_about(n, claim))
    return abs(n.value - result) <= 1e-9 * max(1.0, abs(result))


def _find_stems(text: ReadText, spans: Iterable[tuple[int, int]]) -> set[str]:
    return {
        stemmed
        for stemmed, word in list_content(text.words)
        if any(start <= word.start < end for start, end in spans)
    }


def _find_clause(quote: ReadText, date: DateInterval, dates: Sequence[DateInterval]) -> set[str]:
    """The stems of a date's own part of its sentence: from the date before it, or the sentence's start."""
    start, _ = next(span for span in quote.sentences if span[0] <= date.start < span[1])
    start = max([start, *(other.end for other in dates if start <= other.end <= date.start)])
    return _find_stems(quote, [(start, date.start)])


def _is_span(quote: ReadText, early: DateInterval, late: DateInterval) -> bool:
    """Do two dates stand as one span: "from 1961 to 1986", "1961–1986"?"""
    between = quote.text[early.end : late.start]
    return bool(re.fullmatch(r"\s?(?:[–—-]|to|until|till|and)\s?", between))
