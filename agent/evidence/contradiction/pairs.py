"""Which facts are compared: those about one thing with enough words in common, found by an index of words and
topics, so that a new fact costs the same however many are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.evidence.contradiction.identity import content_words, is_same_thing
from agent.types import Fact

_Key = str | tuple[str, str]
"""A content word, or a topic."""
MAX_PARTNERS = 40
"""Facts that a new one is compared with at most, the most similar: as many as a prompt shows."""
MIN_SHARED_WORDS, MIN_SHARED_RATIO = 2, 0.35
"""Content words that two compared statements share at least: a number, and a share of the shorter's."""


def topic_key(fact: Fact) -> tuple[str, str]:
    """The subject and attribute that someone gave a fact, in one spelling; two empty strings without both."""
    subject, attribute = (" ".join(part.casefold().split()) for part in (fact.subject, fact.attribute))
    return (subject, attribute) if subject and attribute else ("", "")


@dataclass
class FactIndex:
    """Facts by id, and the ids of those that share a content word or a topic."""

    facts: dict[str, Fact] = field(default_factory=dict)
    ids_by_key: dict[_Key, tuple[str, ...]] = field(default_factory=dict)

    def copy(self) -> FactIndex:
        """An index that changes for itself."""
        return FactIndex(dict(self.facts), dict(self.ids_by_key))

    def add(self, fact: Fact) -> None:
        """Add a fact, or replace the one with its id."""
        if old := self.facts.get(fact.id):
            for key in _list_keys(old):
                self.ids_by_key[key] = tuple(i for i in self.ids_by_key[key] if i != fact.id)
        for key in _list_keys(fact):
            self.ids_by_key[key] = (*self.ids_by_key.get(key, ()), fact.id)
        self.facts[fact.id] = fact

    def find_partners(self, fact: Fact) -> Iterator[Fact]:
        """The facts that a fact is compared with, the most similar first: those of its topic, then by the
        shared part of the shorter statement."""
        words, topic, similar = content_words(fact.statement), topic_key(fact), dict[str, float]()
        for i, shared in Counter(i for word in words for i in self.ids_by_key.get(word, ())).items():
            shorter = min(len(words), len(content_words(self.facts[i].statement)))
            if shared >= max(MIN_SHARED_WORDS, MIN_SHARED_RATIO * shorter):
                similar[i] = shared / shorter
        if any(topic):
            similar |= dict.fromkeys(self.ids_by_key.get(topic, ()), 2.0)
        similar.pop(fact.id, None)
        for i in sorted(similar, key=lambda i: (-similar[i], i))[:MAX_PARTNERS]:
            if is_same_thing(fact, self.facts[i]):
                yield self.facts[i]


def _list_keys(fact: Fact) -> list[_Key]:
    return [*content_words(fact.statement), topic_key(fact)]
