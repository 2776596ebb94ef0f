"""Which facts make the answer, and whether they answer at all."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.fact_selection import choose_facts, render_statement
from agent.types import Fact

QUESTION = "When was the ferry Blue Heron built?"


def fact(quote: str, n: int = 0, **more) -> Fact:
    given_ = {
        "id": f"f{n}",
        "statement": quote,
        "quote": quote,
        "url": f"https://h{n}.example/",
        "title": "Ferries",
        "step": 3,
        "verified": True,
    }
    return Fact(**{**given_, **more})


BUILT = fact("The ferry Blue Heron was built in 1907.", 1)
WHITE = fact("The ferry is white all over its sides.", 2, step=6)
OTHER = fact("The harbour office opens at nine on weekdays.", 3, step=9)


def best(facts: list[Fact], question: str = QUESTION, words: int = 120, sentences: int = 6) -> list[str]:
    return [fact.id for fact in choose_facts(question, facts, words=words, sentences=sentences)]


def test_the_fact_that_answers_weighs_most_in_whatever_order() -> None:
    facts = [OTHER, WHITE, BUILT]
    random.Random(3).shuffle(facts)
    assert best(facts) == best([BUILT, WHITE, OTHER]) and best(facts)[0] == "f1"


def test_a_pinned_fact_is_above_all_others_and_never_left_out() -> None:
    pinned = OTHER.model_copy(update={"decision": "pinned"})
    assert best([BUILT, WHITE, pinned])[0] == "f3" and "f1" not in best([BUILT, pinned], sentences=1)


def test_what_is_far_behind_the_best_is_not_told() -> None:
    assert "f3" not in best([BUILT, OTHER])


def test_the_limits_hold_but_one_sentence_is_always_told() -> None:
    many = [fact(f"The ferry Blue Heron was built in 19{n} at the yard.", n) for n in range(10, 40)]
    assert len(best(many, sentences=3)) == 3
    assert (
        sum(
            len(f"The ferry Blue Heron was built in 19{i[1:]} at the yard.".split())
            for i in best(many, words=25)
        )
        <= 25
    )
    assert best([BUILT], words=1) == ["f1"] and best([]) == []


def test_copies_are_told_once_and_pages_are_mixed() -> None:
    assert best([BUILT, BUILT.model_copy(update={"id": "f9", "url": "https://copy.example/"})]) == ["f1"]
    same = [
        fact(f"The ferry Blue Heron was built in {year}.", year, url="https://one.example/")
        for year in (1901, 1902, 1903)
    ]
    assert "f1904" in best([*same, fact("The ferry Blue Heron was built in 1904.", 1904)], sentences=2)


def test_what_is_told_names_its_page_when_the_words_do_not() -> None:
    assert (
        render_statement(fact("It was built in 1907.", title="Blue Heron | Ferries"))
        == "Blue Heron: It was built in 1907."
    )
    assert (
        render_statement(fact("Blue Heron was built in 1907.", title="Blue Heron"))
        == "Blue Heron was built in 1907."
    )
    assert (
        render_statement(fact("It was built in 1907.", title="Blue Heron", by="model"))
        == "It was built in 1907."
    )
    assert render_statement(fact("It was built in 1907.", title="x" * 80)) == "It was built in 1907."


@given(st.text(), st.lists(st.tuples(st.text(max_size=80), st.text(max_size=30), st.booleans()), max_size=5))
def test_any_facts_can_be_weighed(question: str, given_: list[tuple[str, str, bool]]) -> None:
    facts = [
        fact(quote, n, title=title, decision="pinned" if pin else "none", step=n)
        for n, (quote, title, pin) in enumerate(given_)
    ]
    taken = choose_facts(question, facts, words=20, sentences=3)
    assert taken == choose_facts(question, facts, words=20, sentences=3)
    assert len({fact.id for fact in taken}) == len(taken) <= 3 and all(fact in facts for fact in taken)
    pins = [fact.decision == "pinned" for fact in taken]
    assert pins == sorted(pins, reverse=True)
