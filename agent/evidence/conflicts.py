"""Which facts cannot all be true: groups of contradicting values with who says which, and what a settlement changes.

Identity: a conflict's id is a hash of subject, attribute, kind and unit of its earliest fact, so finding it again after more
reading gives the same id, and a settlement known for it is kept.
Voices: one registrable domain is one voice, so is one document; copies of a text and near-identical quotes are one voice however
many sites carry them.
Settled by evidence: when one value has at least `LEAD` more independent voices than every other; by a person: when one value has
a pinned fact, or the known conflict was settled before. A person's word always stands above the count.
Knows nothing of pages or steps; how two statements contradict each other is in compare.py.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rapidfuzz import fuzz

from agent import urls
from agent.evidence import compare
from agent.evidence.compare import Clash
from agent.evidence.values import Values, core, read
from agent.types import Conflict, Fact, Value

LEAD = 2
"""How many independent voices more than any other a value needs to be settled by evidence alone."""
COPY = 95.0
"""Quotes this alike (rapidfuzz `fuzz.ratio`, 0 to 100) and at least COPY_LENGTH characters long are copies of one text."""
COPY_LENGTH = 60
OPENING = 12
"""A name that begins within this many characters is what a sentence is about."""

_CELLS = re.compile(r"\s[|·]\s|^[^.;:]{1,40}: [^;]*;\s")
_ASIDE = re.compile(r"\([^)]*\)")


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


def find(facts: Iterable[Fact], known: Iterable[Conflict] = ()) -> list[Conflict]:
    """The conflicts among facts that may count (verified or pinned, not struck), in the order of their earliest facts.

    `known` conflicts keep their settlement, step and finder when found again; those found by a model are kept as they are.
    """
    counted = sorted((f for f in facts if f.decision != "struck" and (f.verified or f.decision == "pinned")), key=_age)
    before = {conflict.id: conflict for conflict in known}
    found = [_kept(_joined(_conflict(group), counted), before, counted) for group in _groups(list(_pairs(counted)))]
    unique = {conflict.id: conflict for conflict in found}
    told = [conflict for conflict in before.values() if conflict.found_by == "model" and conflict.id not in unique]
    return [*unique.values(), *told]


def dispute(facts: Iterable[Fact], conflicts: Iterable[Conflict]) -> list[Fact]:
    """The facts whose `disputed` mark must change, with the new mark.

    Disputed: every fact of an open conflict, and the overruled ones of a settled conflict. A conflict settled without a chosen
    value (both hold) disputes nothing.
    """
    wanted: set[str] = set()
    for conflict in conflicts:
        for value in conflict.values:
            if conflict.status == "open" or (conflict.chosen and value.text != conflict.chosen):
                wanted.update(value.fact_ids)
    return [f.model_copy(update={"disputed": f.id in wanted}) for f in facts if f.disputed != (f.id in wanted)]


def voices(facts: Iterable[Fact]) -> list[str]:
    """The independent voices behind facts, one name each: its site (a document's name), or "a person" for what a person said.

    Sites that carry copies of one text or one quote are one voice. Only quotes that begin or end alike, or share their longest words,
    are compared, so that the work grows with the number of facts and not with its square.
    """
    heads: dict[str, str] = {}
    texts: dict[str, str] = {}
    alike: dict[str, dict[str, str]] = defaultdict(dict)
    for fact in facts:
        name = urls.site(fact.url) or "a person"
        heads.setdefault(name, name)
        if fact.sha256:
            heads[_head(heads, name)] = _head(heads, texts.setdefault(fact.sha256, name))
        for key in _marks(fact.quote):
            for other, quote in alike[key].items():
                if _head(heads, other) != _head(heads, name) and _copies(fact.quote, quote):
                    heads[_head(heads, name)] = _head(heads, other)
            alike[key].setdefault(name, fact.quote)
    voices: dict[str, str] = {}
    for name in sorted(heads):
        voices.setdefault(_head(heads, name), name)
    return sorted(voices.values())


def _head(heads: dict[str, str], name: str) -> str:
    while heads[name] != name:
        name = heads[name]
    return name


def _marks(quote: str) -> list[str]:
    """What near-identical long quotes share at least one of: the first words, the last words, the longest words."""
    words = quote.casefold().split()
    if len(quote) < COPY_LENGTH:
        return []
    longest = sorted(sorted(set(words)), key=len)[-4:]
    return ["first " + " ".join(words[:5]), "last " + " ".join(words[-5:]), "longest " + " ".join(longest)]


def _copies(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= COPY_LENGTH and fuzz.ratio(a, b, score_cutoff=COPY) > 0


def _age(fact: Fact) -> tuple[int, str]:
    return fact.step, fact.id


def _pairs(facts: list[Fact]) -> Iterator[_Pair]:
    """Every contradiction between two facts, the older first. Facts of one page are its own account and are not compared."""
    said = [read(fact.statement) for fact in facts]
    for i, j in _comparable(facts, said):
        a, b = facts[i], facts[j]
        if (a.url and a.url == b.url) or a.statement == b.statement:
            continue
        strict, keyed = bool(a.url) and urls.site(a.url) == urls.site(b.url), _key(a) == _key(b) != ("", "")
        clash = _clash(a, b, keyed=keyed, strict=strict) if keyed or _same_topic(a, b) else None
        if clash:
            yield _Pair(_Side(a, clash.left), _Side(b, clash.right), clash)


def _clash(a: Fact, b: Fact, *, keyed: bool, strict: bool) -> Clash | None:
    """Between the whole statements, else between the opening clauses of two sites; rows and bylines need a given attribute."""
    if not keyed and any(_CELLS.search(fact.statement) for fact in (a, b)):
        return None
    left, right = read(a.statement), read(b.statement)
    found = compare.clash(left, right, keyed=keyed, strict=strict)
    if found or strict or compare.series(left, right):
        return found
    return compare.clash(read(core(a.statement)), read(core(b.statement)), keyed=keyed, strict=strict)


def _same_topic(a: Fact, b: Fact) -> bool:
    """May two facts be about one thing? What one is about must be what the other is about or names. Unknown passes.

    What a sentence is about is the name it opens with, its given subject, or its page's title ("The film was released on ...").
    """
    left, right = _about(a), _about(b)
    if not left or not right:
        return True
    return bool(left & (right | _names(b)) or right & (left | _names(a)))


def _about(fact: Fact) -> frozenset[str]:
    opening = next((name for name in read(fact.statement).names if name.start <= OPENING), None)
    return _content(f"{_ASIDE.sub(' ', fact.title)} {fact.subject}").union(opening.words if opening else ())


def _names(fact: Fact) -> frozenset[str]:
    return frozenset(word for name in read(fact.statement).names for word in name.words)


def _content(text: str) -> frozenset[str]:
    return read(text).words


def _comparable(facts: list[Fact], said: list[Values]) -> Iterator[tuple[int, int]]:
    """Pairs that share a subject and attribute, or enough words for alike frames: found over an index, not by trying all."""
    holders: dict[str, list[int]] = defaultdict(list)
    keyed: dict[tuple[str, str], list[int]] = defaultdict(list)
    for j, fact in enumerate(facts):
        shared: dict[int, int] = defaultdict(int)
        for word in said[j].words:
            for i in holders[word]:
                shared[i] += 1
            holders[word].append(j)
        size = len(said[j].words)
        near = {i for i, n in shared.items() if n >= compare.SHARED and n >= compare.LEAST * min(size, len(said[i].words))}
        key = _key(fact)
        same = keyed[key] if key != ("", "") else []
        yield from ((i, j) for i in sorted(near.union(same)))
        keyed[key].append(j)


def _key(fact: Fact) -> tuple[str, str]:
    subject, attribute = " ".join(fact.subject.casefold().split()), " ".join(fact.attribute.casefold().split())
    return (subject, attribute) if subject and attribute else ("", "")


def _groups(pairs: list[_Pair]) -> list[list[_Pair]]:
    """Pairs that hang together: the same kind and slot, and a side in common."""
    groups: list[list[_Pair]] = []
    for pair in pairs:
        sides = {pair.left, pair.right}
        slot = (pair.clash.kind, pair.clash.slot)
        joined = [g for g in groups if (g[0].clash.kind, g[0].clash.slot) == slot and any(sides & {p.left, p.right} for p in g)]
        groups = [g for g in groups if g not in joined] + [[p for g in joined for p in g] + [pair]]
    return sorted(groups, key=lambda g: min(_age(p.left.fact) for p in g))


def _conflict(group: list[_Pair]) -> Conflict:
    sides = sorted({side for pair in group for side in (pair.left, pair.right)}, key=lambda s: (*_age(s.fact), s.value))
    first, kind = sides[0].fact, group[0].clash.kind
    subject, attribute = _topic(first, group)
    about = _key(first) if any(_key(first)) else (first.subject, " ".join(read(first.statement).frame))
    identity = "|".join([*about, kind, group[0].clash.slot])
    digest = hashlib.sha256(identity.casefold().encode()).hexdigest()[:12]
    values, step = _values(kind, sides), max(side.fact.step for side in sides)
    return Conflict(id=f"c{digest}", subject=subject, attribute=attribute, kind=kind, values=values, step=step)


def _topic(first: Fact, group: list[_Pair]) -> tuple[str, str]:
    """What the conflict is about, in words: the facts' own subject and attribute, else the name and words they share."""
    pair = next(p for p in group if first in (p.left.fact, p.right.fact))
    mine = read(first.statement)
    other = read((pair.right if pair.left.fact is first else pair.left).fact.statement)
    shared = mine.words & other.words
    named = [name.text for name in mine.names if name.words <= other.words]
    subject = first.subject if first.attribute or not named else named[0]
    taken = frozenset(word.casefold() for word in subject.split())
    return subject, first.attribute or " ".join(dict.fromkeys(w for w in mine.frame if w in shared and w not in taken))


def _joined(conflict: Conflict, facts: list[Fact]) -> Conflict:
    """The conflict with the facts that state one of its values of the same subject and attribute in quite another form (a table row)."""
    subject, attribute = _content(conflict.subject), _content(conflict.attribute)
    if conflict.kind not in ("date", "number") or not subject or not attribute:
        return conflict
    inside = {i for value in conflict.values for i in value.fact_ids}
    by_id = {fact.id: fact for fact in facts}
    added: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        said = read(fact.statement)
        if fact.id in inside or not subject <= said.words or 2 * len(attribute & said.words) < len(attribute):
            continue
        stated = [d.text for d in said.dates] if conflict.kind == "date" else [q.text for q in said.quantities]
        held = [v.text for v in conflict.values if any(compare.same_value(conflict.kind, v.text, text) for text in stated)]
        if len(held) == 1:
            added[held[0]].append(fact.id)
    values = [value.model_copy(update={"fact_ids": [*value.fact_ids, *added[value.text]]}) for value in conflict.values]
    voiced = [value.model_copy(update={"sites": voices(by_id[i] for i in value.fact_ids)}) for value in values]
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


def _kept(conflict: Conflict, before: dict[str, Conflict], facts: list[Fact]) -> Conflict:
    old = before.get(conflict.id)
    if old is not None:
        conflict = conflict.model_copy(update={"step": old.step, "found_by": old.found_by})
        if old.status == "settled" and not old.reason.startswith(_BY_EVIDENCE) and _still(old.chosen, conflict):
            return conflict.model_copy(update={"status": "settled", "chosen": old.chosen, "reason": old.reason})
    return _settled(conflict, {f.id for f in facts if f.decision == "pinned"})


PINNED = "a person pinned this value"
"""Why a conflict is settled as long as the pin stands."""
FELL = "its facts do not stand any more"
"""Why a conflict is closed that was not found again."""
_BY_EVIDENCE = "settled by evidence: "


def _still(chosen: str, conflict: Conflict) -> bool:
    return not chosen or any(value.text == chosen for value in conflict.values)


def _settled(conflict: Conflict, pinned: set[str]) -> Conflict:
    kept = [value for value in conflict.values if pinned.intersection(value.fact_ids)]
    if len(kept) == 1:
        return conflict.model_copy(update={"status": "settled", "chosen": kept[0].text, "reason": PINNED})
    ranked = sorted(conflict.values, key=lambda value: -len(value.sites))
    most, next_most = len(ranked[0].sites), len(ranked[1].sites)
    if most - next_most < LEAD:
        return conflict
    reason = f"{_BY_EVIDENCE}{most} independent sites against {next_most}"
    return conflict.model_copy(update={"status": "settled", "chosen": ranked[0].text, "reason": reason})
