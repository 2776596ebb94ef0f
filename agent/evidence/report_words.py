"""The fixed words of a report (headings, labels, marks) in the language of its question, as `data/
report_words.txt` has them; English where there is no other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from agent.text.language import MIN_QUESTION_LETTERS, choose_language, detect_language
from agent.text.short_cache import CACHE_SIZE
from agent.text.tokens import find_function_words, load_function_words, tokenize
from agent.text.word_lists import read_sections

ENGLISH = "en"
_FILE = Path(__file__).parent / "data" / "report_words.txt"


@cache
def load_report_words(language: str) -> Mapping[str, str]:
    """The words by their keys; those of English for a language without a table, and for a key it lacks."""
    sections = read_sections(_FILE)
    lines = (*sections[ENGLISH], *sections.get(language, ()))
    return dict(line.split(": ", 1) for line in lines)  # type: ignore[misc]


def list_report_words() -> list[Mapping[str, str]]:
    """The words of every language, English first."""
    return [load_report_words(language) for language in read_sections(_FILE)]


@cache
def list_marks() -> tuple[str, ...]:
    """How the marks behind a sentence of a report begin, in every language."""
    told = [(name, text) for words in list_report_words() for name, text in words.items()]
    return tuple(text.partition("{")[0] for name, text in told if name.startswith("mark_"))


@lru_cache(CACHE_SIZE)
def find_report_language(question: str) -> str:
    """The language of a question among those with a table: the one which most of its words are function words
    of, of several English if its question word is one ("which"; a question word counts for all of them), else
    the one that the detector calls most likely; English where it is none of them."""
    words, known = tokenize(question), list(read_sections(_FILE))
    counts = {language: len(find_function_words(words, language)) for language in known}
    best = [language for language in known if counts[language] == max(counts.values())]
    if not any(counts.values()):
        best = [code for code in known if code == detect_language(question, MIN_QUESTION_LETTERS)]
    own = {language: len(frozenset(words) & load_function_words(language)) for language in best}
    if all(own.get(ENGLISH, 0) > own[language] for language in best if language != ENGLISH):
        return ENGLISH
    return best[0] if len(best) == 1 else choose_language(question, best)


def words_for(question: str) -> Mapping[str, str]:
    """The words of a report on this question."""
    return load_report_words(find_report_language(question))
