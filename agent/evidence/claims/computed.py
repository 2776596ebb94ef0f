"""Figures of a claim that a calculation on its quotes' figures gives, and whether the rest of it is carried.

A span of years ("25 years after", "aged 25"), a sum or difference of figures of one unit, and a percentage: a
share, a rise or a fall. A claim is computed when besides its figure all its content words stand in the
sentences of the operands; for a span of years only where these are the two ends of one span. All else that is
calculated is told to the judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations

from agent.evidence.claims.words import ReadText, list_content
from agent.text.dates import DAYS_PER_YEAR, DateInterval
from agent.text.quantities import Quantity, is_given, is_rounding
from agent.text.tokens import stem_words

MAX_OPERANDS = 12
"""More figures than this give some pair for nearly every result."""
MAX_COUNTS = 4
"""The same where nothing announces a calculation: of six figures some pair gives most small numbers."""
MONTHS_PER_YEAR = 12
_SPAN = re.compile(r"\s?(?:[–—-]|to|until|till|and)\s?")
_RESULT_WORDS = frozenset(
    stem_words(
        "year age aged old older young younger later earlier after before between difference total sum"
        " together altogether combined more less fewer longer shorter last period span apart increase grew"
        " rose decrease fell exceed percent share"
    )
)
"""Words that only say of what kind a result is."""


@dataclass(frozen=True)
class Computation:
    """A figure of a claim as the result of a calculation: "1986 − 1961 = 25". One that is not `is_exact` only
    helps the judge: a rise or fall, whose order nobody read."""

    figure: Quantity
    text: str
    operands: tuple[tuple[DateInterval | Quantity, ReadText], ...]
    """Dates or numbers, each with its quote."""
    is_exact: bool = True


def find_computations(claim: ReadText, quotes: Sequence[ReadText]) -> list[Computation]:
    """A calculation for each number of a claim that no quote gives and one of their figures gives."""
    figures, found = [(n, quote) for quote in quotes for n in quote.quantities], list[Computation]()
    is_announced = not _RESULT_WORDS.isdisjoint(stemmed for stemmed, _ in list_content(claim.words))
    most = MAX_OPERANDS if is_announced else MAX_COUNTS
    for n in claim.quantities:
        if not any(is_given(n, other) for other, _ in figures):
            found += islice(_compute(n, quotes, figures, most), 1)
    return found


def is_carried(claim: ReadText, computation: Computation) -> bool:
    """Do the operands' sentences say the rest of a claim, around the figure that was computed?"""
    figure, there = computation.figure, set[str]()
    for value, quote in computation.operands:
        spans = [span for span in quote.sentences if span[0] <= value.start < span[1]]
        for stemmed, word in list_content(quote.words):
            if any(start <= word.start < end for start, end in spans):
                there.add(stemmed)
    rest = set[str]()
    for stemmed, word in list_content(claim.words):
        if not figure.start <= word.start < figure.end and stemmed not in _RESULT_WORDS:
            rest.add(stemmed)
    (early, quote), (late, other), *_ = computation.operands
    is_span = quote is other and _SPAN.fullmatch(quote.text[early.end : late.start])
    is_read = isinstance(early, Quantity) or bool(is_span)
    return computation.is_exact and is_read and bool(rest) and rest <= there


def _compute(
    n: Quantity, quotes: Sequence[ReadText], figures: Sequence[tuple[Quantity, ReadText]], most: int
) -> Iterator[Computation]:
    dates = [(date, quote) for quote in quotes for date in quote.dates if not date.is_yearless]
    counts_years = n.unit == "month" or (not n.unit and n.text.isdigit())
    for (early, first), (late, second) in permutations(dates[:MAX_OPERANDS], 2) if counts_years else ():
        (start, start_end), (end, end_end) = early.spans[0], late.spans[0]
        is_exact = start == start_end and end == end_end  # whole years between two days, else of two years
        years = end // DAYS_PER_YEAR - start // DAYS_PER_YEAR
        years -= is_exact and end % DAYS_PER_YEAR < start % DAYS_PER_YEAR
        for apart in (years,) if is_exact else (years, years - 1):
            if apart > 0 and n.value == apart * (MONTHS_PER_YEAR if n.unit else 1):
                ends = (late.text, early.text) if is_exact else (end // DAYS_PER_YEAR, start // DAYS_PER_YEAR)
                operands = ((early, first), (late, second))
                yield Computation(n, f"{ends[0]} − {ends[1]} = {years}", operands, is_exact=apart == years)
    same = dict[float, tuple[Quantity, ReadText]]()
    for other, quote in figures:
        if other.unit == n.unit if n.is_measured else not other.is_measured and other.unit != "th":
            same[other.value] = other, quote
    values = sorted(same, reverse=True) if 1 < len(same) <= most else []
    sums = list[tuple[str, tuple[float, ...], float]]()
    for pair in combinations(values, 2):
        sums += [("+", pair, sum(pair)), ("−", pair, pair[0] - pair[1])]
    sums += [("+", tuple(values), sum(values))] if len(values) > 2 else []
    for sign, terms, result in sums:
        if _is_result(n, result):
            written = f" {sign} ".join(same[value][0].text for value in terms)
            yield Computation(n, f"{written} = {n.text}", tuple(same[value] for value in terms))
    if n.unit == "%" and len(figures) <= MAX_COUNTS:
        for part, whole in permutations(figures, 2):
            share = 100 * part[0].value / whole[0].value if whole[0].value and part[0].unit != "%" else 0.0
            written = f"{part[0].number:g} ÷ {whole[0].number:g}"
            if 0 < share < 100 and _is_result(n, share):
                yield Computation(n, f"{written} = {n.text}", (part, whole))
            if share and _is_result(n, abs(share - 100)):
                yield Computation(n, f"{written} − 1 = {n.text}", (part, whole), is_exact=False)


def _is_result(n: Quantity, result: float) -> bool:
    if n.unit == "%":
        return is_rounding(n.value, result, n.step)
    return abs(n.value - result) <= 1e-9 * max(1.0, abs(result))
