"""Clock times in a text: "5 pm", "17:00", "10.00–18.30", "10 to 11 am", "noon", in minutes of the day.

A time without "am" or "pm" can be one of the morning or of the afternoon ("6:30") and then has both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_HALF_DAY = 12 * 60


def _clock(n: int) -> str:
    return rf"(?P<h{n}>[01]?\d|2[0-4])(?:[:.](?P<m{n}>[0-5]\d))?(?![\d:])"


_BEFORE = r"(?<![\d.,:/$€£])"
_HALF = r"[ap]\.?\s?m\b\.?"
_RANGE = re.compile(
    rf"{_BEFORE}{_clock(1)}\s?(?P<half1>{_HALF})?\s?(?:to|and|until|till|bis|[–—-])\s?"
    rf"{_clock(2)}(?!%|[.,]\d)\s?(?P<half2>{_HALF})?",
    re.IGNORECASE,
)
_SINGLE = re.compile(
    rf"{_BEFORE}{_clock(1)}(?:\s?(?P<half1>{_HALF})|\s?(?:uhr|o['’]clock)\b|(?<=:\d\d)(?![%/]|[.,]\d))"
    r"|\b(?P<word>noon|midnight)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ClockTime:
    """A time of day with the minutes that it can mean."""

    minutes: frozenset[int]
    start: int
    end: int
    text: str


def find_clock_times(text: str) -> list[ClockTime]:
    """The times of day of a text in order."""
    found: list[ClockTime] = []
    for match in _RANGE.finditer(text):
        found += _read_range(match)
    taken = {at for time in found for at in range(time.start, time.end)}
    found += [_read_single(match) for match in _SINGLE.finditer(text) if match.start() not in taken]
    return sorted(found, key=lambda time: time.start)


def _read_range(match: re.Match[str]) -> Iterator[ClockTime]:
    """Both ends of "10 to 11 am" and "10.00–17.30"; nothing where it may be a range of numbers."""
    first, last = match["half1"], match["half2"]
    is_written_out = all(match[name] and int(match[name]) % 15 == 0 for name in ("m1", "m2"))
    if not last and not is_written_out:
        return
    is_24_hours = not last and int(match["h2"]) > 12
    yield _make_time(match, 1, first or last, is_24_hours)
    yield _make_time(match, 2, last, is_24_hours)


def _read_single(match: re.Match[str]) -> ClockTime:
    if match["word"]:
        minute = _HALF_DAY if match["word"].lower() == "noon" else 0
        return ClockTime(frozenset({minute}), match.start(), match.end(), match.group())
    return _make_time(match, 1, match["half1"])


def _make_time(match: re.Match[str], n: int, half: str | None, is_24_hours: bool = False) -> ClockTime:
    hour, minute = int(match[f"h{n}"]), int(match[f"m{n}"] or 0)
    start = match.start(f"h{n}")
    own = f"half{n}" if match[f"half{n}"] else f"m{n}" if match[f"m{n}"] else f"h{n}"
    end = match.end(own)
    minutes = {hour % 24 * 60 + minute}
    if half:
        minutes = {hour % 12 * 60 + minute + (_HALF_DAY if half[0] in "pP" else 0)}
    elif not is_24_hours and 1 <= hour <= 12 and match[f"h{n}"][0] != "0":
        minutes = {hour % 12 * 60 + minute, hour % 12 * 60 + minute + _HALF_DAY}
    return ClockTime(frozenset(minutes), start, end, match.string[start:end].strip(" ."))
