"""Conflicts among facts: groups of contradicting values, with the facts and independent sources of each.

A conflict's id is a hash of subject, attribute, kind and unit of its earliest fact, so the same conflict
gets the same id after more reading. Facts are compared that are about one thing and have enough words in
common; an index of words and topics finds them, so that a new fact costs the same however many are known.
How two statements contradict is decided in `contradiction`.

A conflict is settled by a person, by a pinned fact, by a model's reading, by the number of independent
sources, or open. A ruling is about a conflict with its id, or with facts in common on two sides: it holds
when the earliest fact is gone, and when a value is written differently by then. A person's stands above
all; a model's reading holds as long as no further value joins."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from agent.evidence.contradiction import (
    Contradiction,
    comparable_forms,
    extract_features,
    find_contradiction,
    is_on_question,
    is_same_thing,
    is_same_value,
)
from agent.evidence.sources import find_independent_sources, join_groups
from agent.types import Conflict, ConflictSide, Fact, Ruling

_Key = str | tuple[str, str]
"""A content word, or a topic."""
_Side = tuple[str, str, str, str]
"""Kind and slot of a contradiction, the id of a fact, and its value: what pairs of one conflict share."""
MAX_PARTNERS = 40
"""Facts that a new one is compared with at most, the most similar: as many as a prompt shows."""
MIN_SHARED_WORDS = 2
"""Content words that two compared statements share at least."""
MIN_SOURCE_LEAD = 2
"""Independent sources more than any other value that one needs to be settled by evidence alone."""
EVIDENCE_REASON_PREFIX = "settled by evidence: "
"""How the reason begins when the number of sources settled it."""


def topic_key(fact: Fact) -> tuple[str, str]:
    """The subject and attribute that someone gave a fact, in one spelling; two empty strings without both."""
    if not (fact.subject and fact.attribute):
        return "", ""
    subject, attribute = (" ".join(text.casefold().split()) for text in (fact.subject, fact.attribute))
    return (subject, attribute) if subject and attribute else ("", "")


def settle_conflict(conflict: Conflict, rulings: Sequence[Ruling], facts: Mapping[str, Fact]) -> Conflict:
    """The conflict with its status, by the newest rulings on it (oldest first) and the active facts."""
    newest = dict[str, Ruling]()
    for ruling in rulings:  # on this conflict, or on one with facts of two of its values
        ruled = {fact_id for value in ruling.values for fact_id in value.fact_ids}
        shared = sum(not ruled.isdisjoint(value.fact_ids) for value in conflict.values)
        if ruling.conflict == conflict.id or (ruling.kind == conflict.kind and shared > 1):
            newest[ruling.by] = ruling
    texts = {value.text for value in conflict.values}
    reading, word = newest.get("model"), newest.get("person")
    if reading and texts <= {value.text for value in reading.values}:
        conflict = conflict.replace(model_ruling=reading.ruling, model_reason=reading.reason)
    if word and word.ruling == "open":
        return conflict.replace(ruling="open", reason=word.reason)
    if word:  # the chosen value as it is written now; it rules no more where the conflict has it no more
        stood = {i for value in word.values if value.text == word.chosen for i in value.fact_ids}
        now = [value.text for value in conflict.values if stood.intersection(value.fact_ids)]
        chosen = [word.chosen] if not word.chosen or word.chosen in texts else now
        if chosen:
            return _settle(conflict, chosen[0], word.reason, "person").replace(ruling=word.ruling)
    pinned = [v.text for v in conflict.values if any(facts[i].decision == "pinned" for i in v.fact_ids)]
    if len(pinned) == 1:
        return _settle(conflict, pinned[0], "a person pinned this value", "person")
    if conflict.model_ruling in ("different_things", "later_replaces") or (
        conflict.model_ruling == "agree" and conflict.kind == "name"
    ):  # of two dates, figures or a denial no model says that they agree
        days = sorted(
            (max(facts[i].published_at[:10] for i in value.fact_ids), value.text) for value in conflict.values
        )
        is_later = conflict.model_ruling == "later_replaces" and days[0][0] and days[-1][0] > days[-2][0]
        return _settle(conflict, days[-1][1] if is_later else "", conflict.model_reason, "model")
    ranked = sorted(conflict.values, key=lambda value: -len(value.sites))
    most, next_most = len(ranked[0].sites), len(ranked[1].sites)
    if most - next_most < MIN_SOURCE_LEAD:
        return conflict
    reason = f"{EVIDENCE_REASON_PREFIX}{most} independent sites against {next_most}"
    return _settle(conflict, ranked[0].text, reason, "evidence")


def _settle(conflict: Conflict, chosen: str, reason: str, by: str) -> Conflict:
    return conflict.replace(status="settled", chosen=chosen, reason=reason, settled_by=by)


class _Pair(NamedTuple):
    """Two facts by their ids, the older first, and how they contradict each other."""

    left: str
    right: str
    point: Contradiction

    @property
    def sides(self) -> tuple[_Side, _Side]:
        """Each side of it."""
        kind, slot = self.point.kind, self.point.slot
        return (kind, slot, self.left, self.point.left), (kind, slot, self.right, self.point.right)


@dataclass(frozen=True)
class ConflictIndex:
    """Facts by id, the ids of those that share a content word or a topic, and the pairs that contradict each
    other, each under the fact that joined later."""

    facts: dict[str, Fact] = field(default_factory=dict)
    ids: dict[_Key, tuple[str, ...]] = field(default_factory=dict)
    pairs: dict[str, Sequence[_Pair]] = field(default_factory=dict)

    def join(self, facts: Iterable[Fact], changed: Collection[str] | None = None) -> ConflictIndex:
        """The index with these facts: new ones, and those that say something else now (of the `changed` ones,
        where these are given), are compared with the facts most like them."""
        new = dict[str, Fact]()
        for fact in facts:
            known = self.facts.get(fact.id)
            if known is None or ((changed is None or fact.id in changed) and _said(fact) != _said(known)):
                new[fact.id] = fact
        if not new:
            return self
        joined, stale = ConflictIndex(dict(self.facts), dict(self.ids), {}), new.keys() & self.facts.keys()
        for name, pairs in self.pairs.items():
            joined.pairs[name] = [p for p in pairs if stale.isdisjoint((p.left, p.right))] if stale else pairs
        for fact in sorted(new.values(), key=_age_key):
            found = list[_Pair]()
            for other in sorted(joined.find_partners(fact), key=_age_key):
                a, b = sorted((other, fact), key=_age_key)
                is_apart = (not a.url or a.url != b.url) and a.statement != b.statement
                if is_apart and (point := find_difference(a, b)):
                    found.append(_Pair(a.id, b.id, point))
            if found:
                joined.pairs[fact.id] = found
            for said in filter(None, (joined.facts.get(fact.id), fact)):
                keys: list[_Key] = [*extract_features(said.statement).words, topic_key(said)]
                for key in keys:
                    others = tuple(i for i in joined.ids.get(key, ()) if i != fact.id)
                    joined.ids[key] = (*others, fact.id) if said is fact else others
            joined.facts[fact.id] = fact
        return joined

    def find_partners(self, fact: Fact) -> list[Fact]:
        """The facts that a fact is compared with, the most similar first: those of its topic, then by the
        shared part of the shorter statement."""
        words, topic = extract_features(fact.statement).words, topic_key(fact)
        similar = dict[str, float]()
        for i, shared in Counter(i for word in words for i in self.ids.get(word, ())).items():
            if shared >= MIN_SHARED_WORDS:
                similar[i] = shared / min(len(words), len(extract_features(self.facts[i].statement).words))
        if any(topic):
            similar |= dict.fromkeys(self.ids.get(topic, ()), 2.0)
        similar.pop(fact.id, None)
        nearest = sorted(similar, key=lambda i: (-similar[i], i))[:MAX_PARTNERS]
        return [self.facts[i] for i in nearest if is_same_thing(fact, self.facts[i])]

    def find_conflicts(
        self, active: Mapping[str, Fact], rulings: Sequence[Ruling] = (), questions: Sequence[str] = ()
    ) -> list[Conflict]:
        """The conflicts among the active facts, in the order of their earliest ones, settled or open; those
        about what one of the questions asks are marked and come first."""
        pairs = [p for found in self.pairs.values() for p in found if p.left in active and p.right in active]
        pairs.sort(key=lambda pair: (_age_key(active[pair.right]), _age_key(active[pair.left])))
        connected = dict[_Side, set[_Side]]()
        for pair in pairs:  # same kind and slot, and a side in common
            join_groups(connected, *pair.sides)
        groups = defaultdict[_Side, list[_Pair]](list)
        for pair in pairs:
            groups[min(connected[pair.sides[0]])].append(pair)
        conflicts: dict[str, Conflict] = {}
        for group in sorted(groups.values(), key=lambda group: min(_age_key(active[p.left]) for p in group)):
            conflict = settle_conflict(_make_conflict(group, active), rulings, active)
            stating = [active[i] for value in conflict.values for i in value.fact_ids]
            asks = any(is_on_question(fact, asked) for asked in questions for fact in stating)
            conflicts.setdefault(conflict.id, conflict.replace(asks=asks))
        return sorted(conflicts.values(), key=lambda conflict: not conflict.asks)


def find_conflicts(
    facts: Iterable[Fact], rulings: Sequence[Ruling] = (), questions: Sequence[str] = ()
) -> list[Conflict]:
    """The conflicts among those of these facts that count."""
    active = {fact.id: fact for fact in facts if fact.is_active}
    return ConflictIndex().join(active.values()).find_conflicts(active, rulings, questions)


def find_disputed(conflicts: Iterable[Conflict]) -> set[str]:
    """The ids of the facts that state a value of an open conflict, and of one that a person or the evidence
    settled the overruled ones (all, when neither value holds)."""
    disputed: set[str] = set()
    for conflict in conflicts:
        for value in conflict.values:
            overruled = conflict.ruling == "neither" or (conflict.chosen and value.text != conflict.chosen)
            if conflict.status == "open" or (overruled and conflict.settled_by != "model"):
                disputed.update(value.fact_ids)
    return disputed


def _said(fact: Fact) -> tuple[str, ...]:
    """What decides which facts it contradicts."""
    said = (fact.statement, fact.quote, fact.subject, fact.attribute)
    return *said, fact.title, fact.url, fact.published_at


def _age_key(fact: Fact) -> tuple[int, str]:
    return fact.step, fact.id


def find_difference(a: Fact, b: Fact) -> Contradiction | None:
    """The first point in which the statements of two facts contradict each other; None for none."""
    keyed = topic_key(a) == topic_key(b) != ("", "")
    left, right = ([f.statement] if keyed else comparable_forms(f.statement) for f in (a, b))
    pairs = ((extract_features(mine), extract_features(theirs)) for mine, theirs in product(left, right))
    return next(
        (point for one, other in pairs if (point := find_contradiction(one, other, keyed=keyed))), None
    )


def _make_conflict(group: Sequence[_Pair], facts: Mapping[str, Fact]) -> Conflict:
    """The conflict of connected pairs. Subject and attribute are the earliest fact's own, else the name and
    the words that it shares."""
    sides = sorted(
        {side[2:] for pair in group for side in pair.sides},
        key=lambda side: (*_age_key(facts[side[0]]), side[1]),
    )
    first, kind = facts[sides[0][0]], group[0].point.kind
    pair = next(pair for pair in group if first.id in (pair.left, pair.right))
    mine = extract_features(first.statement)
    other = extract_features(facts[pair.right if pair.left == first.id else pair.left].statement)
    names = [name.text for name in mine.names if name.words <= other.words]
    subject = first.subject if first.attribute or not names else names[0]
    taken = frozenset(subject.casefold().split())
    shared = [word for word in dict.fromkeys(mine.frame) if word in other.words and word not in taken]
    attribute = first.attribute or " ".join(shared)
    topic = topic_key(first)
    if not any(topic):
        topic = (first.subject, " ".join(mine.frame))
    values = dict[str, list[str]]()
    for name, value in sides:
        same = next((text for text in values if is_same_value(kind, text, value)), value)
        values.setdefault(same, []).append(name)
    identity = "|".join([*topic, kind, group[0].point.slot]).casefold()
    return Conflict(
        id=f"c{hashlib.sha256(identity.encode()).hexdigest()[:12]}",
        subject=subject,
        attribute=attribute,
        kind=kind,
        values=[
            ConflictSide(
                text=text,
                fact_ids=list(dict.fromkeys(names)),
                sites=find_independent_sources(facts[name] for name in names),
            )
            for text, names in values.items()
        ],
        found_by="code",
        asks=False,
        step=min(max(facts[pair.left].step, facts[pair.right].step) for pair in group),
    )
