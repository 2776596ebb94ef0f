"""Find a quote in a page's text: exactly, in another spelling, or with a typing slip; never with another
meaning.

The three ways, tried in this order:
* exact: the same characters;
* normalised: the same words in unified spelling (`normalization`), reference marks such as "[3]" ignored;
* fuzzy: similarity >= 0.95 (normalised Indel similarity, rapidfuzz `fuzz.ratio`), where every word is the
  same but for a slip inside a long common word (letters swapped or doubled, -our and -or, -ise and -ize), a
  missing diacritic, or a split or joined word. A word left out, added or replaced is refused, as is any
  difference in a number, date, negation, name or ellipsis.
In every way a span is refused that cuts a word or number, leaves a number without its sign, currency, percent
or scale, begins right after a negation, or ends a sentence that goes on."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from agent.text.normalization import (
    ELLIPSIS,
    NormalizedText,
    has_note_marks,
    is_inside_word,
    is_negation,
    normalize_text,
    strip_diacritics,
)
from agent.text.quantities import NUMBER_WORDS
from agent.text.word_lists import load_words
from agent.types import Fact

MIN_FUZZY_SIMILARITY = 0.95
"""Least similarity of a quote and the span it is taken for."""
MIN_SLIP_LENGTH = 6
"""Least length of a word that may hold a slip: shorter ones are too often other words."""
MIN_WORDS = 2
"""A quote of fewer words than this (4 for scripts without spaces) proves nothing and is never verified."""

_CHUNKS = 4
_MAX_SLIPS = 3
_MAX_PLACES = 40
_NUMBER_SUFFIX = re.compile(
    r"\s?(?:%|‰|°|(?:per\s?cent|percent|hundred|thousand|million|billion|trillion|mn|bn)\b|[.,:/]\d)",
    re.IGNORECASE,
)
_NUMBER_PREFIX = re.compile(r"(?:[$€£¥₹]\s?|(?<![\w)\]%])[-\u2212]|\d[.,:/])$")
_LAST_WORD = re.compile(r"([^\W\d_]+(?:['’][^\W\d_]+)?)\s+[\"'“‘(]?$")
_CLOSING = re.compile(r"[.!?。！？]?[\"'”’»)\]]*")
_DOUBLED = re.compile(r"(.)\1")
_SENTENCE_END = re.compile(r"[.!?][\"'”’»)\]]*$")
_NEXT_WORD = re.compile(r"[ \t\u00a0]*\w")
_REAL_WORDS = load_words("similar_words")
"""Words one slip away from another real word: never taken for a slip."""


@dataclass(frozen=True)
class QuoteSpan:
    """Offsets of a quote in characters of the text, and how it was found."""

    start: int
    end: int
    how: Literal["exact", "normalised", "fuzzy"]


def find_quote(quote: str, text: str) -> QuoteSpan | None:
    """The span of `text` that says what `quote` says, or None. See the module for the rules."""
    quote = quote.strip()
    if not any(c.isalnum() for c in quote):
        return None
    for start in _find_occurrences(quote, text):
        if _is_clean_cut(text, start, start + len(quote)):
            return QuoteSpan(start, start + len(quote), "exact")
    words = _trim_ellipses(normalize_text(html.unescape(quote)).words)
    if not words:
        return None
    pages = [normalize_text(text)]
    if has_note_marks(text) and not has_note_marks(quote):
        pages.append(normalize_text(text, notes=False))
    for page in pages:
        for place in page.find_words(words)[:_MAX_PLACES]:
            if span := _make_span(quote, text, page, place, place + len(words) - 1, "normalised"):
                return span
    return _find_fuzzy(quote, text, pages[-1])


def has_quote(quote: str, text: str) -> bool:
    """Is the quote in the text?"""
    return quote in text or find_quote(quote, text) is not None


def verify_quote(fact: Fact, text: str, sha256: str) -> Fact:
    """The fact with `verified` set by its page's stored text (whose SHA-256 is given).

    Found: `start`, `end`, `sha256` are set and the quote is the span's text. Unverified, without offsets: a
    quote that is not found or too short."""
    span = find_quote(fact.quote, text) if _is_long_enough(fact.quote) else None
    if span is None:
        return fact.model_copy(update={"verified": False, "start": -1, "end": -1})
    quote = text[span.start : span.end]
    found = {"start": span.start, "end": span.end, "quote": quote, "sha256": sha256, "verified": True}
    return fact.model_copy(update=found)


def _make_span(
    quote: str, text: str, page: NormalizedText, first: int, last: int, how: Literal["normalised", "fuzzy"]
) -> QuoteSpan | None:
    """The span of the page's words from `first` to `last` with the quote's closing punctuation; None where it
    cuts something."""
    start, end = page.starts[first], page.ends[last]
    if not _is_clean_cut(text, start, end) or not _has_same_ending(quote, text, end):
        return None
    closing = _CLOSING.match(text, end) if not quote[-1].isalnum() else None
    return QuoteSpan(start, closing.end() if closing else end, how)


def _find_occurrences(quote: str, text: str) -> Iterator[int]:
    at = -1
    for _ in range(_MAX_PLACES):
        at = text.find(quote, at + 1)
        if at < 0:
            return
        yield at


def _trim_ellipses(words: list[str]) -> list[str]:
    while words and words[0] == ELLIPSIS:
        words = words[1:]
    while words and words[-1] == ELLIPSIS:
        words = words[:-1]
    return words


def _is_long_enough(quote: str) -> bool:
    words = _trim_ellipses(normalize_text(quote).words)
    return len(words) >= (4 if words and all(len(w) == 1 and not w.isascii() for w in words) else MIN_WORDS)


def _has_same_ending(quote: str, text: str, end: int) -> bool:
    """A quote that ends its sentence may not end inside a sentence of the page."""
    ends_sentence = _SENTENCE_END.search(quote) and not quote.rstrip("\"'”’»)]").endswith("...")
    return not (ends_sentence and _NEXT_WORD.match(text, end))


def _is_clean_cut(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 24) : start], text[end : end + 12]
    if before and (
        is_inside_word(before[-1], text[start]) or (text[start].isdigit() and _NUMBER_PREFIX.search(before))
    ):
        return False
    if after and (
        is_inside_word(text[end - 1], after[0]) or (text[end - 1].isdigit() and _NUMBER_SUFFIX.match(after))
    ):
        return False
    last = _LAST_WORD.search(before)
    return not (last and is_negation(last.group(1).lower().replace("’", "'")))


def _find_fuzzy(quote: str, text: str, page: NormalizedText) -> QuoteSpan | None:
    spelled = normalize_text(html.unescape(quote))
    words = _trim_ellipses(spelled.words)
    if len(words) < 2 * _CHUNKS or (ELLIPSIS in words and ELLIPSIS not in page.vocabulary):
        return None
    matcher = _FuzzyMatcher(words, _find_lowercase_words(html.unescape(quote), spelled), text, page)
    for first, last in matcher.candidates():
        similarity = fuzz.ratio(" ".join(words), " ".join(page.words[first : last + 1])) / 100
        span = _make_span(quote, text, page, first, last, "fuzzy")
        if span and similarity >= MIN_FUZZY_SIMILARITY:
            return span
    return None


def _find_lowercase_words(quote: str, spelled: NormalizedText) -> frozenset[str]:
    """The words of a quote in lower case, hence no names."""
    return frozenset(w for w, at in zip(spelled.words, spelled.starts, strict=True) if quote[at].islower())


@dataclass(frozen=True)
class _FuzzyMatcher:
    """Aligns a quote's words with a page's, outwards from a run of words that is the same in both."""

    words: list[str]
    lowercase_words: frozenset[str]
    text: str
    page: NormalizedText

    def candidates(self) -> Iterator[tuple[int, int]]:
        """First and last word index in the page of each aligned stretch."""
        size = -(-len(self.words) // _CHUNKS)
        tried: set[int] = set()
        for at in range(0, len(self.words), size):
            for place in self.page.find_words(self.words[at : at + size])[:_MAX_PLACES]:
                if place - at in tried:
                    continue
                tried.add(place - at)
                left, right = self._walk(at - 1, place - 1, -1), self._walk(at, place, 1)
                if left and right and left[1] + right[1] <= _MAX_SLIPS:
                    yield left[0], right[0]

    def _walk(self, i: int, j: int, way: int) -> tuple[int, int] | None:
        """From word i and page word j to the quote's end in one direction: the last page index and the number
        of slips; None where a word does not fit."""
        slips = 0
        while 0 <= i < len(self.words):
            aligned = self._align_words(i, j, way)
            if aligned is None:
                return None
            i, j, slips = i + way * aligned[0], j + way * aligned[1], slips + aligned[2]
        return j - way, slips

    def _align_words(self, i: int, j: int, way: int) -> tuple[int, int, int] | None:
        """How many words of the quote and of the page match here, and whether with a slip (1)."""
        mine, theirs = self.words[i], self.page.words[j] if 0 <= j < len(self.page.words) else ""
        if mine == theirs:
            return 1, 1, 0
        if self._can_hold_slip(mine, j) and self._is_slip(mine, theirs):
            return 1, 1, 1
        return self._match_joined_words(i, j, way, 2, 1) or self._match_joined_words(i, j, way, 1, 2)

    def _match_joined_words(self, i: int, j: int, way: int, n: int, m: int) -> tuple[int, int, int] | None:
        """Is `n` words of the quote joined the same as `m` words of the page joined?"""
        ours = [self.words[k] for k in range(i, i + way * n, way) if 0 <= k < len(self.words)]
        page = [self.page.words[k] for k in range(j, j + way * m, way) if 0 <= k < len(self.page.words)]
        if len(ours) != n or len(page) != m or "".join(ours[::way]) != "".join(page[::way]):
            return None
        return None if any(is_negation(word) or not word.isalpha() for word in ours + page) else (n, m, 1)

    def _can_hold_slip(self, word: str, j: int) -> bool:
        """Is a word of the quote, and the page's at `j`, a common word?"""
        is_common = word in self.lowercase_words and word.isalpha()
        is_on_page = 0 <= j < len(self.page.words) and self.text[self.page.starts[j]].islower()
        return is_common and is_on_page and word not in NUMBER_WORDS and not is_negation(word)

    def _is_slip(self, mine: str, theirs: str) -> bool:
        if strip_diacritics(mine) == strip_diacritics(theirs):
            return True
        if min(len(mine), len(theirs)) < MIN_SLIP_LENGTH or mine[0] != theirs[0] or mine[-1] != theirs[-1]:
            return False
        if mine in self.page.vocabulary or mine in _REAL_WORDS or theirs in NUMBER_WORDS:
            return False
        is_swapped = len(mine) == len(theirs) and sorted(mine) == sorted(theirs)
        is_doubled = _DOUBLED.sub(r"\1", mine) == _DOUBLED.sub(r"\1", theirs)
        is_other_spelling = _americanize(mine) == _americanize(theirs)
        return OSA.distance(mine, theirs) == 1 and (is_swapped or is_doubled or is_other_spelling)


def _americanize(word: str) -> str:
    return word.replace("our", "or").replace("is", "iz").replace("ys", "yz")
