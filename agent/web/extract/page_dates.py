"""Dates in pages: machine-readable ones as ISO 8601, and short texts beside a post or a headline, absolute in
a few languages, relative ("2 days ago"), or without a year.

An ambiguous date (03/04/2026) is no date. The caller passes the current day; no clock is read. dateparser is
not used here: it takes 1 to 2 ms a text, and a listing has hundreds of short texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from agent.web.patterns import compile_any, read_lists

_LISTS = read_lists("dates")
_MONTH_NUMBERS = {name: n for n, names in enumerate(_LISTS["months"], start=1) for name in names.split()}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTH_NUMBERS, key=len, reverse=True))})\b\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_CLOCK = (
    r"(?:\s*(?:[,·|T–-]|at|um|kl\.?|à|a las)?\s*(?P<hour>[0-2]?\d)[:.](?P<minute>[0-5]\d)(?::[0-5]\d)?"
    r"\s*(?P<half>[ap]\.?m\b\.?)?)?"
)
_DATE_PATTERNS = tuple(
    re.compile(pattern + _CLOCK, re.IGNORECASE)
    for pattern in (
        rf"(?<![\d-]){_YEAR}-(?P<number>[01]\d)-(?P<day>[0-3]\d)(?!\d)",
        rf"(?<![\d/]){_YEAR}/(?P<number>[01]?\d)/(?P<day>[0-3]?\d)(?!\d)",
        rf"\b{_DAY}\s+(?:of\s+|de\s+)?{_MONTH},?\s+(?:de\s+)?{_YEAR}\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+{_YEAR}\b",
        rf"(?<![\d.])(?P<day>[0-3]?\d)\.(?P<number>[01]?\d)\.{_YEAR}(?!\d)",
        rf"(?<![\d/])(?P<first>[0-3]?\d)/(?P<second>[0-3]?\d)/{_YEAR}(?!\d)",
        rf"\b{_DAY}\s+{_MONTH}(?!\w)",
        rf"\b{_MONTH}\s+{_DAY}(?!\w|[:.]\d)",
    )
)
_DAYS_PER_UNIT = {
    unit: int(days) for days, *units in map(str.split, _LISTS["days_per_unit"]) for unit in units
}
_AGO = compile_any(_LISTS["ago"])
_DAY_WORD = re.compile(
    rf"\b(?P<word>{'|'.join((*_LISTS['today'], *_LISTS['yesterday']))})\b{_CLOCK}", re.IGNORECASE
)
_URL_DATE = re.compile(r"/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?=[/-]|$)")


@dataclass(frozen=True)
class DateMatch:
    """A date found in a text: ISO 8601, with the time of day where it is stated, and its place in the
    text."""

    iso: str
    start: int
    end: int


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
    """The first date in a short text, or None. Relative dates and dates without a year count from `today`
    (ISO)."""
    now = date.fromisoformat(today[:10])
    found = [_parse_absolute(match, now) for form in _DATE_PATTERNS for match in form.finditer(text)]
    found += [_parse_ago(match, now) for match in _AGO.finditer(text)]
    found += [_parse_day_word(match, now) for match in _DAY_WORD.finditer(text)]
    return min(filter(None, found), key=lambda match: (match.start, match.start - match.end), default=None)


def find_date_in_url(url: str) -> str:
    """The day in an address ("/2026/11/17/…"), "" for none."""
    match = _URL_DATE.search(url)
    return "-".join(match.groups()) if match else ""


def _parse_absolute(match: re.Match[str], now: date) -> DateMatch | None:
    got = match.groupdict()
    if got.get("first"):
        first, second = int(got["first"]), int(got["second"])
        if first <= 12 and second <= 12 and first != second:
            return None
        day, month = (first, second) if first > 12 or first == second else (second, first)
    else:
        month = int(got["number"]) if got.get("number") else _MONTH_NUMBERS[str(got["month"]).lower()]
        day = int(got["day"])
    try:
        found = date(int(got.get("year") or now.year), month, day)
        if not got.get("year") and found > now:
            found = found.replace(year=now.year - 1)
    except ValueError:
        return None
    return DateMatch(found.isoformat() + _format_clock(match), match.start(), match.end())


def _parse_ago(match: re.Match[str], now: date) -> DateMatch | None:
    count, unit = [value for value in match.groups() if value][:2]
    days = _DAYS_PER_UNIT.get(unit.lower(), _DAYS_PER_UNIT.get(unit.lower().rstrip("s"), 0))
    try:
        day = now - timedelta(days=(int(count) if count.isdigit() else 1) * days)
    except OverflowError:
        return None
    return DateMatch(day.isoformat(), match.start(), match.end())


def _parse_day_word(match: re.Match[str], now: date) -> DateMatch:
    day = now - timedelta(days=match["word"].lower() in _LISTS["yesterday"])
    return DateMatch(day.isoformat() + _format_clock(match), match.start(), match.end())


def _format_clock(match: re.Match[str]) -> str:
    if not match["hour"]:
        return ""
    hour, half = int(match["hour"]), (match["half"] or "").lower()[:1]
    hour = hour % 12 + 12 if half == "p" else 0 if half == "a" and hour == 12 else hour
    return f"T{hour:02d}:{match['minute']}" if hour < 24 else ""
