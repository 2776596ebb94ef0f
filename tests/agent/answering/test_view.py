"""What follows from facts, rulings, notes and marks is there after every fold, whoever wrote the step."""

from __future__ import annotations

from typing import Any

import pytest

from agent.answering.fact_view import add_facts
from agent.answering.verdict import record_answer
from agent.engine.run_state import RunState
from agent.engine.state import state_after
from agent.flows.research.state import ResearchState
from agent.roles.report import ReportReply
from agent.roles.role import RoleResult
from agent.types import Conflict, Edit, Fact, NoteReading, Ruling
from tests.agent.answering.written import build_answer
from tests.records import fill

QUESTION = "When was Berga dairy founded?"


def said(name: str, statement: str, url: str = "", **marks: Any) -> Fact:
    return Fact(
        id=name,
        statement=statement,
        quote=statement,
        url=url or f"https://{name}.example/",
        page_id=f"p{name}",
        sha256=name,
        verified=True,
        relevance=0.9,
        **marks,
    )


A = said("a", "Berga dairy was founded in 1974.", "https://one.example/a")
B = said("b", "Berga dairy was founded in 1979.", "https://two.example/b")
C = said("c", "Berga dairy was founded in 1974, says the register.", "https://three.example/c")


def knowing(*facts: Fact, question: str = QUESTION, model: float | None = 0.8, **more: Any) -> RunState:
    state = RunState(own=ResearchState(), question=question, **more)
    return state_after(state, add_facts(state, 1, facts, model=model))


def edited(state: RunState, *facts: Fact, why: str = "did it", **more: Any) -> RunState:
    return state_after(state, {"facts": facts, "edits": [Edit(step=2, text=why)], **more})


def only(state: RunState) -> Conflict:
    [conflict] = state.conflicts.values()
    return conflict


def test_two_values_dispute_each_other_until_one_is_struck_and_again_when_it_is_back() -> None:
    state = knowing(A, B)
    assert only(state).status == "open" and all(fact.disputed for fact in state.facts.values())
    struck = edited(state, B.replace(decision="struck"), why="struck 1 fact")
    assert not struck.conflicts and struck.facts["a"].can_support and not struck.facts["b"].can_support
    assert struck.current_confidence > state.current_confidence
    assert struck.confidence[-1].moves[0].reason.startswith("struck 1 fact: ")
    back = edited(struck, state.facts["b"])
    assert back.facts == state.facts and back.conflicts == state.conflicts
    assert back.current_confidence == state.current_confidence


def test_a_fact_that_was_corrected_while_its_source_was_struck_counts_in_its_new_words() -> None:
    struck = state_after(knowing(A, B), {"strikes": {"two.example": 2}})
    new = struck.facts["b"].replace(statement=A.statement, quote=A.statement)
    back = state_after(edited(struck, new), {"-strikes": ["two.example"]})
    assert back.facts["b"].is_active and not back.conflicts


def test_a_ruling_decides_the_marks_of_what_is_found_later_too() -> None:
    state = knowing(A, B)
    clash = only(state)
    ruling = Ruling(
        conflict=clash.id,
        kind=clash.kind,
        values=clash.values,
        ruling="take",
        chosen="1979",
        reason="the deed says so",
        by="person",
        step=2,
    )
    state = state_after(state, {"rulings": [ruling]})
    assert state.facts["a"].disputed and state.facts["b"].can_support
    later = state_after(state, add_facts(state, 3, [C]))
    assert only(later).reason == "the deed says so" and later.facts["c"].disputed


def test_what_a_step_brings_from_a_struck_source_is_struck_and_a_later_mark_stands_above_it() -> None:
    state = state_after(knowing(A), {"strikes": {"two.example": 4}})
    state = state_after(state, add_facts(state, 5, [B]))
    assert (state.facts["b"].decision, state.facts["b"].struck_with) == ("struck", "two.example")
    assert state.facts["a"].can_support
    restored = edited(state, B.replace(decision="none", struck_with="", marked=6))
    assert restored.facts["b"].decision == "none"
    assert edited(restored, strikes={"two.example": 7}).facts["b"].decision == "struck"
    assert state_after(state, {"-strikes": ["two.example"]}).facts["b"].decision == "none"


def test_a_note_that_rules_a_source_out_takes_its_conflict_and_confidence_along() -> None:
    state = knowing(A, B)
    now = state_after(
        state, {"readings": [fill(NoteReading, note=2, step=2, excluded_sites=["two.example"], by="keyless")]}
    )
    assert not now.conflicts and now.facts["a"].can_support
    assert now.current_confidence > state.current_confidence


def answered(*facts: Fact, text: str) -> RunState:
    """A run with these facts and an answer of one sentence that cites the first."""
    state = knowing(*facts, model=0.9)
    reply = ReportReply(answer=[{"text": text, "fact_ids": [facts[0].id]}])
    answer = build_answer(state, RoleResult(value=reply, by="model"), 3)
    return state_after(state, record_answer(answer))


def test_after_the_write_up_confidence_and_plan_rest_on_its_claims_until_more_is_read() -> None:
    state = answered(A, C, text=A.statement)
    assert state.current_confidence == state.answer.confidence > 0.8
    assert [part.status for part in state.plan] == ["answered"]
    struck = edited(state, C.replace(decision="struck"))
    assert 0 < struck.current_confidence < state.current_confidence
    both = edited(struck, A.replace(decision="struck"))
    assert both.current_confidence == 0.0, "its claim lost its last source"
    wrong = answered(A, C, text="Berga dairy was founded in 1911.")
    assert wrong.current_confidence == 0.0
    assert edited(wrong, C.replace(decision="struck")).current_confidence == 0.0


@pytest.mark.parametrize("name", ["conflicts", "confidence", "head"])
def test_no_step_can_set_what_is_derived(name: str) -> None:
    with pytest.raises(KeyError):
        state_after(knowing(A), {name: []})
