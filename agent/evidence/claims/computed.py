"""Figures of a claim that a calculation on its quotes' figures gives, and whether the rest of it is carried.

A span of years ("25 years after", "aged 25"), a sum or difference of two figures of one unit that the claim
announces or writes out ("120 + 80 = 200"), and a percentage: a share, a rise or a fall. A claim is computed
when besides its figure all its content words stand in the sentences of the operands; around "after" and
"before", what is named must stand with its own year; a rise or fall needs figures that stand with theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from operator import attrgetter

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
    is_written,
    list_counts,
    list_pairs,
)
from agent.evidence.claims.words import ReadText, list_content
from agent.text.date_intervals import DAYS_PER_YEAR, DateInterval
from agent.text.quantities import Quantity
from agent.text.tokens import stem

_ORDER = re.compile(r"\b(after|later than|before|earlier than)\b", re.IGNORECASE)
_DASH = re.compile(r"\s?[–—-]")
_SPAN = re.compile(r"\s?(?:[–—-]|to|until|till|and)\s?")
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
_RISES = frozenset(map(stem, "increase increased grew grow grown growth rose rise risen".split()))
_FALLS = frozenset(map(stem, "decrease decreased fell fall fallen drop dropped decline declined".split()))
_NUMBER = r"\d+(?:[.,]\d+)*"
_WRITTEN = re.compile(
    rf"(?P<open>\s?\()?(?P<left>{_NUMBER})(?:\s[^\W\d_]+)?\s?(?P<sign>[+−–-])"
    rf"\s?(?P<right>{_NUMBER})(?:\s[^\W\d_]+)?\s?=\s?(?P<result>{_NUMBER})(?P<close>[^()]*\))?"
)
"""A sum or difference as it is written out: "(1986 − 1961 = 25)"."""


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
    is_growth: bool = False

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


def read_calculations(statement: str, quotes: Sequence[ReadText]) -> str:
    """The statement with its right sums and differences of figures that stand in the quotes put in words
    ("a total of 200"), without those in brackets whose result is said already."""

    def put_in_words(match: re.Match[str]) -> str:
        left, right, result = (
            float(match[name].replace(",", "")) if match[name].count(".") < 2 else 0.0
            for name in ("left", "right", "result")
        )
        is_sum = match["sign"] == "+"
        is_right = abs(left + right * (1 if is_sum else -1) - result) < 1e-9
        if not is_right or not all(is_written(match[name], quotes) for name in ("left", "right")):
            return match.group()
        rest = statement[: match.start()] + " " + statement[match.end() :]
        if match["open"] and match["close"] and match["result"] in re.findall(_NUMBER, rest):
            return ""
        words = f"a {'total' if is_sum else 'difference'} of {match['result']}"
        return f"{match['open'] or ''}{words}{match['close'] or ''}"

    return _WRITTEN.sub(put_in_words, statement) if "=" in statement else statement


def is_carried(claim: ReadText, computation: Computation) -> bool:
    """Do the operands' sentences say the rest of a claim, around the figure that was computed?"""
    figure, operands = computation.figure, computation.operands
    there = set[str]().union(*(_find_stems(one.quote, [_find_sentence(one)]) for one in operands))
    rest = {
        stemmed
        for stemmed, word in list_content(claim.words)
        if not figure.start <= word.start < figure.end and stemmed not in _RESULT_WORDS
    }
    if computation.is_growth:
        rest -= _RISES | _FALLS
    if not rest or not rest <= there:
        return False
    if isinstance(operands[0].value, Quantity):
        return True
    early, late = operands
    order = _ORDER.search(claim.text)
    if order is None:
        text, birth = early.quote.text, early.value
        between = text[birth.end : late.value.start]
        is_span = early.quote is late.quote and _SPAN.fullmatch(between)  # "from 1961 to 1986", "1961–1986"
        in_brackets = text[: birth.start].rstrip(" *").endswith("(") and _DASH.match(text, birth.end)
        return bool(is_span or in_brackets or _BIRTH in _find_clause(early, operands))
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
            for part, whole in permutations(list_counts(quote), 2):
                if 0 < part.value < whole.value and _is_result(n, 100 * part.value / whole.value, claim):
                    text = f"{part.number:g} ÷ {whole.number:g} = {n.text}"
                    yield Computation(n, text, (Operand(part, quote), Operand(whole, quote)))
            said = _find_stems(claim, [(0, len(claim.text))])
            if bool(said & _RISES) == bool(said & _FALLS):
                continue
            for early, late in list_pairs(quote):  # figures of one thing, each beside its own year
                change = 100 * (late.value / early.value - 1) * (1 if said & _RISES else -1)
                if _is_result(n, change, claim) and _is_series(early, late, quote):
                    text = f"({late.text} − {early.text}) ÷ {early.text} = {n.text}"
                    yield Computation(n, text, (Operand(early, quote), Operand(late, quote)), is_growth=True)


def _find_spans(n: Quantity, claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[Computation]:
    dates = [(date, quote) for quote in quotes for date in quote.dates if not date.is_yearless]
    for (early, first_quote), (late, second_quote) in permutations(dates[:MAX_OPERANDS], 2):
        (start, start_end), (end, end_end) = early.spans[0], late.spans[0]
        is_exact = start == start_end and end == end_end  # whole years between two days, else of two years
        years = find_year(late) - find_year(early)
        years -= is_exact and end % DAYS_PER_YEAR < start % DAYS_PER_YEAR
        if _is_result(n, years * (MONTHS_PER_YEAR if n.unit else 1), claim):
            first, last = (early.text, late.text) if is_exact else (find_year(early), find_year(late))
            operands = Operand(early, first_quote), Operand(late, second_quote)
            yield Computation(n, f"{last} − {first} = {years}", operands)


def _is_series(early: Quantity, late: Quantity, quote: ReadText) -> bool:
    """Are these, by the years beside them, an earlier and a later figure of one thing?"""
    dates = [date for date in quote.dates if not date.is_yearless]
    figures = [n for n in quote.quantities if n.unit == early.unit]
    places = sorted([*((date.start, True) for date in dates), *((n.start, False) for n in figures)])
    kinds = [is_date for _, is_date in places]
    if kinds not in ([True, False, True, False], [False, True, False, True]):
        return False
    by_place = attrgetter("start")
    year = {id(n): find_year(date) for n, date in zip(sorted(figures, key=by_place), dates, strict=True)}
    first, second = sorted((early, late), key=by_place)
    between = _find_stems(quote, [(first.end, second.start)]) - _find_stems(
        quote, [(date.start, date.end) for date in dates]
    )
    return year[id(early)] < year[id(late)] and between <= _find_stems(quote, [(0, first.start)])


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
    """The stems of a date's part of its sentence: from the date before it, or the sentence's start."""
    start, date = _find_sentence(operand)[0], operand.value
    ends = [one.value.end for one in operands if one.quote is operand.quote and one.value.end <= date.start]
    return _find_stems(operand.quote, [(max([start, *ends]), date.start)])
