"""Which addresses of a site could answer a question, judged before they are read: by their words, their link
texts and their company.

Made for thousands of addresses at once (a sitemap). Knows words and order, nothing of fetching."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from urllib.parse import unquote, urlsplit

from agent.text.question_analysis import ParsedQuestion
from agent.text.tokens import content_stems, stem, stem_words, tokenize
from agent.text.word_lists import STOPWORDS

SUBSTRING_WEIGHT = 0.7
"""What a question's word counts that stands inside a longer word of an address ("movementdisorders")."""
MIN_SUBSTRING_LENGTH = 5
"""Letters a stem needs to be looked for inside longer words."""
PRECISION_WEIGHT = 0.35
"""How much of a score depends on the link text having few words beside the question's."""
PAGE_RELEVANCE_WEIGHT = 0.15
"""What the bearing of the page a link stands on adds."""
MIN_IDF = 0.3
"""What even a word counts that every address has."""
UNSEEN_WORD_WEIGHT = 0.4
"""What a word counts in the whole that no address has: it cannot tell them apart."""
NO_MATCH_SCORE = 0.02
"""What an address without a word of the question gets for standing on a page that bears on it."""
TITLE_MATCH_BONUS = 0.25
"""What it adds that the question names the link text word for word."""
HELP_PAGE_BONUS, INSTRUCTION_BONUS = 0.06, 0.1
"""What an address gets for leading to a page of answers, and for being what the person's instruction speaks
of."""
_HELP_PAGE_STEMS = frozenset(
    stem(word)
    for word in "faq faqs help support questions answers contact hilfe hjälp aide ayuda kundtjänst".split()
)
_CAMEL_CASE_BREAK = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SPLIT = re.compile(r"[^\w]+|_")
_FILE_EXTENSION = re.compile(r"\.(?:html?|php|aspx?|jsp|md|txt)$", re.IGNORECASE)


@dataclass(frozen=True)
class UnreadLink:
    """An address that was not read yet: its link text ("" from a sitemap) and the bearing of the page it
    stands on (0..1)."""

    url: str
    text: str = ""
    page_relevance: float = 0.0


@lru_cache(maxsize=65536)
def split_path_words(url: str) -> str:
    """The words of an address's path and query, spaced: "/Help/order-tracking.html" gives "Help order
    tracking"."""
    parts = urlsplit(url)
    path = _FILE_EXTENSION.sub("", unquote(parts.path))
    return " ".join(
        word for word in _SPLIT.split(_CAMEL_CASE_BREAK.sub(" ", f"{path} {unquote(parts.query)}")) if word
    )


def score_links(asked: ParsedQuestion, addresses: Sequence[UnreadLink], wishes: str = "") -> list[float]:
    """A score (0..1) for each address: the share of the question's weight its words cover, rare words
    counting more.

    Rarity is taken over these addresses: on a site about one thing the thing's name tells nothing apart.
    Pages that answer all kinds of questions get a little for that, and those that `wishes` (a person's
    instruction) speaks of a little more."""
    bags = [_match_words(asked, address) for address in addresses]
    rarity = _idf_weights(asked, bags)
    total = sum(rarity.values()) or 1.0
    wished = frozenset(content_stems(wishes)) if wishes else frozenset()
    return [
        round(min(1.0, _score(asked, address, bag, rarity, total) + _help_page_bonus(address, wished)), 4)
        for address, bag in zip(addresses, bags, strict=True)
    ]


def _help_page_bonus(address: UnreadLink, wished: frozenset[str]) -> float:
    words = set(stem_words(split_path_words(address.url))) | set(stem_words(address.text))
    return HELP_PAGE_BONUS * bool(words & _HELP_PAGE_STEMS) + INSTRUCTION_BONUS * bool(words & wished)


def _match_words(asked: ParsedQuestion, address: UnreadLink) -> dict[str, float]:
    """The question's words that an address has, each with what it counts."""
    spoken = split_path_words(address.url)
    here = set(stem_words(address.text)) | set(stem_words(spoken))
    found = {word: 1.0 for word in asked.weights if word in here}
    run = spoken.casefold()
    for word in asked.weights:
        if word not in found and len(word) >= MIN_SUBSTRING_LENGTH and word in run:
            found[word] = SUBSTRING_WEIGHT
    return found


def _idf_weights(asked: ParsedQuestion, bags: Sequence[Mapping[str, float]]) -> dict[str, float]:
    n = len(bags)
    seen = Counter(word for bag in bags for word in bag)
    weights = {
        word: weight * (MIN_IDF + log(1 + (n - seen[word] + 0.5) / (seen[word] + 0.5)))
        for word, weight in asked.weights.items()
    }
    return {word: weight if seen[word] else UNSEEN_WORD_WEIGHT * weight for word, weight in weights.items()}


def _score(
    asked: ParsedQuestion,
    address: UnreadLink,
    bag: Mapping[str, float],
    rarity: Mapping[str, float],
    total: float,
) -> float:
    if not bag:
        return NO_MATCH_SCORE * bool(address.page_relevance)
    got = sum(rarity[word] * share for word, share in bag.items()) / total
    own = content_stems(address.text or split_path_words(address.url))
    precision = sum(word in asked.weights for word in own) / len(own) if own else 0.0
    named = TITLE_MATCH_BONUS if _is_named_in_question(asked, address.text) else 0.0
    return min(
        1.0,
        got * (1 - PRECISION_WEIGHT + PRECISION_WEIGHT * precision)
        + named
        + PAGE_RELEVANCE_WEIGHT * address.page_relevance,
    )


def _is_named_in_question(asked: ParsedQuestion, text: str) -> bool:
    words = tokenize(text)
    if not words or all(word in STOPWORDS for word in words):
        return False
    return f" {' '.join(words)} " in f" {' '.join(tokenize(asked.text))} "
