"""Whether a claim stands in one stretch of a quote, word for word but for spelling.

The stretch must be a clean cut: what stands around it in its sentence may not change what it says. It
* begins where a clause can begin: at a sentence's start, after punctuation, or after a word that joins
  clauses, a pronoun or an auxiliary;
* is not governed by a word that denies, doubts, supposes or reports (`opaque_frames.txt`), by a negation or
  by a condition, and is no question;
* ends before punctuation or a function word, not inside a noun phrase, before a figure's unit or before a
  preposition ("open" of "open on Sundays"), nor between a place and the larger one after its comma;
* begins after no member of the same list ("Vik owns the mill" of "Holm and Vik owns the mill");
* is not restricted further where it speaks of all, none or few ("I do not speak German" is not quoted from "I
  do not speak German very well")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent.evidence.claims.words import ReadText, Word, read_text
from agent.text.normalization import ELLIPSIS, is_negation
from agent.text.tokens import is_stopword, stem
from agent.text.word_lists import load_words
from agent.types import ClaimFinding

_EDGE = frozenset({"a", "an", "the", ELLIPSIS})
_OPAQUE = frozenset(map(stem, load_words("opaque_frames")))
_CONDITIONS = frozenset("if unless whether suppose supposing provided lest".split())
_OPENERS = frozenset(
    "and but so yet that because since as while whereas although though when where which who then"
    " thus he she "
    "it they we i you this these there is are was were has have had be been".split()
)
"""Function words after which a claim may begin inside a sentence; a preposition or "no" is none."""
RESTRICTABLE = frozenset(
    "all every each any no none never not nobody nothing few only most fewer less least".split()
)
"""Words whose claim says less when it is restricted further: "all birds" and "all birds of prey"."""
_PLACE_WORDS = frozenset({"in", "at", "near", "from"})
_COMPLETES = frozenset(
    "of than more less fewer only except without per for on in at by to from with within under over during"
    " until till before after through between among against about as when where unless".split()
)
"""Function words that complete or limit what is before: "free of lead", "5 euros less", "open on Sundays"."""
_ADDRESS = re.compile(r"https?://[^\s()<>]+")
_DAY = re.compile("(?:mon|tues|wednes|thurs|fri|satur|sun)day")
_HABITUAL = frozenset("is are may can".split())
"""Words of a state or custom, which a day limits ("is closed on Monday")."""
_COORDINATION = frozenset({"and", "or", "nor"})
_BREAK = re.compile(r"[^\w\s'’%°$€£¥₹+-]|\s[–—-]+\s|\n")
_LABELS = re.compile(r":|\s[–—-]+\s")
_ASKS = re.compile(r"[\s\"”’»)\]]*\?")
_FALSE = "(?:false|untrue|incorrect|wrong|mistaken|myth|hoax|legend|fiction|denied|disputed|refuted|debunked)"
_JUDGED_AFTER = re.compile(
    r"\W*(?:this|that|it|which)\W+(?:\w+\W+){0,2}?(?:is|was|has|proved)\W+(?:\w+\W+){0,3}?"
    rf"{_FALSE}\b|\W+(?:(?:verdict|rating|ruling)\W+)?{_FALSE}[ \t]*(?:[^\w\s]|$)",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_PLACES = 50
"""Places of a claim's words that are looked at."""
_SAID_AFTER = 5
"""How many words after a comma name who says what stands before it ("X, critics of the plan claim")."""


def is_quoted(claim: ReadText, quote: ReadText) -> bool:
    """Does the claim stand in the quote, as a clean cut? The quote's web addresses may be left out."""
    asks = claim.text.rstrip(' "”’»)]').endswith("?")
    if any(_is_clean_cut(quote, first, end, asks) for first, end in _find_stretches(claim, quote)):
        return True
    addresses = _ADDRESS.findall(quote.text)
    bare = [claim.text, quote.text]
    for address in sorted(addresses, key=len, reverse=True):
        bare = [text.replace(f"]({address})", "]").replace(address, "") for text in bare]
    return bool(addresses) and is_quoted(*map(read_text, bare))


def find_unclean_cuts(claim: ReadText, quotes: Sequence[ReadText]) -> Iterator[ClaimFinding]:
    """A doubt for a claim whose words stand in a sentence that says more: "He denied that …"."""
    for quote in quotes:
        for first, end in _find_stretches(claim, quote):
            before, after = _find_surroundings(quote, first, end)
            start = quote.words[first].start
            if _is_governed(quote, before, start) or any(word.key in _CONDITIONS for word in before):
                yield ClaimFinding(kind="modality", quoted=f"{_join(before[-_SAID_AFTER:])} …")
            elif _begins_clause(quote, before, start) and after:
                yield ClaimFinding(kind="modality", quoted=f"… {_join(after[:_SAID_AFTER])}")
            elif _goes_on_list(quote, before, start):
                yield ClaimFinding(kind="quantifier", quoted=f"{_join(before[-_SAID_AFTER:])} …")
            else:
                continue
            return


def _join(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


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


def _is_clean_cut(quote: ReadText, first: int, end: int, asks: bool) -> bool:
    start_at, end_at = quote.words[first].start, quote.words[end - 1].end
    before, after = _find_surroundings(quote, first, end)
    return (
        _begins_clause(quote, before, start_at)
        and not _is_governed(quote, before, start_at)
        and not any(word.key in _CONDITIONS for word in before + after)
        and bool(_ASKS.match(quote.text, after[-1].end if after else end_at)) == asks
        and _ends_phrase(quote, first, end, after)
        and not any(  # said after a comma, or of the whole, that somebody says so or that it is not so
            set(',–—”"').intersection(quote.text[end_at : word.start])
            for word in [word for word in after[:_SAID_AFTER] if stem(word.key) in _OPAQUE][:1]
        )
        and not _JUDGED_AFTER.match(quote.text, end_at)
    )


def _find_surroundings(quote: ReadText, first: int, end: int) -> tuple[list[Word], list[Word]]:
    """The words of its sentence before and after a stretch."""
    start_at, end_at = quote.words[first].start, quote.words[end - 1].end
    spans = [span for span in quote.sentences if span[1] > start_at and span[0] < end_at]
    left, right = (spans[0][0], spans[-1][1]) if spans else (0, len(quote.text))
    return _words_between(quote, left, first, -1), _words_between(quote, right, end, 1)


def _words_between(quote: ReadText, bound: int, at: int, way: int) -> list[Word]:
    """The words of the sentence before word `at` (way -1, up to character `bound`) or from it on (way 1)."""
    n = at - 1 if way < 0 else at
    found: list[Word] = []
    while 0 <= n < len(quote.words) and (
        quote.words[n].start >= bound if way < 0 else quote.words[n].end <= bound
    ):
        if quote.words[n].key == ELLIPSIS:
            break
        found.append(quote.words[n])
        n += way
    return found[::way]


def _begins_clause(quote: ReadText, before: list[Word], start: int) -> bool:
    while before and before[-1].key in _EDGE:
        before = before[:-1]
    if not before or _BREAK.search(quote.text, before[-1].end, start):
        return True
    return before[-1].key in _OPENERS and not _goes_on_list(quote, before, start)


def _goes_on_list(quote: ReadText, before: list[Word], start: int) -> bool:
    """Is it a name after an "and" that no punctuation parts from what stands before?"""
    is_member = len(before) > 1 and before[-1].key in _COORDINATION and quote.text[start].isupper()
    return is_member and not _BREAK.search(quote.text, before[-2].end, before[-1].start)


def _is_governed(quote: ReadText, before: list[Word], start: int) -> bool:
    """Does a word before deny, doubt, suppose or report what the stretch says?

    After "that" all of the sentence counts, else only the words since the last punctuation, and one before a
    colon or dash ("Myth: …")."""
    while before and before[-1].key in _EDGE:
        start, before = before[-1].start, before[:-1]
    if not before:
        return False
    if _LABELS.search(quote.text, before[-1].end, start) and stem(before[-1].key) in _OPAQUE:
        return True
    follows_that = before[-1].key == "that"
    for n in range(len(before) - 1, -1, -1):
        until = before[n + 1].start if n + 1 < len(before) else start
        if not follows_that and _BREAK.search(quote.text, before[n].end, until):
            return False
        if is_negation(before[n].key) or stem(before[n].key) in _OPAQUE:
            return True
    return False


def _ends_phrase(quote: ReadText, first: int, end: int, after: list[Word]) -> bool:
    """May the sentence be cut here?"""
    last = quote.words[end - 1]
    if not after or _BREAK.search(quote.text, quote.words[end - 1].end, after[0].start):
        is_listed = after and quote.text[last.end : after[0].start] == ", "
        return not (is_listed and last.text[:1].isupper() and after[0].text[:1].isupper())  # a larger place
    following = after[0]
    if any(is_restrictable(quote.keys, n) for n in range(first, end)):
        return following.key in _COORDINATION
    if is_stopword(following.key):
        keys = set(quote.keys[first:end])  # a day of what happened once: "The plant was closed in 1990"
        is_day = len(after) > 1 and (after[1].key[0] == "#" or _DAY.fullmatch(after[1].key))
        is_event = any(key.endswith("ed") for key in keys) and not keys & _HABITUAL
        if following.key not in _COMPLETES or (is_day and is_event):
            return True
    is_place = end - first > 1 and quote.keys[end - 2] in _PLACE_WORDS and quote.text[last.start].isupper()
    return is_place and quote.text[following.start].islower()


def is_restrictable(keys: Sequence[str], n: int) -> bool:
    """Does word `n` speak of all, none or few? "A few" does not."""
    return keys[n] in RESTRICTABLE and not (keys[n] == "few" and n > 0 and keys[n - 1] == "a")
