"""Find a quote in a page's text: exactly, in another spelling, or as stretches joined by ellipses; never with
another meaning.

The ways, tried in this order:
* exact: the same characters;
* normalised: the same words in unified spelling (`normalization`), reference marks such as "[3]" ignored;
* joined: stretches of the page in order, with an aside, or all up to a later sentence, left out
  between them (`is_fair_skip`).
In every way a span is refused that cuts a word or number, leaves a number without its sign, currency, percent
or scale, begins right after a negation, or ends a sentence that goes on.

Only the surroundings of hits (`folded_search`) are split into words: time grows linearly with the page,
memory not at all."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.text.folded_search import MAX_PLACES, find_folded, fold_letters
from agent.text.normalization import (
    CLITIC,
    DOTS,
    ELLIPSIS,
    has_note_marks,
    is_inside_word,
    is_negation,
    normalize_text,
)
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import is_stopword
from agent.text.word_lists import load_words
from agent.types import Fact
from agent.types.facts import QUOTE_JOINT

MIN_STRETCH_WORDS = 3
"""Least number of words of each stretch; fewer can be found nearly anywhere."""
MAX_STRETCHES = 6
"""Stretches of one quote: the steps of a short instruction."""
MAX_SKIPPED_CHARS = 3000
"""Most characters between the stretches: about a screen of text, still under the same heading."""
_ELLIPSIS = re.compile(DOTS)
_CONTEXT_CHARS = 200
_ASIDE = re.compile(
    r"\s*(?:([,;])[^,;:()–—.!?]*\1|\([^()]*\)|\[[^\[\]]*\]|[–—][^()–—;:.!?]*[–—]|\s-\s[^()–—;:.!?]*\s-)\s*"
)
_LIST_MARK = re.compile(r"\s*(?:\d{1,3}|[a-z])[.)]\s*")
"""The number or letter before an item of a list."""
_BROKEN_LINE = re.compile(r"\n(?=[^\W\d_A-Z])")
_PRONOUNS = load_words("pronouns")
MIN_WORDS = 2
"""A quote of fewer words than this (4 for scripts without spaces) proves nothing and is never verified."""
MAX_QUOTE_CHARS = 20_000
"""A longer quote is found only as it stands, and never verified: nobody reads it."""
_WINDOW_CHARS = 48
"""Characters around a hit that are split into words with it: a sign, a currency, a closing mark."""
_MAX_SPREAD = 20
"""How many times longer than the quote its place on the page may be, for spaces and marks between."""
_NUMBER_SUFFIX = re.compile(
    r"\s?(?:%|‰|°|(?:per\s?cent|percent|hundred|thousand|million|billion|trillion|mn|bn)\b|[.,:/]\d)",
    re.IGNORECASE,
)
_NUMBER_PREFIX = re.compile(r"(?:[$€£¥₹]\s?|(?<![\w)\]%])[-\u2212]|\d[.,:/])$")
_LAST_WORD = re.compile(r"([^\W\d_]+(?:['’][^\W\d_]+)?)\s+[\"'“‘(]?$")
_OPENING = re.compile(r"[^\w\s]{1,4}")
_CLOSING = re.compile(r"[.!?。！？]?[\"'”’»)\]]*")
_SENTENCE_END = re.compile(r"[.!?][\"'”’»)\]]*$")
_NEXT_WORD = re.compile(r"[ \t\u00a0]*\w")


def split_at_ellipsis(quote: str) -> list[str]:
    """The stretches of a quote between its inner ellipses; none where there is no ellipsis, there are too
    many, or one is too short."""
    parts = [part.strip(" \t\n,;:–—-()[]") for part in _ELLIPSIS.split(quote)]
    parts = [part for part in parts if part]
    is_long = all(len(normalize_text(part[:200]).words) >= MIN_STRETCH_WORDS for part in parts)
    return parts if 2 <= len(parts) <= MAX_STRETCHES and is_long else []


def is_fair_skip(text: str, end: int, start: int, second: str) -> bool:
    """May the text from `end` to `start` be left out before the stretch `second`? See the module."""
    skipped = text[end:start]
    if not _has_word(skipped):
        return True  # nothing is left out: a list and the line that introduces it
    if len(skipped) > MAX_SKIPPED_CHARS:
        return False
    if _ASIDE.fullmatch(skipped):
        return not _has_negation(skipped)
    low = max(0, end - _CONTEXT_CHARS)
    shown = _BROKEN_LINE.sub(" ", text[low : start + _CONTEXT_CHARS])
    sentences = [(low + first, low + last) for first, last in find_sentence_spans(shown)]
    opened = [text[first:start] for first, _ in sentences if end <= first <= start]
    begins = any(_LIST_MARK.fullmatch(before) or not _has_word(before) for before in opened)
    stop = next((last for first, last in sentences if first < end <= last), end)
    if not begins:
        return False
    rest = text[end:stop]  # of the first stretch's sentence
    is_dangling = _has_word(rest) and any(map(is_stopword, normalize_text(text[low:end]).words[-1:]))
    has_lost_noun = normalize_text(second).words[0] in _PRONOUNS and _has_word(text[end:start])
    return not (second[0].islower() or is_dangling or has_lost_noun or _has_negation(rest))


def _has_word(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _has_negation(text: str) -> bool:
    return any(map(is_negation, normalize_text(text).words))


@dataclass(frozen=True)
class QuoteSpan:
    """Offsets of a quote in characters of the text."""

    start: int
    end: int
    spans: tuple[tuple[int, int], ...] = ()
    """Start and end of each stretch of a joined quote."""

    def read(self, text: str) -> str:
        """The quote as it stands in the text."""
        return QUOTE_JOINT.join(text[start:end] for start, end in self.spans or [(self.start, self.end)])


def find_quote(quote: str, text: str) -> QuoteSpan | None:
    """The span of `text` that says what `quote` says, or None. See the module for the rules."""
    quote = quote.strip()
    parts = split_at_ellipsis(quote)
    found = _find_spans([quote, *parts], text)
    if found[0]:
        return found[0][0]
    return _find_joint(parts, found[1:], text)


def find_stretch(quote: str, text: str) -> QuoteSpan | None:
    """As `find_quote`, in one stretch."""
    return next(iter(_find_spans([quote.strip()], text)[0]), None)


def has_quote(quote: str, text: str) -> bool:
    """Is the quote in the text?"""
    return quote in text or find_quote(quote, text) is not None


def verify_quote(fact: Fact, text: str, sha256: str) -> Fact:
    """The fact with `verified` set by its page's stored text (whose SHA-256 is given).

    Found: `start`, `end`, `sha256` are set and the quote is the span's text. Unverified, without offsets: a
    quote that is not found or too short."""
    words = _split_quote(fact.quote)
    is_signs = bool(words) and all(len(w) == 1 and not w.isascii() for w in words)
    span = find_quote(fact.quote, text) if len(words) >= (4 if is_signs else MIN_WORDS) else None
    if span is None:
        return fact.replace(verified=False, start=-1, end=-1, spans=[])
    found = {"start": span.start, "end": span.end, "spans": list(span.spans), "sha256": sha256}
    return fact.replace(**found, quote=span.read(text), verified=True)


def _find_spans(quotes: Sequence[str], text: str) -> list[list[QuoteSpan]]:
    """The clean spans of each quote, as one stretch: exact ones, else those in another spelling."""
    exact = list[list[QuoteSpan]]()
    for quote in quotes:
        ends, at = list[QuoteSpan](), -1 if any(c.isalnum() for c in quote) else len(text)
        for _ in range(MAX_PLACES):
            if (at := text.find(quote, at + 1)) < 0:
                break
            if _is_clean_cut(text, at, at + len(quote)):
                ends.append(QuoteSpan(at, at + len(quote)))
        exact.append(ends)
    if exact[0]:
        return exact
    rows = [[] if found else _split_quote(quote) for quote, found in zip(quotes, exact, strict=True)]
    notes = has_note_marks(quotes[0])
    longest = _MAX_SPREAD * max(map(len, quotes)) + _WINDOW_CHARS
    hits = find_folded(text, [fold_letters("".join(row)) for row in rows], longest=longest, notes=notes)
    return [
        found or list(_find_spelled(quote, row, text, places, notes=notes))
        for quote, found, row, places in zip(quotes, exact, rows, hits, strict=True)
    ]


def _find_spelled(
    quote: str, words: list[str], text: str, hits: list[tuple[int, int]], *, notes: bool
) -> Iterator[QuoteSpan]:
    """The clean spans around hits of the folded words that have these words."""
    for start, end in hits:
        if end - start > _MAX_SPREAD * len(quote) + _WINDOW_CHARS:
            continue
        low = max(0, start - _WINDOW_CHARS)
        page = normalize_text(text[low : end + _WINDOW_CHARS], notes=notes)
        for place in page.find_words(words):
            if span := _make_span(
                quote, text, low + page.starts[place], low + page.ends[place + len(words) - 1]
            ):
                yield span


def _make_span(quote: str, text: str, start: int, end: int) -> QuoteSpan | None:
    """The span of these words of the page with the quote's opening signs ("--quiet") and its
    closing punctuation; None where it cuts something."""
    ends_sentence = _SENTENCE_END.search(quote) and not quote.rstrip("\"'”’»)]").endswith("...")
    if not _is_clean_cut(text, start, end) or (ends_sentence and _NEXT_WORD.match(text, end)):
        return None  # what ends its sentence may not end inside a sentence of the page
    opening = _OPENING.match(quote)
    if opening and text.endswith(opening[0], 0, start):
        start -= len(opening[0])
    closing = _CLOSING.match(text, end) if not quote[-1].isalnum() else None
    return QuoteSpan(start, closing.end() if closing else end)


def _find_joint(parts: Sequence[str], found: Sequence[list[QuoteSpan]], text: str) -> QuoteSpan | None:
    """The stretches of a quote with ellipses, each soon after the one before."""
    joints: list[tuple[QuoteSpan, ...]] = [(first,) for first in found[0]] if parts else []
    for part, spans in zip(parts[1:], found[1:], strict=True):
        joints = [
            (*before, next_one)
            for before in joints
            for next_one in spans
            if next_one.start >= before[-1].end and is_fair_skip(text, before[-1].end, next_one.start, part)
        ][:MAX_PLACES]
    if not joints:
        return None
    stretches = tuple((span.start, span.end) for span in joints[0])
    return QuoteSpan(stretches[0][0], stretches[-1][1], stretches)


def _split_quote(quote: str) -> list[str]:
    """The words of a quote without an ellipsis at its ends; none of one that is too long."""
    words = normalize_text(html.unescape(quote)).words if len(quote) <= MAX_QUOTE_CHARS else []
    while words and words[0] == ELLIPSIS:
        words = words[1:]
    while words and words[-1] == ELLIPSIS:
        words = words[:-1]
    return words


def _is_clean_cut(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 24) : start], text[end : end + 12]
    if before and (
        is_inside_word(before[-1], text[start]) or (text[start].isdigit() and _NUMBER_PREFIX.search(before))
    ):
        return False
    if after and (
        is_inside_word(text[end - 1], after[0])
        or (text[end - 1].isdigit() and _NUMBER_SUFFIX.match(after))
        or (text[end - 1].isalpha() and CLITIC.match(after))
    ):
        return False
    last = _LAST_WORD.search(before)
    if last and "\n" in before[last.end(1) :] and not text[start].islower():
        return True  # another line of a list or table
    return not (last and is_negation(last.group(1).lower().replace("’", "'")))
