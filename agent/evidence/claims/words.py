"""The words of a claim or quote in one spelling, so that what differs in spelling only is the same.

Beyond `normalization`: contractions are written out ("does n't", "doesn't", "does not"), accents are gone,
and a date, a clock time, a number with its unit ("20%", "20 percent", "twenty per cent") is one word. Digits
of any script are read as digits."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from agent.evidence.claims.clock_times import ClockTime, find_clock_times
from agent.text.date_intervals import DateInterval, blank_dates, find_dates
from agent.text.normalization import ELLIPSIS, blank_note_marks, normalize_text, strip_diacritics
from agent.text.quantities import BASE_UNITS, Quantity, find_quantities
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import UNSPACED_SCRIPTS

_CONTRACTIONS = {
    "n't": "not",
    "cannot": "can not",
    "can't": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "i'm": "i am",
}
_ENDINGS = {"'re": "are", "'ve": "have", "'ll": "will"}
_ENGLISH = frozenset(
    "the of and with may will this that which their from were are been has have its not by it".split()
)
_IS = frozenset("it he she that there here what who where how this".split())
"""Words after which "'s" stands for "is"; after others it marks a possessor."""
_TOKENISED = re.compile(r"(?<=\w)\s(?=(?:n['’]t|['’](?:s|re|ve|ll|m))\b)", re.IGNORECASE)
_NON_ASCII_DIGIT = re.compile(r"[^\W\D0-9]|[٫٬]")
_COUNTED = re.compile(r"[\s\u00a0-]*[^\W\d_]+$")
_GOES_ON = re.compile(r"\n(?= ?[a-z])")
_CJK = re.compile(f"[{UNSPACED_SCRIPTS}]")
_RANGE = re.compile(r"\s?[–—-]\s?\Z")


_RANGE_WORD = re.compile(r"\s?(?:[–—-]|to|or|and)\s?[$€£¥]?")


@dataclass(frozen=True)
class Word:
    """A word in its one spelling, its offsets in the text, and how it is written there."""

    key: str
    start: int
    end: int
    text: str = ""


@dataclass(frozen=True)
class ReadText:
    """A text with its words, its sentences and its values. Offsets are those of `text`."""

    text: str
    dates: tuple[DateInterval, ...]
    times: tuple[ClockTime, ...]
    quantities: tuple[Quantity, ...]
    words: tuple[Word, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of the words."""
        return tuple(word.key for word in self.words)

    @cached_property
    def line(self) -> str:
        """The keys with a space around each, to be searched."""
        return f" {' '.join(self.keys)} "

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Start and end of each sentence; a line that goes on with a small letter ends none."""
        return find_sentence_spans(_GOES_ON.sub(" ", self.text))


def is_english(text: ReadText) -> bool:
    """Has a text a function word that only English has?"""
    return not _ENGLISH.isdisjoint(text.keys)


@lru_cache(maxsize=64)
def read_text(text: str) -> ReadText:
    """The text read for comparison. Its offsets fit the text that was given but for spaces before "n't" and
    "'s", which are removed."""
    text = _TOKENISED.sub(
        "", blank_note_marks(text if text.isascii() else _NON_ASCII_DIGIT.sub(_ascii_digit, text))
    )
    bare = text if text.isascii() else _CJK.sub(" ", text)
    dates = find_dates(bare)
    bare = blank_dates(bare, dates)
    times = find_clock_times(bare)
    for time in times:
        bare = bare[: time.start] + " " * (time.end - time.start) + bare[time.end :]
    quantities = list(find_quantities(bare))
    for n in range(len(quantities) - 2, -1, -1):  # the first of "5 to 6 hours" has the unit of the second
        first, second = quantities[n], quantities[n + 1]
        is_range = _RANGE_WORD.fullmatch(bare[first.end : second.start])
        if is_range and not first.unit and second.unit in BASE_UNITS and second.number:
            factor = second.value / second.number
            quantities[n] = replace(first, unit=second.unit, value=first.number * factor)
    return ReadText(
        text,
        tuple(dates),
        tuple(times),
        tuple(quantities),
        tuple(_read_words(text, dates, times, quantities)),
    )


def _read_words(
    text: str, dates: list[DateInterval], times: list[ClockTime], quantities: list[Quantity]
) -> list[Word]:
    spans = ((date, ",".join(f"{first}-{last}" for first, last in date.spans)) for date in dates)
    values = [Word(f"#{key}", date.start, date.end) for date, key in spans]
    values += [Word(f"@{sorted(t.minutes)}".replace(" ", ""), t.start, t.end) for t in times]
    for one in quantities:
        counted = find_counted_noun(one)
        key = f"{one.value:.10g}{'' if counted else one.unit}"
        values.append(Word(key, one.start, one.end - len(counted)))
    taken = bytearray(len(text))
    for value in values:
        taken[value.start : value.end] = b"\1" * (value.end - value.start)
    plain = normalize_text(text)
    words = values + [
        Word(key, start, end)
        for word, start, end in zip(plain.words, plain.starts, plain.ends, strict=True)
        if not taken[start]
        for key in _spell(word)
    ]
    words.sort(key=lambda word: word.start)
    starts = {value.start for value in values}
    for n in range(len(words) - 1, 0, -1):
        left, right = words[n - 1], words[n]
        if {left.start, right.start} <= starts and _RANGE.match(text[left.end : right.start]):
            words.insert(n, Word("to", left.end, right.start))
    return [replace(word, text=text[word.start : word.end]) for word in words]


def _ascii_digit(match: re.Match[str]) -> str:
    if match.group() in "٫٬":
        return "." if match.group() == "٫" else ","
    return str(unicodedata.digit(match.group(), match.group()))


def find_counted_noun(quantity: Quantity) -> str:
    """What follows the number and is no unit: " cows" of "12 cows"."""
    last = _COUNTED.search(quantity.text)
    if last is None or quantity.unit in ("", "th") or quantity.unit in BASE_UNITS:
        return ""
    noun = last.group().strip(" \u00a0-").lower()
    return last.group() if noun.startswith(quantity.unit[:-1]) else ""


def _spell(word: str) -> list[str]:
    if word == ELLIPSIS:
        return [word]
    word = strip_diacritics(word)
    if word in _CONTRACTIONS:
        return _CONTRACTIONS[word].split()
    if word.endswith("n't"):
        return [word[:-3], "not"]
    stem, mark, ending = word.rpartition("'")
    if mark and "'" + ending in _ENDINGS:
        return [stem, _ENDINGS["'" + ending]]
    if mark and ending == "s":
        return [stem, "is" if stem in _IS else "'s"]
    return [word]
