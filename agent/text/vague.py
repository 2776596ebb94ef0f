"""What a question speaks of as if it were known although nobody named it: "it" with nothing before it, "this
county", "the actor".

Such a question cannot be answered, only asked back. English, by rule: a pointing word without anything to
point at; a demonstrative or definite noun of a kind that has many members, when neither the question nor the
talk says which. Knows no library."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.text.focus import listen
from agent.text.language import is_english
from agent.text.phrases import phrases, weighty
from agent.text.pointing import pointer
from agent.text.spoken import ADJECTIVES, PREPOSITIONS, VERBS
from agent.text.stopwords import STOPWORDS
from agent.text.tokens import fold, stem, tokenize
from agent.types import Turn

_MEMBERS = frozenset(
    stem(word)
    for word in """actor actress singer author writer director player musician artist politician president athlete astronaut man woman boy girl
    person guy lady animal bird dog cat plant company corporation firm business brand bank organization organisation agency department county
    city town village country state province region river lake mountain island language flag library court school university college hospital
    clinic museum restaurant chain hotel airport stadium park building team club band movie film song album book novel show series season
    episode game play poem product phone car vehicle app software tool loan case lawsuit partner document version revision update action
    policy law bill act treaty war battle event festival holiday company's sdk store shop machine device model""".split()
)
_SINGLES = frozenset("first last next only main worst nearest".split()) | {
    word for word in ADJECTIVES if word.endswith("est")
}
"""Words that say which one of many: "the nearest shop"."""
_PLACES = frozenset("city town village country county state province region island".split())
"""Members that a place which was named can be."""
_SPOKEN_OF = frozenset(("this", "these", "those", "the"))
SHORT, FEW = 7, 2
"""Weighty words of a question whose noun ("the loan"), and whose pronoun, can be left without a matter; a
longer one says enough."""


def vague(question: str, turns: Sequence[Turn]) -> str:
    """The words of the question that point at nothing; "" when it is clear enough to be looked up."""
    if not is_english(question, [turn.user for turn in turns]):
        return ""
    said = [
        word
        for word in re.findall(r"[^\W_](?:[\w’'.-]*\w)?", question)
        if weighty(word) or word.isdigit() or not word.isascii()
    ]
    if not turns and not said:
        return question.strip(" ?.!")
    found = pointer(question)
    if (
        found
        and len(said) <= FEW
        and not phrases(question[: found.start])
        and not listen(turns).meant(question, found)
    ):
        return found.word
    return _member(question, turns, said)


def _member(question: str, turns: Sequence[Turn], said: Sequence[str]) -> str:
    """A noun of many members, spoken of as known, when nothing that was said or is named here tells which
    one."""
    heard = {
        stem(word) for turn in turns for word in tokenize(f"{turn.user} {turn.bot}") if word not in STOPWORDS
    }
    known = [word for word in said if stem(fold(word)) in heard]
    named = any(phrase.name for phrase in phrases(question))
    if len(known) > len(said) / 3:
        return ""
    placed = any(thing.place for thing in listen(turns).ranked())
    words = re.findall(r"[\w’'-]+|[^\w\s]", question)
    for at, word in enumerate(words):
        end = _noun(words, at + 1) if word.lower() in _SPOKEN_OF else 0
        if not end or stem(_bare(words[end])) in heard or (placed and _bare(words[end]) in _PLACES):
            continue
        if word.lower() != "the" or (
            turns and not named and not _limited(words[end + 1 : end + 2]) and len(said) <= SHORT
        ):
            return " ".join(words[at : end + 1])
    return ""


def _noun(words: Sequence[str], start: int) -> int:
    """Where the noun of many members stands that begins here, its qualities before it; 0 when it is another
    noun."""
    for at in range(start, min(start + 4, len(words))):
        if _bare(words[at]) in STOPWORDS or _bare(words[at]) in _SINGLES or not words[at][0].isalnum():
            return 0
        following = words[at + 1] if at + 1 < len(words) else ""
        if stem(_bare(words[at])) in _MEMBERS and not (
            stem(_bare(following)) in _MEMBERS or (following[:1].isupper() and words[at][0].isupper())
        ):
            return at
    return 0


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", fold(word))


def _limited(following: Sequence[str]) -> bool:
    """Does what follows the noun say which one?"""
    word = fold(following[0]) if following else ""
    if word in ('"', "“", "‘"):
        return True
    verb = word in VERBS or word.endswith("ed")
    return (
        word in PREPOSITIONS - {"in", "on"}
        or word in ("that", "who", "which", "called", "named")
        or (word[:1].isalnum() and weighty(word) and not verb)
    )
