"""Proper names in a text, by their capitals: what a person would search for next. Knows no dictionary of
names."""

from __future__ import annotations

import re

from agent.text.tokens import fold
from agent.text.word_lists import STOPWORDS

_PARTICLE = r"(?:of|the|de|del|della|di|da|do|dos|von|van|der|den|la|le|du|des|al|bin|ibn|af|av)"
_CAPITAL = f"[{''.join(c for c in map(chr, range(0x41, 0x2000)) if c.isupper() or c.istitle())}]"
_WORD = rf"{_CAPITAL}[\w'’.\-&]*\w|{_CAPITAL}\.?"
_NAME = re.compile(rf"(?:{_WORD})(?:[ \u00a0](?:{_PARTICLE}[ \u00a0]){{0,2}}(?:{_WORD}|\d+(?!\d)))*")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„»\n]{2,80})[\"”“»]")
_POSSESSIVE = re.compile(r"['’]s?$")
_NOT_A_NAME = frozenset(
    "january february march april may june july august september october november december monday tuesday wednesday thursday friday "
    "saturday sunday mr mrs ms dr however although while since after before during because although the in on at by for from".split()
)


def find_names(text: str, limit: int = 40) -> list[str]:
    """The names in a text, each once, in order: runs of capitalised words, and what stands in quotation
    marks."""
    found: dict[str, None] = {}
    for match in _QUOTED.finditer(text):
        if quoted := match.group(1).strip(" ,.;:"):
            found.setdefault(quoted)
    for match in _NAME.finditer(text):
        name = _trim_name(match.group())
        if name[:1].isupper() and not _is_common(name):
            found.setdefault(name)
        if len(found) >= limit:
            break
    return list(found)[:limit]


def _trim_name(name: str) -> str:
    """Without function words in front ("In Berlin", "The") and stray marks behind."""
    words = name.split()
    while words and (fold(words[0]).strip(".") in STOPWORDS or fold(words[0]) in _NOT_A_NAME):
        words.pop(0)
    while words and fold(words[-1]) in STOPWORDS:
        words.pop()
    return _POSSESSIVE.sub("", " ".join(words).strip(" ,.;:'’-"))


def _is_common(name: str) -> bool:
    return len(name) < 2 or all(
        fold(word) in STOPWORDS or fold(word) in _NOT_A_NAME or word.isdigit() for word in name.split()
    )
