"""Which facts are set against each other, and that the work is bounded: pairs are counted, not seconds."""

from __future__ import annotations

import pytest

from agent.evidence.contradiction import blocking, statements
from agent.evidence.contradiction.blocking import PairingScope, find_pairs
from agent.evidence.contradiction.groups import find_conflicts
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


@pytest.fixture
def clashes(monkeypatch):
    asked, plain = [], statements.find_contradiction
    monkeypatch.setattr(
        statements, "find_contradiction", lambda a, b, **how: asked.append((a, b)) or plain(a, b, **how)
    )
    return asked


def test_facts_of_one_thing_that_share_words_are_paired():
    facts = [
        said(0, "The Nordvik dairy was founded in 1921."),
        said(1, "The Sundvik dairy was founded in 1921."),
        said(2, "It was founded as a dairy in 1923.", title="Nordvik"),
        said(3, "the old dairy that was founded in a barn."),
        said(4, "The Nordvik river floods the meadows."),
        said(5, "A hamlet by the sea.", subject="Nordvik dairy", attribute="founding"),
        said(6, "It began in a barn.", subject="nordvik  Dairy", attribute="Founding"),
    ]
    assert find_pairs(facts) == [(0, 2), (0, 3), (1, 3), (2, 3), (5, 6)]


def test_what_speaks_of_other_things_is_not_compared_however_alike_its_words(clashes):
    find_conflicts(said(n, f"The firm N{n} was founded in {1800 + n} by its owner.") for n in range(1000))
    assert not clashes


def test_few_facts_are_all_compared():
    assert len(find_pairs(disagreeing(200))) == 200 * 199 / 2


def test_the_comparisons_of_facts_that_all_disagree_stay_bounded(clashes):
    counts = []
    for count in (150, 400):
        clashes.clear()
        found = find_conflicts(disagreeing(count))
        assert len({i for conflict in found for value in conflict.values for i in value.fact_ids}) == count
        counts.append(len(clashes))
    assert counts[0] == 150 * 149 / 2 and max(counts) <= blocking.MAX_PAIRS
    assert len(find_pairs(disagreeing(1800))) <= 1800 * blocking.MIN_NEIGHBOURS


def test_those_most_alike_are_kept_where_not_all_can_be(monkeypatch):
    monkeypatch.setattr(blocking, "MAX_PAIRS", 1)
    monkeypatch.setattr(blocking, "MIN_NEIGHBOURS", 1)
    facts = [
        said(0, "Nordvik dairy people like cheese."),
        said(1, "The Nordvik dairy employs 120 people."),
        said(2, "The Nordvik dairy employs 130 people."),
    ]
    assert find_pairs(facts) == [(0, 1), (1, 2)]


def test_a_scope_sets_the_fresh_against_all_and_the_near_against_one_another():
    facts = disagreeing(500)
    assert find_pairs(facts, PairingScope(changed_ids=(), related_ids={"f3", "f5", "f8"})) == [
        (3, 5),
        (3, 8),
        (5, 8),
    ]
    assert find_pairs(facts, PairingScope(changed_ids={"f4"})) == [
        (min(4, n), max(4, n)) for n in [*range(4), 4, *range(5, 500)] if n != 4
    ]
    both = find_pairs(facts, PairingScope(changed_ids={"f4", "f400"}, related_ids={"f4", "f7"}))
    assert len(both) == len(set(both)) == 499 + 498


def test_a_conflict_with_a_fresh_fact_names_one_that_is_not_near():
    facts = [
        said(0, "The Nordvik dairy employs 120 people."),
        said(1, "The Nordvik dairy employs 180 people."),
        said(2, "Something of no bearing at all."),
    ]
    assert not find_conflicts(facts, scope=PairingScope(changed_ids={"f2"}))
    found = find_conflicts(facts, scope=PairingScope(changed_ids={"f1"}))
    assert [value.fact_ids for value in found[0].values] == [["f0"], ["f1"]] and found[
        0
    ].id == find_conflicts(facts)[0].id
