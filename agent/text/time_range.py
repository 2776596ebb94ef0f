"""The time a request asks for: "in 2024", "between May and July", "until 3 June", "seit März", "last week".

A stated period (a day, a month, a quarter, a year) counts as a whole, a word before it may open its end or
its beginning; a period without a year is the latest one that has begun. dateparser reads relative times;
months are counted as 30 days."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from importlib import import_module
from typing import Any

LANGUAGES = "en de fr es sv it nl pt da nb fi pl cs ru".split()
"""The languages whose words for dates are read, of the 200 that dateparser has; each costs 4 ms once. Where
two give a word different meanings, the first one counts."""
SEARCHED_LANGUAGES = LANGUAGES[:5]
"""Languages in which relative times of a request are read: a search takes 3 ms a language."""
_MONTHS = "january february march april may june july august september october november december".split()
_SINCE = r"since|seit|ab|sedan|depuis|dès|desde|sinds|vanaf|starting|newer than"
_AFTER = r"after|nach|efter|après|después de|dopo|na"
_UNTIL = r"until|till|up to|no later than|bis(?: zum)?|(?:fram )?till|jusqu['’]?(?:à|au|en)?|hasta|fino a|tot"
_BEFORE = r"before|earlier than|older than|vor|före|innan|avant|antes de|prima di|voor"
_WITHIN = (
    r"in|of|from|during|within|over|im|von|vom|aus|i|från|under|en|de|du|del|d['’]|nel|dal|uit"
    r"|between|zwischen|entre|mellan|tra|tussen"
)
_FILLERS = (
    r"(?:(?:the|year|month|end|beginning|start|last|past|of|der|dem|den|des|monat|jahr(?:e|es)?|anfang|ende|le|la|mois|"
    r"année|début|fin|de|du|l['’]|el|los|año|mes|inicio|finales|år(?:et)?|början|slutet|av)\s*(?<=[\s'’]))*"
)
_OPENING = re.compile(
    rf"(?<!\w)(?:(?P<since>{_SINCE})|(?P<after>{_AFTER})|(?P<until>{_UNTIL})|(?P<before>{_BEFORE})"
    rf"|(?P<within>{_WITHIN}))(?:\s+|(?<=['’])){_FILLERS}$",
    re.IGNORECASE,
)
_JOINT = re.compile(
    rf"\s*(?:[-–—]|\b(?:to|and|through|until|till|und|bis|och|à|au|et|y|a|al|e|en|tot)\b)\s*{_FILLERS}",
    re.IGNORECASE,
)
_JOINT_BEFORE = re.compile(f"(?:{_JOINT.pattern})?\\s*$", re.IGNORECASE)
_WORD = r"(?P<month>[^\W\d_]{3,12})\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d|-\d\d(?!\d)|\.\d)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.|er)?"
_OF = r"(?:(?:of|de|del)\s+)?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<![\w-])(?P<year>(?:19|20)\d\d)-(?P<number>[01]\d)(?:-(?P<day>[0-3]\d))?(?![\d-])",
        rf"(?<![\w.])(?P<day>[0-3]?\d)\.\s?(?P<number>[01]?\d)\.\s?{_YEAR}",
        rf"(?<!\w){_DAY}\s+{_OF}{_WORD},?\s+{_OF}{_YEAR}",
        rf"(?<!\w){_WORD}\s+{_DAY},?\s+{_YEAR}",
        rf"(?<!\w)(?:Q(?P<quarter>[1-4])|(?P<ordinal>first|second|third|fourth|last)\s+quarter)\s+{_OF}{_YEAR}",
        rf"(?<!\w){_WORD},?\s+{_OF}{_YEAR}",
        rf"(?<!\w){_DAY}\s+{_OF}{_WORD}(?!\w)",
        rf"(?<!\w){_WORD}\s+{_DAY}(?!\w)",
        rf"(?<!\w){_YEAR}(?!\w)",
        rf"(?<!\w){_WORD}(?!\w)",
    )
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4}
_BARE_DAY = re.compile(r"(?<!\w)(?P<day>[0-3]?\d)(?:st|nd|rd|th|\.)?$", re.IGNORECASE)
_SURNAME_FOLLOWS = re.compile(r"\s+[A-ZÅÄÖÉ][a-zåäöé]")
_ONWARDS = re.compile(r"\s+(?:on|onwards?|and later)\b", re.IGNORECASE)
_RELATIVE_OPENING = re.compile(
    r"(?:\b(?:since|after|from|in|of|during|over|within|(?:(?:no|not) older |newer )?than|last|past|previous"
    r"|this"
    r"|seit|ab|von|der|den|vom|aus|im|letzte[nrsm]?|sedan|från|under|i|förra|senaste|depuis|de|en|desde|del)"
    r"\s+(?:the\s+)?)+$",
    re.IGNORECASE,
)
_RELATIVE_INSIDE = re.compile(
    r"\b(?:in|since|last|past|previous|this|seit|letzte\w*|sedan|förra|senaste|depuis|desde)\s|yesterday|today|\bago\b"
    r"|gestern|heute|i ?går|i ?dag|\bhier\b|aujourd|\bayer\b|\bhoy\b|\bvor\b|\bhace\b",
    re.IGNORECASE,
)
_CURRENT_UNIT = re.compile(
    r"\b(?:(?:from|of|in|since)\s+)?this (?P<unit>week|month|quarter|year)\b", re.IGNORECASE
)
_MONTHS_AGO = re.compile(r"month|monat|månad|mois|\bmes(?:es)?\b", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s\b")


@dataclass(frozen=True)
class TimeRange:
    """The days a request asks for, both included. `first` is None for no beginning, `last` for today.
    `rest` is the request without the words for the time."""

    first: date | None
    last: date | None
    rest: str


@dataclass(frozen=True)
class _Period:
    start: int
    end: int
    first: date
    last: date
    has_year: bool
    is_bare: bool
    """A month or year alone: it counts only behind a word like "in" or "since"."""


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


def find_time_range(text: str, today: str) -> TimeRange | None:
    """The time a text asks for, counted from `today` (ISO 8601); None when it names none."""
    now, text = date.fromisoformat(today[:10]), _POSSESSIVE.sub("", text)
    return _find_stated(text, now) or _find_relative(text, now)


def _find_stated(text: str, now: date) -> TimeRange | None:
    # The stated periods of a text in order; a longer form wins over what it contains
    found: list[_Period] = []
    taken: list[tuple[int, int]] = []
    for form in _FORMS:
        for match in form.finditer(text):
            name = match.groupdict().get("month")
            if any(match.start() < end and match.end() > start for start, end in taken):
                continue
            if name and name.lower() not in month_numbers():
                continue
            taken.append(match.span())  # an impossible date ("31 February") names no month either
            if period := _read_period(match, now):
                found.append(period)
    periods = sorted(found, key=lambda period: period.start)
    for n, period in enumerate(periods):
        following = periods[n + 1] if n + 1 < len(periods) else None
        joint = _JOINT.fullmatch(text, period.end, following.start) if following else None
        opening = _OPENING.search(text[: period.start])
        start = opening.start() if opening else period.start
        if joint and following and (opening or not (period.is_bare and not period.has_year)):
            begin, end = period.first, following.first
            if not period.has_year:  # the same day of the latest year in which it is not after the other
                year = end.year - ((begin.month, begin.day) > (end.month, end.day))
                begin = begin.replace(year=year, day=min(begin.day, 28) if begin.month == 2 else begin.day)
            earlier, later = sorted(((begin, period.last), (end, following.last)))
            return _make_range(text, start, following.end, earlier[0], later[1], now)
        if _SURNAME_FOLLOWS.match(text, period.end) and not (opening and opening["since"]):
            continue
        if days := _BARE_DAY.search(_JOINT_BEFORE.sub("", text[: period.start])):
            opening = _OPENING.search(text[: days.start()])
            first_day = _latest_day(int(days["day"]), period.first)
            if opening and opening["within"] and period.first == period.last and first_day:
                return _make_range(text, opening.start(), period.end, first_day, period.last, now)
        if opening is None and period.is_bare:
            continue
        kind = opening.lastgroup if opening else "within"
        is_open = kind == "since" or (
            kind == "within" and opening is not None and _ONWARDS.match(text, period.end)
        )
        if (
            kind == "within"
            and opening
            and opening["within"].lower() in ("from", "från", "von", "vom", "de", "du")
        ):
            is_open = is_open or period.first == period.last
        first, last = {
            "after": (period.last + timedelta(days=1), None),
            "until": (None, period.last),
            "before": (None, period.first - timedelta(days=1)),
        }.get(str(kind), (period.first, None if is_open else period.last))
        return _make_range(text, start, period.end, first, last, now)
    return None


def _make_range(
    text: str, start: int, end: int, first: date | None, last: date | None, now: date
) -> TimeRange | None:
    if first and first > now:
        return None
    return TimeRange(first, last if last and last < now else None, f"{text[:start]} {text[end:]}")


def _read_period(match: re.Match[str], now: date) -> _Period | None:
    got = match.groupdict()
    name, quarter = got.get("month"), got.get("quarter") or _ORDINALS.get((got.get("ordinal") or "").lower())
    number = month_numbers()[name.lower()] if name else int(got.get("number") or 0)
    months = 3 if quarter else 1 if number else 12
    month = 3 * int(quarter) - 2 if quarter else number or 1
    year, day = int(got.get("year") or now.year), int(got.get("day") or 0)
    try:
        first = date(year, month, day or 1)
        if not got.get("year") and first > now:
            first = first.replace(year=year - 1)
    except ValueError:
        return None
    last = first if day else _add_months(first, months) - timedelta(days=1)
    is_bare = not day and not quarter and not (number and got.get("year"))
    return _Period(match.start(), match.end(), first, last, bool(got.get("year")), is_bare)


def _add_months(day: date, months: int) -> date:
    years, month = divmod(day.month - 1 + months, 12)
    return date(day.year + years, month + 1, 1)


def _latest_day(number: int, last: date) -> date | None:
    """The latest day with this number that is not after `last`, in its month or the one before ("from 28 to
    3 May"); None where they have no such day."""
    month = last.replace(day=1)
    for begin in (month, (month - timedelta(days=1)).replace(day=1)):
        if 1 <= number <= (_add_months(begin, 1) - begin).days and begin.replace(day=number) <= last:
            return begin.replace(day=number)
    return None


def _find_relative(text: str, now: date) -> TimeRange | None:
    """ "last week", "past three weeks", "since Monday", "gestern": open to today."""
    if current := _CURRENT_UNIT.search(text):
        months = {"month": now.month, "quarter": (now.month - 1) // 3 * 3 + 1, "year": 1}
        month = months.get(current["unit"].lower())
        begin = now.replace(month=month, day=1) if month else now - timedelta(days=now.weekday())
        return TimeRange(begin, None, f"{text[: current.start()]} {text[current.end() :]}")
    readings = [list(_read_dates(text, language, now)) for language in SEARCHED_LANGUAGES]
    best = max(readings, key=lambda found: sum(end - start for start, end, _ in found))
    if not best:
        return None
    opening = _RELATIVE_OPENING.search(text[: best[0][0]])
    start = opening.start() if opening else best[0][0]
    return TimeRange(min(day for _, _, day in best), None, f"{text[:start]} {text[best[-1][1] :]}")


def _read_dates(text: str, language: str, now: date) -> Iterator[tuple[int, int, date]]:
    from dateparser import parse  # 0.1 s, needed by few runs
    from dateparser.search import search_dates

    today = datetime(now.year, now.month, now.day)
    settings: dict[str, Any] = {"RELATIVE_BASE": today, "PREFER_DATES_FROM": "past"}
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
        is_asked = _RELATIVE_OPENING.search(text[:start]) or _RELATIVE_INSIDE.search(phrase)
        if (
            is_asked
            and moment.date() <= now
            and not any(word in month_numbers() for word in phrase.lower().split())
        ):
            yield start, end, moment.date()
