"""Dates as pages write them beside a post or a headline: absolute in a few languages, relative ("2 days
ago"), without a year.

What cannot be told for certain (03/04/2026) is no date. Knows the day it is from whoever asks, never from a
clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

_MONTH_NAMES = (
    "january jan januar januari janvier enero",
    "february feb februar februari février febrero",
    "march mar märz mars marzo",
    "april apr avril abril",
    "may mai maj mayo",
    "june jun juni juin junio",
    "july jul juli juillet julio",
    "august aug augusti août agosto",
    "september sep sept septembre septiembre",
    "october oct oktober okt octobre octubre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre diciembre",
)
_MONTH_NUMBERS = {
    name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()
}
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTH_NUMBERS, key=len, reverse=True))})\b\.?"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)?"
_CLOCK = r"(?:\s*(?:[,·|T–-]|at|um|kl\.?|à|a las)?\s*(?P<hour>[0-2]?\d)[:.](?P<minute>[0-5]\d)(?::[0-5]\d)?\s*(?P<half>[ap]\.?m\b\.?)?)?"
_DATE_PATTERNS = tuple(
    re.compile(pattern + _CLOCK, re.IGNORECASE)
    for pattern in (
        r"(?<![\d-])(?P<year>(?:19|20)\d\d)-(?P<number>[01]\d)-(?P<day>[0-3]\d)(?!\d)",
        r"(?<![\d/])(?P<year>(?:19|20)\d\d)/(?P<number>[01]?\d)/(?P<day>[0-3]?\d)(?!\d)",
        rf"\b{_DAY}\s+(?:of\s+|de\s+)?{_MONTH},?\s+(?:de\s+)?(?P<year>(?:19|20)\d\d)\b",
        rf"\b{_MONTH}\s+{_DAY},?\s+(?P<year>(?:19|20)\d\d)\b",
        r"(?<![\d.])(?P<day>[0-3]?\d)\.(?P<number>[01]?\d)\.(?P<year>(?:19|20)\d\d)(?!\d)",
        r"(?<![\d/])(?P<first>[0-3]?\d)/(?P<second>[0-3]?\d)/(?P<year>(?:19|20)\d\d)(?!\d)",
        rf"\b{_DAY}\s+{_MONTH}(?!\w)",
        rf"\b{_MONTH}\s+{_DAY}(?!\w|[:.]\d)",
    )
)
_DAYS_PER_UNIT = {
    "second": 0,
    "sec": 0,
    "minute": 0,
    "min": 0,
    "hour": 0,
    "hr": 0,
    "h": 0,
    "stunde": 0,
    "timm": 0,
    "heure": 0,
    "hora": 0,
    "day": 1,
    "d": 1,
    "tag": 1,
    "dag": 1,
    "jour": 1,
    "día": 1,
    "week": 7,
    "w": 7,
    "woche": 7,
    "veck": 7,
    "semaine": 7,
    "semana": 7,
    "month": 30,
    "mo": 30,
    "monat": 30,
    "månad": 30,
    "mois": 30,
    "mes": 30,
    "year": 365,
    "y": 365,
    "jahr": 365,
    "år": 365,
}
_AGO_PATTERN = re.compile(
    r"\b(?P<count>\d{1,3}|an?|one)\s*(?P<unit>seconds?|secs?|minutes?|mins?|hours?|hrs?|h|days?|d|weeks?|w|months?|mo|years?|y)\s+ago\b"
    r"|\bvor\s+(?P<count2>\d{1,3}|eine[rmn]?)\s+(?P<unit2>Minute|Stunde|Tag|Woche|Monat|Jahr)\w*"
    r"|\bför\s+(?P<count3>\d{1,3}|en|ett)\s+(?P<unit3>minut|timm|dag|veck|månad|år)\w*\s+sedan"
    r"|\bil y a\s+(?P<count4>\d{1,3}|une?)\s+(?P<unit4>minute|heure|jour|semaine|mois)s?"
    r"|\bhace\s+(?P<count5>\d{1,3}|una?)\s+(?P<unit5>minuto|hora|día|semana|mes)(?:e?s)?",
    re.IGNORECASE,
)
_DAY_WORD_PATTERN = re.compile(
    rf"\b(?P<word>just now|today|yesterday|heute|gestern|idag|igår|aujourd'hui|hier|hoy|ayer)\b{_CLOCK}",
    re.IGNORECASE,
)
_YESTERDAY_WORDS = {"yesterday", "gestern", "igår", "hier", "ayer"}
_URL_DATE = re.compile(r"/((?:19|20)\d\d)[/-](0[1-9]|1[0-2])[/-](0[1-9]|[12]\d|3[01])(?=[/-]|$)")


@dataclass(frozen=True)
class DateMatch:
    """A date found in a text: as ISO 8601 (with the time of day when it is told), and where it stands."""

    iso: str
    start: int
    end: int


def find_date(text: str, today: str) -> DateMatch | None:
    """The first date in a short text, or None. `today` is an ISO day: what relative dates and dates without a
    year count from."""
    now = date.fromisoformat(today[:10])
    found = [
        moment
        for form in _DATE_PATTERNS
        for match in form.finditer(text)
        if (moment := _parse_absolute(match, now))
    ]
    found += [moment for match in _AGO_PATTERN.finditer(text) if (moment := _parse_ago(match, now))]
    found += [_parse_day_word(match, now) for match in _DAY_WORD_PATTERN.finditer(text)]
    return min(found, key=lambda moment: (moment.start, moment.start - moment.end), default=None)


def find_date_in_url(url: str) -> str:
    """The day an address carries ("/2026/11/17/…"), "" for none."""
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
    got = [value for value in match.groups() if value]
    count = int(got[0]) if got[0].isdigit() else 1
    unit = got[1].lower()
    days = _DAYS_PER_UNIT.get(unit, _DAYS_PER_UNIT.get(unit.rstrip("s"), 0))
    try:
        return DateMatch((now - timedelta(days=count * days)).isoformat(), match.start(), match.end())
    except OverflowError:
        return None


def _parse_day_word(match: re.Match[str], now: date) -> DateMatch:
    day = now - timedelta(days=1) if match["word"].lower() in _YESTERDAY_WORDS else now
    return DateMatch(day.isoformat() + _format_clock(match), match.start(), match.end())


def _format_clock(match: re.Match[str]) -> str:
    if not match["hour"]:
        return ""
    hour, half = int(match["hour"]), (match["half"] or "").lower()[:1]
    hour = hour % 12 + 12 if half == "p" else 0 if half == "a" and hour == 12 else hour
    return f"T{hour:02d}:{match['minute']}" if hour < 24 else ""
