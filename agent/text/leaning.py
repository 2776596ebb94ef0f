"""Does a turn need the ones before it? By its pointing words, its opening, and how little it says. Knows one
turn, several languages."""

from __future__ import annotations

import re

from agent.text.stopwords import COMMON_WORDS, STOPWORDS
from agent.text.tokens import UNSPACED_SCRIPTS, fold

FEW = 2
"""A turn with fewer content words than this leans on what was said before."""
BRIEF = 5
"""Letters of a turn without spaces between words (Chinese, Japanese) up to which it does."""

_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those|there|then|one|ones|former|latter|same|such|else|instead"
    r"|er|ihn|es(?=\W*$)|ihm|ihre?[mnrs]?|dies\w*|das|den|det|dessa?|detta|honom|henne|dem|deras"
    r"|il|elle|ils|elles|lui|leur|cela|[cç]a|eso|esto|ellos|ellas)\b",
    re.IGNORECASE,
)
_UNSPACED = re.compile(f"[{UNSPACED_SCRIPTS}]")
_POINTS_UNSPACED = re.compile(
    "[它他她这這那其此該该]|呢|それ|これ|あれ|その|この|あの|そこ|彼|그것|이것|그는|거기|그럼"
)
_OPENS = re.compile(
    r"^\W*(?:and|but|or|so|also|what about|how about|what if|why not|why|really|are you sure|for example|any\b|und|aber|och|men|et|mais|y|pero)\b",
    re.IGNORECASE,
)
_QUIET = frozenset(
    "yes no ok okay thanks thank hi hello fine good great sure sorry well please wow interesting tell know want need help".split()
)


def leans(question: str) -> bool:
    """Does this turn need the ones before it?"""
    if letters := len(_UNSPACED.findall(question)):
        return letters <= BRIEF or bool(_POINTS_UNSPACED.search(question))
    own = content(question)
    if len(own) < FEW or _OPENS.search(question):
        return True
    return bool(_POINTS.search(question))


def content(text: str) -> list[str]:
    """The words of a text that say what it is about, as they were written."""
    words = re.findall(r"[^\W_][\w.-]*", text)
    return [
        word
        for word in words
        if fold(word) not in STOPWORDS
        and fold(word) not in _QUIET
        and fold(word) not in COMMON_WORDS
        and len(word) > 1
    ]
