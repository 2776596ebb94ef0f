"""The pairs of facts that are compared: about one thing, and with enough words in common.

A fact is compared with its most similar ones only, so that the work does not grow with the square of the
facts: an equal share of MAX_PAIRS, at least MIN_PARTNERS. Up to 200 facts that is every pair."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from agent.evidence.contradiction.identity import content_words, is_same_thing
from agent.types import Fact

_Topic = tuple[frozenset[str], tuple[str, str]]
"""The content words of a statement, and the subject and attribute that were given to it."""
MAX_PAIRS, MIN_PARTNERS = 40_000, 12
MIN_SHARED_WORDS, MIN_SHARED_RATIO = 2, 0.35
"""Content words that two compared statements share at least: a number, and a share of the shorter's."""


@dataclass(frozen=True)
class PairingScope:
    """The ids of facts that are compared with every other, and of those compared with one another."""

    changed_ids: Collection[str]
    related_ids: Collection[str] = ()


def topic_key(fact: Fact) -> tuple[str, str]:
    """The subject and attribute that someone gave a fact, in one spelling; two empty strings without both."""
    subject, attribute = (" ".join(part.casefold().split()) for part in (fact.subject, fact.attribute))
    return (subject, attribute) if subject and attribute else ("", "")


def find_pairs(facts: Sequence[Fact], scope: PairingScope | None = None) -> Iterator[tuple[Fact, Fact]]:
    """The pairs of facts that may contradict each other, each in the order of `facts`."""
    topics = [(content_words(fact.statement), topic_key(fact)) for fact in facts]
    found = [
        (j, partners) for j, them in _candidates(facts, scope) if (partners := _partners(topics, j, them))
    ]
    room = max(MIN_PARTNERS, MAX_PAIRS // max(1, len(found)))
    for j, partners in found:
        for i in sorted(sorted(partners, key=lambda i: (-partners[i], i))[:room]):
            if is_same_thing(facts[i], facts[j]):
                yield facts[i], facts[j]


def _candidates(facts: Sequence[Fact], scope: PairingScope | None) -> Iterator[tuple[int, Sequence[int]]]:
    """For each fact the indexes of the earlier ones that the scope compares it with."""
    changed, related = list[int](), list[int]()
    for j, fact in enumerate(facts):
        is_changed = scope is None or fact.id in scope.changed_ids
        is_related = scope is not None and fact.id in scope.related_ids
        yield j, range(j) if is_changed else [*changed, *related] if is_related else changed[:]
        if is_changed:
            changed.append(j)
        elif is_related:
            related.append(j)


def _partners(topics: Sequence[_Topic], j: int, candidates: Sequence[int]) -> dict[int, float]:
    """The candidates that share enough words, and how similar they are: the shared part of the shorter
    statement; 2 for those of the same subject and attribute."""
    (mine, key), found = topics[j], dict[int, float]()
    for i in candidates:
        words, other_key = topics[i]
        shared, shorter = len(words & mine), min(len(words), len(mine))
        if key == other_key != ("", ""):
            found[i] = 2.0
        elif shared >= max(MIN_SHARED_WORDS, MIN_SHARED_RATIO * shorter):
            found[i] = shared / shorter
    return found
