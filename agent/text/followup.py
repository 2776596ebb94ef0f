"""A turn of a conversation as a question that stands alone: what it leaves out is taken from the turns before it. By rule.

A pointing word gets the name of what it points at, a piece of a question is made whole with the question before it, a short name
is given in full, and a turn too thin to stand alone gets what the talk is about. In languages other than English, where words
cannot be put in place of others without grammar, the matter is added in brackets. Knows turns, no run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent.text.ellipsis import piece, whole
from agent.text.focus import Referent, Talk, listen
from agent.text.listed import picked
from agent.text.manners import courtesy
from agent.text.names import names
from agent.text.phrases import Phrase, keys, phrases, weighty
from agent.text.pointing import pointer, put
from agent.text.spoken import AUXILIARIES, GIVEN_FOR, RELATIONS
from agent.text.stopwords import COMMON, STOPWORDS
from agent.text.tongue import english
from agent.text.words import UNSPACED, fold, stem, tokens
from agent.types import Turn

FEW = 2
"""A turn with fewer content words than this leans on what was said before."""
ADDED = 3
"""Words that are added in brackets at most."""
THIN = 4
"""Words of a turn up to which it says too little by itself."""
BRIEF = 5
"""Letters of a turn without spaces between words (Chinese, Japanese) up to which it says too little by itself."""
SOUGHT = 7
"""Words of the matter that a search query gets besides the question's own, at most."""
BACK = 3
"""Turns that brackets look back to at most."""
DEEP = 6
"""Former turns that are made whole themselves, at most."""
Unheard = Callable[[str], bool]
"""Tells words that the pages at hand do not know: those cannot be what the question is about."""

_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|former|latter|same|such|else|instead"
    r"|er|ihn|es(?=\W*$)|ihm|ihre?[mnrs]?|dies\w*|das|den|det|dessa?|detta|honom|henne|dem|deras|il|elle|ils|elles|lui|leur|cela|[cç]a|eso|esto|ellos|ellas)\b",
    re.IGNORECASE,
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_POINTS_UNSPACED = re.compile("[它他她这這那其此該该]|呢|それ|これ|あれ|その|この|あの|そこ|彼|그것|이것|그는|거기|그럼")
_OPENS = re.compile(
    r"^\W*(?:and|but|or|so|also|what about|how about|what if|why not|why|really|are you sure|for example|any\b|und|aber|och|men|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"^\W*(?:and|or|also|what about|how about|any\b)", re.IGNORECASE)
_ANSWERS = re.compile(r"^\W*(?:yes|no|yeah|nope|both|neither|thanks?|thank you|hello|hi|hey|great|ok(?:ay)?)\b[^?]*$", re.IGNORECASE)
_ONES = re.compile(r"\b(?:(another |a second |a third )one|ones|others)(?=\s*(?:$|[?.!,]|in\b|for\b|at\b))", re.IGNORECASE)
_QUIET = frozenset("yes no ok okay thanks thank hi hello fine good great sure sorry well please wow interesting tell know want need help".split())
_STOP = re.compile(r"[\s.?!]*$")


def leans(question: str) -> bool:
    """Does this turn need the ones before it?"""
    if letters := len(_UNSPACED.findall(question)):
        return letters <= BRIEF or bool(_POINTS_UNSPACED.search(question))
    own = _weighty(question)
    if len(own) < FEW or _OPENS.search(question):
        return True
    return bool(_POINTS.search(question))


def _known(_: str) -> bool:
    return False


def standalone(question: str, turns: Sequence[Turn], unheard: Unheard = _known) -> str:
    """The question with what it left out; as it stands when it needs nothing or nothing was said before."""
    if not turns or courtesy(question):
        return question
    if not english(question, [turn.user for turn in turns]):
        return _bracketed(question, turns, unheard)
    return _whole(question, turns, unheard) or question


def _whole(question: str, turns: Sequence[Turn], unheard: Unheard) -> str:
    talk = listen(turns)
    if chosen := picked(question, turns):
        return chosen
    if (part := piece(question)) and not pointer(part) and (made := _continued(part, turns, unheard)):
        return made
    found = pointer(question)
    meant = [thing for thing in talk.meant(question, found) if _heard(thing, unheard)]
    if found and meant:
        return put(question, found, meant[0].text)
    if (full := _in_full(question, talk)) != question:
        return full
    if (full := _ones(question, talk)) != question:
        return full
    return _with_matter(question, talk, unheard)


def _with_matter(question: str, talk: Talk, unheard: Unheard) -> str:
    """A turn too thin to stand alone, with what the talk is about most."""
    named = phrases(question)
    words = [fold(word) for word in re.findall(r"[\w’'-]+", question)]
    related = bool(words) and words[-1] in RELATIONS
    asking = question.rstrip().endswith("?")
    thin = len(words) <= THIN and not _complete(words, named)
    leaning = thin or (related and (asking or len(words) <= 2 * THIN)) or (asking and _GOES_ON.search(question))
    if any(phrase.name for phrase in named) or not leaning:
        return question
    matter = next((thing for thing in talk.ranked([key for phrase in named for key in phrase.keys]) if _heard(thing, unheard)), None)
    if matter is None or _ANSWERS.search(question):
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


def _ones(question: str, talk: Talk) -> str:
    """ "Ones", "others", "another one": the things they stand for, by their own name."""
    found = _ONES.search(question)
    if not found:
        return question
    several = found[0].lower().endswith("s")
    own = [key for phrase in phrases(question) for key in phrase.keys]
    thing = next((thing for thing in talk.ranked(own) if thing.by_person and not thing.name and (thing.plural or not several)), None)
    if thing is None:
        return question
    kind = " ".join(thing.words)
    lead = found[1] or ""
    return f"{question[: found.start()]}{lead}{'other ' if 'other' in found[0].lower() and not lead else ''}{kind}{question[found.end() :]}"


def _continued(part: str, turns: Sequence[Turn], unheard: Unheard) -> str:
    """The newest former question that can be asked again, asked again with this piece in it."""
    for n in range(len(turns) - 1, max(-1, len(turns) - 1 - BACK), -1):
        former = standalone(turns[n].user, turns[max(0, n - DEEP) : n], unheard)
        if made := whole(part, former):
            return made
    return ""


def _heard(thing: Referent, unheard: Unheard) -> bool:
    return not all(unheard(word) for word in thing.words)


def _in_full(question: str, talk: Talk) -> str:
    """Short names ("the College", "the G7") as they were given in full before."""
    for phrase in phrases(question):
        longer = [thing for thing in talk.ranked() if _is_short_for(phrase, thing)]
        if longer:
            return question.replace(phrase.text, " ".join(longer[0].words), 1)
    return question


def _is_short_for(phrase: Phrase, thing: Referent) -> bool:
    own = phrase.keys
    proper = len(own) < len(thing.keys) <= 5 and all(word[0].isupper() or word[0].isdigit() for word in thing.words)
    return proper and (phrase.the or phrase.name) and thing.keys[-len(own) :] == own


def _bracketed(question: str, turns: Sequence[Turn], unheard: Unheard) -> str:
    """In a language whose grammar is not known: the names of the talk behind the question, other words when there are none."""
    if not leans(question):
        return question
    around = [word for word in context(question, turns) if not unheard(word)]
    named = {word for turn in turns for word in _in_names(turn.user)}
    added = ([word for word in around if word in named] or around)[:ADDED]
    return f"{question} ({' '.join(added)})" if added else question


def search_query(question: str, turns: Sequence[Turn], unheard: Unheard = _known) -> str:
    """What to search for: the question as it stands alone, and behind it further words of what the talk is about."""
    return widened(standalone(question, turns, unheard), turns, unheard)


def widened(full: str, turns: Sequence[Turn], unheard: Unheard = _known) -> str:
    """A question that stands alone, and behind it the words of what the talk is about that it lacks."""
    have = set(keys(full))
    added: dict[str, str] = {}
    for thing in listen(turns).ranked():
        for word, key in zip(thing.words, thing.keys, strict=False):
            if key not in have and key not in added and weighty(word) and not unheard(word):
                added[key] = word
    return " ".join([full, *list(added.values())[:SOUGHT]])


def context(question: str, turns: Sequence[Turn]) -> list[str]:
    """The words that the newest turns add, names first, as they were written."""
    spoken = {stem(word) for word in tokens(question)}
    added: dict[str, str] = {}
    for turn in list(reversed(turns))[:BACK]:
        for word in [*_in_names(turn.user), *_weighty(turn.user)]:
            key = stem(fold(word))
            if key not in spoken and key not in added:
                added[key] = word
        if len(added) >= 2:
            break
    return list(added.values())


def _in_names(text: str) -> list[str]:
    return [word for name in names(text) for word in re.findall(r"\w[\w.-]*", name) if fold(word) not in STOPWORDS]


def _weighty(text: str) -> list[str]:
    words = re.findall(r"[^\W_][\w.-]*", text)
    return [word for word in words if fold(word) not in STOPWORDS and fold(word) not in _QUIET and fold(word) not in COMMON and len(word) > 1]
