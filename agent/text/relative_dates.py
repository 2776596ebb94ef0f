"""The time a request asks for: "last week", "since March", "in October", "bis 5. Mai", "sedan 1 maj".

`dateparser` reads the dates of five languages. A range counts from its first day; a month or year alone
counts from its beginning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from agent.text.date_intervals import MONTH_NAMES

LANGUAGES = ("en", "de", "sv", "fr", "es")
_OPENING_WORDS = (
    r"\b(?:since|after|from|in|of|during|over|between|and|to|until|within|(?:(?:no|not) older |newer )?than"
    r"|last|past|previous|this|(?:the )?beginning(?: of)?"
    r"|seit|ab|von|der|den|bis|vom|aus|im|letzte[nrsm]?|sedan|från|under|i|förra|senaste|depuis|de|en|desde"
    r"|del)\s+(?:the\s+)?"
)
_OPENING_BEFORE = re.compile(rf"(?:{_OPENING_WORDS})+$", re.IGNORECASE)
_OPENING_INSIDE = re.compile(
    rf"{_OPENING_WORDS}|yesterday|today|\bago\b|gestern|heute|i ?går|i ?dag|hier|aujourd|ayer|hoy|\bvor\b"
    rf"|\bhace\b",
    re.IGNORECASE,
)
_SINCE = re.compile(r"\b(?:since|after|seit|sedan|depuis|desde)\s", re.IGNORECASE)
_SURNAME_FOLLOWS = re.compile(r"\s+[A-ZÅÄÖÉ]")
_CURRENT_UNIT = re.compile(
    r"\b(?:(?:from|of|in|since)\s+)?this (?P<unit>week|month|quarter|year)\b", re.IGNORECASE
)
_UNTIL = re.compile(
    r"\b(?:until|till|up to|bis(?: zum)?|fram till|jusqu[’']?(?:à|au|en)|hasta)\s+(?:the\s+)?$", re.IGNORECASE
)
"""Words before the last day of a time."""
_TO = re.compile(r"\b(?:to|and|through|und|och|à|au|et|y|al?)\s+(?:the\s+)?$", re.IGNORECASE)
"""Words before the last day, behind a first one."""
_WITHIN = re.compile(r"\b(?:in|of|during|im|i|under|en|de)\s+(?:the\s+)?$", re.IGNORECASE)
"""Words before a month or year that is meant as a whole."""
_MONTH = re.compile(rf"\b(?:{MONTH_NAMES})\b", re.IGNORECASE)
_DAY_NUMBER = re.compile(r"(?<!\d)[0-3]?\d(?!\d)")
_YEAR = re.compile(r"(?<![\d-])[12]\d{3}(?![\d-])")
_MONTHS_AGO = re.compile(r"month|monat|månad|mois|\bmes(?:es)?\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s\b")


def find_days_back(text: str, today: str) -> int | None:
    """How many days before `today` (ISO 8601) a text asks for, at least 1; None when it names no time."""
    now, text = date.fromisoformat(today[:10]), _POSSESSIVE.sub("", text)
    ranges = _find_ranges(text, now)
    days = [(now - begin).days for (start, _), begin in ranges if not _UNTIL.search(text[:start])]
    return max(1, *days) if days else None


def find_last_day(text: str, today: str) -> str:
    """The last day a text asks for, before `today` (both ISO 8601); "" when it asks for all up to today."""
    now, text = date.fromisoformat(today[:10]), _POSSESSIVE.sub("", text)
    ranges = _find_ranges(text, now)
    if not ranges:
        return ""
    (start, end), first = ranges[-1]
    found = _MONTH.search(text, start, end) or _YEAR.search(text, start, end)
    before = text[: found.start()] if found else text[:start]
    is_whole = bool(found) and not _DAY_NUMBER.search(text, start, end)
    opening = re.sub(r"[\d.\s]+$", " ", before)  # the day's number stands between
    is_last = _UNTIL.search(opening) or (len(ranges) > 1 and _TO.search(opening))
    if not (is_last or (is_whole and _WITHIN.search(before))):
        return ""
    last = _end_of_period(first, text[start:end]) if is_whole else first
    return last.isoformat() if last < now else ""


def _end_of_period(first: date, phrase: str) -> date:
    """The last day of the month or year that begins on `first`."""
    if not _MONTH.search(phrase):
        return date(first.year, 12, 31)
    return (first.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def remove_time_range(text: str) -> str:
    """The text without the words that say how far back."""
    text = _POSSESSIVE.sub("", text)
    spans = [span for span, _ in _find_ranges(text, date.today())]
    if not spans:
        return text
    return f"{_OPENING_BEFORE.sub('', text[: spans[0][0]])} {text[spans[-1][1] :]}"


def _find_ranges(text: str, now: date) -> list[tuple[tuple[int, int], date]]:
    """The spans of the text's dates with the first day of each, in the language that reads most of the
    text."""
    if current := _CURRENT_UNIT.search(text):
        return [(current.span(), _begin_of(current["unit"].lower(), now))]
    readings = [list(_read_dates(text, language, now)) for language in LANGUAGES]
    return max(readings, key=lambda found: sum(end - start for (start, end), _ in found))


def _read_dates(text: str, language: str, now: date) -> Iterator[tuple[tuple[int, int], date]]:
    from dateparser import parse  # 0.1 s, needed by few runs
    from dateparser.search import search_dates

    today = datetime(now.year, now.month, now.day)
    settings: dict[str, Any] = {
        "RELATIVE_BASE": today,
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "PREFER_MONTH_OF_YEAR": "first",
    }
    position = 0
    for phrase, moment in search_dates(text, languages=[language], settings=settings) or []:
        start = text.find(phrase, position)
        if start < 0:
            continue
        phrase = phrase.removesuffix(" about")
        position = end = start + len(phrase)
        if _MONTHS_AGO.search(phrase):
            exact = {**settings, "PREFER_DAY_OF_MONTH": "current"}
            moment = parse(phrase, languages=[language], settings=exact) or moment
            moment = today - timedelta(days=30 * round((today - moment).days / 30.44))  # a month has 30 days
        opening = _OPENING_BEFORE.search(text[:start])
        before = opening.group() if opening else ""
        is_surname = _SURNAME_FOLLOWS.match(text, end) and not _SINCE.search(before)
        if (before or _OPENING_INSIDE.search(phrase)) and not is_surname and moment.date() <= now:
            yield (start, end), moment.date()


def _begin_of(unit: str, now: date) -> date:
    if unit == "week":
        return date.fromordinal(now.toordinal() - now.weekday())
    months = {"month": now.month, "quarter": (now.month - 1) // 3 * 3 + 1, "year": 1}
    return now.replace(month=months[unit], day=1)
