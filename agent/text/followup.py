"""A turn of a conversation as a question that stands alone: what it leaves out is taken from the turns before it. By rule.

A turn leans on the former ones when it points back ("it", "those", "what about"), or has too few words of its own. Then the
names and weighty words of the newest turns that have some are added. Knows turns, no run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agent.text.names import names
from agent.text.stopwords import COMMON, STOPWORDS
from agent.text.words import fold, stem, tokens
from agent.types import Turn

FEW = 2
"""A turn with fewer content words than this leans on what was said before."""
ADDED = 3
"""Words that are added at most."""
BACK = 3
"""Turns that are looked back to at most."""
_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|former|latter|same|such|else|instead"
    r"|er|ihn|ihm|ihre?[mnrs]?|dies\w*|das|den|det|dessa?|detta|honom|henne|dem|deras|il|elle|ils|elles|lui|leur|cela|[cç]a|eso|esto|ellos|ellas)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"^\W*(?:and|but|or|so|also|what about|how about|what if|why not|why|really|are you sure|for example|any\b|und|aber|och|men|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_QUIET = frozenset("yes no ok okay thanks thank hi hello fine good great sure sorry well please wow interesting tell know want need help".split())


def leans(question: str) -> bool:
    """Does this turn need the ones before it?"""
    own = _weighty(question)
    if len(own) < FEW or _OPENS.search(question):
        return True
    return bool(_POINTS.search(question))


def standalone(question: str, turns: Sequence[Turn], unheard: Callable[[str], bool] = lambda _: False) -> str:
    """The question with what it left out, in brackets behind it; as it stands when it needs nothing.

    `unheard` tells words that the pages at hand do not know: those cannot be what the question points at.
    """
    if not turns or not leans(question):
        return question
    added = [word for word in context(question, turns) if not unheard(word)][:ADDED]
    return f"{question} ({' '.join(added)})" if added else question


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
