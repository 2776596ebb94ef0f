"""Names of months in several languages, from dateparser's tables."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

LANGUAGES = "en de fr es sv it nl pt da nb fi pl cs ru".split()
"""The languages whose words for dates are read, of the 200 that dateparser has; each costs 4 ms once. Where
two give a word different meanings, the first one counts."""
_MONTHS = "january february march april may june july august september october november december".split()


@cache
def read_tables() -> list[dict[str, Any]]:
    """What dateparser knows of each language."""
    return [import_module(f"dateparser.data.date_translation_data.{name}").info for name in LANGUAGES]


@cache
def month_numbers() -> dict[str, int]:
    """The number of each month by its names and abbreviations, in lower case and without a full stop."""
    found: dict[str, int] = {}
    for table in read_tables():
        for n, month in enumerate(_MONTHS, start=1):
            for name in table.get(month, ()):
                found.setdefault(name.lower().rstrip("."), n)
    return found
