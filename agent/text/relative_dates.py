"""How far back somebody asks: "last week", "since March", "der letzten drei Monate", "sedan 1 maj". Knows
words and the day it is told.

A range with two ends counts from its first day on; a month or year named alone counts from its beginning."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

_FEW = {
    word: n
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "eine/ein/einen zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "en/ett två tre fyra fem sex sju åtta nio tio elva tolv",
        "un/une deux trois quatre cinq six sept huit neuf dix onze douze",
        "un/una dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for n, spelled in enumerate(words.split(), start=1)
    for word in spelled.split("/")
} | {"a": 1, "an": 1, "couple of": 2, "few": 3}
_LENGTHS = (
    ("hour", 1 / 24),
    ("stund", 1 / 24),
    ("timm", 1 / 24),
    ("heure", 1 / 24),
    ("hora", 1 / 24),
    ("day", 1),
    ("tag", 1),
    ("dag", 1),
    ("dygn", 1),
    ("jour", 1),
    ("día", 1),
    ("fortnight", 14),
    ("week", 7),
    ("woche", 7),
    ("veck", 7),
    ("semaine", 7),
    ("semana", 7),
    ("month", 30),
    ("monat", 30),
    ("månad", 30),
    ("mois", 30),
    ("mes", 30),
    ("quart", 90),
    ("kvart", 90),
    ("trimest", 90),
    ("year", 365),
    ("jahr", 365),
    ("år", 365),
    ("an", 365),
    ("año", 365),
)
_N = rf"(?:(?P<count>\d{{1,3}}|{'|'.join(sorted(_FEW, key=len, reverse=True))})\s+)?"
_LAST = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:(?:in|from|of|over|during|within|for|since)\s+)?(?:the\s+)?(?:last|past|previous|recent)\s+"
        + _N
        + r"(?P<unit>hour|day|week|fortnight|month|quarter|year)s?(?:['’]s?)?(?![\w-])",
        r"\b(?:(?:no|not)\s+older|newer|younger)\s+than\s+"
        + _N
        + r"(?P<unit>hour|day|week|fortnight|month|quarter|year)s?\b",
        r"\b(?:(?:in|aus|von|seit|während)\s+)?(?:(?:der|den|dem|des|die)\s+)?(?:letzt|vergangen|vorig)e[nrsm]?\s+"
        + _N
        + r"(?P<unit>stunde|tag|woche|monat|quartal|jahr)\w{0,2}\b",
        r"\b(?:(?:i|från|under|sedan)\s+)?(?:(?:den|det|de)\s+)?(?:förra|senaste|gångna|sista)\s+"
        + _N
        + r"(?P<unit>timm|dag|dygn|veck|månad|kvartal|år)(?:a|an|ar|arna|en|er|erna|et|na|or|orna)?\b",
        r"\b(?:(?:de|depuis|pendant)\s+)?(?:(?:ces|les|des)\s+)?" + _N + r"derni(?:er|ère)s?\s+"
        r"(?P<unit>heure|jour|semaine|mois|trimestre|an)(?:s|nées?)?\b",
        r"\b(?:de\s+)?(?:la\s+|le\s+|l['’])(?P<unit>semaine|mois|an)(?:née)?\s+(?:derni(?:er|ère)|passée?)\b",
        r"\b(?:(?:de|en|desde)\s+)?(?:l[oa]s\s+)?últim[oa]s?\s+"
        + _N
        + r"(?P<unit>hora|día|semana|mes|trimestre|año)(?:e?s)?\b",
        r"\b(?:(?:de|desde)\s+)?(?:la|el|del)\s+(?P<unit>semana|mes|año)\s+pasad[oa]\b",
    )
)
_THIS = re.compile(
    r"\b(?:(?:from|of|since|von|aus|från|sedan|de|depuis|desde)\s+)?(?:"
    r"(?P<today>today|heute|i ?dag|aujourd['’]hui|hoy)|(?P<yesterday>yesterday|gestern|i ?går|hier|ayer)"
    r"|(?P<week>(?:this|dieser?|denna|den här|cette|esta) (?:week|woche|vecka|veckan|semaine|semana))"
    r"|(?P<month>(?:this|diese[nmrs]?|denna|den här|ce|este) (?:month|monats?|månad|månaden|mois|mes))|(?P<quarter>this quarter)"
    r"|(?P<year>(?:this|diese[nmrs]?|detta|det här|cette|este) (?:year|jahre?s?|år|året|année|año)))(?:['’]s?)?(?![\w-])",
    re.IGNORECASE,
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True)
class _Tongue:
    """A language's months, the words that open a range ("since"), and those that open one only before a month
    ("in")."""

    months: str
    since: str
    within: str
    until: str
    edge: str = ""
    """What may stand before a month or year: "the beginning of", "early"."""


_TONGUES = (
    _Tongue(
        "january/jan february/feb march/mar april/apr may june/jun july/jul august/aug september/sept/sep october/oct november/nov december/dec",
        "since|after|starting(?: from| in)?|as of|between|from",
        "in|of|during",
        "and|to|until|till",
        r"(?:the\s+)?(?:beginning|start|middle|end)\s+of\s+|early\s+|mid-?\s?|late\s+|last\s+",
    ),
    _Tongue(
        "januar/jänner februar märz april mai juni juli august september oktober november dezember",
        "seit|ab|nach|zwischen|von",
        "im|vom|aus",
        "und|bis",
        r"(?:dem\s+)?(?:anfang|mitte|ende)\s+|(?:dem\s+)?(?:letzten\s+)?",
    ),
    _Tongue(
        "januari februari mars april maj juni juli augusti september oktober november december",
        "sedan|från och med|efter|mellan",
        "i|från",
        "och|till",
        r"(?:början|mitten|slutet)\s+av\s+|förra\s+",
    ),
    _Tongue(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "depuis|après|entre|dès",
        "en|de|du",
        "et|au|jusqu['’]en",
        r"(?:le\s+)?(?:début|mi-|fin)\s*|le\s+",
    ),
    _Tongue(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "desde|después de|entre",
        "en|de",
        "y|a|hasta",
        r"(?:principios|mediados|finales)\s+de\s+|el\s+",
    ),
)
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:[12]\d|3[01]|0?[1-9])"


def _opened(tongue: _Tongue) -> tuple[re.Pattern[str], dict[str, int]]:
    """A language's pattern for "since …", and its months."""
    months = {name: n for n, names in enumerate(tongue.months.split(), start=1) for name in names.split("/")}
    names = "|".join(sorted(months, key=len, reverse=True))
    day = rf"{_DAY}(?:st|nd|rd|th|\.|er)?"
    of = r"(?:(?:of|de|del)\s+)?"
    written = rf"(?:{day}\s+{of})?(?:{names})\b\.?(?:\s+{day}(?!\d|[:.]\d))?(?:,?\s+{of}{_YEAR})?|{_YEAR}-[01]\d-[0-3]\d|{_YEAR}"
    first = (
        rf"(?P<iso>{_YEAR}-[01]\d-[0-3]\d)"
        rf"|(?:(?P<day>{_DAY})(?:st|nd|rd|th|\.|er)?\s+{of})?(?P<month>{names})\b\.?(?:\s+(?P<day2>{_DAY})(?:st|nd|rd|th)?(?!\d|[:.]\d))?"
        rf"(?:,?\s+{of}(?P<year>{_YEAR}))?"
    )
    alone = rf"|(?P<alone>{_YEAR})|(?P<weekday>{'|'.join(_WEEKDAYS)})"
    until = rf"(?:\s*(?:{tongue.until}|–|-)\s*(?:the\s+)?(?:{written}))?"
    strong = rf"(?:{tongue.since})\s+(?:{tongue.edge})?(?:the\s+)?(?:{first}{alone})"
    name = r"(?!\s+(?-i:[A-ZÅÄÖÉ]))"  # news of April Lindqvist
    weak = rf"(?:{tongue.within})\s+(?:{tongue.edge})?(?:the\s+)?(?:{first.replace('?P<', '?P<in_')}){name}"
    return re.compile(rf"\b(?:{strong}|{weak}){until}(?![\w-])", re.IGNORECASE), months


_SINCE = tuple(_opened(tongue) for tongue in _TONGUES)


def days(text: str, today: str) -> int | None:
    """How many days before `today` (ISO 8601) a text asks for, at least 1; None when it names no time."""
    now = date.fromisoformat(today[:10])
    for pattern in _LAST:
        if match := pattern.search(text):
            count = (match.groupdict().get("count") or "1").lower()
            length = next(days for begins, days in _LENGTHS if match["unit"].lower().startswith(begins))
            return max(1, round((int(count) if count.isdigit() else _FEW[count]) * length))
    for pattern, months in _SINCE:
        if (match := pattern.search(text)) and (begins := _day(match, months, now)):
            return max(1, (now - begins).days)
    match = _THIS.search(text)
    return max(1, (now - _begun(match, now)).days) if match else None


def without(text: str) -> str:
    """The text without what it says of how far back."""
    for pattern in (*_LAST, *(pattern for pattern, _ in _SINCE), _THIS):
        text = pattern.sub(" ", text)
    return text


def _day(match: re.Match[str], months: dict[str, int], now: date) -> date | None:
    """The first day that was named; one without a year is the latest that is not to come."""
    got = {name.removeprefix("in_"): value for name, value in match.groupdict().items() if value}
    try:
        if "iso" in got:
            return date.fromisoformat(got["iso"])
        if "alone" in got:
            return date(int(got["alone"]), 1, 1)
        if "weekday" in got:
            return now - timedelta(days=(now.weekday() - _WEEKDAYS.index(got["weekday"].lower())) % 7 or 7)
        found = date(
            int(got.get("year", now.year)),
            months[got["month"].lower()],
            int(got.get("day") or got.get("day2") or 1),
        )
        return found.replace(year=found.year - 1) if "year" not in got and found > now else found
    except ValueError:
        return None


def _begun(match: re.Match[str], now: date) -> date:
    begins = {
        "today": now,
        "yesterday": now - timedelta(days=1),
        "week": now - timedelta(days=now.weekday()),
        "month": now.replace(day=1),
        "quarter": now.replace(month=(now.month - 1) // 3 * 3 + 1, day=1),
        "year": now.replace(month=1, day=1),
    }
    return next(day for name, day in begins.items() if match[name])
