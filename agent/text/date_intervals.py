"""Dates in a text with their precision: a day, a month, a year, a decade, a century.

Two dates are compatible when neither excludes the other: "1987" with "3 May 1987" and with "the 1980s". A
date written as 03/05/1987 can be March or May and is compatible with both."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.text.quantities import find_quantities
from agent.text.word_lists import read_rows

_MONTHS = {
    name: number for number, names in enumerate(read_rows("months"), start=1) for name in names.split()
}
MONTH_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
"""A regular expression for the name of a month in several languages."""
_MONTH = rf"(?P<month>{MONTH_NAMES})\b\.?"
_YEAR = r"(?P<year>[1-9]\d{2,3})(?!\d|[.,]\d)(?P<era>\s?(?:BCE?|b\.c\.))?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)?"
_FORMS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<![\d/-])(?P<year>[12]\d{3})-(?P<month>[01]\d)-(?P<day>[0-3]\d)(?!\d)",
        r"(?<![\d/.])(?P<a>[0-3]?\d)(?P<sep>[/.])(?P<b>[0-3]?\d)(?P=sep)(?P<year>[12]\d{3})(?!\d)",
        rf"\b{_DAY}\s+(?:of\s+|de\s+)?{_MONTH},?\s+(?:of\s+|de\s+)?{_YEAR}",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}",
        rf"\b{_MONTH},?\s+(?:of\s+|de\s+)?(?P<year>[12]\d{{3}})(?!\d)",
        r"\b(?P<year>[1-9]\d{0,3})\s?(?P<era>BCE?\b|b\.c\.)",
        r"\b(?P<decade>[12]\d{2}0)['’]?s\b",
        r"\b(?P<century>[12]?\d)(?:st|nd|rd|th)[\s-]century\b(?P<era>\s?BCE?)?",
        rf"\b{_DAY}\s+(?:of\s+)?(?P<month>{'|'.join(n for n in _MONTHS if len(n) > 3 and n != 'mars')}"
        rf"|may)\b",
        rf"\b(?P<month>{'|'.join(n for n in _MONTHS if len(n) > 3 and n != 'mars')}"
        rf"|May)\s+{_DAY}\b(?!,?\s?\d)",
    )
]
_BARE_YEAR = re.compile(
    r"(?<![\d.,$€£¥/\w-])(?P<year>[12]\d{3})(?:[-–/](?P<to>\d{2}|[12]\d{3}))?(?![\d\w%°]|[.,]\d|\s?(?:BCE?"
    r"|%|°))"
)
_YEAR_LEAD_IN = re.compile(
    r"(?:\b(?:in|since|from|until|till|by|to|and|during|before|after|around|about|circa|c|ca|early|late|mid"
    r"|year|born|of|for|the|&)\.?|[(–;,*†-])\s*$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\ban?\s$", re.IGNORECASE)
"""Before a year that tells a kind of thing: "a 1928 silent film", but not "a 1500 metre race"."""
_COUNTED_NOUN = re.compile(
    r"\s+(?!(?:and|or|in|at|by|to|the|a|an|was|is|were|as|on|for|with|from|when|until|but|it|he|she|they"
    r"|that|which|who|after|before|"
    r"of|under|during|census)\b)[a-z]+"
)


@dataclass(frozen=True)
class DateInterval:
    """A span of days. `spans` has the first and last day (as running numbers) of each possible reading."""

    spans: tuple[tuple[int, int], ...]
    is_yearless: bool
    start: int
    end: int
    text: str


def find_dates(text: str) -> list[DateInterval]:
    """The dates of a text in order."""
    found: list[DateInterval] = []
    left = text
    for form in _FORMS:
        for match in form.finditer(left):
            date = _parse_date(match)
            if date is not None:
                found.append(date)
        left = blank_dates(left, found)
    for match in _BARE_YEAR.finditer(left):
        # a bare year, or both ends of "1939–45"; a figure is more likely a count in "1200 people"
        before = left[max(0, match.start() - 12) : match.start()]
        noun = None if _YEAR_LEAD_IN.search(before) else _COUNTED_NOUN.match(left, match.end())
        if noun:
            found_here = find_quantities(left[match.start() : noun.end()])
            if not _ARTICLE.search(before) or any(n.is_measured for n in found_here):
                continue
        first = int(match["year"])
        years = [(first, match.start("year"), match.end("year"))]
        if match["to"]:
            to = int(match["to"]) if len(match["to"]) == 4 else first - first % 100 + int(match["to"])
            if to < first:
                continue
            years.append((to, match.start("to"), match.end("to")))
        for year, start, end in years:
            if span := _day_span(year):
                found.append(DateInterval((span,), False, start, end, left[start:end]))
    return sorted(found, key=lambda date: date.start)


def is_compatible(a: DateInterval, b: DateInterval) -> bool:
    """Can both be right? Dates without a year are compared by month and day alone."""
    if a.is_yearless == b.is_yearless:
        return any(x[0] <= y[1] and y[0] <= x[1] for x in a.spans for y in b.spans)
    dated, yearless = (b, a) if a.is_yearless else (a, b)
    return any(
        x[0] % DAYS_PER_YEAR <= y[0] % DAYS_PER_YEAR <= x[1] % DAYS_PER_YEAR or x[1] - x[0] > 31
        for x in dated.spans
        for y in yearless.spans
    )


def blank_dates(text: str, dates: list[DateInterval]) -> str:
    """The text with its dates overwritten by spaces, offsets unchanged."""
    for date in dates:
        text = text[: date.start] + " " * (date.end - date.start) + text[date.end :]
    return text


DAYS_PER_YEAR = 372
"""Days of a year of twelve months of 31, so that a running number needs no calendar."""


def _day_span(year: int, month: int = 0, day: int = 0) -> tuple[int, int] | None:
    if month > 12 or day > 31:
        return None
    first = year * DAYS_PER_YEAR + (max(month, 1) - 1) * 31 + max(day, 1) - 1
    return first, first if day else first + (31 if month else DAYS_PER_YEAR) - 1


def _parse_date(match: re.Match[str]) -> DateInterval | None:
    got = match.groupdict()
    era = -1 if got.get("era") else 1
    if got.get("decade"):
        spans = [(int(got["decade"]) * DAYS_PER_YEAR, (int(got["decade"]) + 10) * DAYS_PER_YEAR - 1)]
    elif got.get("century"):
        year = (int(got["century"]) - 1) * 100 if era > 0 else -int(got["century"]) * 100
        spans = [(year * DAYS_PER_YEAR, (year + 101) * DAYS_PER_YEAR - 1)]
    elif got.get("a"):
        a, b = int(got["a"]), int(got["b"])
        readings = sorted({(a, b), (b, a)}) if got["sep"] == "/" else [(a, b)]
        spans = [
            s for day, month in readings if day and month and (s := _day_span(int(got["year"]), month, day))
        ]
    else:
        month = (got.get("month") or "0").lower()
        number = int(month) if month.isdigit() else _MONTHS[month]
        span = _day_span(era * int(got.get("year") or 0), number, int(got.get("day") or 0))
        spans = [span] if span else []
    if not spans:
        return None
    yearless = not (got.get("year") or got.get("decade") or got.get("century"))
    return DateInterval(tuple(spans), yearless, match.start(), match.end(), match.group().strip())
