"""Which facts cannot all be true: groups of contradicting values with who says which, and what a settlement changes.

Identity: a conflict's id is a hash of subject, attribute, kind and unit of its earliest fact, so finding it again after more
reading gives the same id, and a settlement known for it is kept.
How a conflict found again stands is in settlement.py, which facts are compared in pairing.py, how two statements contradict each other
in compare.py, how sources answer the question differently in rivals.py,
how many independent voices say a thing in voices.py. Knows nothing of pages or steps.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from agent import urls
from agent.evidence import compare
from agent.evidence.compare import Clash, Kind
from agent.evidence.pairing import Scope, content, key, pairs
from agent.evidence.rivals import rivals
from agent.evidence.settlement import MERGED, by_person, kept
from agent.evidence.slots import Asked, answer
from agent.evidence.values import core, read
from agent.evidence.voices import voices
from agent.types import Conflict, Fact, Value

_CELLS = re.compile(r"\s[|·]\s|^[^.;:]{1,40}: [^;]*;\s")

_End = tuple[str, str, str, str]
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
    clash: Clash


class _Facts(list[Fact]):
    """The facts that count, the oldest first: those that are looked at by their words, all by their ids."""

    def __init__(self, facts: Iterable[Fact], scope: Scope | None) -> None:
        every = sorted((fact for fact in facts if fact.counts), key=_age)
        super().__init__(fact for fact in every if scope is None or fact.id in scope.near or fact.id in scope.fresh)
        self.by_id = {fact.id: fact for fact in every}
        self.paired = every if scope and any(fact.id in scope.fresh for fact in self) else list(self)
        self._holders: dict[str, list[Fact]] = defaultdict(list)
        for fact in self:
            for word in read(fact.statement).words:
                self._holders[word].append(fact)

    def holding(self, words: frozenset[str]) -> Iterator[Fact]:
        """The facts that hold all of these words (some)."""
        rarest = min((self._holders.get(word, []) for word in words), key=len)
        return (fact for fact in rarest if words <= read(fact.statement).words)


def find(
    facts: Iterable[Fact], known: Iterable[Conflict] = (), question: Asked | None = None, scope: Scope | None = None
) -> list[Conflict]:
    """The conflicts among facts that may count (verified or pinned, not struck), in the order of their earliest facts.

    With a `question`, the different answers to it that sources give come first, as one conflict, in the place of those whose facts
    all stand in it. `known` conflicts keep their settlement, step and finder when found again; those found by a model are kept as they are.
    Which pairs are compared is bounded (see pairing); a `scope` narrows them to what may have changed.
    """
    counted = _Facts(facts, scope)
    before = {conflict.id: conflict for conflict in known}
    pinned = [fact for fact in counted if fact.decision == "pinned"]
    others = [_joined(_conflict(group), counted) for group in _groups(list(_pairs(counted.paired, scope)))]
    answers = [_joined(_with(conflict, others, counted), counted) for conflict in (_answers(counted, question) if question else [])]
    unique = {conflict.id: conflict for conflict in (kept(conflict, before, pinned) for conflict in [*answers, *others])}
    unique = {name: _merged(conflict, answers) for name, conflict in unique.items()}
    unique = {name: conflict for name, conflict in unique.items() if conflict.reason != MERGED or name in before}
    told = [conflict for conflict in before.values() if conflict.found_by == "model" and conflict.id not in unique]
    return [*unique.values(), *told]


def dispute(facts: Iterable[Fact], conflicts: Iterable[Conflict]) -> list[Fact]:
    """The facts whose `disputed` mark must change, with the new mark.

    Disputed: every fact of an open conflict, and the overruled ones of a settled conflict (all, when neither value holds). A conflict
    settled without a chosen value (both hold) disputes nothing.
    """
    wanted: set[str] = set()
    for conflict in conflicts:
        for value in conflict.values:
            overruled = conflict.ruling == "neither" or (conflict.chosen and value.text != conflict.chosen)
            if conflict.status == "open" or overruled:
                wanted.update(value.fact_ids)
    return [f.model_copy(update={"disputed": f.id in wanted}) for f in facts if f.disputed != (f.id in wanted)]


def _age(fact: Fact) -> tuple[int, str]:
    return fact.step, fact.id


def _pairs(facts: list[Fact], scope: Scope | None) -> Iterator[_Pair]:
    """Every contradiction between two facts, the older first. Facts of one page are its own account and are not compared."""
    for i, j in pairs(facts, scope):
        a, b = facts[i], facts[j]
        if (a.url and a.url == b.url) or a.statement == b.statement:
            continue
        strict, keyed = bool(a.url) and urls.site(a.url) == urls.site(b.url), key(a) == key(b) != ("", "")
        clash = _clash(a, b, keyed=keyed, strict=strict)
        if clash:
            yield _Pair(_Side(a, clash.left), _Side(b, clash.right), clash)


def _clash(a: Fact, b: Fact, *, keyed: bool, strict: bool) -> Clash | None:
    """Between the whole statements, else between the opening clauses of two sites; rows and bylines need a given attribute."""
    if not keyed and (_cells(a.statement) or _cells(b.statement)):
        return None
    left, right = read(a.statement), read(b.statement)
    found = compare.clash(left, right, keyed=keyed, strict=strict)
    if found or strict or compare.series(left, right):
        return found
    mine, theirs = core(a.statement), core(b.statement)
    if (mine, theirs) == (a.statement, b.statement):
        return None
    return compare.clash(read(mine), read(theirs), keyed=keyed, strict=strict)


@lru_cache(maxsize=8192)
def _cells(statement: str) -> bool:
    return bool(_CELLS.search(statement))


def _groups(pairs: list[_Pair]) -> list[list[_Pair]]:
    """Pairs that hang together: the same kind and slot, and a side in common. Every pair is looked at once."""
    heads: dict[_End, _End] = {}
    for pair in pairs:
        left, right = (heads.setdefault(end, end) for end in (_end(pair, pair.left), _end(pair, pair.right)))
        heads[_top(heads, left)] = _top(heads, right)
    groups: dict[_End, list[_Pair]] = {}
    for pair in reversed(pairs):
        groups.setdefault(_top(heads, _end(pair, pair.left)), []).append(pair)
    return sorted((group[::-1] for group in reversed(groups.values())), key=lambda g: min(_age(p.left.fact) for p in g))


def _end(pair: _Pair, side: _Side) -> _End:
    return pair.clash.kind, pair.clash.slot, side.fact.id, side.value


def _top(heads: dict[_End, _End], end: _End) -> _End:
    while heads[end] != end:
        heads[end] = heads[heads[end]]
        end = heads[end]
    return end


def _conflict(group: list[_Pair]) -> Conflict:
    sides = sorted({side for pair in group for side in (pair.left, pair.right)}, key=lambda s: (*_age(s.fact), s.value))
    first, kind = sides[0].fact, group[0].clash.kind
    subject, attribute = _topic(first, group)
    about = key(first) if any(key(first)) else (first.subject, " ".join(read(first.statement).frame))
    identity = "|".join([*about, kind, group[0].clash.slot])
    digest = hashlib.sha256(identity.casefold().encode()).hexdigest()[:12]
    values, step = _values(kind, sides), max(side.fact.step for side in sides)
    return Conflict(id=f"c{digest}", subject=subject, attribute=attribute, kind=kind, values=values, step=step)


def _topic(first: Fact, group: list[_Pair]) -> tuple[str, str]:
    """What the conflict is about, in words: the facts' own subject and attribute, else the name and words they share."""
    pair = next(p for p in group if first is p.left.fact or first is p.right.fact)
    mine = read(first.statement)
    other = read((pair.right if pair.left.fact is first else pair.left).fact.statement)
    shared = mine.words & other.words
    named = [name.text for name in mine.names if name.words <= other.words]
    subject = first.subject if first.attribute or not named else named[0]
    taken = frozenset(word.casefold() for word in subject.split())
    return subject, first.attribute or " ".join(dict.fromkeys(w for w in mine.frame if w in shared and w not in taken))


def _with(asks: Conflict, others: list[Conflict], facts: _Facts) -> Conflict:
    """The conflict about the question with the facts of those that are about the same values."""
    for other in others:
        if _about_the_same(other, asks):
            more = {value.text: [i for theirs in other.values if _shared(value, theirs) for i in theirs.fact_ids] for value in asks.values}
            ids = {text: list(dict.fromkeys([*value.fact_ids, *more[text]])) for value in asks.values for text in [value.text]}
            values = [value.model_copy(update={"fact_ids": ids[value.text]}) for value in asks.values]
            asks = asks.model_copy(update={"values": [v.model_copy(update={"sites": voices(facts.by_id[i] for i in v.fact_ids)}) for v in values]})
    return asks


def _merged(conflict: Conflict, answers: list[Conflict]) -> Conflict:
    """A conflict closed when it is told by the one about the question; not what a person settled."""
    if conflict.asks or by_person(conflict) or not any(_about_the_same(conflict, asks) for asks in answers):
        return conflict
    return conflict.model_copy(update={"status": "settled", "chosen": "", "reason": MERGED, "settled_by": "evidence"})


def _about_the_same(other: Conflict, asks: Conflict) -> bool:
    """Do all facts of a conflict stand in the other, or two of its values have facts there?"""
    return _ids(other) <= _ids(asks) or (other.kind == asks.kind and sum(any(_shared(m, v) for m in asks.values) for v in other.values) > 1)


def _shared(a: Value, b: Value) -> bool:
    return not set(a.fact_ids).isdisjoint(b.fact_ids)


def _ids(conflict: Conflict) -> set[str]:
    return {i for value in conflict.values for i in value.fact_ids}


def _answers(facts: list[Fact], question: Asked) -> list[Conflict]:
    """The different answers to the question as one conflict, of the kind most pairs are of, one for each page; [] when there are none."""
    found = list(rivals(facts, question))
    if not found:
        return []
    kind: Kind = Counter(rival.clash.kind for rival in found).most_common(1)[0][0]
    said: Counter[_Side] = Counter()
    for rival in found:
        if rival.clash.kind == kind:
            said.update([_Side(rival.left, rival.clash.left), _Side(rival.right, rival.clash.right)])
    led = {side: side.value == answer(side.fact.statement, question) for side in said}
    best: dict[str, _Side] = {}
    for side in sorted(said, key=lambda side: (not led[side], -round(side.fact.relevance, 1), -said[side], *_age(side.fact), side.value)):
        best.setdefault(side.fact.url, side)
    told = [side for side in best.values() if led[side]]
    sides = told if kind in ("date", "number") and len(_values(kind, told)) > 1 else list(best.values())
    values = _values(kind, sorted(sides, key=lambda side: (-side.fact.relevance, *_age(side.fact))))
    if len(values) < 2:
        return []
    digest = hashlib.sha256(f"asked|{question.text}".casefold().encode()).hexdigest()[:12]
    return [
        Conflict(
            id=f"c{digest}", subject=question.subject, attribute=question.attribute, kind=kind, values=values, asks=True,
            step=max(side.fact.step for side in sides),
        )
    ]  # fmt: skip


def _joined(conflict: Conflict, facts: _Facts) -> Conflict:
    """The conflict with the facts that state one of its values of the same subject and attribute in quite another form (a table row)."""
    subject, attribute = content(conflict.subject), content(conflict.attribute)
    if conflict.kind not in ("date", "number") or not subject or not attribute:
        return conflict
    inside = _ids(conflict)
    added: dict[str, list[str]] = defaultdict(list)
    for fact in facts.holding(subject):
        said = read(fact.statement)
        if fact.id in inside or 2 * len(attribute & said.words) < len(attribute):
            continue
        stated = [d.text for d in said.dates] if conflict.kind == "date" else [q.text for q in said.quantities]
        held = [v.text for v in conflict.values if any(compare.same_value(conflict.kind, v.text, text) for text in stated)]
        if len(held) == 1:
            added[held[0]].append(fact.id)
    values = [value.model_copy(update={"fact_ids": [*value.fact_ids, *added[value.text]]}) for value in conflict.values]
    voiced = [value.model_copy(update={"sites": voices(facts.by_id[i] for i in value.fact_ids)}) for value in values]
    return conflict.model_copy(update={"values": voiced})


def _values(kind: compare.Kind, sides: list[_Side]) -> list[Value]:
    piles: list[list[_Side]] = []
    for side in sides:
        pile = next((p for p in piles if compare.same_value(kind, p[0].value, side.value)), None)
        if pile is None:
            piles.append([side])
        else:
            pile.append(side)
    return [
        Value(text=p[0].value, fact_ids=list(dict.fromkeys(s.fact.id for s in p)), sites=voices(s.fact for s in p)) for p in piles
    ]
