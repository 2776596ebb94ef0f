"""From a found name to the next page: what a quote names, and which of the question's words its page left
open. Pure functions.

A question of several pages ("the children of the couple who run the dairy") is answered link by link: one
quote gives a name (the couple), and the page about that name need only cover what is still open (the
children)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.retrieval.term_coverage import covered_share
from agent.text.names import find_names
from agent.text.question_analysis import ParsedQuestion
from agent.text.tokens import stem_prefix, stem_words, tokenize
from agent.text.word_lists import STOPWORDS
from agent.types import Fact

MAX_BRIDGE_FACTS = 6
"""Facts that are looked at for names: those whose quotes hold most of the question."""
_NEXT_WORD = re.compile(r"\s+([^\W\d_A-Z]+)")


@dataclass(frozen=True)
class Bridge:
    """A fact, how much of the question its quote holds, and the names it gives with their weights.

    `open` are the question's words (rough) that it leaves open; `rest` are those that all the best facts
    together leave open."""

    fact: Fact
    covered_share: float
    names: tuple[tuple[str, float], ...]
    uncovered: dict[str, float]
    uncovered_by_all: dict[str, float]


def find_bridges(asked: ParsedQuestion, facts: Sequence[Fact]) -> list[Bridge]:
    """The bridges that the best facts offer, best first."""
    ranked = sorted(
        ((covered_share(asked, fact.quote), -n, fact) for n, fact in enumerate(facts)),
        key=lambda e: e[:2],
        reverse=True,
    )
    held = [
        {stem_prefix(word) for word in stem_words(f"{fact.title} {fact.quote}")}
        for _, _, fact in ranked[:MAX_BRIDGE_FACTS]
    ]
    rest = _uncovered_words(asked, set().union(*held))
    return [
        Bridge(fact, worth, tuple(find_bridge_names(asked, fact.quote)), _uncovered_words(asked, words), rest)
        for (worth, _, fact), words in zip(ranked, held, strict=False)
    ]


def _uncovered_words(asked: ParsedQuestion, held: set[str]) -> dict[str, float]:
    return {word: weight for word, weight in asked.prefix_weights.items() if word not in held}


def find_bridge_names(asked: ParsedQuestion, quote: str) -> list[tuple[str, float]]:
    """The names in a quote that are not the question's own, with a weight: less for a lone word that may be
    an adjective."""
    spelled = f" {' '.join(tokenize(asked.text))} "
    found = []
    for name in find_names(quote, 12):
        if join_tokens(name) in spelled:
            continue
        after = _NEXT_WORD.match(quote, quote.find(name) + len(name))
        adjective = " " not in name and after is not None and after.group(1) not in STOPWORDS
        found.append((name, 0.4 if adjective else 1.0))
    return found


def join_tokens(text: str) -> str:
    """The folded words of a text between single spaces, so that one can be looked for in another word by
    word."""
    return f" {' '.join(tokenize(text))} "


def has_bridge_name(bridge: Bridge, page: str) -> bool:
    """Does a page (its spaced text) speak of a name that the bridge gives?"""
    return any(
        len(spelled) > 5 and spelled in page for spelled in (join_tokens(name) for name, _ in bridge.names)
    )


def measure_bridge_gain(bridge: Bridge, words: frozenset[str]) -> tuple[float, float]:
    """The shares that these (rough) words hold of what the bridge leaves open and of what all the best facts
    do; 0 where nothing is."""
    return _weight_share(bridge.uncovered, words), _weight_share(bridge.uncovered_by_all, words)


def _weight_share(lacking: dict[str, float], words: frozenset[str]) -> float:
    total = sum(lacking.values())
    return sum(weight for word, weight in lacking.items() if word in words) / total if total else 0.0
