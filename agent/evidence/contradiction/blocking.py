"""The pairs of facts that are compared: those about one thing that share enough words, found over an index.

What a fact is about is looked up first, then shared words are counted. With more than MAX_PAIRS pairs each
fact is compared only with its most similar ones, the earliest first: an equal share of MAX_PAIRS, at least
MIN_NEIGHBOURS. Up to 200 facts every pair is looked at. In a run that was compared before, a scope limits the
pairs to what changed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from agent.evidence.contradiction import statements
from agent.evidence.statement_features import extract_features
from agent.types import Fact

MAX_PAIRS = 20_000
"""Pairs that are compared at most, unless that leaves a fact fewer than MIN_NEIGHBOURS."""
MIN_NEIGHBOURS = 12
MAX_OPENING_CHARS = 12
"""A name that begins within so many characters is the topic of a sentence."""

_BRACKETS = re.compile(r"\([^)]*\)")
TopicKey = tuple[str, str]


@dataclass(frozen=True)
class PairingScope:
    """The ids of facts that are compared with every other, and of those compared with one another."""

    changed_ids: Collection[str]
    related_ids: Collection[str] = ()


@dataclass(frozen=True)
class _Topic:
    """What one fact is compared by."""

    words: frozenset[str]
    about: frozenset[str]
    names: frozenset[str]
    key: TopicKey


def find_pairs(facts: Sequence[Fact], scope: PairingScope | None = None) -> list[tuple[int, int]]:
    """The index pairs of facts that may contradict each other, the smaller index first; a `scope` limits
    them."""
    topics = [_make_topic(fact) for fact in facts]
    found = list(_pair_in_scope(facts, topics, scope) if scope else _pair_all(topics))
    room = max(MIN_NEIGHBOURS, MAX_PAIRS // max(1, sum(bool(others) for _, others in found)))
    if sum(len(others) for _, others in found) <= MAX_PAIRS:
        room = len(facts)
    chosen = ((j, i) for j, others in found for i in _most_similar(others, room))
    return [(i, j) for j, i in sorted((max(both), min(both)) for both in chosen)]


def _most_similar(others: dict[int, float], room: int) -> Collection[int]:
    return others if len(others) <= room else sorted(others, key=lambda i: (-others[i], i))[:room]


def topic_key(fact: Fact) -> TopicKey:
    """The subject and attribute that someone gave a fact, in one spelling; two empty strings without both."""
    subject, attribute = (" ".join(part.casefold().split()) for part in (fact.subject, fact.attribute))
    return (subject, attribute) if subject and attribute else ("", "")


def content_words(text: str) -> frozenset[str]:
    """The content words of a text."""
    return extract_features(text).words


@dataclass
class _TopicIndex:
    """The facts added so far, by topic words, name words and key."""

    topics: Sequence[_Topic]
    seen: list[int] = field(default_factory=list)
    without_topic: list[int] = field(default_factory=list)
    by_topic: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_key: dict[TopicKey, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, j: int) -> None:
        topic = self.topics[j]
        self.seen.append(j)
        self.by_key[topic.key].append(j)
        for word in topic.about:
            self.by_topic[word].append(j)
        for word in topic.names:
            self.by_name[word].append(j)
        if not topic.about:
            self.without_topic.append(j)

    def find_similar(self, j: int) -> dict[int, float]:
        """The facts that may be about the same, with the shared part of the shorter statement; 2 for those of
        its key."""
        mine = self.topics[j]
        found: dict[int, float] = {}
        for i in self._find_candidates(mine):
            words = self.topics[i].words
            shared, shorter = len(words & mine.words), min(len(words), len(mine.words))
            if shared >= max(statements.MIN_SHARED_WORDS, statements.MIN_SHARED_RATIO * shorter):
                found[i] = shared / shorter
        if mine.key != ("", ""):
            found |= dict.fromkeys(self.by_key.get(mine.key, ()), 2.0)
        return found

    def _find_candidates(self, mine: _Topic) -> Collection[int]:
        """The facts whose topic or names match this one's topic; those without a topic always."""
        if not mine.about:
            return self.seen
        near = set(self.without_topic)
        for word in mine.about:
            near.update(self.by_topic.get(word, ()), self.by_name.get(word, ()))
        for word in mine.names:
            near.update(self.by_topic.get(word, ()))
        return near


def _pair_all(topics: Sequence[_Topic]) -> Iterator[tuple[int, dict[int, float]]]:
    index = _TopicIndex(topics)
    for j in range(len(topics)):
        yield j, index.find_similar(j)
        index.add(j)


def _pair_in_scope(
    facts: Sequence[Fact], topics: Sequence[_Topic], scope: PairingScope
) -> Iterator[tuple[int, dict[int, float]]]:
    """Each related fact with the earlier related ones; each changed one with all unchanged and all earlier
    changed ones."""
    every, close = _TopicIndex(topics), _TopicIndex(topics)
    for j, fact in enumerate(facts):
        if fact.id in scope.changed_ids:
            continue
        if fact.id in scope.related_ids:
            yield j, close.find_similar(j)
            close.add(j)
        every.add(j)
    for j in [j for j, fact in enumerate(facts) if fact.id in scope.changed_ids]:
        yield j, every.find_similar(j)
        every.add(j)


def _make_topic(fact: Fact) -> _Topic:
    """The topic is the name a sentence opens with, its given subject, and its page's title ("The film was
    released on ...")."""
    said = extract_features(fact.statement)
    opening = next((name for name in said.names if name.start <= MAX_OPENING_CHARS), None)
    about = content_words(f"{_BRACKETS.sub(' ', fact.title)} {fact.subject}").union(
        opening.words if opening else ()
    )
    return _Topic(
        said.words, about, frozenset(word for name in said.names for word in name.words), topic_key(fact)
    )
