"""Facts are found by words and how they stand."""

from __future__ import annotations

from agent.answering.fact_view import fact_statuses, filter_facts, main_fact_status
from agent.types import Fact
from tests.tables import by_table


def fact(name: str = "a", **more) -> Fact:
    told = {
        "statement": "The mill stands.",
        "quote": "The mill stands.",
        "url": "https://www.a.example/x",
        "page_id": "p",
        "verified": True,
    }
    return Fact(id=name, **{**told, **more})


@by_table
def test_how_a_fact_stands_in_words(more, word, every):
    assert main_fact_status(fact(**more)) == word and fact_statuses(fact(**more)) == every


def test_facts_are_found_newest_first():
    known = [
        fact("a", step=1),
        fact("b", step=3, decision="struck"),
        fact("c", step=2, url="https://b.example/", statement="The barn burnt."),
    ]
    assert [f.id for f in filter_facts(known)] == ["b", "c", "a"]
    assert [f.id for f in filter_facts(known, "a.example", "struck")] == ["b"]
    assert [f.id for f in filter_facts(known, "BARN b.example")] == ["c"]
    assert not filter_facts(known, "barn", "struck")
