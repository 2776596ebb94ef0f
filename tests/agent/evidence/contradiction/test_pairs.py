"""Which facts are compared, and that the work is bounded: pairs are counted, not seconds."""

from __future__ import annotations

from agent.evidence.contradiction import pairs
from agent.evidence.contradiction.groups import find_conflicts
from agent.evidence.contradiction.pairs import PairingScope, find_pairs
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


def numbers(facts: list[Fact], scope: PairingScope | None = None) -> list[tuple[int, int]]:
    return [(a.step, b.step) for a, b in find_pairs(facts, scope)]


def test_facts_about_one_thing_that_share_words_are_paired():
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


def test_few_facts_are_all_compared_and_of_many_those_most_alike(monkeypatch):
    assert len(numbers(disagreeing(150))) == 150 * 149 / 2
    assert len(numbers(disagreeing(400))) <= pairs.MAX_PAIRS
    monkeypatch.setattr(pairs, "MAX_PAIRS", 1)
    monkeypatch.setattr(pairs, "MIN_PARTNERS", 1)
    facts = [
        said(0, "Nordvik dairy people like cheese."),
        said(1, "The Nordvik dairy employs 120 people."),
        said(2, "The Nordvik dairy employs 130 people."),
    ]
    assert numbers(facts) == [(0, 1), (1, 2)]


def test_a_scope_sets_the_changed_against_all_and_the_related_against_one_another():
    facts = disagreeing(60)
    assert numbers(facts, PairingScope((), related_ids={"f3", "f5", "f8"})) == [(3, 5), (3, 8), (5, 8)]
    assert len(numbers(facts, PairingScope({"f4"}))) == 59
    both = numbers(facts, PairingScope({"f4", "f40"}, related_ids={"f4", "f7"}))
    assert len(both) == len(set(both)) == 59 + 58


def test_a_changed_fact_finds_its_conflict_with_one_that_is_not_related():
    facts = [*disagreeing(4)[2:], said(4, "Something of no bearing at all.")]
    assert not find_conflicts(facts, scope=PairingScope({"f4"}))
    found = find_conflicts(facts, scope=PairingScope({"f3"}))
    assert [value.fact_ids for value in found[0].values] == [["f2"], ["f3"]]
    assert found[0].id == find_conflicts(facts)[0].id
