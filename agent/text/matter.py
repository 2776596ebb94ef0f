"""What an English turn leaves out although it points at nothing: the matter of the talk, a name in full, the
kind that "ones" are of.

By rule, from how present things are in the talk (`focus`). What is put in is named as the talk named it.
Knows no run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent.text.focus import Referent, Talk
from agent.text.phrases import Phrase, phrases
from agent.text.spoken import AUXILIARIES, GIVEN_FOR, RELATIONS
from agent.text.tokens import fold

THIN = 4
"""Words of a turn up to which it says too little by itself."""
PRESENT = 1.6
"""How present a thing must be in the talk to be what a thin turn is about."""
LONG_NAME = 5
"""Words of a name that a short one is given in full by, at most."""
Unheard = Callable[[str], bool]
"""Tells words that the pages at hand do not know: those cannot be what the question is about."""

_GOES_ON = re.compile(r"^\W*(?:and|or|also|what about|how about|any\b)", re.IGNORECASE)
_ANSWERS = re.compile(
    r"^\W*(?:yes|no|yeah|nope|both|neither|thanks?|thank you|hello|hi|hey|great|ok(?:ay)?)\b[^?]*$",
    re.IGNORECASE,
)
_ONES = re.compile(
    r"\b(?:(another |a second |a third )one|ones|others)(?=\s*(?:$|[?.!,]|in\b|for\b|at\b))", re.IGNORECASE
)
_STOP = re.compile(r"(?<![\s.?!])[\s.?!]+$")


def heard(thing: Referent, unheard: Unheard) -> bool:
    """Do the pages at hand know any word of this?"""
    return not all(unheard(word) for word in thing.words)


def in_full(question: str, talk: Talk) -> str:
    """Short names ("the College", "the G7") as they were given in full before."""
    for phrase in phrases(question):
        longer = [thing for thing in talk.ranked() if _is_short_for(phrase, thing)]
        if longer:
            return question.replace(phrase.text, " ".join(longer[0].words), 1)
    return question


def _is_short_for(phrase: Phrase, thing: Referent) -> bool:
    own = phrase.keys
    proper = len(own) < len(thing.keys) <= LONG_NAME and all(
        word[0].isupper() or word[0].isdigit() for word in thing.words
    )
    return proper and (phrase.the or phrase.name) and thing.keys[-len(own) :] == own


def ones(question: str, talk: Talk) -> str:
    """ "Ones", "others", "another one": the things they stand for, by their own name."""
    found = _ONES.search(question)
    if not found:
        return question
    several = found[0].lower().endswith("s")
    own = [key for phrase in phrases(question) for key in phrase.keys]
    thing = next(
        (
            thing
            for thing in talk.ranked(own)
            if thing.by_person and not thing.name and (thing.plural or not several)
        ),
        None,
    )
    if thing is None:
        return question
    kind = " ".join(thing.words)
    lead = found[1] or ""
    return f"{question[: found.start()]}{lead}{'other ' if 'other' in found[0].lower() and not lead else ''}{kind}{question[found.end() :]}"


def with_matter(question: str, talk: Talk, unheard: Unheard) -> str:
    """A turn too thin to stand alone, with what the talk is about most."""
    named = phrases(question)
    words = [fold(word) for word in re.findall(r"[\w’'-]+", question)]
    related = bool(words) and words[-1] in RELATIONS
    asking = question.rstrip().endswith("?")
    thin = len(words) <= THIN and not _complete(words, named)
    leaning = (
        thin or (related and (asking or len(words) <= 2 * THIN)) or (asking and _GOES_ON.search(question))
    )
    if not words or not leaning or any(phrase.name for phrase in named):
        return question
    own = [key for phrase in named for key in phrase.keys]
    matter = next((thing for thing in talk.ranked(own) if heard(thing, unheard)), None)
    if matter is None or matter.presence < PRESENT or _ANSWERS.search(question):
        return question
    bare = _STOP.split(question, maxsplit=1)[0]
    if words[-1] == "more":
        return f"{bare} about {matter.text}{'?' if asking else ''}"
    if not (named and bare.endswith(named[-1].text)):
        return f"{question} ({' '.join(matter.words)})"
    tie = "of" if words[-1] in RELATIONS - GIVEN_FOR or " for " in bare else "for"
    return f"{bare} {tie} {matter.text}{'?' if asking else ''}"


def _complete(words: Sequence[str], named: Sequence[Phrase]) -> bool:
    """Does so short a turn name its own matter ("What is seafloor spreading?", "How is cassoulet made?")?"""
    own = any(phrase.role in ("topic", "subject") and not phrase.the for phrase in named)
    return own and any(word in AUXILIARIES or word == "about" for word in words)
