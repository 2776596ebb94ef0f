"""A run's choice of sources as parameters of a search engine: a hint, results are filtered anyway."""

from __future__ import annotations

from datetime import UTC, date, datetime

from agent.types import SourceFilter
from agent.web.patterns import read_lists

MAX_SITE_OPERATORS = 5
"""Domains that a query may name: engines ignore more."""
_TIME_LIMITS = ((1, "d"), (7, "w"), (31, "m"), (366, "y"))
_REGION_CODES = dict(line.split() for line in read_lists("regions")["regions"])


def add_site_operators(query: str, reach: SourceFilter) -> str:
    """The query with the domains to search, or those to leave out, as `site:` operators."""
    names = [entry.removeprefix("*.") for entry in reach.allowed]
    inside = " OR ".join(f"site:{name}" for name in names) if len(names) <= MAX_SITE_OPERATORS else ""
    if inside:
        return f"{query} ({inside})" if " " in inside else f"{query} {inside}"
    return " ".join(
        [query, *(f"-site:{name.removeprefix('*.')}" for name in reach.blocked[:MAX_SITE_OPERATORS])]
    )


def region_code(reach: SourceFilter, default: str) -> str:
    """DuckDuckGo's code for the region of a language."""
    return _REGION_CODES.get(reach.language, default)


def days_back(reach: SourceFilter, today: date | None = None) -> int:
    """Days from the beginning of the chosen time to today; 0 for any time."""
    if not reach.since:
        return 0
    return max(1, ((today or datetime.now(UTC).date()) - date.fromisoformat(reach.since)).days)


def time_limit(reach: SourceFilter, today: date | None = None) -> str | None:
    """The shortest of DuckDuckGo's terms (day, week, month, year) that covers the chosen time, or None."""
    back = days_back(reach, today)
    return next((name for most, name in _TIME_LIMITS if 0 < back <= most), None)
