"""The answer by rule: quotes that cite facts, or nothing at all."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.roles.research.report import MAX_SENTENCES, MAX_WORDS, ReportReply, fallback
from agent.text.urls import find_urls
from agent.types import Action, Fact

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


def words(reply: ReportReply) -> int:
    return sum(len(sentence.text.split()) for sentence in reply.answer)


def test_each_sentence_is_a_quote_that_cites_its_fact() -> None:
    reply = write(facts=[OTHER, BUILT])
    assert reply.answer[0].text == BUILT.statement
    assert reply.answer[0].fact_ids == ["f1"] and all(len(s.fact_ids) == 1 for s in reply.answer)
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


def test_a_few_sentences_of_120_words_at_most() -> None:
    many = [
        fact(
            f"The ferry Blue Heron was built in 19{n} by the people of the yard who {'worked hard ' * 8}.", n
        )
        for n in range(10, 50)
    ]
    for notes in ([], ["Say who worked at the yard and what the people built."]):
        reply = write(facts=many, notes=notes)
        assert 1 < len(reply.answer) <= MAX_SENTENCES + 2 * bool(notes) and words(reply) <= MAX_WORDS == 120


def test_pinned_facts_come_first_and_struck_ones_never() -> None:
    reply = write(facts=[BUILT, OTHER.model_copy(update={"decision": "pinned"})])
    assert [sentence.fact_ids for sentence in reply.answer] == [["f2"], ["f1"]]
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
