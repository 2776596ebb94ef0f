"""What an answer would stand on is counted from the question and the facts alone."""

from __future__ import annotations

from agent.evidence.confidence import assess
from agent.roles.footing import again, footing
from agent.types import Fact


def fact(n: int, quote: str, title: str = "Nordvik dairy", **more: object) -> Fact:
    given: dict[str, object] = {"verified": True, "relevance": 0.8, "step": n, "url": f"https://s.example/{title}", **more}
    return Fact(id=f"f{n}", statement=quote, quote=quote, title=title, **given)  # type: ignore[arg-type]


FOUNDED = fact(1, "The Nordvik dairy was founded by Anna Berg in 1921.")
CHEESE = fact(2, "The Nordvik dairy sells a soft cheese.")


def test_nothing_known_leaves_every_word_open() -> None:
    empty = footing("Who founded the Nordvik dairy?", [])
    assert (empty.told, empty.bearing, empty.missing, empty.joined, empty.chain, empty.kind) == (0, 0, 3, 0.0, False, "person")


def test_a_fact_answers_by_a_value_the_question_does_not_name() -> None:
    assert footing("Who founded the Nordvik dairy?", [FOUNDED, CHEESE]).told == 1
    assert footing("Did Anna Berg, who founded the Nordvik dairy, sell it?", [FOUNDED]).told == 0
    assert footing("When was the Nordvik dairy founded?", [FOUNDED]).told == 1 and footing("When was the Nordvik dairy founded?", [CHEESE]).told == 0
    assert footing("Where was the Nordvik dairy?", [fact(3, "The Nordvik dairy was in Lund.")]).told == 1


def test_struck_facts_do_not_bear_and_disputed_ones_do() -> None:
    struck, disputed = CHEESE.model_copy(update={"decision": "struck"}), FOUNDED.model_copy(update={"disputed": True})
    counted = footing("Who founded the Nordvik dairy?", [disputed, struck])
    assert (counted.told, counted.bearing, counted.missing) == (1, 1, 0)


def test_a_relation_takes_several_links_and_joining_them_is_counted() -> None:
    asked = "Who was the father of the founder of the Nordvik dairy?"
    father = fact(4, "The father of Anna Berg was Nils Berg, a priest.", "Anna Berg", relevance=0.7)
    apart, together = (footing(asked, facts) for facts in ([FOUNDED], [FOUNDED, father]))
    assert apart.chain and apart.joined == 0 < together.joined


def test_where_the_best_fact_stands_and_what_the_titles_leave_open() -> None:
    opening, later = FOUNDED.model_copy(update={"start": 15}), FOUNDED.model_copy(update={"start": 900})
    counted = footing("Who founded the Nordvik dairy?", [opening])
    assert counted.opens and counted.linked == 1.0 and not footing("Who founded the Nordvik dairy?", [later]).opens
    assert footing("Who founded the Nordvik dairy?", [CHEESE]).linked == 0.0


def test_a_yes_or_no_is_told_from_other_questions() -> None:
    asked = ("Are both dairies in Lund?", "Is it old?", "Which of them is in Lund?", "Isabel sold it when?")
    assert [footing(question, []).closed for question in asked] == [True, True, False, False]


def test_dates_and_figures_are_sharp() -> None:
    kinds = {q: footing(q, []).sharp for q in ("When did it open?", "How many cows has it?", "Who opened it?", "Why did it open?")}
    assert list(kinds.values()) == [True, True, False, False]


def test_the_counts_come_again_from_what_a_confidence_keeps() -> None:
    asked, facts = "Who was the father of the founder of the Nordvik dairy?", [FOUNDED, CHEESE]
    counted = footing(asked, facts)
    kept = assess(step=1, facts=facts, conflicts=[], coverage=1.0, footing=counted)
    assert again(asked, kept.basis) == counted
