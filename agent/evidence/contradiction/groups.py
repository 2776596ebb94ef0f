"""Which facts cannot all be true: groups of contradicting values with who says which, and what a settlement
changes.

Identity: a conflict's id is a hash of subject, attribute, kind and unit of its earliest fact, so finding it
again after more reading gives the same id, and a settlement known for it is kept. How a conflict found again
stands is in settlement.py, which facts are compared in pairing.py, how two statements contradict each other
in compare.py, how sources answer the question differently in rivals.py, how many independent voices say a
thing in voices.py. Knows nothing of pages or steps."""

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
from agent.evidence.source_independence import find_independent_sources
from agent.evidence.statement_features import extract_features, opening_clause
from agent.text import urls
from agent.text.question_analysis import ParsedQuestion
from agent.types import Conflict, ConflictSide, Fact

_TABLE_CELLS = re.compile(r"\s[|·]\s|^[^.;:]{1,40}: [^;]*;\s")

_SideKey = tuple[str, str, str, str]
"""Kind, slot, fact and value: what two pairs have in common when they are of one conflict."""


@dataclass(frozen=True)
class _Side:
    """A fact and which of its values is meant; two are the same when fact id and value are."""

    fact: Fact
    value: str

    def __hash__(self) -> int:
        return hash((self.fact.id, self.value))


@dataclass(frozen=True)
class _Pair:
    left: _Side
    right: _Side
    contradiction: Contradiction


class _FactIndex(list[Fact]):
    """The facts that count, the oldest first: those that are looked at by their words, all by their ids."""

    def __init__(self, facts: Iterable[Fact], scope: PairingScope | None) -> None:
        every = sorted((fact for fact in facts if fact.is_active), key=_age_key)
        super().__init__(
            fact
            for fact in every
            if scope is None or fact.id in scope.related_ids or fact.id in scope.changed_ids
        )
        self.by_id = {fact.id: fact for fact in every}
        self.facts_to_pair = (
            every if scope and any(fact.id in scope.changed_ids for fact in self) else list(self)
        )
        self._facts_by_word: dict[str, list[Fact]] = defaultdict(list)
        for fact in self:
            for word in extract_features(fact.statement).words:
                self._facts_by_word[word].append(fact)

    def find_with_words(self, words: frozenset[str]) -> Iterator[Fact]:
        """The facts that hold all of these words (some)."""
        rarest = min((self._facts_by_word.get(word, []) for word in words), key=len)
        return (fact for fact in rarest if words <= extract_features(fact.statement).words)


def find_conflicts(
    facts: Iterable[Fact],
    known: Iterable[Conflict] = (),
    question: ParsedQuestion | None = None,
    scope: PairingScope | None = None,
) -> list[Conflict]:
    """The conflicts among facts that may count (verified or pinned, not struck), in the order of their
    earliest facts.

    With a `question`, the different answers to it that sources give come first, as one conflict, in the place
    of those whose facts all stand in it. `known` conflicts keep their settlement, step and finder when found
    again; those found by a model are kept as they are. Which pairs are compared is bounded (see pairing); a
    `scope` narrows them to what may have changed."""
    counted = _FactIndex(facts, scope)
    before = {conflict.id: conflict for conflict in known}
    pinned = [fact for fact in counted if fact.decision == "pinned"]
    others = [
        _add_restating_facts(_make_conflict(group), counted)
        for group in _group_pairs(list(_find_pairs(counted.facts_to_pair, scope)))
    ]
    answers = [
        _add_restating_facts(_add_facts_of_same_values(conflict, others, counted), counted)
        for conflict in (_find_answer_conflicts(counted, question) if question else [])
    ]
    unique = {
        conflict.id: conflict
        for conflict in (restore_settlement(conflict, before, pinned) for conflict in [*answers, *others])
    }
    unique = {name: _close_merged(conflict, answers) for name, conflict in unique.items()}
    unique = {
        name: conflict
        for name, conflict in unique.items()
        if conflict.reason != MERGED_REASON or name in before
    }
    told = [
        conflict for conflict in before.values() if conflict.found_by == "model" and conflict.id not in unique
    ]
    return [*unique.values(), *told]


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
        f.model_copy(update={"disputed": f.id in wanted}) for f in facts if f.disputed != (f.id in wanted)
    ]


def _age_key(fact: Fact) -> tuple[int, str]:
    return fact.step, fact.id


def _find_pairs(facts: list[Fact], scope: PairingScope | None) -> Iterator[_Pair]:
    """Every contradiction between two facts, the older first. Facts of one page are its own account and are
    not compared."""
    for i, j in find_pairs(facts, scope):
        a, b = facts[i], facts[j]
        if (a.url and a.url == b.url) or a.statement == b.statement:
            continue
        strict, keyed = (
            bool(a.url) and urls.site(a.url) == urls.site(b.url),
            topic_key(a) == topic_key(b) != ("", ""),
        )
        clash = _find_contradiction(a, b, keyed=keyed, strict=strict)
        if clash:
            yield _Pair(_Side(a, clash.left), _Side(b, clash.right), clash)


def _find_contradiction(a: Fact, b: Fact, *, keyed: bool, strict: bool) -> Contradiction | None:
    """Between the whole statements, else between the opening clauses of two sites; rows and bylines need a
    given attribute."""
    if not keyed and (_has_table_cells(a.statement) or _has_table_cells(b.statement)):
        return None
    left, right = extract_features(a.statement), extract_features(b.statement)
    found = statements.find_contradiction(left, right, keyed=keyed, strict=strict)
    if found or strict or statements.is_series(left, right):
        return found
    mine, theirs = opening_clause(a.statement), opening_clause(b.statement)
    if (mine, theirs) == (a.statement, b.statement):
        return None
    return statements.find_contradiction(
        extract_features(mine), extract_features(theirs), keyed=keyed, strict=strict
    )


@lru_cache(maxsize=8192)
def _has_table_cells(statement: str) -> bool:
    return bool(_TABLE_CELLS.search(statement))


def _group_pairs(pairs: list[_Pair]) -> list[list[_Pair]]:
    """Pairs that hang together: the same kind and slot, and a side in common. Every pair is looked at
    once."""
    heads: dict[_SideKey, _SideKey] = {}
    for pair in pairs:
        left, right = (
            heads.setdefault(end, end) for end in (_side_key(pair, pair.left), _side_key(pair, pair.right))
        )
        heads[_find_root(heads, left)] = _find_root(heads, right)
    groups: dict[_SideKey, list[_Pair]] = {}
    for pair in reversed(pairs):
        groups.setdefault(_find_root(heads, _side_key(pair, pair.left)), []).append(pair)
    return sorted(
        (group[::-1] for group in reversed(groups.values())),
        key=lambda g: min(_age_key(p.left.fact) for p in g),
    )


def _side_key(pair: _Pair, side: _Side) -> _SideKey:
    return pair.contradiction.kind, pair.contradiction.slot, side.fact.id, side.value


def _find_root(heads: dict[_SideKey, _SideKey], end: _SideKey) -> _SideKey:
    while heads[end] != end:
        heads[end] = heads[heads[end]]
        end = heads[end]
    return end


def _make_conflict(group: list[_Pair]) -> Conflict:
    sides = sorted(
        {side for pair in group for side in (pair.left, pair.right)},
        key=lambda s: (*_age_key(s.fact), s.value),
    )
    first, kind = sides[0].fact, group[0].contradiction.kind
    subject, attribute = _describe_topic(first, group)
    about = (
        topic_key(first)
        if any(topic_key(first))
        else (first.subject, " ".join(extract_features(first.statement).frame))
    )
    identity = "|".join([*about, kind, group[0].contradiction.slot])
    digest = hashlib.sha256(identity.casefold().encode()).hexdigest()[:12]
    values, step = _group_values(kind, sides), max(side.fact.step for side in sides)
    return Conflict(
        id=f"c{digest}", subject=subject, attribute=attribute, kind=kind, values=values, step=step
    )


def _describe_topic(first: Fact, group: list[_Pair]) -> tuple[str, str]:
    """What the conflict is about, in words: the facts' own subject and attribute, else the name and words
    they share."""
    pair = next(p for p in group if first is p.left.fact or first is p.right.fact)
    mine = extract_features(first.statement)
    other = extract_features((pair.right if pair.left.fact is first else pair.left).fact.statement)
    shared = mine.words & other.words
    named = [name.text for name in mine.names if name.words <= other.words]
    subject = first.subject if first.attribute or not named else named[0]
    taken = frozenset(word.casefold() for word in subject.split())
    return subject, first.attribute or " ".join(
        dict.fromkeys(w for w in mine.frame if w in shared and w not in taken)
    )


def _add_facts_of_same_values(asks: Conflict, others: list[Conflict], facts: _FactIndex) -> Conflict:
    """The conflict about the question with the facts of those that are about the same values."""
    for other in others:
        if _is_same_topic(other, asks):
            more = {
                value.text: [
                    i for theirs in other.values if _has_shared_facts(value, theirs) for i in theirs.fact_ids
                ]
                for value in asks.values
            }
            ids = {
                text: list(dict.fromkeys([*value.fact_ids, *more[text]]))
                for value in asks.values
                for text in [value.text]
            }
            values = [value.model_copy(update={"fact_ids": ids[value.text]}) for value in asks.values]
            asks = asks.model_copy(
                update={
                    "values": [
                        v.model_copy(
                            update={"sites": find_independent_sources(facts.by_id[i] for i in v.fact_ids)}
                        )
                        for v in values
                    ]
                }
            )
    return asks


def _close_merged(conflict: Conflict, answers: list[Conflict]) -> Conflict:
    """A conflict closed when it is told by the one about the question; not what a person settled."""
    if (
        conflict.asks
        or is_settled_by_person(conflict)
        or not any(_is_same_topic(conflict, asks) for asks in answers)
    ):
        return conflict
    return conflict.model_copy(
        update={"status": "settled", "chosen": "", "reason": MERGED_REASON, "settled_by": "evidence"}
    )


def _is_same_topic(other: Conflict, asks: Conflict) -> bool:
    """Do all facts of a conflict stand in the other, or two of its values have facts there?"""
    return _fact_ids(other) <= _fact_ids(asks) or (
        other.kind == asks.kind
        and sum(any(_has_shared_facts(m, v) for m in asks.values) for v in other.values) > 1
    )


def _has_shared_facts(a: ConflictSide, b: ConflictSide) -> bool:
    return not set(a.fact_ids).isdisjoint(b.fact_ids)


def _fact_ids(conflict: Conflict) -> set[str]:
    return {i for value in conflict.values for i in value.fact_ids}


def _find_answer_conflicts(facts: list[Fact], question: ParsedQuestion) -> list[Conflict]:
    """The different answers to the question as one conflict, of the kind most pairs are of, one for each
    page; [] when there are none."""
    found = list(find_rival_answers(facts, question))
    if not found:
        return []
    kind: ConflictKind = Counter(rival.contradiction.kind for rival in found).most_common(1)[0][0]
    said: Counter[_Side] = Counter()
    for rival in found:
        if rival.contradiction.kind == kind:
            said.update(
                [_Side(rival.left, rival.contradiction.left), _Side(rival.right, rival.contradiction.right)]
            )
    led = {side: side.value == extract_answer(side.fact.statement, question) for side in said}
    best: dict[str, _Side] = {}
    for side in sorted(
        said,
        key=lambda side: (
            not led[side],
            -round(side.fact.relevance, 1),
            -said[side],
            *_age_key(side.fact),
            side.value,
        ),
    ):
        best.setdefault(side.fact.url, side)
    told = [side for side in best.values() if led[side]]
    sides = told if kind in ("date", "number") and len(_group_values(kind, told)) > 1 else list(best.values())
    values = _group_values(kind, sorted(sides, key=lambda side: (-side.fact.relevance, *_age_key(side.fact))))
    if len(values) < 2:
        return []
    digest = hashlib.sha256(f"asked|{question.original}".casefold().encode()).hexdigest()[:12]
    return [
        Conflict(
            id=f"c{digest}",
            subject=question.subject,
            attribute=question.attribute,
            kind=kind,
            values=values,
            asks=True,
            step=max(side.fact.step for side in sides),
        )
    ]


def _add_restating_facts(conflict: Conflict, facts: _FactIndex) -> Conflict:
    """The conflict with the facts that state one of its values of the same subject and attribute in quite
    another form (a table row)."""
    subject, attribute = content_words(conflict.subject), content_words(conflict.attribute)
    if conflict.kind not in ("date", "number") or not subject or not attribute:
        return conflict
    inside = _fact_ids(conflict)
    added: dict[str, list[str]] = defaultdict(list)
    for fact in facts.find_with_words(subject):
        said = extract_features(fact.statement)
        if fact.id in inside or 2 * len(attribute & said.words) < len(attribute):
            continue
        stated = (
            [d.text for d in said.dates] if conflict.kind == "date" else [q.text for q in said.quantities]
        )
        held = [
            v.text
            for v in conflict.values
            if any(statements.is_same_value(conflict.kind, v.text, text) for text in stated)
        ]
        if len(held) == 1:
            added[held[0]].append(fact.id)
    values = [
        value.model_copy(update={"fact_ids": [*value.fact_ids, *added[value.text]]})
        for value in conflict.values
    ]
    voiced = [
        value.model_copy(update={"sites": find_independent_sources(facts.by_id[i] for i in value.fact_ids)})
        for value in values
    ]
    return conflict.model_copy(update={"values": voiced})


def _group_values(kind: statements.ConflictKind, sides: list[_Side]) -> list[ConflictSide]:
    piles: list[list[_Side]] = []
    for side in sides:
        pile = next((p for p in piles if statements.is_same_value(kind, p[0].value, side.value)), None)
        if pile is None:
            piles.append([side])
        else:
            pile.append(side)
    return [
        ConflictSide(
            text=p[0].value,
            fact_ids=list(dict.fromkeys(s.fact.id for s in p)),
            sites=find_independent_sources(s.fact for s in p),
        )
        for p in piles
    ]
