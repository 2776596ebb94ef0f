"""Words of a text for search: folded, stemmed, in any script. A stem is only something to compare.

Latin words lose accents, case and (by the Snowball stemmer) English endings; Cyrillic words their Russian
ones. Scripts written without spaces become overlapping pairs of characters. Other languages' Latin words go
through the English stemmer too, in question and page. `normalization` finds the words."""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import Stemmer
from stop_words import get_stop_words

from agent.text.normalization import (
    WORD,
    WORD_IN_ASCII,
    WORD_OR_CJK_CHARACTER,
    remove_grouping,
    remove_line_hyphens,
)
from agent.text.short_cache import cache_short
from agent.text.word_lists import STOPWORDS, read_rows

UNSPACED_SCRIPTS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
)
"""The letters of scripts without spaces between words, as a regular expression's range (and Korean's)."""
_UNSPACED = re.compile(rf"[{UNSPACED_SCRIPTS}]")
_POSSESSIVE = re.compile(r"['’ʼ]s\b")
_APOSTROPHE = re.compile(r"['’ʼ]")
_NUMBER_SEPARATOR = re.compile(r"[:/\u2044]")
_ACCENT = re.compile("[\u0300-\u036f]+")
_local = threading.local()


def fold(text: str) -> str:
    """Lower case, compatibility forms unified, accents of Latin, Greek and Cyrillic letters gone."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _ACCENT.sub("", decomposed)).casefold()


def is_stopword(word: str) -> bool:
    """Is a word, in any spelling, a function word?"""
    return fold(word) in STOPWORDS


def tokenize(text: str) -> list[str]:
    """The words and numbers of a text in order, folded; unspaced scripts as pairs of characters."""
    folded = _POSSESSIVE.sub("", fold(text))
    is_ascii = folded.isascii()
    if not is_ascii and _UNSPACED.search(folded):
        return list(_tokenize_unspaced(folded))
    words: list[str] = (WORD_IN_ASCII if is_ascii else WORD).findall(folded)
    if "".join(words).isalnum():
        return words
    return [part for word in words for part in ([word] if word.isalnum() else _clean_word(word))]


def _tokenize_unspaced(folded: str) -> Iterator[str]:
    run, run_end = "", -1
    for match in WORD_OR_CJK_CHARACTER.finditer(folded):
        is_unspaced = bool(_UNSPACED.match(match.group()))
        if run and (match.start() != run_end or not is_unspaced):
            yield from _pair_characters(run)
            run = ""
        if is_unspaced:
            run, run_end = run + match.group(), match.end()
        else:
            yield from _clean_word(match.group())
    yield from _pair_characters(run)


def _pair_characters(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))] if run else []


def _clean_word(word: str) -> list[str]:
    """A word without apostrophes, the parts of a number without its sign; nothing for a sign alone."""
    if word.lstrip("-\u2212")[:1].isdigit():
        return _NUMBER_SEPARATOR.split(remove_grouping(word.lstrip("-\u2212")))
    word = _APOSTROPHE.sub("", remove_line_hyphens(word))
    return [word] if word[:1].isalnum() else []


@cache_short(65536)
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


def join_terms(text: str) -> str:
    """The stems of all words of a text, joined by blanks, as full-text indexes hold them; not cached."""
    return " ".join(map(stem, tokenize(text)))


@lru_cache(maxsize=8192)
def _stem_short_text(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in tokenize(text))


def content_stems(text: str) -> list[str]:
    """The stems of what a text is about: no stop words, each once, in order; if there are none, all."""
    words = tokenize(text)
    left_out = find_function_words(words)
    kept = [stem(word) for word in words if word not in left_out and (len(word) > 1 or word.isdigit())]
    return list(dict.fromkeys(kept or [stem(word) for word in words]))


def find_function_words(words: Sequence[str], language: str = "") -> frozenset[str]:
    """Those of the (folded) words that are function words, by the Snowball lists (package stop-words), in
    this language or the one that most of them belong to; and the question words that they begin with."""
    rest, languages = frozenset(words), [language] if language else FUNCTION_WORD_LANGUAGES
    asking = frozenset(word for word in words[:LEADING_WORDS] if _QUESTION_WORD.fullmatch(word))
    return max((rest & load_function_words(code) for code in languages), key=len) | asking


def is_stemmed(text: str) -> bool:
    """Whether the stems of a text's words have lost their endings: not those of a language that the English
    and the Russian stemmer leave as they are, by the function words that the text has most of."""
    words = frozenset(tokenize(text))
    counts = {code: len(words & load_function_words(code)) for code in FUNCTION_WORD_LANGUAGES}
    return max(counts["en"], counts["ru"]) == max(counts.values())


FUNCTION_WORD_LANGUAGES = ("en", "de", "fr", "es", "sv", "it", "nl", "pt", "da", "nb", "fi", "ru", "ar")


_QUESTION_WORD = re.compile(fold("|".join(read_rows("question_words"))))
LEADING_WORDS = 3
"""Words that a question word is one of ("Seit wann …")."""


@cache
def load_function_words(language: str) -> frozenset[str]:
    return frozenset(word for words in get_stop_words(language) for word in tokenize(words))


PREFIX_LENGTH = 6


def stem_prefix(stemmed: str) -> str:
    """The first letters of a stem: "director" and "directed" have the same."""
    return stemmed[:PREFIX_LENGTH]


def stem_prefixes(*texts: str) -> frozenset[str]:
    """The stem prefixes of the words of some texts."""
    return frozenset(stem_prefix(word) for text in texts for word in stem_words(text))


ANALYSIS_FINGERPRINT = join_terms(
    "The runners' houses 1,234.5 naïve Größe Привет мир Αθήνα 東京都庁 서울 ภาษาไทย العربية हिन्दी"
)
"""A sample's terms: they change when terms are made in another way, and indexes are then built anew."""
