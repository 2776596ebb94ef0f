"""Chatting with CONVERSATIONAL_MODE=false: each turn stands alone, in one pass."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agent.settings import config
from agent.workbench import Workbench
from tests.web.chatting_model import ASKED, Script, Talk, stocked


@pytest.fixture
def simple() -> Iterator[Workbench]:
    """A stocked workbench that was told not to converse."""
    opened = Workbench(config.read_config({"CONVERSATIONAL_MODE": "false"}))
    stocked(opened)
    yield opened
    opened.shutdown()


def test_information_is_retrieved_graded_and_told_in_one_pass(simple: Workbench) -> None:
    turn = Talk(simple, script=(script := Script(grade=[[0.1, 0.9]]))).say(ASKED)
    assert turn.way == "router retrieve grade generate end" and turn.text == "A ticket costs 38 kronor."
    assert script.roles == ["router", "grade", "generate", "check_claims"], "no retry, no validation"
    assert turn.state.own.queries == [ASKED], "the query goes as it is"


@pytest.mark.parametrize("route", ["DIRECT_ANSWER", "REWRITE_THEN_RETRIEVE", "ASK_CLARIFICATION"])
def test_a_route_that_leans_on_the_conversation_searches(simple: Workbench, route: str) -> None:
    talk = Talk(simple, script=Script(router=route))
    for _ in range(2):
        turn = talk.say(ASKED)
        assert turn.way == "router retrieve grade generate end" and turn.state.own.queries == [ASKED]
    assert turn.state.history == [], "it forgets"
