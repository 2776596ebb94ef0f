"""Proper names in a text, by their capitals; scripts without capitals have none.

A name is a run of capitalised words with the particles between them ("Karl von der Heide"). Function words
and months at its edges are cut off."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from agent.text.normalization import normalize_text
from agent.text.tokens import fold, is_stopword
from agent.text.word_lists import load_words

_PARTICLE = r"(?:of|the|de|del|della|di|da|do|dos|von|van|der|den|la|le|du|des|al|bin|ibn|af|av)"
_CAPITAL = f"[{''.join(c for c in map(chr, range(0x41, 0x2000)) if c.isupper() or c.istitle())}]"
_WORD = rf"{_CAPITAL}[\w'’.\-&]*\w|{_CAPITAL}\.?"
_NAME = re.compile(
    rf"(?:{_WORD})(?:(?:[ \u00a0]|,\s(?=(?:Jr|Sr|III?)\b))(?:{_PARTICLE}[ \u00a0]){{0,2}}(?:{_WORD}"
    rf"|\d+(?!\d)))*"
)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„»\n]{2,80})[\"”“»]")
_POSSESSIVE = re.compile(r"['’]s?$")
_NOT_A_NAME = load_words("not_names")


@dataclass(frozen=True)
class ProperName:
    """A name as written, with its offsets in the text."""

    text: str
    start: int
    end: int

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words in unified spelling, without function words."""
        return frozenset(
            word.removesuffix("'s") for word in normalize_text(self.text).words if not is_stopword(word)
        )


def find_proper_names(text: str) -> list[ProperName]:
    """The names in a text in order, every occurrence, without function words at their edges and stray
    marks."""
    names: list[ProperName] = []
    for match in _NAME.finditer(text):
        words = list(re.finditer(r"\S+", match.group()))
        while words and _is_common(words[0].group().strip(".")):
            words.pop(0)
        while words and is_stopword(words[-1].group()):
            words.pop()
        if not words:
            continue
        kept, start = match.group()[words[0].start() : words[-1].end()], match.start() + words[0].start()
        name = _POSSESSIVE.sub("", kept.rstrip(" ,.;:'’-"))
        if (
            len(name) > 1
            and name[0].isupper()
            and not all(_is_common(w) or w.isdigit() for w in name.split())
        ):
            names.append(ProperName(name, start, start + len(name)))
    return names


def find_names(text: str, limit: int = 40) -> list[str]:
    """The names in a text and what is in quotation marks, each once: quoted ones first, then in order."""
    quoted = (match.group(1).strip(" ,.;:") for match in _QUOTED.finditer(text))
    return list(dict.fromkeys([*filter(None, quoted), *(name.text for name in find_proper_names(text))]))[
        :limit
    ]


def _is_common(word: str) -> bool:
    return is_stopword(word) or fold(word) in _NOT_A_NAME
