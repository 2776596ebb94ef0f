"""Dates and clock times of a text, in many languages; the names of months come from dateparser's tables.

`find_dates` gives every date with its precision (a day, a month, a year, a decade, a century): two are
compatible when neither excludes the other, "1987" with "3 May 1987" and with "the 1980s". `find_date` gives
the first day of a short text beside a post or a headline as ISO 8601, relative ("2 days ago") or without a
year, too; no clock is read, the caller passes the current day. (dateparser itself takes 1 to 2 ms a text, and
a listing has hundreds.)"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import import_module
from typing import Any

from agent.text.quantities import find_quantities

LANGUAGES = "en de fr es sv it nl pt da nb fi pl cs ru".split()
"""The languages whose words for dates are read, of the 200 that dateparser has; each costs 4 ms once. Where
two give a word different meanings, the first one counts."""
_MONTHS = "january february march april may june july august september october november december".split()
_ENGLISH_WORDS = frozenset({"set", "out", "ago", "led", "dub", "lip"})
"""Months of other languages that are English words: they count beside a year only."""
_DAYS_PER_UNIT = {"second": 0, "minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}

_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.|º|er)?"
_MONTH = r"(?P<month>[^\W\d_]{3,12})"
_YEAR = r"(?P<year>[12]\d{3})(?!\d|[.,]\d)(?P<era>\s?(?:BCE?|b\.c\.))?"
_OF = r"(?:(?:of|de|del)\s+|d['’]\s*)?"
_CLOCK_END = r"(?P<hour>[0-2]?\d)[:.](?P<minute>[0-5]\d)(?::[0-5]\d)?\s*(?P<half>[ap]\.?m\b\.?)?"
_YEARLESS = (
    rf"(?<![\w.-]){_DAY}\s+{_OF}{_MONTH}(?!\w)",
    rf"\b{_MONTH}\.?\s+{_DAY}(?!\w|[:.]\d)(?!,?\s?\d{{3}})",
)
_DAY_FORMS = (
    r"(?<![\d/.-])(?P<year>[12]\d{3})(?P<sep>[-/.])(?P<number>[01]?\d)(?P=sep)(?P<day>[0-3]?\d)(?!\d)",
    r"(?P<year>[12]\d{3})\s?年\s?(?P<number>[01]?\d)\s?月\s?(?P<day>[0-3]?\d)\s?日",
    rf"(?<![\w.-]){_DAY}[\s-]+{_OF}{_MONTH}\.?,?[\s-]+{_OF}{_YEAR}",
    rf"\b{_MONTH}\.?\s+{_DAY},?\s+{_YEAR}",
    rf"\b{_MONTH}\.?\s+{_DAY}\s+(?P<hour>[0-2]\d):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?P<half>)"
    rf"(?:\s+[A-Z]{{3,4}}|\s+[+-]\d{{4}})?\s+{_YEAR}",
    r"(?<![\d.])(?P<day>[0-3]?\d)\.\s?(?P<number>[01]?\d)\.\s?(?P<year>[12]\d{3})(?!\d)",
    r"(?<![\d/-])(?P<first>[0-3]?\d)(?P<sep>[/-])(?P<second>[0-3]?\d)(?P=sep)(?P<year>[12]\d{3})(?!\d)",
)
_SPAN_FORMS = (
    rf"\b{_MONTH}\.?,?\s+{_OF}(?P<year>[12]\d{{3}})(?!\d)",
    r"\b(?P<year>[1-9]\d{0,3})\s?(?P<era>BCE?\b|b\.c\.)",
    r"\b(?P<decade>[12]\d{2}0)['’]?s\b",
    r"\b(?P<century>[12]?\d)(?:st|nd|rd|th)[\s-]century\b(?P<era>\s?BCE?)?",
)
_DAYS, _MONTHS_OF_YEARS, _SPANS = (
    [re.compile(form, re.IGNORECASE) for form in forms]
    for forms in (
        (*_DAY_FORMS, *_YEARLESS),
        (_SPAN_FORMS[0], r"(?<![\d/.-])(?P<year>[12]\d{3})-(?P<number>[01]\d)(?![\d-])"),
        (*_DAY_FORMS, *_SPAN_FORMS, *_YEARLESS),
    )
)
_CLOCK_BEHIND = re.compile(rf"\.?\s*(?:[,·|T–-]|at|um|kl\.?|à|a las)?\s*{_CLOCK_END}", re.IGNORECASE)
_BARE_YEAR = re.compile(
    r"(?<![\d.,$€£¥/\w-])(?P<year>[12]\d{3})(?:[-–/](?P<to>\d{2}|[12]\d{3}))?(?![\d\w%°]|[.,]\d|\s?(?:BCE?"
    r"|%|°))"
)
_YEAR_LEAD_IN = re.compile(
    r"(?:\b(?:in|since|from|until|till|by|to|and|during|before|after|around|about|circa|c|ca|early|late|mid"
    r"|year|born|of|for|the|an?|&)\.?|[(–;,*†-])\s*$",
    re.IGNORECASE,
)
_COUNTED_NOUN = re.compile(
    r"\s?(?!(?:and|or|in|at|by|to|the|a|an|was|is|were|as|on|for|with|from|when|until|but|it|he|she|they"
    r"|that|which|who|after|before|of|under|during|census)\b)[a-z]+"
)
_NUMERIC_DATE = re.compile(r"(?<![\d/-])([0-3]?\d)([/-])([0-3]?\d)\2(?:19|20)\d\d(?!\d)")
_DATE_IN_URL = re.compile(r"/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?=[/-]|$)")


@cache
def read_calendar_words() -> list[dict[str, Any]]:
    """What dateparser knows of each language."""
    return [import_module(f"dateparser.data.date_translation_data.{name}").info for name in LANGUAGES]


@cache
def month_numbers() -> dict[str, int]:
    """The number of each month by its names and abbreviations, in lower case and without a full stop."""
    found: dict[str, int] = {}
    for table in read_calendar_words():
        for n, month in enumerate(_MONTHS, start=1):
            for name in table.get(month, ()):
                found.setdefault(name.lower().rstrip("."), n)
    return found


def _read_months(match: re.Match[str], *, is_yearless: bool) -> list[tuple[int, int]]:
    """Month and day that a match can mean, 0 for a part that it has not; the day first where it may be."""
    got = match.groupdict()
    if got.get("first"):
        one, two = int(got["first"]), int(got["second"])
        return [(m, d) for m, d in dict.fromkeys(((two, one), (one, two))) if 1 <= m <= 12 and d]
    name = (got.get("month") or "").lower()
    month = int(got["number"]) if got.get("number") else month_numbers().get(name, 0)
    is_date = 1 <= month <= 12 and not (is_yearless and name in _ENGLISH_WORDS)
    return [(month, int(got.get("day") or 0))] if is_date else []


# Dates with their precision


@dataclass(frozen=True)
class DateInterval:
    """A span of days. `spans` has the first and last day (as running numbers) of each possible reading."""

    spans: tuple[tuple[int, int], ...]
    is_yearless: bool
    start: int
    end: int
    text: str


DAYS_PER_YEAR = 372
"""Days of a year of twelve months of 31, so that a running number needs no calendar."""


def find_dates(text: str) -> list[DateInterval]:
    """The dates of a text in order."""
    found: list[DateInterval] = []
    left = text
    for form in _SPANS:
        read = (_read_interval(match) for match in form.finditer(left))
        found += filter(None, read)
        left = blank_spans(left, found)
    for match in _BARE_YEAR.finditer(left):  # or both ends of "1939–45"
        noun = _COUNTED_NOUN.match(left, match.end())
        if noun and not _YEAR_LEAD_IN.search(left[: match.start()][-12:]):
            continue  # "1200 people" are counted; "in 1928 films were silent" and "a 1928 film" are dated
        if noun and any(n.is_measured for n in find_quantities(left[match.start() : noun.end()])):
            continue  # "about 1200 metres" is no year
        first = int(match["year"])
        last = int(match["to"] or first)
        last += first - first % 100 if last < 100 else 0
        if last >= first:
            for name, year in (("year", first), ("to", last)):
                if match[name]:
                    found.append(DateInterval((_day_span(year),), False, *match.span(name), match[name]))
    return sorted(found, key=lambda one: one.start)


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


def blank_spans(text: str, found: Iterable[Any]) -> str:
    """The text with these things, which have a `start` and an `end`, overwritten by spaces, offsets
    unchanged."""
    for one in found:
        text = text[: one.start] + " " * (one.end - one.start) + text[one.end :]
    return text


def _day_span(year: int, month: int = 0, day: int = 0) -> tuple[int, int]:
    first = year * DAYS_PER_YEAR + (max(month, 1) - 1) * 31 + max(day, 1) - 1
    return first, first if day else first + (31 if month else DAYS_PER_YEAR) - 1


def _read_interval(match: re.Match[str]) -> DateInterval | None:
    got = match.groupdict()
    years = next((int(got[name]) for name in ("year", "decade", "century") if got.get(name)), 0)
    is_ancient, spans = bool(got.get("era")), list[tuple[int, int]]()
    if got.get("decade"):
        spans = [(_day_span(years)[0], _day_span(years + 9)[1])]
    elif got.get("century"):
        first = -years * 100 if is_ancient else (years - 1) * 100
        spans = [(_day_span(first)[0], _day_span(first + 100)[1])]
    elif not {"month", "number", "first"} & got.keys():
        spans = [_day_span(-years if is_ancient else years)]
    elif years or len(got["month"]) > 3 or got["month"] in ("May", "may"):
        months = _read_months(match, is_yearless=not years)
        spans = sorted(_day_span(-years if is_ancient else years, *each) for each in months if each[1] <= 31)
    if not spans or (not years and got["month"].lower() == "mars"):
        return None
    return DateInterval(tuple(spans), not years, *match.span(), match.group().strip())


# The first day of a short text


@dataclass(frozen=True)
class DateMatch:
    """A date found in a text: ISO 8601, with its time of day if stated, and its place in the text."""

    iso: str
    start: int
    end: int
    has_year: bool = True


class ReadingDay(str):
    """The day a page is read (ISO 8601), with the order of day and month in the page's numeric dates."""

    day_first: bool | None = None
    """None: 03/04/2026 is no date."""

    @classmethod
    def of_page(cls, today: str, text: str, language: str) -> ReadingDay:
        """The order that unambiguous dates of the text settle, else that of its language: all but English
        write the day first (CLDR)."""
        pairs = [(int(one), int(two)) for one, _, two in _NUMERIC_DATE.findall(text)]
        day_first = any(one > 12 >= two for one, two in pairs)
        month_first = any(two > 12 >= one for one, two in pairs)
        day = cls(today)
        if day_first != month_first:
            day.day_first = day_first
        elif not day_first and language[:2] in LANGUAGES[1:]:
            day.day_first = True
        return day


def find_date(text: str, today: str) -> DateMatch | None:
    """The first date in a short text, or None. Relative and yearless dates count from `today` (ISO)."""
    now, day_first = date.fromisoformat(today[:10]), getattr(today, "day_first", None)
    found: list[DateMatch | None] = []
    if any(map(str.isdigit, text)):
        found = [_read_day(match, now, day_first) for form in _DAYS for match in form.finditer(text)]
    if not any(found):
        found = [*_find_relative(text, now)]
    return min(filter(None, found), key=lambda match: (match.start, match.start - match.end), default=None)


def find_month(text: str) -> DateMatch | None:
    """The first month with its year in a text ("May 2024", "2024-05"), as "2024-05"; None for none."""
    for match in (match for pattern in _MONTHS_OF_YEARS for match in pattern.finditer(text)):
        for month, _ in _read_months(match, is_yearless=False):
            return DateMatch(f"{match['year']}-{month:02d}", *match.span())
    return None


def find_date_in_url(url: str) -> str:
    """The day in an address ("/2026/11/17/…"), "" for none."""
    match = _DATE_IN_URL.search(url)
    return "-".join(match.groups()) if match else ""


def normalize_date(value: str) -> str:
    """A machine-readable date as ISO 8601: a day, or a moment in UTC; "" when it is not a full date. Years
    and months alone stay as they are."""
    value = value.strip()
    if re.fullmatch(r"\d{4}(-\d{2})?", value):
        return value
    if not re.search(r"\d{4}", value) or len(value) > 60:
        return ""
    from dateutil.parser import parse  # imported here: it compiles its time zones

    try:
        parsed, other = (parse(value, default=day) for day in (datetime(2000, 1, 1), datetime(2004, 2, 2)))
        if parsed.replace(tzinfo=None) != other.replace(tzinfo=None):  # a part of it was filled in
            return ""
        if parsed.tzinfo and ":" in value:
            return parsed.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return parsed.date().isoformat()
    except (ValueError, OverflowError):
        return ""


def _read_day(match: re.Match[str], now: date, day_first: bool | None) -> DateMatch | None:
    got = match.groupdict()
    months = _read_months(match, is_yearless=not got.get("year"))
    months = [months[0 if day_first else -1]] if day_first is not None and months else months
    if len(months) != 1 or got.get("era"):
        return None
    try:
        found = date(int(got.get("year") or now.year), *months[0])
        if not got.get("year") and found > now:
            found = found.replace(year=now.year - 1)
    except ValueError:
        return None
    clock, end = _read_clock(match)
    return DateMatch(found.isoformat() + clock, match.start(), end, has_year=bool(got.get("year")))


def _read_clock(match: re.Match[str]) -> tuple[str, int]:
    """The time of day in a date or behind it ("" for none), and where both end."""
    clock = match if match.groupdict().get("hour") else _CLOCK_BEHIND.match(match.string, match.end())
    if clock is None:
        return "", match.end()
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()[:1]
    hour = hour % 12 + 12 if half == "p" else 0 if half == "a" and hour == 12 else hour
    return f"T{hour:02d}:{clock['minute']}" if hour < 24 else "", clock.end()


@cache
def _read_relative_words() -> tuple[re.Pattern[str], re.Pattern[str], list[tuple[str, re.Pattern[str], int]]]:
    """Patterns of the words for today (group 1) and yesterday (group 2), and of a number or the words for
    one; then words before a number, a pattern of what follows, the days of the unit: "vor", "Tagen", 1."""
    tables = read_calendar_words()
    words = [
        [w for t in tables for w in t["relative-type"].get(f"{n} day ago", ()) if len(w) > 3] for n in (0, 1)
    ]
    either = "|".join(f"({'|'.join(map(re.escape, group))})" for group in words)
    pairs = [pair for t in tables for entry in t.get("simplifications", ()) for pair in entry.items()]
    ones = "|".join(word for word, number in pairs if number == "1" and word.isalpha())
    found: dict[str, dict[int, set[str]]] = {}
    for table in tables:
        for unit, days in _DAYS_PER_UNIT.items():
            for form in table["relative-type-regex"].get(rf"\1 {unit} ago", ()):
                before, _, after = re.sub(r"\(\\d[^)]*\)", "#", form).partition("#")
                if len(before) > 1 or " " in after.strip():
                    found.setdefault(before.strip(), {}).setdefault(days, set()).add(after.strip())
    forms = [
        (before, re.compile(rf"\s?(?:{'|'.join(map(re.escape, sorted(after)))})(?!\w)", re.IGNORECASE), days)
        for before, units in found.items()
        for days, after in units.items()
    ]
    count = re.compile(rf"(?<![\w.,:])(?:(\d{{1,3}})(?!\d)|(?:{ones})\b)", re.IGNORECASE)
    return re.compile(rf"\b(?:{either})\b", re.IGNORECASE), count, forms


def _find_relative(text: str, now: date) -> Iterator[DateMatch]:
    """ "3 days ago", "yesterday, 10:02" and the like, in any of the languages."""
    day_words, counts, forms = _read_relative_words()
    for match in day_words.finditer(text):
        clock, end = _read_clock(match)
        day = now - timedelta(days=match[2] is not None)
        yield DateMatch(day.isoformat() + clock, match.start(), end)
    for match in counts.finditer(text):
        before = text[: match.start()].rstrip().lower()
        for words, follows, days in forms:
            if before.endswith(words) and (unit := follows.match(text, match.end())):
                day = now - timedelta(days=int(match[1] or 1) * days)
                yield DateMatch(day.isoformat(), len(before) - len(words), unit.end())
