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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from agent.evidence.contradiction import (
    ConflictKind,
    Contradiction,
    comparable_forms,
    find_contradiction,
    is_on_question,
    is_same_thing,
    is_same_value,
    read_cells,
)
from agent.evidence.sources import DisjointSets, find_independent_sources
from agent.evidence.statement_features import extract_features
from agent.text.question_analysis import ParsedQuestion
from agent.types import Conflict, ConflictSide, Fact, Ruling

_Key = str | tuple[str, str]
"""A content word, or a topic."""
MAX_PARTNERS = 40
"""Facts that a new one is compared with at most, the most similar: as many as a prompt shows."""
MIN_SHARED_WORDS, MIN_SHARED_RATIO = 2, 0.35
"""Content words that two compared statements share at least: a number, and a share of the shorter's."""
MIN_SOURCE_LEAD = 2
"""Independent sources more than any other value that one needs to be settled by evidence alone."""
PINNED_REASON = "a person pinned this value"
"""The reason while the pin is there."""
EVIDENCE_REASON_PREFIX = "settled by evidence: "
"""How the reason begins when the number of sources settled it."""
MIN_COUNTED_LETTERS = 3
"""Letters of a word that is counted ("beds"); shorter units are signs of measure ("m", "%")."""
_SideKey = tuple[str, str, str, str]
"""Kind, slot, fact and value: what two pairs of one conflict have in common."""


def topic_key(fact: Fact) -> tuple[str, str]:
    """The subject and attribute that someone gave a fact, in one spelling; two empty strings without both."""
    subject, attribute = (" ".join(part.casefold().split()) for part in (fact.subject, fact.attribute))
    return (subject, attribute) if subject and attribute else ("", "")


@dataclass
class FactIndex:
    """Facts by id, and the ids of those that share a content word or a topic."""

    facts: dict[str, Fact] = field(default_factory=dict)
    ids_by_key: dict[_Key, tuple[str, ...]] = field(default_factory=dict)

    def add(self, fact: Fact) -> None:
        """Add a fact, or replace the one with its id."""
        for one in filter(None, (self.facts.get(fact.id), fact)):
            kept = () if one is not fact else (fact.id,)
            keys: list[_Key] = [*extract_features(one.statement).words, topic_key(one)]
            for key in keys:
                others = (i for i in self.ids_by_key.get(key, ()) if i != fact.id)
                self.ids_by_key[key] = (*others, *kept)
        self.facts[fact.id] = fact

    def find_partners(self, fact: Fact) -> Iterator[Fact]:
        """The facts that a fact is compared with, the most similar first: those of its topic, then by the
        shared part of the shorter statement."""
        words, topic = extract_features(fact.statement).words, topic_key(fact)
        similar = dict[str, float]()
        for i, shared in Counter(i for word in words for i in self.ids_by_key.get(word, ())).items():
            shorter = min(len(words), len(extract_features(self.facts[i].statement).words))
            if shared >= max(MIN_SHARED_WORDS, MIN_SHARED_RATIO * shorter):
                similar[i] = shared / shorter
        if any(topic):
            similar |= dict.fromkeys(self.ids_by_key.get(topic, ()), 2.0)
        similar.pop(fact.id, None)
        for i in sorted(similar, key=lambda i: (-similar[i], i))[:MAX_PARTNERS]:
            if is_same_thing(fact, self.facts[i]):
                yield self.facts[i]


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
        return _settle(conflict, pinned[0], PINNED_REASON, "person")
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


@dataclass(frozen=True)
class _Side:
    """A fact and the value of it that is meant; two are the same when fact id and value are."""

    fact: Fact
    value: str

    def __hash__(self) -> int:
        return hash((self.fact.id, self.value))


@dataclass(frozen=True)
class _Pair:
    left: _Side
    right: _Side
    contradiction: Contradiction

    def key(self, side: _Side) -> _SideKey:
        """What pairs that share this side have in common."""
        return self.contradiction.kind, self.contradiction.slot, side.fact.id, side.value


@dataclass(frozen=True)
class ConflictIndex:
    """The pairs of facts that contradict each other, each under the fact that joined later."""

    questions: Sequence[ParsedQuestion] = ()
    index: FactIndex = field(default_factory=FactIndex)
    pairs: Mapping[str, Sequence[_Pair]] = field(default_factory=dict)

    def join(
        self,
        facts: Iterable[Fact],
        questions: Sequence[ParsedQuestion] = (),
        changed: Collection[str] | None = None,
    ) -> ConflictIndex:
        """The index with these facts: new ones, and those that say something else now (of the `changed` ones,
        where these are given), are compared with the facts most like them. For other `questions` all are."""
        if [asked.text for asked in questions] != [asked.text for asked in self.questions]:
            return ConflictIndex(questions).join([*self.index.facts.values(), *facts], questions)
        known = self.index.facts
        if changed is not None:
            facts = [fact for fact in facts if fact.id in changed or fact.id not in known]
        new = {f.id: f for f in facts if f.id not in known or _said(f) != _said(known[f.id])}
        if not new:
            return self
        index = FactIndex(dict(known), dict(self.index.ids_by_key))
        stale = new.keys() & known.keys()
        pairs = dict(self.pairs)
        if stale:
            pairs = {
                name: [pair for pair in found if not stale & {pair.left.fact.id, pair.right.fact.id}]
                for name, found in pairs.items()
            }
        for fact in sorted(new.values(), key=_age_key):
            near = sorted(index.find_partners(fact), key=_age_key)
            both = (sorted((other, fact), key=_age_key) for other in near)
            index.add(fact)
            if found := [pair for a, b in both for pair in _compare(a, b)]:
                pairs[fact.id] = found
        return ConflictIndex(questions, index, pairs)

    def find_conflicts(self, active: Mapping[str, Fact], rulings: Sequence[Ruling] = ()) -> list[Conflict]:
        """The conflicts among the active facts, in the order of their earliest ones, settled or open; those
        about what one of the questions asks are marked and come first."""
        pairs = [
            _Pair(_Side(active[a.fact.id], a.value), _Side(active[b.fact.id], b.value), pair.contradiction)
            for found in self.pairs.values()
            for pair in found
            if (a := pair.left).fact.id in active and (b := pair.right).fact.id in active
        ]
        pairs.sort(key=lambda pair: (_age_key(pair.right.fact), _age_key(pair.left.fact)))
        conflicts: dict[str, Conflict] = {}
        sets, groups = DisjointSets[_SideKey](), defaultdict[_SideKey, list[_Pair]](list)
        for pair in pairs:
            sets.join(pair.key(pair.left), pair.key(pair.right))
        for pair in pairs:  # connected: same kind and slot, and a side in common
            groups[sets.find(pair.key(pair.left))].append(pair)
        for group in sorted(
            groups.values(), key=lambda group: min(_age_key(pair.left.fact) for pair in group)
        ):
            conflict = settle_conflict(_make_conflict(group), rulings, active)
            stating = [active[i] for value in conflict.values for i in value.fact_ids]
            asks = any(is_on_question(fact, asked) for asked in self.questions for fact in stating)
            conflicts.setdefault(conflict.id, conflict.replace(asks=asks))
        return sorted(conflicts.values(), key=lambda conflict: not conflict.asks)


def find_conflicts(
    facts: Iterable[Fact], rulings: Sequence[Ruling] = (), questions: Sequence[ParsedQuestion] = ()
) -> list[Conflict]:
    """The conflicts among those of these facts that count."""
    active = {fact.id: fact for fact in facts if fact.is_active}
    return ConflictIndex().join(active.values(), questions).find_conflicts(active, rulings)


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


def _compare(a: Fact, b: Fact) -> list[_Pair]:
    """The contradictions of two facts of different pages, the older first: one; several of two table rows."""
    if (a.url and a.url == b.url) or a.statement == b.statement:
        return []
    keyed = topic_key(a) == topic_key(b) != ("", "")
    left, right = ([f.statement] if keyed else comparable_forms(f.statement) for f in (a, b))
    has_rows = read_cells(a.statement) and read_cells(b.statement)
    found = list[Contradiction]()
    for mine, theirs in product(left, right):  # the points on which the facts do not agree after all
        point = find_contradiction(extract_features(mine), extract_features(theirs), keyed=keyed)
        if point and not (
            _states_value(a, point.kind, point.right) or _states_value(b, point.kind, point.left)
        ):
            found.append(point)
            if not has_rows:
                break
    if 1 < len(found) >= min(len(left), len(right)):  # rows with no cell in common: a namesake
        return []
    return [_Pair(_Side(a, point.left), _Side(b, point.right), point) for point in found]


def _states_value(fact: Fact, kind: ConflictKind, value: str) -> bool:
    """Does a fact also state the other's value, in its statement or the rest of its quote?"""
    said = extract_features(f"{fact.statement} {fact.quote if fact.quote != fact.statement else ''}")
    dates = [date.text for date in said.dates if not date.is_yearless]
    values = dates if kind == "date" else [quantity.text for quantity in said.quantities]
    return any(is_same_value(kind, text, value) for text in values)


def _make_conflict(group: list[_Pair]) -> Conflict:
    """The conflict of connected pairs. Subject and attribute are the earliest fact's own, else the name and
    the words that it shares, with what is counted ("beds")."""
    sides = sorted(
        {side for pair in group for side in (pair.left, pair.right)},
        key=lambda side: (*_age_key(side.fact), side.value),
    )
    first, contradiction = sides[0].fact, group[0].contradiction
    pair = next(p for p in group if first is p.left.fact or first is p.right.fact)
    mine = extract_features(first.statement)
    other = extract_features((pair.right if pair.left.fact is first else pair.left).fact.statement)
    names = [name.text for name in mine.names if name.words <= other.words]
    subject = first.subject if first.attribute or not names else names[0]
    taken = frozenset(word.casefold() for word in subject.split())
    shared = dict.fromkeys(w for w in mine.frame if w in other.words and w not in taken)
    counted = pair.left.value.split()[-1] if len(pair.contradiction.slot) >= MIN_COUNTED_LETTERS else ""
    attribute = first.attribute or " ".join([*shared, *([counted] if counted.isalpha() else [])])
    topic = topic_key(first)
    if not any(topic):
        topic = (first.subject, " ".join(extract_features(first.statement).frame))
    values = list[list[_Side]]()
    for side in sides:
        alike = (same for same in values if is_same_value(contradiction.kind, same[0].value, side.value))
        if (group_of_value := next(alike, None)) is None:
            values.append([side])
        else:
            group_of_value.append(side)
    identity = "|".join([*topic, contradiction.kind, contradiction.slot]).casefold()
    return Conflict(
        id=f"c{hashlib.sha256(identity.encode()).hexdigest()[:12]}",
        subject=subject,
        attribute=attribute,
        kind=contradiction.kind,
        values=[
            ConflictSide(
                text=same[0].value,
                fact_ids=list(dict.fromkeys(side.fact.id for side in same)),
                sites=find_independent_sources(side.fact for side in same),
            )
            for same in values
        ],
        found_by="code",
        asks=False,
        step=min(max(pair.left.fact.step, pair.right.fact.step) for pair in group),
    )
