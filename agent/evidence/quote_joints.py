"""What a quote may leave out between the stretches of a page that it joins by ellipses.

Allowed is what a careful writer leaves out: an aside inside a sentence, between two commas, dashes or
brackets; or everything up to the beginning of a later sentence. Refused is a joint that changes the meaning:
the rest of a broken sentence holds a negation, the second stretch begins inside a sentence whose beginning
was left out, or with a pronoun whose noun was."""

from __future__ import annotations

import re

from agent.text.normalization import DOTS, is_negation, normalize_text
from agent.text.sentences import find_sentence_spans
from agent.text.tokens import is_stopword
from agent.text.word_lists import load_words

MIN_STRETCH_WORDS = 3
"""Least number of words of each stretch; fewer can be found nearly anywhere."""
MAX_STRETCHES = 6
"""Stretches of one quote: the steps of a short instruction."""
MAX_SKIPPED_CHARS = 3000
"""Most characters between the stretches: about a screen of text, still under the same heading."""

_ELLIPSIS = re.compile(DOTS)
_CONTEXT_CHARS = 200
_EDGES = " \t\n,;:–—-()[]"
_ASIDE = re.compile(
    r"\s*(?:([,;])[^,;:()–—.!?]*\1|\([^()]*\)|\[[^\[\]]*\]|[–—][^()–—;:.!?]*[–—]|\s-\s[^()–—;:.!?]*\s-)\s*"
)
_LIST_MARK = re.compile(r"\s*(?:\d{1,3}|[a-z])[.)]\s*")
"""The number or letter before an item of a list."""
_BROKEN_LINE = re.compile(r"\n(?=[^\W\d_A-Z])")
_PRONOUNS = load_words("pronouns")


def split_at_ellipsis(quote: str) -> list[str]:
    """The stretches of a quote between its inner ellipses; none where there is no ellipsis, there are too
    many, or one is too short."""
    parts = [part.strip(_EDGES) for part in _ELLIPSIS.split(quote)]
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
