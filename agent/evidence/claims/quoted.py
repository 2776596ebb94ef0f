"""Whether a claim stands in one stretch of a quote, word for word but for spelling.

The stretch is one or more whole sentences of the quote, lines or cells, perhaps without what an "and" adds
after a comma: what else a sentence says could change what its words say ("He denied that …", "… of the north
wing"). A claim and what it stands in are both questions or both none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent.evidence.claims.words import ReadText
from agent.text.normalization import ELLIPSIS

_EDGE = frozenset({"a", "an", "the", ELLIPSIS})
_BORDER = re.compile(r"[.;!?|\n…]|\[\.{3}\]")
_ADDS = re.compile(r"\s?[,;]\s(?:and|while|whereas)\b")
_ASKS = re.compile(r"[\s\"”’»)\]]*\?")
_MAX_PLACES = 50
"""Places of a claim's words that are looked at."""


def is_quoted(claim: ReadText, quote: ReadText) -> bool:
    """Does the claim stand in the quote, as whole sentences?"""
    asks = claim.text.rstrip(' "”’»)]').endswith("?")
    return any(_is_whole(quote, first, end, asks) for first, end in _find_stretches(claim, quote))


def _find_stretches(claim: ReadText, quote: ReadText) -> Iterator[tuple[int, int]]:
    """The first word of each place where a claim's words stand, and the word after its last."""
    keys = list(claim.keys)
    while keys and keys[0] in _EDGE:
        del keys[0]
    while keys and keys[-1] == ELLIPSIS:
        del keys[-1]
    if not any(key[0].isalpha() for key in keys):
        return
    needle, at, first, seen = f" {' '.join(keys)} ", -1, 0, 0
    for _ in range(_MAX_PLACES):
        at = quote.line.find(needle, at + 1)
        if at < 0:
            return
        first, seen = first + quote.line.count(" ", seen, at), at
        yield first, first + len(keys)


def _is_whole(quote: ReadText, first: int, end: int, asks: bool) -> bool:
    """Do these words begin and end with a sentence, a line or a cell of the quote?"""
    while first and quote.words[first - 1].key in _EDGE:
        first -= 1
    starts = {
        next((n for n, word in enumerate(quote.words) if word.start >= a), 0) for a, _ in quote.sentences
    }
    stop = quote.words[end - 1].end
    after = quote.text[stop : quote.words[end].start] if end < len(quote.words) else "."
    before = quote.text[quote.words[first - 1].end if first else 0 : quote.words[first].start]
    return (
        (not first or first in starts or bool(_BORDER.search(before)))
        and (end in starts or bool(_BORDER.search(after)) or bool(_ADDS.match(quote.text, stop)))
        and bool(_ASKS.match(quote.text, stop)) == asks
    )
