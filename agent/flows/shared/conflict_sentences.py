"""How an answer names conflicts: the open ones with every side in its own words, and what settled the others.
Code, not the writer."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agent.engine.run_state import RunState
from agent.evidence.contradiction.resolution import EVIDENCE_REASON_PREFIX, is_settled_by_person
from agent.flows.shared import fact_view
from agent.text.urls import site
from agent.types import Conflict, Fact, Sentence

CONFLICT_PREFIX = "The sources disagree on"
RULING_PREFIX = "A person settled this:"
"""How the sentences begin that name a conflict, and one that a person ruled on."""
MAX_CONFLICTS, MAX_RULINGS = 2, 5
"""Conflicts that an answer names in its text, and rulings of a person; the others stand in the conflicts tab
and the report."""
MAX_SIDES, WORDS_BEFORE, WORDS_AFTER = 5, 10, 6
"""Values of a conflict that an answer tells, and how many words before and after each of a long quote."""
_NUMBER_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()


def find_relevant_conflicts(
    state: RunState, sentences: Sequence[Sentence], facts: dict[str, Fact]
) -> list[Conflict]:
    """The conflicts that touch what is answered, open or settled by the count: about the question, or as
    relevant as what is cited."""
    least = min(_relevances(state, sentences), default=0.3)
    able = [
        c
        for c in state.conflicts.values()
        if (c.status == "open" or c.reason.startswith(EVIDENCE_REASON_PREFIX))
        and fact_view.count_stated_sides(c, facts) > 1
    ]
    found = [clash for clash in able if clash.asks or _conflict_relevance(clash, facts) >= least]
    return sorted(found, key=lambda clash: (clash.status != "open", not clash.asks))[:MAX_CONFLICTS]


def write_conflict_sentences(
    state: RunState, clashes: Sequence[Conflict], written: Sequence[Sentence], facts: dict[str, Fact]
) -> list[Sentence]:
    """The sentences that name these conflicts, where what is written does not cite both sides; what a person
    ruled comes first.

    Only what counts is named: a struck source is quoted no more."""
    facts = {name: fact for name, fact in facts.items() if fact.is_active}
    ruled = [
        clash
        for clash in state.conflicts.values()
        if is_settled_by_person(clash) and clash.ruling and _is_ruling_supported(clash, facts)
    ]
    return [_ruling_sentence(clash, facts) for clash in ruled[-MAX_RULINGS:]] + [
        _conflict_sentence(clash, facts) for clash in clashes if not _is_cited_already(clash, written)
    ]


def needs_conflicts_first(
    state: RunState, clashes: Sequence[Conflict], stated: Sequence[Sentence], facts: dict[str, Fact]
) -> bool:
    """Do they come before the plain sentences: when one is about the question, was ruled on, or bears more on
    it than those do?"""
    ruled = any(is_settled_by_person(clash) and clash.ruling for clash in state.conflicts.values())
    at_issue = max((_conflict_relevance(clash, facts) for clash in clashes), default=-1.0) > max(
        _relevances(state, stated), default=0.0
    )
    return ruled or at_issue or any(clash.asks for clash in clashes)


def is_conflict_sentence(text: str) -> bool:
    """Is it one of the sentences that code writes about conflicts?"""
    return text.startswith((CONFLICT_PREFIX, RULING_PREFIX))


def _is_cited_already(clash: Conflict, sentences: Sequence[Sentence]) -> bool:
    """Does what is written cite both sides?"""
    cited = {i for sentence in sentences for i in sentence.fact_ids}
    return sum(bool(cited.intersection(value.fact_ids)) for value in clash.values) > 1


def _is_ruling_supported(clash: Conflict, facts: dict[str, Fact]) -> bool:
    """Is there still something to tell of a ruling: the value that was taken, or else two sides that it
    speaks of?"""
    taken = [value for value in clash.values if clash.chosen and value.text == clash.chosen]
    return (
        any(i in facts for value in taken for i in value.fact_ids)
        if taken
        else fact_view.count_stated_sides(clash, facts) > 1
    )


def _relevances(state: RunState, sentences: Sequence[Sentence]) -> list[float]:
    return [state.facts[i].relevance for sentence in sentences for i in sentence.fact_ids if i in state.facts]


def _conflict_relevance(clash: Conflict, facts: dict[str, Fact]) -> float:
    """The relevance of its most relevant fact; below any when it has none (a model's word alone can't be
    named in an answer)."""
    return max(
        (facts[i].relevance for value in clash.values for i in value.fact_ids if i in facts), default=-1.0
    )


def _conflict_sentence(clash: Conflict, facts: dict[str, Fact]) -> Sentence:
    """One sentence that names the sides in their own words, with every site that stands on each, and what the
    count says."""
    said, ids = _quote_sides(clash, facts)
    counted = [len(value.sites) for value in clash.values if value.text == clash.chosen]
    rest = max((len(value.sites) for value in clash.values if value.text != clash.chosen), default=0)
    many = (
        f"{_spell_number(counted[0])} independent {'site' if counted[0] == 1 else 'sites'}" if counted else ""
    )
    taken = f"; “{clash.chosen}” is taken, by {many} against {_spell_number(rest)}" if many else ""
    return Sentence(text=f"{CONFLICT_PREFIX} {clash.topic}: {said}{taken}.", fact_ids=ids)


def _ruling_sentence(clash: Conflict, facts: dict[str, Fact]) -> Sentence:
    """One sentence that tells what a person ruled, why, and what the sources say."""
    said, ids = _quote_sides(clash, facts)
    ruled = (
        f"“{clash.chosen}”"
        if clash.chosen
        else "neither is correct"
        if clash.ruling == "neither"
        else "both hold"
    )
    why = f", because “{clash.reason}”" if clash.reason else ""
    return Sentence(text=f"{RULING_PREFIX} {clash.topic}: {ruled}{why} ({said}).", fact_ids=ids)


def _quote_sides(clash: Conflict, facts: dict[str, Fact]) -> tuple[str, list[str]]:
    sides: list[str] = []
    ids: list[str] = []
    values = sorted(clash.values, key=lambda value: value.text != clash.chosen)
    for value in values[:MAX_SIDES]:
        known = [facts[i] for i in value.fact_ids if i in facts]
        if known:
            ids += [fact.id for fact in known[:3]]
            sites = list(dict.fromkeys(site(fact.url) or "one source" for fact in known))[:3]
            sides.append(
                f"{' and '.join(sites)} {'says' if len(sites) == 1 else 'say'} “{_shorten_quote(value.text, known[0].quote)}”"
            )
    more = f"; and {_spell_number(len(values) - MAX_SIDES)} more" if len(values) > MAX_SIDES else ""
    return f"{'; '.join(sides)}{more}", ids


def _spell_number(n: int) -> str:
    """In words: a figure in digits would have to stand in a source."""
    return _NUMBER_WORDS[n] if n < len(_NUMBER_WORDS) else "many"


def _shorten_quote(value: str, quote: str) -> str:
    """The words of a quote, of a long one those around a value."""
    quote = quote.rstrip(". ")
    places = [place.start() for place in re.finditer(re.escape(value), quote)]
    at = next(
        (place for place in places if quote.count("(", 0, place) <= quote.count(")", 0, place)),
        places[-1] if places else -1,
    )
    before, after = quote[:at].split(), quote[at + len(value) :].split()
    if at < 0 or len(before) + len(after) <= WORDS_BEFORE + WORDS_AFTER:
        return quote
    head, tail = (
        quote[:at].split(" ")[-WORDS_BEFORE - 1 :],
        quote[at + len(value) :].split(" ")[: WORDS_AFTER + 1],
    )
    return f"{'…' if len(before) > WORDS_BEFORE else ''}{' '.join(head)}{value}{' '.join(tail)}{'…' if len(after) > WORDS_AFTER else ''}"
