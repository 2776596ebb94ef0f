"""What a chat does with the sentences of its drafts: honest, sloppy and hostile models, and what a turn costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.types import Status
from tests.web.chatting_model import QUOTE, TICKET, Script, Turned
from tests.web.claim_judge import ALWAYS, NEVER

pytestmark = pytest.mark.slow

Said = Callable[..., Turned]
CHILDREN = (
    "Small children travel for free.",
    "Children under seven ride the Brannvik ferry without a ticket.",
)
FALSE_FIGURE = ("A ticket costs 83 kronor.", QUOTE)
FALSE_SHIP = ("Bertil Strand built the ferry.", "It was built by Olga Lindmark in 1987 and carries 24 cars.")


def honest(statement: str, quotes: list[str]) -> bool:
    """A judge that accepts the true paraphrases of these tests."""
    return statement in (TICKET[0], CHILDREN[0], "Olga Lindmark built the ferry.")


def script(*sentences: tuple[str, str], **parts: Any) -> Script:
    return Script(**{"generate": [list(sentences)], "check_claims": honest, **parts})


def test_one_faulty_sentence_is_trimmed_and_the_rest_is_told_without_another_search(said: Said) -> None:
    turn = said(script=(model := script(TICKET, FALSE_SHIP)))
    answer = turn.state.answer
    assert answer and turn.way == "router retrieve grade generate validate end" and turn.text == TICKET[0]
    assert model.of("rewrite") == [] and len(model.of("repair")) == 1
    assert "Bertil Strand" in model.of("repair")[0]
    assert answer.remark == "1 drafted sentence was left out: not supported by the quotes."
    assert [s.text for s in turn.state.own.draft.sentences] == [TICKET[0], FALSE_SHIP[0]]  # type: ignore[union-attr]


def test_a_wrong_figure_that_the_judge_refuses_is_not_told(said: Said) -> None:
    turn = said(script=script(FALSE_FIGURE, check_claims=NEVER, rewrite=["one", "two"]))
    assert turn.path[-2:] == ["clarify_final", "respond"] and "83" not in turn.text
    assert turn.state.own.groundings[-1].refused == [FALSE_FIGURE[0]]


def test_that_a_draft_was_dropped_is_said_and_never_that_nothing_was_found(said: Said) -> None:
    turn = said(script=(model := script(FALSE_SHIP, check_claims=NEVER, rewrite=["one", "two"])))
    answer, asked = turn.state.answer, model.of("clarify")[0]
    assert answer and turn.status is Status.WAITING
    for told in (asked, answer.remark):
        assert "An answer was drafted after 3 different searches, but its check refused it" in told
        assert "Bertil Strand" in told and "could not find" not in told and "no answer" not in told


def test_an_address_that_the_writer_made_up_is_not_told(said: Said) -> None:
    typed = ("A ticket costs 38 kronor, see https://evil.test/pay now.", QUOTE)
    turn = said(script=script(typed, check_claims=ALWAYS))
    assert "38 kronor" in turn.text and "evil.test" not in turn.text


@pytest.mark.parametrize(
    ("model", "calls"),
    [
        (Script(generate=[[(QUOTE, QUOTE)]]), "router grade generate"),
        (script(TICKET), "router grade generate check_claims"),
        (script(TICKET, FALSE_SHIP), "router grade generate check_claims repair"),
        (Script(router="ASK_CLARIFICATION"), "router"),
        (Script(router="small talk"), "router"),
        (Script(router="LOCATION_SEARCH"), "router location"),
        (script(TICKET, router="REWRITE_THEN_RETRIEVE"), "router rewrite grade generate check_claims"),
        (script(TICKET, grade=0.1, rewrite=["sound", "Skarven"]), "router grade rewrite rewrite clarify"),
    ],
    ids=["quoted", "paraphrased", "one false", "clarify", "small talk", "place", "rewritten", "nothing"],
)
def test_what_a_turn_costs(said: Said, model: Script, calls: str) -> None:
    turn = said(script=model)
    assert " ".join(model.roles) == calls and turn.view.usage.llm_calls == len(model.roles)


def test_with_a_model_it_says_what_is_small_talk(said: Said) -> None:
    turn = said("Nice weather today, right?", Script(router="small talk"))
    assert turn.way == "router generate validate end" and "You are welcome, see [address" in turn.text
    assert turn.state.answer and turn.state.answer.is_small_talk
    real = said("ok, and the tickets?", model := script(TICKET))
    assert real.text == TICKET[0] and model.roles[0] == "router"
