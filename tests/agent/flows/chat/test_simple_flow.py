"""Chatting with CONVERSATIONAL_MODE=false: each turn stands alone, in one pass."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.settings import config
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


@pytest.mark.parametrize(
    ("value", "on"),
    [
        ("", True),
        ("true", True),
        ("1", True),
        ("false", False),
        ("False", False),
        ("0", False),
        ("no", False),
    ],
)
def test_the_setting_chooses_the_way_and_conversing_is_the_default(value: str, on: bool) -> None:
    bench = Workbench(config.read_config({"CONVERSATIONAL_MODE": value} if value else {}))
    try:
        stocked(bench)
        assert Talk(bench).say(ASKED).view.run.settings.conversational is on
    finally:
        bench.shutdown()


def test_information_is_retrieved_graded_and_told_in_one_pass(simple: Workbench) -> None:
    turn = Talk(simple, script=(script := Script(grade=[[0.1, 0.9]]))).say(ASKED)
    assert turn.way == "router retrieve grade generate end" and turn.text == "A ticket costs 38 kronor."
    assert script.roles == ["router", "grade", "generate", "check_claims"], "no retry, no validation"
    assert turn.state.own.queries == [ASKED], "the query goes as it is"


def test_a_place_is_looked_up(simple: Workbench) -> None:
    turn = Talk(simple, script=Script(router="LOCATION_SEARCH")).say("Where is a clinic?")
    assert turn.way == "router location end" and turn.text.startswith("Norra Clinic (clinic)")


@pytest.mark.parametrize("route", ["DIRECT_ANSWER", "REWRITE_THEN_RETRIEVE", "ASK_CLARIFICATION"])
def test_a_route_that_leans_on_the_conversation_searches(simple: Workbench, route: str) -> None:
    turn = Talk(simple, script=Script(router=route)).say(ASKED)
    assert turn.way == "router retrieve grade generate end" and turn.state.own.queries == [ASKED]


def test_one_bad_passage_is_not_sifted_out_by_grading(simple: Workbench) -> None:
    turn = Talk(simple, script=Script(grade=0.0)).say(ASKED)
    assert turn.text == "A ticket costs 38 kronor.", "best effort: what was found is written from"


def test_an_empty_library_is_no_error() -> None:
    bench = Workbench(config.read_config({"CONVERSATIONAL_MODE": "false"}))
    try:
        assert "Nothing that was read answers this question" in Talk(bench).say(ASKED).text
    finally:
        bench.shutdown()


def test_when_the_budget_is_spent_the_rules_write(simple: Workbench) -> None:
    turn = Talk(simple, script=Script(), max_calls=1).say(ASKED)
    assert turn.status is Status.DONE and turn.state.answer is not None
