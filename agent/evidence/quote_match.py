"""Does a quote stand in a page's text? Exactly, in another spelling, or with a slip of the pen; never with
another meaning.

The three ways, tried in this order:
* exact: the characters as they are;
* normalised: the same words after unifying spelling (see spelling.py), reference marks such as "[3]" passed over;
* fuzzy: similarity >= 0.95 (normalised Indel similarity, rapidfuzz `fuzz.ratio`), where every word is the same but for a slip
  inside a long common word (letters swapped or doubled, -our and -or, -ise and -ize), a missing diacritic, or a split or joined
  word. A word left out, put in or replaced is refused, as is any difference in a number, date, negation, name or ellipsis.
Whichever way, a span that cuts a word or number in two, leaves a number without its sign, currency, percent
or scale, begins right behind a negation, or ends a sentence that goes on, is refused. Knows nothing of where
the text came from."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from agent.evidence.statement_features import has_supported_figures, has_supported_words, surrounding_text
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
    """Where a quote stands: offsets in characters, and how it was found."""

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
    spoken = normalize_text(html.unescape(quote))
    words = _trim_ellipses(spoken.words)
    if not words:
        return None
    pages = [normalize_text(text)]
    if has_note_marks(text) and not has_note_marks(quote):
        pages.append(normalize_text(text, notes=False))
    for page in pages:
        for place in page.find_words(words)[:_MAX_PLACES]:
            start, end = page.starts[place], page.ends[place + len(words) - 1]
            if _is_clean_cut(text, start, end) and _has_same_ending(quote, text, end):
                return QuoteSpan(start, _extend_over_closing(quote, text, end), "normalised")
    return _find_fuzzy(quote, text, pages[-1])


def has_quote(quote: str, text: str) -> bool:
    """Is the quote in the text?"""
    return quote in text or find_quote(quote, text) is not None


def verify_quote(fact: Fact, text: str, sha256: str) -> Fact:
    """The fact with its mark `verified` set by its page's stored text (whose SHA-256 is given).

    Found: `start`, `end`, `sha256` are set and the quote is the span as it stands. Unverified, without
    offsets: a quote that is not found or too short to prove anything, or a statement with a figure or date
    that stands neither in the quote nor near it."""
    span = find_quote(fact.quote, text) if _is_long_enough(fact.quote) else None
    if span is None or not _is_statement_supported(fact, text, span):
        return fact.model_copy(update={"verified": False, "start": -1, "end": -1})
    found = {
        "start": span.start,
        "end": span.end,
        "quote": text[span.start : span.end],
        "sha256": sha256,
        "verified": True,
    }
    return fact.model_copy(update=found)


def _is_statement_supported(fact: Fact, text: str, span: QuoteSpan) -> bool:
    quote = text[span.start : span.end]
    if fact.statement in quote:
        return True
    around = surrounding_text(text, span.start, span.end)
    return has_supported_figures(fact.statement, quote, around, fact.title) and has_supported_words(
        fact.statement, quote, around, fact.title
    )


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
    """A quote that closes its sentence may not stand where the page's sentence goes on with another word."""
    return not (
        _SENTENCE_END.search(quote)
        and not quote.rstrip("\"'”’»)]").endswith("...")
        and _NEXT_WORD.match(text, end)
    )


def _is_clean_cut(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 24) : start], text[end : end + 12]
    if (before and is_inside_word(before[-1], text[start])) or (
        after and is_inside_word(text[end - 1], after[0])
    ):
        return False
    if (text[start].isdigit() and _NUMBER_PREFIX.search(before)) or (
        text[end - 1].isdigit() and _NUMBER_SUFFIX.match(after)
    ):
        return False
    last = _LAST_WORD.search(before)
    return not (last and is_negation(last.group(1).lower().replace("’", "'")))


def _extend_over_closing(quote: str, text: str, end: int) -> int:
    """The end of a span with the closing punctuation that the quote has too."""
    if quote[-1].isalnum():
        return end
    found = _CLOSING.match(text, end)
    return found.end() if found else end


def _find_fuzzy(quote: str, text: str, page: NormalizedText) -> QuoteSpan | None:
    spoken = normalize_text(html.unescape(quote))
    words = _trim_ellipses(spoken.words)
    if len(words) < 2 * _CHUNKS or (ELLIPSIS in words and ELLIPSIS not in page.vocabulary):
        return None
    matcher = _FuzzyMatcher(words, _find_lowercase_words(html.unescape(quote), spoken), text, page)
    for first, last in matcher.candidates():
        start, end = page.starts[first], page.ends[last]
        alike = fuzz.ratio(" ".join(words), " ".join(page.words[first : last + 1])) / 100
        if (
            alike >= MIN_FUZZY_SIMILARITY
            and _is_clean_cut(text, start, end)
            and _has_same_ending(quote, text, end)
        ):
            return QuoteSpan(start, _extend_over_closing(quote, text, end), "fuzzy")
    return None


def _find_lowercase_words(quote: str, spoken: NormalizedText) -> frozenset[str]:
    """The words of a quote that are written small, hence no names."""
    return frozenset(w for w, at in zip(spoken.words, spoken.starts, strict=True) if quote[at].islower())


@dataclass(frozen=True)
class _FuzzyMatcher:
    """Lays a quote's words along a page's, outwards from a stretch that is the same in both."""

    words: list[str]
    lowercase_words: frozenset[str]
    text: str
    page: NormalizedText

    def candidates(self) -> Iterator[tuple[int, int]]:
        """First and last index in the page of each stretch that fits, some stretch of the quote being the
        same word for word."""
        size = -(-len(self.words) // _CHUNKS)
        tried: set[int] = set()
        for at in range(0, len(self.words), size):
            for place in self.page.find_words(self.words[at : at + size])[:_MAX_PLACES]:
                if place - at in tried:
                    continue
                tried.add(place - at)
                left = self._walk(at - 1, place - 1, -1)
                right = self._walk(at, place, 1) if left is not None else None
                if left is not None and right is not None and left[1] + right[1] <= _MAX_SLIPS:
                    yield left[0], right[0]

    def _walk(self, i: int, j: int, way: int) -> tuple[int, int] | None:
        """From word i and page word j to the quote's end in one direction: last page index and slips, None on
        a misfit."""
        slips = 0
        while 0 <= i < len(self.words):
            steps = self._align_words(i, j, way)
            if steps is None:
                return None
            i, j, slips = i + way * steps[0], j + way * steps[1], slips + steps[2]
        return j - way, slips

    def _align_words(self, i: int, j: int, way: int) -> tuple[int, int, int] | None:
        """How many words of the quote and of the page go together here, and whether that is a slip."""
        mine, theirs = self.words[i], self.page.words[j] if 0 <= j < len(self.page.words) else ""
        if mine == theirs:
            return 1, 1, 0
        if self._can_hold_slip(mine) and self._is_lowercase_on_page(j) and self._is_slip(mine, theirs):
            return 1, 1, 1
        return self._match_joined_words(i, j, way, 2, 1) or self._match_joined_words(i, j, way, 1, 2)

    def _match_joined_words(
        self, i: int, j: int, way: int, mine: int, theirs: int
    ) -> tuple[int, int, int] | None:
        ours = [self.words[k] for k in range(i, i + way * mine, way) if 0 <= k < len(self.words)][::way]
        page = [self.page.words[k] for k in range(j, j + way * theirs, way) if 0 <= k < len(self.page.words)][
            ::way
        ]
        same = len(ours) == mine and len(page) == theirs and "".join(ours) == "".join(page)
        return (
            (mine, theirs, 1)
            if same and not any(is_negation(w) or not w.isalpha() for w in ours + page)
            else None
        )

    def _can_hold_slip(self, word: str) -> bool:
        return (
            word in self.lowercase_words
            and word.isalpha()
            and word not in NUMBER_WORDS
            and not is_negation(word)
        )

    def _is_lowercase_on_page(self, j: int) -> bool:
        return 0 <= j < len(self.page.words) and self.text[self.page.starts[j]].islower()

    def _is_slip(self, mine: str, theirs: str) -> bool:
        if strip_diacritics(mine) == strip_diacritics(theirs):
            return True
        if min(len(mine), len(theirs)) < MIN_SLIP_LENGTH or mine[0] != theirs[0] or mine[-1] != theirs[-1]:
            return False
        if (
            mine in self.page.vocabulary
            or mine in _REAL_WORDS
            or theirs in NUMBER_WORDS
            or OSA.distance(mine, theirs) != 1
        ):
            return False
        swapped = len(mine) == len(theirs) and sorted(mine) == sorted(theirs)
        doubled = _DOUBLED.sub(r"\1", mine) == _DOUBLED.sub(r"\1", theirs)
        return swapped or doubled or _americanize(mine) == _americanize(theirs)


def _americanize(word: str) -> str:
    return word.replace("our", "or").replace("is", "iz").replace("ys", "yz")
