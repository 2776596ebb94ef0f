"""A claim that is a near copy of its closest sentence: the one or two words in which they differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise, takewhile

from agent.evidence.claims.alignment import Alignment
from agent.evidence.claims.quoted import is_restrictable
from agent.evidence.claims.words import ReadText, Word
from agent.text.tokens import is_stopword, stem
from agent.text.word_lists import read_rows
from agent.types import ClaimFinding, FindingKind

MAX_CHANGES = 2
"""Content words by which a near copy differs at most; at least half of the shorter side is the same."""
MAX_SHORT = 10
"""Content words of a sentence in which one other word changes much.

Both were chosen on 3,541 public examples (DECISIONS.md, "Claim check")."""
_LIGHT_WORDS = (
    "make made do done get got give given gave take took taken go gone come came put down up away back"
)
_LIGHT = frozenset(map(stem, _LIGHT_WORDS.split()))
"""Light verbs and particles, which add little ("is made", "written down")."""
_ARTICLES = frozenset({"a", "an", "the"})
_PRONOUNS = frozenset("it he she they this that these those".split())
_COORDINATION = frozenset({"and", "or", "nor"})
_ONLY_SOME = frozenset("only solely few fewer less least most".split())
"""Words that say another thing of a list than of its members."""


def find_changed_words(
    alignment: Alignment, context: ReadText, around: Sequence[ReadText]
) -> Iterator[ClaimFinding]:
    """One or two content words that differ in an otherwise same sentence: added ones where it is short, left
    out ones where the claim speaks of all, none or few. Words of the context (titles), or `around` the
    sentence, may be added, or stand for "these medications"."""
    known, given = ({stem(key) for text in texts for key in text.keys} for texts in ([context], around))
    added = len(alignment.claimed) - alignment.in_order
    dropped = len(alignment.quoted) - alignment.in_order
    least = min(len(alignment.claimed), len(alignment.quoted))
    if not 0 < added + dropped <= MAX_CHANGES or 2 * alignment.in_order < least:
        return
    keys = [word.key for word in alignment.claim]
    is_restricted = any(is_restrictable(keys, n) for n in range(len(keys)))
    said, there = ({stemmed for stemmed, _ in side} for side in (alignment.claimed, alignment.quoted))
    new, dropped_words, groups = said - there, there - said - _find_spare(alignment), _read_synonyms()
    same = [(a, b) for a in new for b in dropped_words if groups.get(a, set()) & groups.get(b, set())]
    new, dropped_words = new - {one for one, _ in same}, dropped_words - {other for _, other in same}
    if new and new <= known | given:
        words = alignment.sentence
        dropped_words -= {stem(b.key) for a, b in pairwise(words) if a.key in ("this", "these")}
    if not dropped_words:
        new -= known | given
    if not (is_restricted and dropped_words) and (not new or (not dropped_words and new <= _LIGHT)):
        return
    is_short = max(len(alignment.claimed), len(alignment.quoted)) <= MAX_SHORT
    if is_restricted or (is_short and any(one[0].isalpha() and one not in known for one in new)):
        claimed, quoted = alignment.changed_words
        kind: FindingKind = "antonym" if claimed and quoted and not is_restricted else "quantifier"
        yield ClaimFinding(kind=kind, claimed=claimed, quoted=quoted)


def _find_spare(alignment: Alignment) -> set[str]:
    """Words of the sentence that a claim may leave out although it denies, or speaks of all: a subject for
    which it has a pronoun, and one member of a list."""
    words = alignment.sentence
    keys = [word.key for word in alignment.claim]
    spare = set[str]()
    if keys[0] in _PRONOUNS:
        subject = takewhile(lambda word: word.key not in keys, (w for w in words if w.key not in _ARTICLES))
        spare |= {stem(word.key) for word in subject}
    if not _ONLY_SOME.intersection(keys):
        for n, word in enumerate(words[:-1]):
            after = words[n + 1]
            if word.key in _COORDINATION and _ends_item(words, n + 1):
                spare.add(stem(after.key))
            elif after.key in _COORDINATION or (_ends_item(words, n) and not is_stopword(after.key)):
                spare.add(stem(word.key))
    return spare


def _ends_item(words: Sequence[Word], n: int) -> bool:
    """Does punctuation or a function word, or nothing, follow word `n`?"""
    following = words[n + 1 : n + 2]
    return not following or following[0].start - words[n].end > 1 or is_stopword(following[0].key)


@cache
def _read_synonyms() -> Mapping[str, set[int]]:
    """The groups of each stem."""
    groups: dict[str, set[int]] = defaultdict(set)
    for n, row in enumerate(read_rows("synonyms")):
        for word in row.split():
            groups[stem(word)].add(n)
    return groups
