"""Which facts are compared, and that the work does not grow with the run: pairs are counted, not seconds."""

from __future__ import annotations

import pytest

from agent.evidence.conflicts import ConflictIndex, find_conflicts
from agent.types import Fact


def said(n: int, statement: str, **more: object) -> Fact:
    given = {
        "id": f"f{n}",
        "statement": statement,
        "quote": statement,
        "url": f"https://s{n}.example/",
        "verified": True,
        "step": n,
        **more,
    }
    return Fact(**given)  # type: ignore[arg-type]


def disagreeing(count: int) -> list[Fact]:
    return [said(n, f"The Nordvik dairy employs {100 + 7 * n} people.") for n in range(count)]


def numbers(facts: list[Fact]) -> list[tuple[int, int]]:
    index, found = ConflictIndex(), list[tuple[int, int]]()
    for fact in facts:
        found += [(other.step, fact.step) for other in index.find_partners(fact)]
        index = index.join([fact])
    return sorted(found)


def test_facts_about_one_thing_that_share_words_are_paired() -> None:
    facts = [
        said(0, "The Nordvik dairy was founded in 1921."),
        said(1, "The Sundvik dairy was founded in 1921."),
        said(2, "It was founded as a dairy in 1923.", title="Nordvik"),
        said(3, "the old dairy that was founded in a barn."),
        said(4, "The Nordvik river floods the meadows."),
        said(5, "A hamlet by the sea.", subject="Nordvik dairy", attribute="founding"),
        said(6, "It began in a barn.", subject="nordvik  Dairy", attribute="Founding"),
    ]
    assert numbers(facts) == [(0, 2), (0, 3), (1, 3), (2, 3), (5, 6)]


@pytest.mark.slow
def test_a_step_at_many_sources_compares_no_more_than_one_at_fifty() -> None:
    index, costs = ConflictIndex(), list[int]()
    for n in range(200):
        fact = said(n, f"The Nordvik dairy employs {100 + 7 * n} people.")
        costs.append(len(index.find_partners(fact)))
        mill = said(1000 + n, f"The mill of Selm has {n} wheels and a weir of oak.")
        index = index.join([fact, mill])
    assert max(costs[150:]) <= 1.3 * max(costs[40:50])


def test_a_fact_that_says_something_else_is_compared_anew() -> None:
    facts = disagreeing(4)
    index = ConflictIndex().join(facts)
    assert index.join([facts[0].replace(decision="pinned", disputed=True)]) is index
    changed = facts[1].replace(statement="The Nordvik dairy employs 100 people.")
    now = [facts[0], changed, *facts[2:]]
    found = index.join([changed]).find_conflicts({fact.id: fact for fact in now})
    assert found == find_conflicts(now)
    assert [value.fact_ids for value in found[0].values] == [["f0", "f1"], ["f2"], ["f3"]]
