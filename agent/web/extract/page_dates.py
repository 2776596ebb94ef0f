"""Dates in pages: machine-readable ones as ISO 8601, and short texts beside a post or a headline, absolute in
many languages, relative ("2 days ago"), or without a year.

An ambiguous date (03/04/2026) is no date. The caller passes the current day; no clock is read. The words
come from dateparser's tables; dateparser itself takes 1 to 2 ms a text, and a listing has hundreds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from importlib import import_module
from typing import Any

LANGUAGES = "en de fr es sv it nl pt da nb fi pl cs ru".split()
"""The languages whose words for dates are read, of the 200 that dateparser has; each costs 4 ms once. Where
two give a word different meanings, the first one counts."""
_MONTHS = "january february march april may june july august september october november december".split()
_ENGLISH_WORDS = frozenset({"set", "out", "ago", "led", "dub", "lip"})
"""Months of other languages that are English words: they count beside a year only."""
_DAYS_PER_UNIT = {"second": 0, "minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.|º|er)?"
_MONTH = r"(?P<month>[^\W\d_]{3,12})"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_OF = r"(?:(?:of|de|del)\s+|d['’]\s*)?"
_CLOCK = (
    r"(?:\s*(?:[,·|T–-]|at|um|kl\.?|à|a las)?\s*(?P<hour>[0-2]?\d)[:.](?P<minute>[0-5]\d)(?::[0-5]\d)?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?)?"
)
_DATE_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<![\d/.-]){_YEAR}(?P<sep>[-/.])(?P<number>[01]?\d)(?P=sep)(?P<day>[0-3]?\d)(?!\d){_CLOCK}",
        rf"{_YEAR}\s?年\s?(?P<number>[01]?\d)\s?月\s?(?P<day>[0-3]?\d)\s?日{_CLOCK}",
        rf"(?<![\w.-]){_DAY}[\s-]+{_OF}{_MONTH}\.?,?[\s-]+{_OF}{_YEAR}\b{_CLOCK}",
        rf"\b{_MONTH}\.?\s+{_DAY},?\s+{_YEAR}\b{_CLOCK}",
        rf"\b{_MONTH}\.?\s+{_DAY}\s+(?P<hour>[0-2]\d):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?P<half>)"
        rf"(?:\s+[A-Z]{{3,4}}|\s+[+-]\d{{4}})?\s+{_YEAR}\b",
        rf"(?<![\d.])(?P<day>[0-3]?\d)\.\s?(?P<number>[01]?\d)\.\s?{_YEAR}(?!\d){_CLOCK}",
        rf"(?<![\d/-])(?P<first>[0-3]?\d)(?P<sep>[/-])(?P<second>[0-3]?\d)(?P=sep){_YEAR}(?!\d){_CLOCK}",
        rf"(?<![\w.-]){_DAY}\s+{_OF}{_MONTH}\.?(?!\w){_CLOCK}",
        rf"\b{_MONTH}\.?\s+{_DAY}(?!\w|[:.]\d){_CLOCK}",
    )
)
_MONTH_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\w){_MONTH}\.?,?\s+{_OF}{_YEAR}\b",
        rf"(?<![\d/.-]){_YEAR}-(?P<number>[01]\d)(?![\d-])",
    )
)
_NUMERIC_DATE = re.compile(r"(?<![\d/-])([0-3]?\d)([/-])([0-3]?\d)\2(?:19|20)\d\d(?!\d)")
_URL_DATE = re.compile(r"/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?=[/-]|$)")


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
        if parsed.tzinfo and re.search(r"\d:\d", value):
            return parsed.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return parsed.date().isoformat()
    except (ValueError, OverflowError):
        return ""


def find_date(text: str, today: str) -> DateMatch | None:
    """The first date in a short text, or None. Relative and yearless dates count from `today` (ISO)."""
    now, day_first = date.fromisoformat(today[:10]), getattr(today, "day_first", None)
    found: list[DateMatch | None] = []
    if any(map(str.isdigit, text)):
        found = [
            _parse_absolute(match, now, day_first) for form in _DATE_PATTERNS for match in form.finditer(text)
        ]
    if not any(found):
        found = [*_find_relative(text, now)]
    return min(filter(None, found), key=lambda match: (match.start, match.start - match.end), default=None)


def find_month(text: str) -> DateMatch | None:
    """The first month with its year in a text ("May 2024", "2024-05"), as "2024-05"; None for none."""
    for match in (match for pattern in _MONTH_PATTERNS for match in pattern.finditer(text)):
        got = match.groupdict()
        month = int(got.get("number") or month_numbers().get((got.get("month") or "").lower(), 0))
        if 1 <= month <= 12:
            return DateMatch(f"{got['year']}-{month:02d}", match.start(), match.end())
    return None


def find_date_in_url(url: str) -> str:
    """The day in an address ("/2026/11/17/…"), "" for none."""
    match = _URL_DATE.search(url)
    return "-".join(match.groups()) if match else ""


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
    return re.compile(rf"\b(?:{either})\b{_CLOCK}", re.IGNORECASE), count, forms


def _find_relative(text: str, now: date) -> Iterator[DateMatch]:
    """ "3 days ago", "yesterday, 10:02" and the like, in any of the languages."""
    day_words, counts, forms = _read_relative_words()
    for match in day_words.finditer(text):
        day = now - timedelta(days=match[2] is not None)
        yield DateMatch(day.isoformat() + _format_clock(match), match.start(), match.end())
    for match in counts.finditer(text):
        before = text[: match.start()].rstrip().lower()
        for words, follows, days in forms:
            if before.endswith(words) and (unit := follows.match(text, match.end())):
                day = now - timedelta(days=int(match[1] or 1) * days)
                yield DateMatch(day.isoformat(), len(before) - len(words), unit.end())


def _parse_absolute(match: re.Match[str], now: date, day_first: bool | None) -> DateMatch | None:
    got = match.groupdict()
    if got.get("first"):
        first, second = int(got["first"]), int(got["second"])
        if first <= 12 and second <= 12 and first != second and day_first is None:
            return None
        is_day = first > 12 or (second <= 12 and bool(day_first))
        day, month = (first, second) if is_day else (second, first)
    else:
        name = (got.get("month") or "").lower()
        if name in _ENGLISH_WORDS and not got.get("year"):
            return None
        month = int(got["number"]) if got.get("number") else month_numbers().get(name, 0)
        day = int(got["day"])
    try:
        found = date(int(got.get("year") or now.year), month, day)
        if not got.get("year") and found > now:
            found = found.replace(year=now.year - 1)
    except ValueError:
        return None
    iso = found.isoformat() + _format_clock(match)
    return DateMatch(iso, match.start(), match.end(), has_year=bool(got.get("year")))


def _format_clock(match: re.Match[str]) -> str:
    if not match["hour"]:
        return ""
    hour, half = int(match["hour"]), (match["half"] or "").lower()[:1]
    hour = hour % 12 + 12 if half == "p" else 0 if half == "a" and hour == 12 else hour
    return f"T{hour:02d}:{match['minute']}" if hour < 24 else ""
