"""The words of a claim or quote in one spelling, so that what differs in spelling only is the same.

Beyond `normalization`: "not" is written out ("doesn't", "does not"), accents are gone, and a date, a clock
time, a number with its unit ("20%", "20 percent", "twenty per cent") is one word.

Clock times ("5 pm", "18:30", "noon") are minutes of the day; one without "am" or "pm" may be of the morning
or the afternoon ("6:30") and then has both."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

from agent.text.dates import DateInterval, blank_spans, find_dates
from agent.text.normalization import ELLIPSIS, blank_note_marks, is_negation, normalize_text, strip_diacritics
from agent.text.quantities import Quantity, find_quantities
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import UNSPACED_SCRIPTS, is_stopword, stem

_HALF_DAY = 12 * 60
_CJK = re.compile(f"[{UNSPACED_SCRIPTS}]")
_RANGE_WORD = re.compile(r"\s?(?:[–—-]|to|or|and)\s?[$€£¥]?")
_CLOCK = re.compile(
    r"(?<![\d.,:/$€£])(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minute>[0-5]\d))?(?![\d:])"
    r"(?:\s?(?P<half>[ap]\.?\s?m\b\.?)|\s?(?:uhr|o['’]clock)\b|(?<=[:]\d\d)(?![%/]|[.,]\d))"
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
    for match in _CLOCK.finditer(text):
        if word := match["word"]:
            minutes = {_HALF_DAY if word.lower() == "noon" else 0}
        else:
            hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
            minutes = {hour % 24 * 60 + minute}
            if half:
                minutes = {hour % 12 * 60 + minute + (_HALF_DAY if half[0] in "pP" else 0)}
            elif 1 <= hour <= 12 and match["hour"][0] != "0":
                minutes |= {hour % 12 * 60 + minute, hour % 12 * 60 + minute + _HALF_DAY}
        found.append(ClockTime(frozenset(minutes), *match.span(), match.group().strip(" .")))
    return found


class Word(NamedTuple):
    """A word in its one spelling, its offsets in the text, and how it is written there."""

    key: str
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class ReadText:
    """A text with its words, its sentences and its values. Offsets are those of `text`."""

    text: str
    dates: list[DateInterval]
    times: list[ClockTime]
    quantities: list[Quantity]
    words: list[Word]

    @cached_property
    def keys(self) -> list[str]:
        """The keys of the words."""
        return [word.key for word in self.words]

    @cached_property
    def line(self) -> str:
        """The keys with a space around each, to be searched."""
        return f" {' '.join(self.keys)} "

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Start and end of each sentence."""
        return find_sentence_spans(self.text)


@lru_cache(maxsize=64)
def read_text(text: str) -> ReadText:
    """The text read for comparison."""
    text = blank_note_marks(text)
    bare = text if text.isascii() else _CJK.sub(" ", text)
    dates = find_dates(bare)
    bare = blank_spans(bare, dates)
    times = find_clock_times(bare)
    bare = blank_spans(bare, times)
    quantities = find_quantities(bare)
    for n in range(len(quantities) - 2, -1, -1):  # the first of "5 to 6 hours" has the unit of the second
        first, second = quantities[n], quantities[n + 1]
        is_range = _RANGE_WORD.fullmatch(bare[first.end : second.start])
        if is_range and not first.unit and second.is_measured and second.number:
            factor = second.value / second.number
            quantities[n] = replace(first, unit=second.unit, value=first.number * factor)
    values = [(f"#{one.spans}", one.start, one.end) for one in dates]
    values += [(f"@{sorted(one.minutes)}", one.start, one.end) for one in times]
    for one in quantities:
        unit = one.unit if one.is_measured or one.unit == "th" else ""
        values.append((f"{one.value:.10g}{unit}", one.start, one.figure_end))
    taken, plain = {at for _, start, end in values for at in range(start, end)}, normalize_text(text)
    for key, start, end in zip(plain.words, plain.starts, plain.ends, strict=True):
        if start in taken:
            continue
        key, mark, ending = strip_diacritics(key).rpartition("'")
        if not mark or ending not in ("s", "t"):
            values.append((f"{key}{mark}{ending}", start, end))
        else:  # a possessive, or "n't"
            values += [(key.removesuffix("n") if ending == "t" else key, start, end)] if key != "n" else []
            values.append(("not" if ending == "t" else "'s", start, end))
    words = [Word(key.replace(" ", ""), start, end, text[start:end]) for key, start, end in values]
    return ReadText(text, dates, times, quantities, sorted(words, key=lambda word: word.start))


def split_sentences(quote: ReadText) -> list[tuple[str, list[Word]]]:
    """The sentences of a text, each with its words."""
    found = list[tuple[str, list[Word]]]()
    for start, end in quote.sentences:
        words = [word for word in quote.words if start <= word.start < end]
        found.append((quote.text[start:end], words))
    return found


def align(claim: ReadText, quotes: Sequence[ReadText]) -> tuple[str, list[Word]] | None:
    """The sentence that shares most of a claim's content, with its words; None without any."""
    wanted = {stemmed for stemmed, _ in list_content(claim.words)}
    best: tuple[int, int, str, list[Word]] | None = None
    for text, words in (found for quote in quotes for found in split_sentences(quote)):
        shared = len(wanted & {stemmed for stemmed, _ in list_content(words)})
        if best is None or (shared, -len(words)) > best[:2]:
            best = shared, -len(words), text, words
    return best and best[2:]


def list_content(words: Sequence[Word]) -> list[tuple[str, Word]]:
    """The content words with their stems: no function words, negations, possessive marks."""
    return [
        (stem(word.key), word)
        for word in words
        if word.key not in ("'s", ELLIPSIS) and not is_negation(word.key) and not is_stopword(word.key)
    ]
