"""Words of a text, folded and stemmed, in any script. Knows no grammar: a stem is only something to compare.

Latin words lose accents, case and (by the Snowball stemmer) English endings; Cyrillic words their Russian
ones. Scripts written without spaces become overlapping pairs of characters. Other languages' Latin words go
through the English stemmer too: it treats the question and the page alike, which is all that matching needs.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

import Stemmer

from agent.text.word_lists import STOPWORDS

UNSPACED_SCRIPTS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
"""The letters of scripts that put no spaces between words, as a range of a regular expression (Korean's are
few to a word too)."""
_TOKEN = re.compile(
    rf"\d+(?:[.,]\d+)*|[{UNSPACED_SCRIPTS}]+|(?:(?![{UNSPACED_SCRIPTS}])[^\W\d_])+(?:\d|(?![{UNSPACED_SCRIPTS}])[^\W\d_])*"
)
_IS_UNSPACED = re.compile(rf"[{UNSPACED_SCRIPTS}]")
_POSSESSIVE = re.compile(r"['’ʼ]s\b", re.IGNORECASE)
_APOSTROPHE = re.compile(r"(?<=\w)['’ʼ](?=\w)")
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
_local = threading.local()


def fold(text: str) -> str:
    """Lower case, compatibility forms unified, accents of Latin, Greek and Cyrillic letters gone."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize(
        "NFC", "".join(c for c in decomposed if not "\u0300" <= c <= "\u036f")
    ).casefold()


def tokenize(text: str) -> list[str]:
    """The words and numbers of a text in order, folded; unspaced scripts as pairs of characters."""
    folded = _APOSTROPHE.sub("", _POSSESSIVE.sub("", fold(text)))
    found: list[str] = []
    for word in _TOKEN.findall(folded):
        if not word.isascii() and _IS_UNSPACED.match(word):
            found.extend(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        else:
            found.append(word.replace(",", "") if "," in word and _GROUPED.fullmatch(word) else word)
    return found


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The stem of one folded word."""
    if not word.isalpha() or len(word) < 3:
        return word
    language = "russian" if "\u0400" <= word[0] <= "\u04ff" else "english"
    stemmers = _local.__dict__
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language)
    return str(stemmers[language].stemWord(word))


def stem_words(text: str) -> list[str]:
    """The stems of all words of a text, in order, stop words included."""
    return list(_stem_short_text(text)) if len(text) <= 2000 else [stem(word) for word in tokenize(text)]


@lru_cache(maxsize=8192)
def _stem_short_text(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in tokenize(text))


def content_stems(text: str) -> list[str]:
    """The stems that say what a text is about: no stop words, each once, in order. All words when nothing
    else is left."""
    words = tokenize(text)
    kept = [stem(word) for word in words if word not in STOPWORDS and (len(word) > 1 or word.isdigit())]
    return list(dict.fromkeys(kept or [stem(word) for word in words]))


PREFIX_LENGTH = 6


def stem_prefix(stemmed: str) -> str:
    """The first `ROUGH` letters of a stem: "director" and "directed", "Ordförande" and "Ordförandes" become
    alike."""
    return stemmed[:PREFIX_LENGTH]
