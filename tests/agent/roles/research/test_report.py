"""The answer by rule: quotes that cite facts, or nothing at all."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agent.roles.research.report import MAX_SENTENCES, MAX_WORDS, ReportReply, fallback
from agent.text.urls import find_urls
from agent.types import Action, Conflict, ConflictSide, Fact, Outcome, PageRef

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
        "confidence": 0.7,
        "history": [],
        "failures": [],
        "why_stopped": "",
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
        assert reply.answer == [] and reply.certainty
    assert "Not found" in write(facts=[OTHER]).missing and "built" in write(facts=[]).missing


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


def test_a_page_that_the_person_named_need_not_name_its_subject() -> None:
    page = fact("It was built in 1907.", title="")
    question = "When was it built, according to https://h0.example/?"
    there = Action(step=2, action="crawl_url", query_or_url="https://h0.example/")
    assert write(question, facts=[page], history=[there]).answer


def test_how_sure_it_is_in_words_and_what_is_disputed() -> None:
    levels = [write(confidence=value).certainty.split()[0] for value in (0.9, 0.7, 0.3)]
    assert levels == ["High", "Moderate", "Low"] and "70%" in write().certainty
    sides = [
        ConflictSide(text="1907", fact_ids=["f1"], sites=["a"]),
        ConflictSide(text="1909", fact_ids=["f2"], sites=["b"]),
    ]
    clash = Conflict(id="c", subject="Blue Heron", attribute="built", kind="date", values=sides)
    assert all(
        word in write(conflicts=[clash]).certainty for word in ("disagree", "1907", "1909", "Blue Heron")
    )
    assert "disagree" not in write(conflicts=[clash.model_copy(update={"status": "settled"})]).certainty


def test_the_journey_is_told() -> None:
    history = [
        Action(step=2, action="search_duckduckgo", query_or_url=QUESTION, hits=3),
        Action(step=5, action="crawl_url", query_or_url="https://h1.example/", new_facts=2, page_id="p"),
        Action(step=8, action="crawl_url", query_or_url="https://h2.example/", outcome=Outcome.BLOCKED),
    ]
    failed = [PageRef(url="https://h2.example/", outcome=Outcome.BLOCKED)]
    journey = write(history=history, failures=failed, why_stopped="the budget is spent").journey
    assert all(
        part in journey
        for part in (
            "1 search and 1 page read",
            QUESTION,
            "2 facts",
            "could not be read",
            "the budget is spent",
        )
    )
    assert write().journey


def test_nothing_is_missing_when_all_is_covered() -> None:
    assert write(facts=[BUILT]).missing == ""
    assert "built" in write(facts=[fact("The ferry Blue Heron is white.")]).missing


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
