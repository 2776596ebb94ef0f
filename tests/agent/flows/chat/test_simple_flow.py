"""The simple way of chatting: what CONVERSATIONAL_MODE=false starts, edge by edge, and all that it leaves
out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent import config
from agent.flows.chat.simple_flow import CHAT_SIMPLE
from agent.types import Status
from agent.workbench import Workbench
from tests.web.chatting_model import ASKED, Script, Talk, stocked


@pytest.fixture
def simple() -> Iterator[Workbench]:
    """A stocked workbench that was told not to converse."""
    opened = Workbench(config.read_config({"CONVERSATIONAL_MODE": "false"}))
    stocked(opened)
    yield opened
    opened.shutdown()


def test_the_edges_are_the_seeds() -> None:
    seed = [
        ("classify", "retrieve", "information"),
        ("classify", "location", "location_search"),
        ("retrieve", "rerank", ""),
        ("rerank", "generate", ""),
        ("generate", "end", ""),
        ("location", "end", ""),
    ]
    assert sorted((edge.start, edge.end, edge.label) for edge in CHAT_SIMPLE.edges) == sorted(seed)
    assert CHAT_SIMPLE.first_step == "classify" and set(CHAT_SIMPLE.steps) == {start for start, _, _ in seed}
    assert dict(CHAT_SIMPLE.decisions) == {"classify": "intent?"} and dict(CHAT_SIMPLE.rest_statuses) == {
        "end": Status.DONE
    }


@pytest.mark.parametrize(
    ("value", "flow"),
    [
        ("", "chat"),
        ("true", "chat"),
        ("1", "chat"),
        ("false", "chat_simple"),
        ("False", "chat_simple"),
        ("0", "chat_simple"),
        ("no", "chat_simple"),
    ],
)
def test_the_setting_chooses_the_way_and_conversing_is_the_default(value: str, flow: str) -> None:
    bench = Workbench(config.read_config({"CONVERSATIONAL_MODE": value} if value else {}))
    try:
        stocked(bench)
        assert Talk(bench).say(ASKED).view.run.settings.flow == flow
    finally:
        bench.shutdown()


def test_information_is_retrieved_reranked_and_told_in_one_pass(simple: Workbench) -> None:
    turn = Talk(simple, script=(script := Script(rerank=[[0.1, 0.9, 0.5]]))).say(ASKED)
    assert turn.way == "classify retrieve rerank generate end" and turn.text == "A ticket costs 38 kronor."
    assert script.roles == ["classify", "rerank", "generate", "check_claims"], (
        "no grading, no retry, no validation"
    )
    scores = turn.state.own.doc_relevance_scores
    assert (
        scores == sorted(scores, reverse=True)
        and scores[0] == 0.9
        and len(scores) == len(turn.state.own.retrieved_docs)
    )
    assert turn.state.own.queries == [ASKED], "the query goes as it is"


def test_a_place_is_looked_up(simple: Workbench) -> None:
    turn = Talk(simple, script=Script(classify="location_search")).say("Where is a clinic?")
    assert turn.way == "classify location end" and turn.text.startswith("Norra Clinic (clinic)")
    assert Talk(simple).say("Where is the nearest clinic to Skarholm?").text.startswith("Sound Clinic")


def test_nothing_is_remembered(simple: Workbench) -> None:
    talk = Talk(simple)
    talk.say("Tell me about the Brannvik ferry.")
    turn = talk.say("Who built it?")
    assert (
        turn.state.history == []
        and turn.state.own.prior == []
        and turn.state.own.queries == ["Who built it?"]
    )


def test_a_failure_is_no_loop_and_no_question_back(simple: Workbench) -> None:
    turn = Talk(simple).say("What colour is the moon of Zanzibar?")
    assert turn.way == "classify retrieve rerank generate end" and turn.status is Status.DONE
    assert (
        turn.state.own.needs_clarification is None
        and turn.text == "Nothing in the library answers this question."
    )


def test_one_bad_passage_is_not_sifted_out_by_grading(simple: Workbench) -> None:
    turn = Talk(simple, script=Script(rerank=0.0)).say(ASKED)
    assert turn.text == "A ticket costs 38 kronor.", "best effort: what was found is written from"


@pytest.mark.parametrize("said", ["not JSON", "", {"nonsense": 1}, {"intent": "dance"}])
def test_bad_json_is_judged_by_rule(simple: Workbench, said: object) -> None:
    turn = Talk(simple, script=Script(classify=said, rerank=said, generate=said)).say(ASKED)
    assert turn.way == "classify retrieve rerank generate end" and "38 kronor" in turn.text
    assert turn.state.own.speakers["classify"].by == "keyless" and turn.state.own.speakers["classify"].trouble


def test_an_empty_library_is_no_error() -> None:
    bench = Workbench(config.read_config({"CONVERSATIONAL_MODE": "false"}))
    try:
        assert Talk(bench).say(ASKED).text == "Nothing in the library answers this question."
    finally:
        bench.shutdown()


def test_when_the_budget_is_spent_the_rules_write(simple: Workbench) -> None:
    turn = Talk(simple, script=Script(), max_calls=1).say(ASKED)
    assert turn.status is Status.DONE and turn.state.answer is not None
