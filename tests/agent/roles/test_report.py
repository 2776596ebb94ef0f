"""The answer by rule: quotes that cite facts, or nothing at all."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.retrieval.answer import MAX_LEAD_WORDS, MAX_PASSAGES
from agent.roles.report import ReportReply, ReportSentence
from agent.roles.report import report_fallback as fallback
from agent.text.urls import find_urls
from agent.types import Action, Fact, PlanPart

QUESTION = "When was the ferry Blue Heron built?"


def fact(quote: str, n: int = 0, **more: Any) -> Fact:
    given_ = {
        "id": f"f{n}",
        "statement": quote,
        "quote": quote,
        "url": f"https://h{n}.example/",
        "title": "Blue Heron",
        "step": 3,
        "verified": True,
    }
    return Fact(**{**given_, **more})


def write(question: str = QUESTION, **given_: Any) -> ReportReply:
    blanks = {
        "notes": [],
        "facts": [],
        "conflicts": [],
        "history": [],
        "former": None,
    }
    return fallback(question=question, **{**blanks, **given_})


BUILT = fact("The ferry Blue Heron was built in 1907.", 1)
OTHER = fact("The harbour office opens at nine on weekdays.", 2, title="Harbour")


def shown(reply: ReportReply) -> list[ReportSentence]:
    return [sentence for sentence in reply.answer if sentence.place != "other"]


def test_each_sentence_is_a_quote_that_cites_its_fact() -> None:
    reply = write(facts=[OTHER, BUILT])
    assert reply.answer[0].text == BUILT.statement
    assert reply.answer[0].fact_ids == ["f1"] and all(len(s.fact_ids) == 1 for s in reply.answer)
    assert reply.answer[0].place == "lead" and reply.answer[0].fit
    assert not find_urls(reply.model_dump_json()), "it writes no address"


def test_nothing_is_answered_when_nothing_covers_the_question() -> None:
    for facts in (
        [],
        [OTHER],
        [BUILT.model_copy(update={"verified": False})],
        [BUILT.model_copy(update={"disputed": True})],
    ):
        reply = write(facts=facts)
        assert reply.answer == []


def test_one_short_lead_and_a_few_passages_are_shown() -> None:
    many = [
        fact(f"The ferry Blue Heron was built in 19{n} by yard {n}, who {'worked hard ' * 8}then.", n)
        for n in range(10, 50)
    ]
    sentences = shown(write(facts=many))
    assert [sentence.place for sentence in sentences].count("lead") == 1
    assert len(sentences) <= 1 + MAX_PASSAGES and len(sentences[0].text.split()) <= MAX_LEAD_WORDS


def test_a_correction_of_a_person_is_what_is_quoted() -> None:
    corrected = BUILT.model_copy(update={"statement": "The ferry Blue Heron was built in 1908."})
    assert write(facts=[corrected]).answer[0].text == corrected.statement


def test_each_part_of_a_question_has_its_lead() -> None:
    fare = fact("The ferry Blue Heron takes a fare of three crowns.", 3)
    reply = write("When was the ferry Blue Heron built, and what fare does it take?", facts=[BUILT, fare])
    leads = [sentence for sentence in reply.answer if sentence.place == "lead"]
    assert leads and len({sentence.part_question for sentence in leads}) == len(leads)


def test_a_table_row_is_quoted_whole() -> None:
    row = fact("Ferry: Blue Heron; Built: 1907; Yard: St. Quill & Sons", 4, title="Ferries")
    assert write(facts=[row]).answer[0].text == row.statement


def test_pinned_facts_come_first_and_struck_ones_never() -> None:
    reply = write(facts=[BUILT, OTHER.model_copy(update={"decision": "pinned"})])
    assert [(s.fact_ids, s.place) for s in reply.answer] == [(["f2"], "lead"), (["f1"], "passage")]
    assert write(facts=[BUILT.model_copy(update={"decision": "struck"})]).answer == []


def test_what_a_note_asks_for_is_quoted_although_the_question_s_own_facts_are_disputed() -> None:
    disputed = BUILT.model_copy(update={"relevance": 0.7, "disputed": True})
    fare = fact("The ferry Blue Heron takes a fare of three crowns.", 3, relevance=0.2)
    assert write(facts=[disputed, fare]).answer == [], "beside the point"
    reply = write(facts=[disputed, fare], notes=["What fare does the ferry Blue Heron take?"])
    assert [sentence.fact_ids for sentence in reply.answer] == [["f3"]]


def test_a_page_that_the_person_named_need_not_name_its_subject() -> None:
    page = fact("It was built in 1907.", title="")
    question = "When was it built, according to https://h0.example/?"
    there = Action(step=2, action="crawl_url", query_or_url="https://h0.example/")
    assert write(question, facts=[page], history=[there]).answer


@given(
    st.text(),
    st.lists(st.tuples(st.text(max_size=300), st.sampled_from(["none", "pinned", "struck"])), max_size=5),
    st.lists(st.text(max_size=40), max_size=2),
)
def test_any_facts_are_written_up_within_the_rules(
    question: str, given_: list[tuple[str, Any]], notes: list[str]
) -> None:
    facts = [
        fact(quote, n, decision=mark, verified=n % 2 == 0, title=quote[:20])
        for n, (quote, mark) in enumerate(given_)
    ]
    reply = write(question, facts=facts, notes=notes)
    usable = {fact.id for fact in facts if fact.can_support}
    assert all(set(sentence.fact_ids) <= usable and sentence.fact_ids for sentence in reply.answer)
    assert reply == write(question, facts=facts, notes=notes)


def test_a_pin_speaks_for_its_own_fact_only() -> None:
    pinned = OTHER.model_copy(update={"decision": "pinned"})
    reply = write(facts=[pinned, fact("The harbour office is a house.", 5, title="Harbour")])
    assert [sentence.fact_ids for sentence in reply.answer] == [["f2"]]


def test_what_the_pages_say_stays_folded_where_a_part_is_not_found_by_its_words() -> None:
    cost = fact("A trip on the ferry Blue Heron takes ninety crowns.", 1, id="f3")
    parts = [
        PlanPart(id=str(n), question=f"the ferry Blue Heron: {item}")
        for n, item in enumerate(("built", "price"))
    ]
    reply = write("the ferry Blue Heron: built, price", facts=[BUILT, cost], parts=parts)
    assert [(said.fact_ids, said.place) for said in reply.answer] == [(["f1"], "lead"), (["f3"], "other")]
