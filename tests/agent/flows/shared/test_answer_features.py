"""What an answer would stand on is counted from the question and the facts alone."""

from __future__ import annotations

from agent.evidence.confidence import assess_confidence
from agent.flows.shared.answer_features import count_answer_features, restore_answer_features
from agent.types import Fact


def fact(n: int, quote: str, title: str = "Nordvik dairy", **more: object) -> Fact:
    given: dict[str, object] = {
        "verified": True,
        "relevance": 0.8,
        "step": n,
        "url": f"https://s.example/{title}",
        **more,
    }
    return Fact(id=f"f{n}", statement=quote, quote=quote, title=title, **given)  # type: ignore[arg-type]


FOUNDED = fact(1, "The Nordvik dairy was founded by Anna Berg in 1921.")
CHEESE = fact(2, "The Nordvik dairy sells a soft cheese.")


def test_nothing_known_leaves_every_word_open() -> None:
    empty = count_answer_features("Who founded the Nordvik dairy?", [])
    assert (
        empty.answering_facts,
        empty.relevant_facts,
        empty.missing_words,
        empty.joined_share,
        empty.is_multi_hop,
        empty.answer_type,
    ) == (0, 0, 3, 0.0, False, "person")


def test_a_fact_answers_by_a_value_the_question_does_not_name() -> None:
    assert count_answer_features("Who founded the Nordvik dairy?", [FOUNDED, CHEESE]).answering_facts == 1
    assert (
        count_answer_features(
            "Did Anna Berg, who founded the Nordvik dairy, sell it?", [FOUNDED]
        ).answering_facts
        == 0
    )
    assert (
        count_answer_features("When was the Nordvik dairy founded?", [FOUNDED]).answering_facts == 1
        and count_answer_features("When was the Nordvik dairy founded?", [CHEESE]).answering_facts == 0
    )
    assert (
        count_answer_features(
            "Where was the Nordvik dairy?", [fact(3, "The Nordvik dairy was in Lund.")]
        ).answering_facts
        == 1
    )


def test_struck_facts_do_not_bear_and_disputed_ones_do() -> None:
    struck, disputed = (
        CHEESE.model_copy(update={"decision": "struck"}),
        FOUNDED.model_copy(update={"disputed": True}),
    )
    counted = count_answer_features("Who founded the Nordvik dairy?", [disputed, struck])
    assert (counted.answering_facts, counted.relevant_facts, counted.missing_words) == (1, 1, 0)


def test_a_relation_takes_several_links_and_joining_them_is_counted() -> None:
    asked = "Who was the father of the founder of the Nordvik dairy?"
    father = fact(4, "The father of Anna Berg was Nils Berg, a priest.", "Anna Berg", relevance=0.7)
    apart, together = (count_answer_features(asked, facts) for facts in ([FOUNDED], [FOUNDED, father]))
    assert apart.is_multi_hop and apart.joined_share == 0 < together.joined_share


def test_where_the_best_fact_stands_and_what_the_titles_leave_open() -> None:
    opening, later = FOUNDED.model_copy(update={"start": 15}), FOUNDED.model_copy(update={"start": 900})
    counted = count_answer_features("Who founded the Nordvik dairy?", [opening])
    assert (
        counted.opens_page
        and counted.linked_share == 1.0
        and not count_answer_features("Who founded the Nordvik dairy?", [later]).opens_page
    )
    assert count_answer_features("Who founded the Nordvik dairy?", [CHEESE]).linked_share == 0.0


def test_a_yes_or_no_is_told_from_other_questions() -> None:
    asked = ("Are both dairies in Lund?", "Is it old?", "Which of them is in Lund?", "Isabel sold it when?")
    assert [count_answer_features(question, []).is_yes_no for question in asked] == [True, True, False, False]


def test_dates_and_figures_are_sharp() -> None:
    kinds = {
        q: count_answer_features(q, []).has_sharp_value
        for q in ("When did it open?", "How many cows has it?", "Who opened it?", "Why did it open?")
    }
    assert list(kinds.values()) == [True, True, False, False]


def test_the_counts_come_again_from_what_a_confidence_keeps() -> None:
    asked, facts = "Who was the father of the founder of the Nordvik dairy?", [FOUNDED, CHEESE]
    counted = count_answer_features(asked, facts)
    kept = assess_confidence(step=1, facts=facts, conflicts=[], coverage=1.0, footing=counted)
    assert restore_answer_features(asked, kept.basis) == counted
