"""How an answer names conflicts: the open ones with every side in its own words, and what settled the others. Code, not the writer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.evidence.settlement import BY_EVIDENCE, by_person
from agent.flows import moves
from agent.flows.state import Research
from agent.types import Conflict, Fact, Sentence
from agent.urls import site

DISAGREE = "The sources disagree on"
SETTLED = "A person settled this:"
"""How the sentences begin that name a conflict, and one that a person ruled on."""
NAMED, RULED = 2, 5
"""Conflicts that an answer names in its text, and rulings of a person; the others stand in the conflicts tab and the report."""
SIDES, BEFORE, AFTER = 5, 10, 6
"""Values of a conflict that an answer tells, and how many words before and after each of a long quote."""
_NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()


def relevant(state: Research, sentences: Sequence[Sentence], facts: dict[str, Fact]) -> list[Conflict]:
    """The conflicts that touch what is answered, open or settled by the count: about the question, or as relevant as what is cited."""
    least = min(_relevances(state, sentences), default=0.3)
    able = [c for c in state.conflicts.values() if (c.status == "open" or c.reason.startswith(BY_EVIDENCE)) and moves.sides(c, facts) > 1]
    found = [clash for clash in able if clash.asks or _bearing(clash, facts) >= least]
    return sorted(found, key=lambda clash: (clash.status != "open", not clash.asks))[:NAMED]


def told(state: Research, clashes: Sequence[Conflict], written: Sequence[Sentence], facts: dict[str, Fact]) -> list[Sentence]:
    """The sentences that name these conflicts, where what is written does not cite both sides; what a person ruled comes first.

    Only what counts is named: a struck source is quoted no more.
    """
    facts = {name: fact for name, fact in facts.items() if fact.counts}
    ruled = [clash for clash in state.conflicts.values() if by_person(clash) and clash.ruling and _rests(clash, facts)]
    return [_ruling(clash, facts) for clash in ruled[-RULED:]] + [_sides(clash, facts) for clash in clashes if not _named_already(clash, written)]


def first(state: Research, clashes: Sequence[Conflict], stated: Sequence[Sentence], facts: dict[str, Fact]) -> bool:
    """Do they come before the plain sentences: when one is about the question, was ruled on, or bears more on it than those do?"""
    ruled = any(by_person(clash) and clash.ruling for clash in state.conflicts.values())
    at_issue = max((_bearing(clash, facts) for clash in clashes), default=-1.0) > max(_relevances(state, stated), default=0.0)
    return ruled or at_issue or any(clash.asks for clash in clashes)


def names_a_conflict(text: str) -> bool:
    """Is it one of the sentences that code writes about conflicts?"""
    return text.startswith((DISAGREE, SETTLED))


def _named_already(clash: Conflict, sentences: Sequence[Sentence]) -> bool:
    """Does what is written cite both sides?"""
    cited = {i for sentence in sentences for i in sentence.fact_ids}
    return sum(bool(cited.intersection(value.fact_ids)) for value in clash.values) > 1


def _rests(clash: Conflict, facts: dict[str, Fact]) -> bool:
    """Is there still something to tell of a ruling: the value that was taken, or else two sides that it speaks of?"""
    taken = [value for value in clash.values if clash.chosen and value.text == clash.chosen]
    return any(i in facts for value in taken for i in value.fact_ids) if taken else moves.sides(clash, facts) > 1


def _relevances(state: Research, sentences: Sequence[Sentence]) -> list[float]:
    return [state.facts[i].relevance for sentence in sentences for i in sentence.fact_ids if i in state.facts]


def _bearing(clash: Conflict, facts: dict[str, Fact]) -> float:
    """The relevance of its most relevant fact; below any when it has none (a model's word alone can't be named in an answer)."""
    return max((facts[i].relevance for value in clash.values for i in value.fact_ids if i in facts), default=-1.0)


def _sides(clash: Conflict, facts: dict[str, Fact]) -> Sentence:
    """One sentence that names the sides in their own words, with every site that stands on each, and what the count says."""
    said, ids = _said(clash, facts)
    counted = [len(value.sites) for value in clash.values if value.text == clash.chosen]
    rest = max((len(value.sites) for value in clash.values if value.text != clash.chosen), default=0)
    many = f"{_number(counted[0])} independent {'site' if counted[0] == 1 else 'sites'}" if counted else ""
    taken = f"; “{clash.chosen}” is taken, by {many} against {_number(rest)}" if many else ""
    return Sentence(text=f"{DISAGREE} {clash.about}: {said}{taken}.", fact_ids=ids)


def _ruling(clash: Conflict, facts: dict[str, Fact]) -> Sentence:
    """One sentence that tells what a person ruled, why, and what the sources say."""
    said, ids = _said(clash, facts)
    ruled = f"“{clash.chosen}”" if clash.chosen else "neither holds" if clash.ruling == "neither" else "both hold"
    why = f", because “{clash.reason}”" if clash.reason else ""
    return Sentence(text=f"{SETTLED} {clash.about}: {ruled}{why} ({said}).", fact_ids=ids)


def _said(clash: Conflict, facts: dict[str, Fact]) -> tuple[str, list[str]]:
    sides: list[str] = []
    ids: list[str] = []
    values = sorted(clash.values, key=lambda value: value.text != clash.chosen)
    for value in values[:SIDES]:
        known = [facts[i] for i in value.fact_ids if i in facts]
        if known:
            ids += [fact.id for fact in known[:3]]
            sites = list(dict.fromkeys(site(fact.url) or "one source" for fact in known))[:3]
            sides.append(f"{' and '.join(sites)} {'says' if len(sites) == 1 else 'say'} “{_around(value.text, known[0].quote)}”")
    more = f"; and {_number(len(values) - SIDES)} more" if len(values) > SIDES else ""
    return f"{'; '.join(sides)}{more}", ids


def _number(n: int) -> str:
    """In words: a figure in digits would have to stand in a source."""
    return _NUMBERS[n] if n < len(_NUMBERS) else "many"


def _around(value: str, quote: str) -> str:
    """The words of a quote, of a long one those around a value."""
    quote = quote.rstrip(". ")
    places = [place.start() for place in re.finditer(re.escape(value), quote)]
    at = next((place for place in places if quote.count("(", 0, place) <= quote.count(")", 0, place)), places[-1] if places else -1)
    before, after = quote[:at].split(), quote[at + len(value) :].split()
    if at < 0 or len(before) + len(after) <= BEFORE + AFTER:
        return quote
    head, tail = quote[:at].split(" ")[-BEFORE - 1 :], quote[at + len(value) :].split(" ")[: AFTER + 1]
    return f"{'…' if len(before) > BEFORE else ''}{' '.join(head)}{value}{' '.join(tail)}{'…' if len(after) > AFTER else ''}"
