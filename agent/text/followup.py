"""A turn of a conversation as a question that stands alone: what it leaves out is taken from the turns before
it. By rule.

A pointing word gets the name of what it points at, a piece of a question is made whole with the question
before it, a short name is given in full, and a turn too thin to stand alone gets what the talk is about. In
languages other than English, where words cannot be put in place of others without grammar, the matter is
added in brackets. Knows turns, no run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from agent.text.dialogue_acts import blank_unanswered_replies as listened
from agent.text.dialogue_acts import classify_small_talk
from agent.text.doing import done, undone
from agent.text.ellipsis import piece, whole
from agent.text.focus import listen
from agent.text.language import is_english
from agent.text.leaning import content, leans
from agent.text.listed import picked
from agent.text.matter import Unheard, heard, in_full, ones, with_matter
from agent.text.names import find_names
from agent.text.phrases import keys, weighty
from agent.text.pointing import pointer, put
from agent.text.stopwords import STOPWORDS
from agent.text.tokens import fold, stem, tokenize
from agent.types import Turn

ADDED = 3
"""Words that are added in brackets at most."""
SOUGHT = 7
"""Words of the matter that a search query gets besides the question's own, at most."""
BACK = 3
"""Former turns that brackets, and what is asked anew, look back to at most."""
DEEP = 6
"""Former turns that are made whole themselves, at most."""


def _known(_: str) -> bool:
    return False


def standalone(question: str, turns: Sequence[Turn], unheard: Unheard = _known) -> str:
    """The question with what it left out; as it stands when it needs nothing or nothing was said before. What
    was said in reply lends words only where it was an answer."""
    turns = listened(turns)
    if not turns or classify_small_talk(question):
        return question
    if not is_english(question, [turn.user for turn in turns]):
        return _bracketed(question, turns, unheard)
    return _whole(question, turns, unheard) or question


def _whole(question: str, turns: Sequence[Turn], unheard: Unheard) -> str:
    talk = listen(turns)
    if chosen := picked(question, turns):
        return chosen
    if (
        (part := piece(question))
        and not pointer(part)
        and (made := _asked_anew(turns, unheard, partial(whole, part)))
    ):
        return made
    if undone(question) and (acted := _asked_anew(turns, unheard, partial(done, question))):
        return acted
    found = pointer(question)
    meant = [thing for thing in talk.meant(question, found) if heard(thing, unheard)]
    if found and meant:
        return put(question, found, meant[0].text)
    if (full := in_full(question, talk)) != question:
        return full
    if (full := ones(question, talk)) != question:
        return full
    return with_matter(question, talk, unheard)


def _asked_anew(turns: Sequence[Turn], unheard: Unheard, made_with: Callable[[str], str]) -> str:
    """What is made with the newest former question, itself made whole, that something can be made with; ""
    when there is none."""
    for n in range(len(turns) - 1, max(-1, len(turns) - 1 - BACK), -1):
        former = standalone(turns[n].user, turns[max(0, n - DEEP) : n], unheard)
        if made := made_with(former):
            return made
    return ""


def _bracketed(question: str, turns: Sequence[Turn], unheard: Unheard) -> str:
    """In a language whose grammar is not known: the names of the talk behind the question, other words when
    there are none."""
    if not leans(question):
        return question
    around = [word for word in context(question, turns) if not unheard(word)]
    named = {word for turn in turns for word in _in_names(turn.user)}
    added = ([word for word in around if word in named] or around)[:ADDED]
    return f"{question} ({' '.join(added)})" if added else question


def search_query(question: str, turns: Sequence[Turn], unheard: Unheard = _known) -> str:
    """What to search for: the question as it stands alone, and behind it further words of what the talk is
    about."""
    return widened(standalone(question, turns, unheard), turns, unheard)


def widened(full: str, turns: Sequence[Turn], unheard: Unheard = _known) -> str:
    """A question that stands alone, and behind it the words of what the talk is about that it lacks."""
    have = set(keys(full))
    added: dict[str, str] = {}
    for thing in (thing for thing in listen(listened(turns)).ranked() if not thing.failed):
        for word, key in zip(thing.words, thing.keys, strict=False):
            if key not in have and key not in added and weighty(word) and not unheard(word):
                added[key] = word
    return " ".join([full, *list(added.values())[:SOUGHT]])


def context(question: str, turns: Sequence[Turn]) -> list[str]:
    """The words that the newest turns add, names first, as they were written; of turns that failed only when
    no other is there."""
    turns = [turn for turn in turns if turn.answered] or turns
    spoken = {stem(word) for word in tokenize(question)}
    added: dict[str, str] = {}
    for turn in list(reversed(turns))[:BACK]:
        for word in [*_in_names(turn.user), *content(turn.user)]:
            key = stem(fold(word))
            if key not in spoken and key not in added:
                added[key] = word
        if len(added) >= 2:
            break
    return list(added.values())


def _in_names(text: str) -> list[str]:
    return [
        word
        for name in find_names(text)
        for word in re.findall(r"\w[\w.-]*", name)
        if fold(word) not in STOPWORDS
    ]
