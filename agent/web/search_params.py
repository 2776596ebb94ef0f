"""What a search engine can be told of a run's choice of sources. A hint only: what comes back is checked all
the same."""

from __future__ import annotations

from datetime import UTC, date, datetime

from agent.types import SourceFilter

MAX_SITE_OPERATORS = 5
"""Domains that are named in a query: engines heed no more of them."""
_TIME_LIMITS = ((1, "d"), (7, "w"), (31, "m"), (366, "y"))
_REGION_CODES = {
    "en": "us-en",
    "de": "de-de",
    "fr": "fr-fr",
    "es": "es-es",
    "it": "it-it",
    "pt": "br-pt",
    "nl": "nl-nl",
    "sv": "se-sv",
    "no": "no-no",
    "da": "dk-da",
    "fi": "fi-fi",
    "pl": "pl-pl",
    "cs": "cz-cs",
    "sk": "sk-sk",
    "hu": "hu-hu",
    "ro": "ro-ro",
    "bg": "bg-bg",
    "el": "gr-el",
    "tr": "tr-tr",
    "ru": "ru-ru",
    "uk": "ua-uk",
    "ar": "xa-ar",
    "he": "il-he",
    "ja": "jp-jp",
    "ko": "kr-kr",
    "zh": "cn-zh",
    "id": "id-id",
    "vi": "vn-vi",
    "th": "th-th",
    "hr": "hr-hr",
    "sl": "sl-sl",
    "et": "ee-et",
    "lv": "lv-lv",
    "lt": "lt-lt",
    "ca": "ct-ca",
}


def add_site_operators(query: str, reach: SourceFilter) -> str:
    """The query with the domains it should look in, and those it should not, in the words most engines
    know."""
    names = [entry.removeprefix("*.") for entry in reach.allowed]
    inside = " OR ".join(f"site:{name}" for name in names) if len(names) <= MAX_SITE_OPERATORS else ""
    outside = (
        [f"-site:{name.removeprefix('*.')}" for name in reach.blocked[:MAX_SITE_OPERATORS]]
        if not inside
        else []
    )
    return " ".join(part for part in (query, f"({inside})" if " " in inside else inside, *outside) if part)


def region_code(reach: SourceFilter, default: str) -> str:
    """DuckDuckGo's name for where a language is spoken."""
    return _REGION_CODES.get(reach.language, default)


def days_back(reach: SourceFilter, today: date | None = None) -> int:
    """How many days back the time asked for begins; 0 for any time."""
    if not reach.since:
        return 0
    return max(1, ((today or datetime.now(UTC).date()) - date.fromisoformat(reach.since)).days)


def time_limit(reach: SourceFilter, today: date | None = None) -> str | None:
    """The shortest of DuckDuckGo's terms (day, week, month, year) that holds the time asked for; None when
    none does."""
    back = days_back(reach, today)
    return next((name for most, name in _TIME_LIMITS if 0 < back <= most), None)
