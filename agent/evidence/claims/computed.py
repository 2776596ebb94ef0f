"""Figures of a claim that a calculation on its quotes' figures gives, and whether the rest of it is carried.

A span of years ("25 years after", "aged 25"), a sum or difference of figures of one unit, written out or not
("120 + 80 = 200"), and a percentage: a share, a rise or a fall. A claim is computed when besides its figure
all its content words stand in the sentences of the operands; for a span of years only where these are a birth
or the two ends of one span. All else that is calculated is told to the judge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from agent.evidence.claims.differences import find_step, find_year, is_given, is_rounding
from agent.evidence.claims.words import ReadText, list_content
from agent.text.dates import DAYS_PER_YEAR, DateInterval
from agent.text.quantities import Quantity
from agent.text.tokens import stem

MAX_OPERANDS = 12
"""More figures than this give some pair for nearly every result."""
MAX_COUNTS = 4
"""The same where nothing announces a calculation."""
MONTHS_PER_YEAR = 12
_AGED = re.compile(r"\b(?:age(?:d|\sof)?|was)\s(?:\d+\sor\s)?$", re.IGNORECASE)
_DASH = re.compile(r"\s?[–—-]")
_SPAN = re.compile(r"\s?(?:[–—-]|to|until|till|and)\s?")
_ORDER = re.compile(r"\b(?:after|later|before|earlier)\b", re.IGNORECASE)
_BIRTH = stem("born")
_RESULT_WORDS = frozenset(
    map(
        stem,
        "year age aged old older young younger later earlier after before between difference total sum"
        " together altogether combined more less fewer longer shorter last period span apart increase grew"
        " rose decrease fell exceed percent share".split(),
    )
)
"""Words that announce a result and only say of what kind it is."""
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
    """A figure of a claim as the result of a calculation: "1986 − 1961 = 25"."""

    figure: Quantity
    text: str
    operands: tuple[Operand, ...]
    is_exact: bool = True
    """Whether it may stand for more than the judge's help: no rise or fall, whose order nobody read."""

    @property
    def quote(self) -> ReadText:
        """The quote of the first operand."""
        return self.operands[0].quote


def find_computations(claim: ReadText, quotes: Sequence[ReadText]) -> list[Computation]:
    """A calculation for each number of a claim that no quote gives and one of their figures gives."""
    figures = [(n, quote) for quote in quotes for n in quote.quantities]
    new = [
        n
        for n in claim.quantities
        if not any(is_given(n, other) for quote in quotes for other in quote.quantities)
    ]
    return [found for n in new for found in list(_compute(n, claim, quotes, figures))[:1]]


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
        if not is_right or not all(_is_written(match[name], quotes) for name in ("left", "right")):
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
    there = set[str]().union(*(_find_stems(one.quote, *_find_sentence(one)) for one in operands))
    rest = {
        stemmed
        for stemmed, word in list_content(claim.words)
        if not figure.start <= word.start < figure.end and stemmed not in _RESULT_WORDS
    }
    if not computation.is_exact or not rest or not rest <= there:
        return False
    if isinstance(operands[0].value, Quantity):
        return True
    early, late = operands
    text, birth = early.quote.text, early.value
    between = text[birth.end : late.value.start]
    is_span = early.quote is late.quote and _SPAN.fullmatch(between)  # "from 1961 to 1986", "1961–1986"
    in_brackets = text[: birth.start].rstrip(" *").endswith("(") and _DASH.match(text, birth.end)
    is_birth = _BIRTH in _find_stems(early.quote, _find_sentence(early)[0], birth.start)
    return not _ORDER.search(claim.text) and bool(is_span or in_brackets or is_birth)


def _compute(
    n: Quantity, claim: ReadText, quotes: Sequence[ReadText], figures: Sequence[tuple[Quantity, ReadText]]
) -> Iterator[Computation]:
    if _counts_years(n, claim):
        yield from _find_spans(n, claim, quotes)
    is_announced = bool(_find_stems(claim, 0, len(claim.text)) & _RESULT_WORDS)
    most = MAX_OPERANDS if is_announced else MAX_COUNTS
    counts = [(other, quote) for other, quote in figures if not other.is_measured and other.unit != "th"]
    alike = [(other, quote) for other, quote in figures if other.unit == n.unit] if n.is_measured else counts
    same = {other.value: Operand(other, quote) for other, quote in alike}
    values = sorted(same, reverse=True) if 1 < len(same) <= most else []
    for a, b in combinations(values, 2):
        for sign, result in (("+", a + b), ("−", a - b)):
            if _is_result(n, result):
                pair = same[a], same[b]
                yield Computation(n, f"{pair[0].value.text} {sign} {pair[1].value.text} = {n.text}", pair)
    for column in _list_columns(quotes):
        if _is_result(n, sum(one.number for one in column)):
            text = " + ".join(one.text for one in column)
            yield Computation(n, f"{text} = {n.text}", tuple(Operand(one, quotes[0]) for one in column))
    if len(values) > 2 and _is_result(n, sum(values)):
        text = " + ".join(same[value].value.text for value in values)
        yield Computation(n, f"{text} = {n.text}", tuple(same[value] for value in values))
    if n.unit == "%" and len(figures) <= MAX_COUNTS:
        for (part, first), (whole, second) in permutations(figures, 2):
            share = 100 * part.value / whole.value if whole.value and part.unit != "%" else 0.0
            pair = Operand(part, first), Operand(whole, second)
            if 0 < share < 100 and _is_result(n, share):
                yield Computation(n, f"{part.number:g} ÷ {whole.number:g} = {n.text}", pair)
            if share and _is_result(n, abs(share - 100)):
                text = f"{part.number:g} ÷ {whole.number:g} − 1 = {n.text}"
                yield Computation(n, text, pair, is_exact=False)


def _list_columns(quotes: Sequence[ReadText]) -> Iterator[list[Quantity]]:
    """The columns of three or more rows among the quotes that have one number in each row."""
    rows = {quote.text: quote for quote in quotes if quote.text.count("|") > 0}
    wide = {quote.text.count("|") for quote in rows.values()}
    for place in range(max(wide, default=-1) + 1) if len(wide) == 1 and len(rows) > 2 else ():
        cells = [
            [n for n in row.quantities if row.text.count("|", 0, n.start) == place] for row in rows.values()
        ]
        if all(len(cell) == 1 for cell in cells):
            yield [cell[0] for cell in cells]


def _find_spans(n: Quantity, claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[Computation]:
    dates = [(date, quote) for quote in quotes for date in quote.dates if not date.is_yearless]
    for (early, first_quote), (late, second_quote) in permutations(dates[:MAX_OPERANDS], 2):
        (start, start_end), (end, end_end) = early.spans[0], late.spans[0]
        is_exact = start == start_end and end == end_end  # whole years between two days, else of two years
        years = find_year(late) - find_year(early)
        years -= is_exact and end % DAYS_PER_YEAR < start % DAYS_PER_YEAR
        for apart in (years,) if is_exact else (years, years - 1):
            if apart > 0 and _is_result(n, apart * (MONTHS_PER_YEAR if n.unit else 1)):
                first, last = (early.text, late.text) if is_exact else (find_year(early), find_year(late))
                operands = Operand(early, first_quote), Operand(late, second_quote)
                text = f"{last} − {first} = {years}"
                yield Computation(n, text, operands, is_exact=apart == years)


def _is_result(n: Quantity, result: float) -> bool:
    if n.unit == "%":
        return is_rounding(n.value, result, find_step(n))
    return abs(n.value - result) <= 1e-9 * max(1.0, abs(result))


def _counts_years(n: Quantity, claim: ReadText) -> bool:
    """Does a number of a claim stand for years ("25 years", "aged 25")?"""
    is_age = not n.unit and _AGED.search(claim.text[: n.start])
    return bool(is_age) or (n.unit == "month" and n.value % MONTHS_PER_YEAR == 0)


def _is_written(value: str, quotes: Sequence[ReadText]) -> bool:
    """Do the digits of a value stand in the quotes, whatever they stand for there?"""
    pattern = re.compile(rf"(?<![\d.,]){re.escape(value)}(?!\d|[.,]\d)")
    return any(pattern.search(quote.text) for quote in quotes)


def _find_stems(text: ReadText, start: int, end: int) -> set[str]:
    return {stemmed for stemmed, word in list_content(text.words) if start <= word.start < end}


def _find_sentence(operand: Operand) -> tuple[int, int]:
    at = operand.value.start
    return next((span for span in operand.quote.sentences if span[0] <= at < span[1]), (at, at))
