"""Conflicts among facts: groups of contradicting values, with the facts and independent sources of each.

A conflict's id is a hash of subject, attribute, kind and unit of its earliest fact, so the same conflict gets
the same id after more reading and keeps its settlement (`resolution`). Which facts are compared is decided in
`blocking`, how two statements contradict in `statements`, how facts answer the question differently in
`answers`. It knows nothing of pages or steps."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from agent.evidence.contradiction import statements
from agent.evidence.contradiction.answer_extraction import extract_answer
from agent.evidence.contradiction.answers import find_rival_answers
from agent.evidence.contradiction.blocking import PairingScope, content_words, find_pairs, topic_key
from agent.evidence.contradiction.resolution import MERGED_REASON, is_settled_by_person, restore_settlement
from agent.evidence.contradiction.statements import ConflictKind, Contradiction
from agent.evidence.disjoint_sets import DisjointSets
from agent.evidence.source_independence import find_independent_sources
from agent.evidence.statement_features import extract_features, opening_clause
from agent.text import urls
from agent.text.question_analysis import ParsedQuestion
from agent.types import Conflict, ConflictSide, Fact

_TABLE_CELLS = re.compile(r"\s[|·]\s|^[^.;:]{1,40}: [^;]*;\s")
_SideKey = tuple[str, str, str, str]
"""Kind, slot, fact and value: what two pairs of one conflict have in common."""


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


class _FactIndex(list[Fact]):
    """The active facts in a scope, the oldest first, with an index of their words; `by_id` has all."""

    def __init__(self, facts: Iterable[Fact], scope: PairingScope | None) -> None:
        every = sorted((fact for fact in facts if fact.is_active), key=_age_key)
        super().__init__(
            f for f in every if not scope or f.id in scope.related_ids or f.id in scope.changed_ids
        )
        self.by_id = {fact.id: fact for fact in every}
        has_changes = scope is not None and any(fact.id in scope.changed_ids for fact in self)
        self.facts_to_pair = every if has_changes else list(self)
        self._facts_by_word: dict[str, list[Fact]] = defaultdict(list)
        for fact in self:
            for word in extract_features(fact.statement).words:
                self._facts_by_word[word].append(fact)

    def find_with_words(self, words: frozenset[str]) -> Iterator[Fact]:
        """The facts that hold all of these words (at least one word)."""
        rarest = min((self._facts_by_word.get(word, []) for word in words), key=len)
        return (fact for fact in rarest if words <= extract_features(fact.statement).words)

    def with_facts(self, conflict: Conflict, added: dict[str, list[str]]) -> Conflict:
        """The conflict with further fact ids for its values (by text), and the sources counted again."""
        values = []
        for value in conflict.values:
            ids = list(dict.fromkeys([*value.fact_ids, *added.get(value.text, ())]))
            sites = find_independent_sources(self.by_id[i] for i in ids)
            values.append(value.model_copy(update={"fact_ids": ids, "sites": sites}))
        return conflict.model_copy(update={"values": values})


def find_conflicts(
    facts: Iterable[Fact],
    known: Iterable[Conflict] = (),
    question: ParsedQuestion | None = None,
    scope: PairingScope | None = None,
) -> list[Conflict]:
    """The conflicts among active facts, in the order of their earliest facts.

    With a `question`, the different answers to it come first as one conflict, in place of those whose facts
    are all in it. `known` conflicts keep settlement, step and finder when found again; a model's are kept. A
    `scope` limits which facts are compared."""
    index = _FactIndex(facts, scope)
    before = {conflict.id: conflict for conflict in known}
    pinned = [fact for fact in index if fact.decision == "pinned"]
    groups = _group_pairs(list(_find_pairs(index.facts_to_pair, scope)))
    others = [_add_restating_facts(_make_conflict(group), index) for group in groups]
    answers = [
        _add_restating_facts(_add_facts_of_same_values(conflict, others, index), index)
        for conflict in (_find_answer_conflicts(index, question) if question else [])
    ]
    restored = (restore_settlement(conflict, before, pinned) for conflict in [*answers, *others])
    unique = {conflict.id: _close_merged(conflict, answers) for conflict in restored}
    kept = [c for c in unique.values() if c.reason != MERGED_REASON or c.id in before]
    of_model = [c for c in before.values() if c.found_by == "model" and c.id not in unique]
    return [*kept, *of_model]


def update_disputed(facts: Iterable[Fact], conflicts: Iterable[Conflict]) -> list[Fact]:
    """The facts whose `disputed` mark must change, with the new mark.

    Disputed: every fact of an open conflict, and the overruled ones of a settled conflict (all, when neither
    value holds). A conflict settled without a chosen value (both hold) disputes nothing."""
    wanted: set[str] = set()
    for conflict in conflicts:
        for value in conflict.values:
            overruled = conflict.ruling == "neither" or (conflict.chosen and value.text != conflict.chosen)
            if conflict.status == "open" or overruled:
                wanted.update(value.fact_ids)
    return [
        fact.model_copy(update={"disputed": not fact.disputed})
        for fact in facts
        if fact.disputed != (fact.id in wanted)
    ]


def _age_key(fact: Fact) -> tuple[int, str]:
    return fact.step, fact.id


def _find_pairs(facts: list[Fact], scope: PairingScope | None) -> Iterator[_Pair]:
    """Every contradiction between facts of two pages, the older first."""
    for i, j in find_pairs(facts, scope):
        a, b = facts[i], facts[j]
        if (a.url and a.url == b.url) or a.statement == b.statement:
            continue
        strict = bool(a.url) and urls.site(a.url) == urls.site(b.url)
        keyed = topic_key(a) == topic_key(b) != ("", "")
        if found := _find_contradiction(a, b, keyed=keyed, strict=strict):
            yield _Pair(_Side(a, found.left), _Side(b, found.right), found)


def _find_contradiction(a: Fact, b: Fact, *, keyed: bool, strict: bool) -> Contradiction | None:
    """Between the whole statements, else between the opening clauses of two sites; table rows need a given
    attribute."""
    if not keyed and (_has_table_cells(a.statement) or _has_table_cells(b.statement)):
        return None
    left, right = extract_features(a.statement), extract_features(b.statement)
    found = statements.find_contradiction(left, right, keyed=keyed, strict=strict)
    if found or strict or statements.is_series(left, right):
        return found
    clauses = opening_clause(a.statement), opening_clause(b.statement)
    if clauses == (a.statement, b.statement):
        return None
    return statements.find_contradiction(*map(extract_features, clauses), keyed=keyed, strict=strict)


@lru_cache(maxsize=8192)
def _has_table_cells(statement: str) -> bool:
    return bool(_TABLE_CELLS.search(statement))


def _group_pairs(pairs: list[_Pair]) -> list[list[_Pair]]:
    """The pairs that are connected: same kind and slot, and a side in common."""
    sets: DisjointSets[_SideKey] = DisjointSets()
    for pair in pairs:
        sets.join(pair.key(pair.left), pair.key(pair.right))
    groups: dict[_SideKey, list[_Pair]] = defaultdict(list)
    for pair in pairs:
        groups[sets.find(pair.key(pair.left))].append(pair)
    return sorted(groups.values(), key=lambda group: min(_age_key(pair.left.fact) for pair in group))


def _make_conflict(group: list[_Pair]) -> Conflict:
    sides = sorted(
        {side for pair in group for side in (pair.left, pair.right)},
        key=lambda side: (*_age_key(side.fact), side.value),
    )
    first, contradiction = sides[0].fact, group[0].contradiction
    subject, attribute = _describe_topic(first, group)
    topic = topic_key(first)
    if not any(topic):
        topic = (first.subject, " ".join(extract_features(first.statement).frame))
    return Conflict(
        id=_make_id("|".join([*topic, contradiction.kind, contradiction.slot])),
        subject=subject,
        attribute=attribute,
        kind=contradiction.kind,
        values=_group_values(contradiction.kind, sides),
        step=max(side.fact.step for side in sides),
    )


def _make_id(identity: str) -> str:
    return f"c{hashlib.sha256(identity.casefold().encode()).hexdigest()[:12]}"


def _describe_topic(first: Fact, group: list[_Pair]) -> tuple[str, str]:
    """Subject and attribute of a conflict: the facts' own, else the name and the words they share."""
    pair = next(p for p in group if first is p.left.fact or first is p.right.fact)
    mine = extract_features(first.statement)
    other = extract_features((pair.right if pair.left.fact is first else pair.left).fact.statement)
    names = [name.text for name in mine.names if name.words <= other.words]
    subject = first.subject if first.attribute or not names else names[0]
    taken = frozenset(word.casefold() for word in subject.split())
    shared = dict.fromkeys(w for w in mine.frame if w in other.words and w not in taken)
    return subject, first.attribute or " ".join(shared)


def _add_facts_of_same_values(conflict: Conflict, others: list[Conflict], index: _FactIndex) -> Conflict:
    """The conflict about the question with the facts of those that have the same values."""
    for other in others:
        if _is_same_topic(other, conflict):
            added = {
                value.text: [i for v in other.values if _has_shared_facts(value, v) for i in v.fact_ids]
                for value in conflict.values
            }
            conflict = index.with_facts(conflict, added)
    return conflict


def _close_merged(conflict: Conflict, answers: list[Conflict]) -> Conflict:
    """A conflict closed when the one about the question covers it; not what a person settled."""
    is_merged = any(_is_same_topic(conflict, other) for other in answers)
    if conflict.asks or is_settled_by_person(conflict) or not is_merged:
        return conflict
    closed = {"status": "settled", "chosen": "", "reason": MERGED_REASON, "settled_by": "evidence"}
    return conflict.model_copy(update=closed)


def _is_same_topic(one: Conflict, other: Conflict) -> bool:
    """Are all facts of one in the other, or do two of its values have facts there?"""
    shared = sum(any(_has_shared_facts(mine, value) for mine in other.values) for value in one.values)
    return _fact_ids(one) <= _fact_ids(other) or (one.kind == other.kind and shared > 1)


def _has_shared_facts(a: ConflictSide, b: ConflictSide) -> bool:
    return not set(a.fact_ids).isdisjoint(b.fact_ids)


def _fact_ids(conflict: Conflict) -> set[str]:
    return {i for value in conflict.values for i in value.fact_ids}


def _find_answer_conflicts(index: _FactIndex, question: ParsedQuestion) -> list[Conflict]:
    """The different answers to the question as one conflict, of the most frequent kind; [] for none."""
    rivals = list(find_rival_answers(index, question))
    if not rivals:
        return []
    kind = Counter(rival.contradiction.kind for rival in rivals).most_common(1)[0][0]
    counts = Counter(
        side
        for rival in rivals
        if rival.contradiction.kind == kind
        for side in (
            _Side(rival.left, rival.contradiction.left),
            _Side(rival.right, rival.contradiction.right),
        )
    )
    sides = _choose_answer_sides(counts, kind, question)
    values = _group_values(kind, sorted(sides, key=lambda side: (-side.fact.relevance, *_age_key(side.fact))))
    if len(values) < 2:
        return []
    return [
        Conflict(
            id=_make_id(f"asked|{question.original}"),
            subject=question.subject,
            attribute=question.attribute,
            kind=kind,
            values=values,
            asks=True,
            step=max(side.fact.step for side in sides),
        )
    ]


def _choose_answer_sides(counts: Counter[_Side], kind: ConflictKind, question: ParsedQuestion) -> list[_Side]:
    """One side a page: those that the question's own words lead to before the others, then the most
    relevant."""
    is_led = {side: side.value == extract_answer(side.fact.statement, question) for side in counts}

    def rank(side: _Side) -> tuple[object, ...]:
        relevance = -round(side.fact.relevance, 1)
        return not is_led[side], relevance, -counts[side], *_age_key(side.fact), side.value

    best: dict[str, _Side] = {}
    for side in sorted(counts, key=rank):
        best.setdefault(side.fact.url, side)
    led = [side for side in best.values() if is_led[side]]
    return led if kind in ("date", "number") and len(_group_values(kind, led)) > 1 else list(best.values())


def _add_restating_facts(conflict: Conflict, index: _FactIndex) -> Conflict:
    """The conflict with the facts that state one of its values in another form, such as a table row."""
    subject, attribute = content_words(conflict.subject), content_words(conflict.attribute)
    if conflict.kind not in ("date", "number") or not subject or not attribute:
        return conflict
    inside = _fact_ids(conflict)
    added: dict[str, list[str]] = defaultdict(list)
    for fact in index.find_with_words(subject):
        features = extract_features(fact.statement)
        if fact.id in inside or 2 * len(attribute & features.words) < len(attribute):
            continue
        stated = features.dates if conflict.kind == "date" else features.quantities
        held = [
            value.text
            for value in conflict.values
            if any(statements.is_same_value(conflict.kind, value.text, item.text) for item in stated)
        ]
        if len(held) == 1:
            added[held[0]].append(fact.id)
    return index.with_facts(conflict, added)


def _group_values(kind: ConflictKind, sides: list[_Side]) -> list[ConflictSide]:
    groups: list[list[_Side]] = []
    for side in sides:
        same = (group for group in groups if statements.is_same_value(kind, group[0].value, side.value))
        if (group := next(same, None)) is None:
            groups.append([side])
        else:
            group.append(side)
    return [
        ConflictSide(
            text=group[0].value,
            fact_ids=list(dict.fromkeys(side.fact.id for side in group)),
            sites=find_independent_sources(side.fact for side in group),
        )
        for group in groups
    ]
