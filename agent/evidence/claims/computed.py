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
_DASH = re.compile(r"\s?[–—-]")
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
class Operand:
    """A date or number of a quote."""

    value: DateInterval | Quantity
    quote: ReadText


@dataclass(frozen=True)
class Computation:
    """A figure of a claim as the result of a calculation on two figures: "1986 − 1961 = 25"."""

    figure: Quantity
    text: str
    operands: tuple[Operand, Operand]

    @property
    def quote(self) -> ReadText:
        """The quote of the first operand."""
        return self.operands[0].quote


def find_computation(claim: ReadText, quotes: Sequence[ReadText]) -> Computation | None:
    """The calculation that gives the one number of a claim that no quote gives; None without one."""
    new = [
        n
        for n in claim.quantities
        if not any(is_given(n, other, is_about(n, claim)) for quote in quotes for other in quote.quantities)
    ]
    return next(_compute(new[0], claim, quotes), None) if len(new) == 1 else None


def is_carried(claim: ReadText, computation: Computation) -> bool:
    """Do the operands' sentences say the rest of a claim, around the figure that was computed?"""
    figure, operands = computation.figure, computation.operands
    there = set[str]().union(*(_find_stems(one.quote, [_find_sentence(one)]) for one in operands))
    rest = {
        stemmed
        for stemmed, word in list_content(claim.words)
        if not figure.start <= word.start < figure.end and stemmed not in _RESULT_WORDS
    }
    if not rest or not rest <= there:
        return False
    if isinstance(operands[0].value, Quantity):
        return True
    early, late = operands
    order = _ORDER.search(claim.text)
    if order is None:
        return _is_birth(early, operands) or _is_span(early, late)
    sides = [(0, order.start()), (order.end(), len(claim.text))]
    first, second = (_find_stems(claim, [side]) - _RESULT_WORDS for side in sides)
    if order.group(1).lower() in ("before", "earlier than"):
        first, second = second, first
    own, other = _find_clause(late, operands), _find_clause(early, operands)
    return bool(first & own - other) and bool(second & other - own)


def _compute(n: Quantity, claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[Computation]:
    if count_years(n, claim) is not None:
        yield from _find_spans(n, claim, quotes)
    for quote in quotes:
        same = {other.value: other for other in quote.quantities if other.unit == n.unit}
        if ANNOUNCES_RESULT.search(claim.text) and len(same) <= MAX_OPERANDS:
            for a, b in combinations(sorted(same.values(), key=lambda q: -q.value), 2):
                for sign, result in (("+", a.value + b.value), ("−", a.value - b.value)):
                    if _is_result(n, result, claim):
                        text = f"{a.text} {sign} {b.text} = {n.text}"
                        yield Computation(n, text, (Operand(a, quote), Operand(b, quote)))
        if n.unit == "%":
            yield from _find_shares(n, claim, quote)


def _find_spans(n: Quantity, claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[Computation]:
    dates = [(date, quote) for quote in quotes for date in quote.dates if not date.is_yearless]
    for (early, first_quote), (late, second_quote) in permutations(dates[:MAX_OPERANDS], 2):
        years, is_exact = _subtract_dates(early, late)
        if _is_result(n, years * (MONTHS_PER_YEAR if n.unit else 1), claim):
            first, last = (early.text, late.text) if is_exact else (find_year(early), find_year(late))
            operands = Operand(early, first_quote), Operand(late, second_quote)
            yield Computation(n, f"{last} − {first} = {years}", operands)


def _subtract_dates(early: DateInterval, late: DateInterval) -> tuple[int, bool]:
    """The whole years between two days, or the difference of two years; and whether both are days."""
    years = find_year(late) - find_year(early)
    (first, first_end), (last, last_end) = early.spans[0], late.spans[0]
    is_exact = first == first_end and last == last_end
    return years - (is_exact and last % DAYS_PER_YEAR < first % DAYS_PER_YEAR), is_exact


def _find_shares(n: Quantity, claim: ReadText, quote: ReadText) -> Iterator[Computation]:
    for part, whole in permutations(list_counts(quote), 2):
        if 0 < part.value < whole.value and _is_result(n, 100 * part.value / whole.value, claim):
            text = f"{part.number:g} ÷ {whole.number:g} = {n.text}"
            yield Computation(n, text, (Operand(part, quote), Operand(whole, quote)))


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


def _find_sentence(operand: Operand) -> tuple[int, int]:
    at = operand.value.start
    return next((span for span in operand.quote.sentences if span[0] <= at < span[1]), (at, at))


def _find_clause(operand: Operand, operands: Sequence[Operand]) -> set[str]:
    """The stems of a date's own part of its sentence: from the other date before it, or the sentence's
    start."""
    start, date = _find_sentence(operand)[0], operand.value
    ends = [one.value.end for one in operands if one.quote is operand.quote and one.value.end <= date.start]
    return _find_stems(operand.quote, [(max([start, *ends]), date.start)])


def _is_birth(operand: Operand, operands: Sequence[Operand]) -> bool:
    """Is a date somebody's birth: after "born", or the first of a life in brackets?"""
    text, date = operand.quote.text, operand.value
    in_brackets = text[: date.start].rstrip(" *").endswith("(") and _DASH.match(text, date.end)
    return _BIRTH in _find_clause(operand, operands) or bool(in_brackets)


def _is_span(early: Operand, late: Operand) -> bool:
    """Do two dates stand as one span: "from 1961 to 1986", "1961–1986"?"""
    between = early.quote.text[early.value.end : late.value.start]
    return early.quote is late.quote and bool(re.fullmatch(r"\s?(?:[–—-]|to|until|till|and)\s?", between))
