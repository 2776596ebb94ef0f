"""Which facts are set against each other: those about one thing that share enough words, found over an index and not by trying all.

The work is bounded. What one is about is looked up first, then the words are counted. Where more than `PAIRS` pairs would be left, each
fact is compared only with those most alike it, the earliest first of several: `PAIRS` shared among the facts, but no fewer than
`NEAREST`. So up to 200 facts every pair is looked at, whatever they say. Of a run that was compared before, only what is `fresh`
is set against all, and what is `near` (in a conflict, say) against its like.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from agent.evidence import compare
from agent.evidence.values import read
from agent.types import Fact

PAIRS = 20_000
"""Pairs that are compared at most, as long as that leaves each fact its NEAREST."""
NEAREST = 12
OPENING = 12
"""A name that begins within this many characters is what a sentence is about."""

_ASIDE = re.compile(r"\([^)]*\)")
Key = tuple[str, str]


@dataclass(frozen=True)
class Scope:
    """The ids of facts that stand against every other, and of those that stand against one another."""

    fresh: Collection[str]
    near: Collection[str] = ()


@dataclass(frozen=True)
class _Topic:
    """What one fact is compared by, worked out once."""

    words: frozenset[str]
    about: frozenset[str]
    names: frozenset[str]
    key: Key


def pairs(facts: Sequence[Fact], scope: Scope | None = None) -> list[tuple[int, int]]:
    """The places of facts that may contradict each other, the earlier place first: all of them, or those a `scope` names."""
    topics = [_topic(fact) for fact in facts]
    found = list(_scoped(facts, topics, scope) if scope else _all(topics))
    room = max(NEAREST, PAIRS // max(1, sum(bool(others) for _, others in found)))
    if sum(len(others) for _, others in found) <= PAIRS:
        room = len(facts)
    chosen = ((j, i) for j, others in found for i in _nearest(others, room))
    return [(i, j) for j, i in sorted((max(both), min(both)) for both in chosen)]


def _nearest(others: dict[int, float], room: int) -> Collection[int]:
    return others if len(others) <= room else sorted(others, key=lambda i: (-others[i], i))[:room]


def key(fact: Fact) -> Key:
    """The subject and attribute that someone gave a fact, in one spelling; two empty strings without both."""
    if not fact.subject or not fact.attribute:
        return "", ""
    subject, attribute = " ".join(fact.subject.casefold().split()), " ".join(fact.attribute.casefold().split())
    return (subject, attribute) if subject and attribute else ("", "")


def content(text: str) -> frozenset[str]:
    """The content words of a text."""
    return read(text).words


@dataclass
class _Index:
    """The facts seen so far, by what they are about, whom they name, and their key."""

    topics: Sequence[_Topic]
    seen: list[int] = field(default_factory=list)
    vague: list[int] = field(default_factory=list)
    about: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    named: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    keyed: dict[Key, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, j: int) -> None:
        topic = self.topics[j]
        self.seen.append(j)
        self.keyed[topic.key].append(j)
        for word in topic.about:
            self.about[word].append(j)
        for word in topic.names:
            self.named[word].append(j)
        if not topic.about:
            self.vague.append(j)

    def like(self, j: int) -> dict[int, float]:
        """The facts that may be about the same as this one, with how much of the shorter statement they share; 2 for those of its key."""
        mine = self.topics[j]
        found: dict[int, float] = {}
        own, size = mine.words, len(mine.words)
        for i in self._near(mine):
            words = self.topics[i].words
            shared = len(words & own)
            if shared >= compare.SHARED and shared >= compare.LEAST * (least := min(size, len(words))):
                found[i] = shared / least
        return {**found, **dict.fromkeys(self.keyed.get(mine.key, ()) if mine.key != ("", "") else (), 2.0)}

    def _near(self, mine: _Topic) -> Collection[int]:
        """What one is about must be what the other is about or names. Where one does not say, it passes."""
        if not mine.about:
            return self.seen
        near = set(self.vague)
        for word in mine.about:
            near.update(self.about.get(word, ()), self.named.get(word, ()))
        for word in mine.names:
            near.update(self.about.get(word, ()))
        return near


def _all(topics: Sequence[_Topic]) -> Iterator[tuple[int, dict[int, float]]]:
    index = _Index(topics)
    for j in range(len(topics)):
        yield j, index.like(j)
        index.add(j)


def _scoped(facts: Sequence[Fact], topics: Sequence[_Topic], scope: Scope) -> Iterator[tuple[int, dict[int, float]]]:
    """Each near fact with the earlier near ones; each fresh one with every other, those that are no fresh ones or came earlier."""
    every, close = _Index(topics), _Index(topics)
    for j, fact in enumerate(facts):
        if fact.id in scope.fresh:
            continue
        if fact.id in scope.near:
            yield j, close.like(j)
            close.add(j)
        every.add(j)
    for j in [j for j, fact in enumerate(facts) if fact.id in scope.fresh]:
        yield j, every.like(j)
        every.add(j)


def _topic(fact: Fact) -> _Topic:
    """What a sentence is about is the name it opens with, its given subject, or its page's title ("The film was released on ...")."""
    said = read(fact.statement)
    opening = next((name for name in said.names if name.start <= OPENING), None)
    about = content(f"{_ASIDE.sub(' ', fact.title)} {fact.subject}").union(opening.words if opening else ())
    return _Topic(said.words, about, frozenset(word for name in said.names for word in name.words), key(fact))
