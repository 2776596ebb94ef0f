"""The things a sentence names, as noun phrases, and the part each plays in it. By rule, from words and their
order: no grammar.

Made for short English questions, where function words, common verbs and prepositions tell most. In other
languages what is left between function words is taken, which is less exact and still names the matter. Knows
one sentence at a time, no conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agent.text.sentences import find_sentence_spans
from agent.text.spoken import (
    ADJECTIVES,
    AUXILIARIES,
    BIDDING,
    CHATTER,
    DETERMINERS,
    GIVEN_FOR,
    JOINS,
    PREPOSITIONS,
    VERBS,
)
from agent.text.stopwords import STOPWORDS
from agent.text.tokens import fold, stem

Role = Literal["topic", "subject", "tail", "object", "head"]
"""What it is to its sentence: what is asked or told about; who does it; what stands behind a preposition; any
other; what an "of" follows."""
LONGEST = 6
"""Words of one phrase at most."""

_WORD = re.compile(r"[^\W_](?:[\w’'.&/-]*[^\W_])?['’]?")
_BREAK = re.compile(r"[?!;,:()\[\]\n\"“”|]|--| [-–—] |\.(?=\s|$)")
_OWNER = re.compile(r"['’]s?$")
_SHOUTED = frozenset(("OK", "AND", "OR", "THE", "NOT", "NO", "YES", "TO", "IN", "IS", "MY", "AN", "DO"))
_SUBJECTS = frozenset(("i", "we", "you", "they", "he", "she"))
"""Words behind which a verb stands."""
_DIGITS = re.compile(r"[\d.,/%$€-]+")


@dataclass(frozen=True)
class Phrase:
    """Words as they were written, and what is known of them. `the`: spoken of as known; `place`: a name
    behind "in", "to", ..."""

    words: tuple[str, ...]
    role: Role
    the: bool = False
    article: bool = False
    plural: bool = False
    name: bool = False
    place: bool = False
    joined: bool = False
    """Does an "and" or "or" tie it to the phrase before it?"""

    @property
    def text(self) -> str:
        """The phrase as it was written, without its article."""
        return " ".join(self.words)

    @property
    def keys(self) -> tuple[str, ...]:
        """Its words as they compare."""
        return keys(self.text)


def keys(text: str) -> tuple[str, ...]:
    """The words of a phrase as they compare: folded, stemmed, without possessive endings."""
    return tuple(_key(word) for word in _WORD.findall(text))


def _key(word: str) -> str:
    return stem(_OWNER.sub("", fold(word)))


def phrases(text: str) -> list[Phrase]:
    """The noun phrases of a text in order."""
    return [
        phrase
        for start, end in find_sentence_spans(text)
        for clause in _BREAK.split(text[start:end])
        for phrase in _of_clause(clause)
    ]


def weighty(word: str) -> bool:
    """Does this word name something (no function word, no chatter, no mere quality)?"""
    if word.isupper() and 2 <= len(word) <= LONGEST and word not in _SHOUTED:
        return True
    bare = _OWNER.sub("", fold(word).replace("’", "'"))
    bare = bare.replace("'", "")
    return (
        bare not in STOPWORDS
        and bare not in CHATTER
        and bare not in ADJECTIVES
        and (len(bare) > 1 or bare.isdigit())
    )


def _of_clause(clause: str) -> Iterator[Phrase]:
    words = _WORD.findall(clause)
    low = [fold(word).replace("’", "'") for word in words]
    at = end = 0
    while at < len(words):
        if not _opens(words, low, at):
            at += 1
            continue
        joined, begin = bool(end) and at - end <= 2 and low[end] in JOINS, at
        at += 1
        while at < len(words) and _goes_on(words, low, at):
            at += 1
        end = at
        if phrase := _phrase(words, low, begin, at):
            yield _with(phrase, joined)


def _with(phrase: Phrase, joined: bool) -> Phrase:
    return Phrase(
        phrase.words,
        phrase.role,
        phrase.the,
        phrase.article,
        phrase.plural,
        phrase.name,
        phrase.place,
        joined,
    )


def _opens(words: list[str], low: list[str], at: int) -> bool:
    word, former = low[at], low[at - 1] if at else ""
    if not weighty(words[at]) or (not at and word in BIDDING):
        return False
    if former in _SUBJECTS and words[at][0].islower():
        return False
    if _is_verb(word):
        return bool(at) and (words[at][0].isupper() or (former in DETERMINERS and former != "that"))
    alone = at + 1 == len(low) or not weighty(words[at + 1])
    return not (_is_participle(word) and alone and former not in DETERMINERS and words[at][0].islower())


def _goes_on(words: list[str], low: list[str], at: int) -> bool:
    word, former = low[at], low[at - 1]
    if words[at][0].isupper() and words[at - 1][0].isupper():
        return (
            word not in PREPOSITIONS
            and word not in DETERMINERS
            and word not in AUXILIARIES
            and word not in JOINS
        )
    if not weighty(words[at]):
        return word in ADJECTIVES and former.endswith("'s")
    if _is_verb(word):
        return former.endswith("'s") and at + 1 == len(low)
    return not (word.endswith("ed") and len(word) > 4)


def _is_verb(word: str) -> bool:
    return word in VERBS or (word.endswith("ly") and len(word) > 5)


def _is_participle(word: str) -> bool:
    return len(word) > 4 and word.endswith(("ed", "ing"))


def _phrase(words: list[str], low: list[str], begin: int, end: int) -> Phrase | None:
    kept = list(words[begin:end])
    kept[-1] = _OWNER.sub("", kept[-1])
    while len(kept) > 1 and fold(kept[0]) in ADJECTIVES:
        kept = kept[1:]
    while len(kept) > 1 and fold(kept[-1]) in ADJECTIVES:
        kept = kept[:-1]
    if all(_DIGITS.fullmatch(word) for word in kept):
        return None
    kept = kept[-LONGEST:]
    before = begin - 1
    while before >= 0 and (
        low[before] in DETERMINERS
        or low[before] in ADJECTIVES
        or low[before] in ("more", "other", "many", "much")
    ):
        before -= 1
    around = low[before + 1 : begin]
    role = _role(low, before, end)
    last = fold(kept[-1])
    name = any(word[0].isupper() for word in kept) and (begin > 0 or len(kept) > 1 or kept[0].isupper())
    return Phrase(
        words=tuple(kept),
        role=role,
        the=any(word in ("the", "this", "that", "these", "those") for word in around),
        article=any(word in ("the", "a", "an") for word in around),
        plural=last in _PLURALS or bool(re.search(r"(?<![suia'])s$", last)),
        name=name,
        place=name and before >= 0 and low[before] in _WHERE,
    )


_PLURALS = frozenset(("people", "children", "men", "women", "police", "mice", "feet"))
_WHERE = frozenset(("in", "at", "to", "from", "near", "around", "visit", "downtown"))


def _role(low: list[str], before: int, end: int) -> Role:
    word = low[before] if before >= 0 else ""
    if end < len(low) and (low[end] == "of" or (low[end] == "for" and low[end - 1] in GIVEN_FOR)):
        return "head"
    if word in ("about", "describe", "explain", "define") or (
        word in ("is", "are", "was", "were", "what's") and end == len(low) and before <= 1
    ):
        return "topic"
    if word in AUXILIARIES or before < 0:
        return "subject"
    return "tail" if word in PREPOSITIONS else "object"
