"""The words of a claim or quote in one spelling, so that what differs in spelling only is the same.

Beyond `normalization`: "not" is written out ("doesn't", "does not"), accents are gone, and a date, a clock
time, a number with its unit ("20%", "20 percent", "twenty per cent") is one word.

Clock times ("5 pm", "18:30", "noon") are minutes of the day; one without "am" or "pm" may be of the morning
or the afternoon ("6:30") and then has both. A claim is aligned with the closest sentence of its quotes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from agent.text.dates import DateInterval, blank_dates, find_dates
from agent.text.normalization import ELLIPSIS, blank_note_marks, is_negation, normalize_text, strip_diacritics
from agent.text.quantities import Quantity, find_quantities
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import UNSPACED_SCRIPTS, is_stopword, stem

_HALF_DAY = 12 * 60
_BEFORE = r"(?<![\d.,:/$€£])"
_HALF = r"[ap]\.?\s?m\b\.?"
_CONTRACTIONS = {
    "n't": "not",
    "cannot": "can not",
    "can't": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "i'm": "i am",
}
_CJK = re.compile(f"[{UNSPACED_SCRIPTS}]")
_RANGE_WORD = re.compile(r"\s?(?:[–—-]|to|or|and)\s?[$€£¥]?")
_MAX_WORDS = 300
"""Content words of a claim that are aligned; a sentence is at most 600 characters long."""


_CLOCK = re.compile(
    rf"{_BEFORE}(?P<hour>[01]?\d|2[0-4])(?:[:.](?P<minute>[0-5]\d))?(?![\d:])"
    rf"(?:\s?(?P<half>{_HALF})|\s?(?:uhr|o['’]clock)\b|(?<=[:]\d\d)(?![%/]|[.,]\d))|\b(?P<word>noon|midnight)\b",
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
        """Start and end of each sentence."""
        return find_sentence_spans(self.text)


@lru_cache(maxsize=64)
def read_text(text: str) -> ReadText:
    """The text read for comparison."""
    text = blank_note_marks(text)
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
        if is_range and not first.unit and second.is_measured and second.number:
            factor = second.value / second.number
            quantities[n] = replace(first, unit=second.unit, value=first.number * factor)
    spans = ((date, ",".join(f"{first}-{last}" for first, last in date.spans)) for date in dates)
    values = [Word(f"#{key}", date.start, date.end) for date, key in spans]
    values += [Word(f"@{sorted(t.minutes)}".replace(" ", ""), t.start, t.end) for t in times]
    for one in quantities:
        unit = one.unit if one.is_measured or one.unit == "th" else ""
        values.append(Word(f"{one.value:.10g}{unit}", one.start, one.figure_end))
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
    words = [replace(word, text=text[word.start : word.end]) for word in words]
    return ReadText(text, tuple(dates), tuple(times), tuple(quantities), tuple(words))


def _spell(word: str) -> list[str]:
    if word == ELLIPSIS:
        return [word]
    word = strip_diacritics(word)
    if word in _CONTRACTIONS:
        return _CONTRACTIONS[word].split()
    if word.endswith("n't"):
        return [word[:-3], "not"]
    stem, mark, ending = word.rpartition("'")
    if mark and ending == "s":
        return [stem, "'s"]
    return [word]


@dataclass(frozen=True)
class Alignment:
    """A claim's words beside those of the closest sentence. The lists of content are (stem, word) pairs."""

    claim: tuple[Word, ...]
    sentence: tuple[Word, ...]
    text: str
    """The sentence as it is written."""

    @cached_property
    def claimed(self) -> list[tuple[str, Word]]:
        """The claim's content words."""
        return list_content(self.claim)[:_MAX_WORDS]

    @cached_property
    def quoted(self) -> list[tuple[str, Word]]:
        """The sentence's content words."""
        return list_content(self.sentence)[:_MAX_WORDS]

    @cached_property
    def share(self) -> float:
        """The share of the claim's content that the sentence has, in any order."""
        claimed = {stemmed for stemmed, _ in self.claimed}
        return len(claimed & {stemmed for stemmed, _ in self.quoted}) / len(claimed) if claimed else 0.0


def align(claim: ReadText, quotes: Sequence[ReadText]) -> Alignment | None:
    """The claim beside the sentence that shares most of its content; None without any sentence."""
    wanted = {stemmed for stemmed, _ in list_content(claim.words)}
    best: tuple[int, int, ReadText, tuple[int, int], tuple[Word, ...]] | None = None
    for quote in quotes:
        for span, words in split_sentences(quote):
            shared = len(wanted & {stemmed for stemmed, _ in list_content(words)})
            if best is None or (shared, -len(words)) > best[:2]:
                best = shared, -len(words), quote, span, words
    if best is None:
        return None
    return Alignment(claim.words, best[4], best[2].text[slice(*best[3])])


def split_sentences(quote: ReadText) -> list[tuple[tuple[int, int], tuple[Word, ...]]]:
    """The sentences of a quote: offsets and words."""
    found, n = [], 0
    for start, end in quote.sentences:
        while n < len(quote.words) and quote.words[n].start < start:
            n += 1
        first = n
        while n < len(quote.words) and quote.words[n].start < end:
            n += 1
        found.append(((start, end), quote.words[first:n]))
    return found


def list_content(words: Sequence[Word]) -> list[tuple[str, Word]]:
    """The content words with their stems: no function words, negations, possessive marks."""
    return [
        (stem(word.key), word)
        for word in words
        if word.key not in ("'s", ELLIPSIS) and not is_negation(word.key) and not is_stopword(word.key)
    ]
