"""What a question asks about the thing it names, and whether a text speaks to that: the words an answer can't
do without.

"Does the C2 come in red?", asked of a site about the C2, is about red. Codes and names cannot be put in other
words, so each of them has to be met; of the other words kindred ones will do ("cost" and "price"). Counts
words, not meaning."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from agent.retrieval.sections import find_synonyms
from agent.text.names import find_names
from agent.text.question_analysis import COMMON_WORD_WEIGHT, parse_question, remove_urls
from agent.text.tokens import fold, stem, stem_prefix, stem_words, tokenize
from agent.text.word_lists import COMMON_WORDS, STOPWORDS, load_words

SUBJECT_SHARE = 0.6
"""A word on at least this share of a site's pages is the site's subject, and says nothing of what is asked
about it."""
MIN_PAGES = 3
"""Fewer pages do not tell what a site is about."""
TITLE_CASE_SHARE = 0.5
"""A question with more than this share of its words in capitals is written like a title: capitals are no
names there."""
_CODE = re.compile(r"(?=.*\d)(?=.*[^\W\d_])\w{2,}")
_WORD = re.compile(r"[^\W_][\w'’-]*")


@dataclass(frozen=True)
class RequiredTerms:
    """The words (roughly stemmed) a question asks about, with their weights; `exact` are its codes and
    names."""

    words: dict[str, float] = field(default_factory=dict)
    exact: frozenset[str] = frozenset()
    has_specific_words: bool = False
    """Are its words more than those too common to say much?"""

    def covered_share(self, here: Collection[str]) -> float:
        """The share of its weight that a text with these (rough) words meets; 1 when nothing is asked about
        the thing."""
        total = sum(self.words.values())
        return (
            sum(weight for word, weight in self.words.items() if self.is_term_met(word, here)) / total
            if total
            else 1.0
        )

    def is_term_met(self, word: str, here: Collection[str]) -> bool:
        """Does a text with these words speak of this one: in its own form, or where that is enough in a
        kindred one?"""
        return word in here or (word not in self.exact and not find_synonyms(word).isdisjoint(here))

    def missing_exact_terms(self, here: Collection[str]) -> frozenset[str]:
        """Its codes and names that such a text does not hold."""
        return frozenset(word for word in self.exact if word not in here)


@lru_cache(maxsize=4096)
def find_required_terms(question: str, subject: frozenset[str] = frozenset()) -> RequiredTerms:
    """What is asked beyond the `subject` (rough words): its telling words, or when there are none the faint
    ones."""
    question = lowercase_common_opening(question)
    asked = parse_question(question)
    exact = find_exact_terms(question) - subject
    telling = {
        word: weight
        for word, weight in asked.prefix_weights.items()
        if word not in subject and word not in _FRAME_PREFIXES
    }
    strong = {
        word: weight for word, weight in telling.items() if weight > COMMON_WORD_WEIGHT or word in exact
    }
    return RequiredTerms(strong or telling, exact, bool(strong))


def lowercase_common_opening(question: str) -> str:
    """The question with a small first letter where its first word is a common one: "Write me …" names nobody
    called Write."""
    first = _WORD.search(question)
    common = (
        first is not None
        and (word := fold(first.group()))
        and word in STOPWORDS | COMMON_WORDS | load_words("chatter") | load_words("verbs")
    )
    return (
        question[: first.start()] + first.group()[0].lower() + question[first.start() + 1 :]
        if first and common
        else question
    )


@lru_cache(maxsize=512)
def find_exact_terms(question: str) -> frozenset[str]:
    """The codes of a question ("E17") and the names inside it, roughly stemmed, that have no kindred words.
    What only opens it is no name."""
    question = remove_urls(question)
    spelled = _WORD.findall(question)
    codes = {word for word in tokenize(question) if _CODE.fullmatch(word)}
    inner = (
        question[question.find(spelled[0]) + len(spelled[0]) :]
        if spelled and not _is_title_case(spelled)
        else ""
    )
    named = {
        word
        for name in find_names(inner)
        for word in tokenize(name)
        if word not in STOPWORDS and not word.isdigit()
    }
    return frozenset(
        word
        for word in (stem_prefix(stem(word)) for word in {*codes, *named})
        if find_synonyms(word) == {word}
    )


def _is_title_case(spelled: list[str]) -> bool:
    """Is a question written like a title, so that capitals make no names? One that begins as questions do
    only when its small words have them too."""
    small = [word for word in spelled[1:] if fold(word) in STOPWORDS]
    telling = [word for word in spelled[1:] if fold(word) not in STOPWORDS]
    if sum(word[0].isupper() and word != "I" for word in small) > TITLE_CASE_SHARE * max(1, len(small)):
        return True
    return (
        fold(spelled[0]) not in STOPWORDS | load_words("verbs")
        and sum(word[0].isupper() for word in telling) > TITLE_CASE_SHARE * len(telling) > TITLE_CASE_SHARE
    )


def find_subject_words(pages: Sequence[Collection[str]]) -> frozenset[str]:
    """The (rough) words that stand on most of these pages, each given as its words; none where there are only
    a few pages."""
    if len(pages) < MIN_PAGES:
        return frozenset()
    counts: dict[str, int] = {}
    for page in pages:
        for word in set(page):
            counts[word] = counts.get(word, 0) + 1
    return frozenset(word for word, n in counts.items() if n >= SUBJECT_SHARE * len(pages))


def restore_spelling(question: str, words: Sequence[str]) -> list[str]:
    """Folded words of a question as it spells them."""
    spelled = {word: written for written in _WORD.findall(question) for word in tokenize(written)}
    return list(dict.fromkeys(spelled.get(word, word) for word in words))


def collect_prefixes(texts: Iterable[str]) -> frozenset[str]:
    """The words of some texts, roughly stemmed."""
    return frozenset(stem_prefix(word) for text in texts for word in stem_words(text))


_FRAME_PREFIXES = frozenset(
    stem_prefix(stem(fold(word)))
    for word in (
        *load_words("chatter") - {"one", "two", "three", "four", "five", "first", "second", "third"},
        *"come available possible like exist happen important define explain clarify describe confused insight start end".split(),
        *"viel viele mycket många beaucoup mucho".split(),
    )
)
"""Words that frame a question in its language, and say nothing of what is asked."""
