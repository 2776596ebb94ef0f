"""The chat flow: validation of drafts, answers to clarifying questions, budget and failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agent.errors import ConcurrentChange, ModelUnavailable, UsageError
from agent.types import Status
from agent.workbench import Workbench
from tests.web.chatting_model import ASKED, QUOTE, TICKET, Script, Talk, Turned, given, stock_kiosks

pytestmark = pytest.mark.slow

RETRY = "rewrite_retry retrieve grade"
THRICE = f"router retrieve grade {RETRY} {RETRY}"
Said = Callable[..., Turned]
UNCLEAR = {"route": "ASK_CLARIFICATION", "reasoning": "it is unclear"}
"""The router sees that a question is unclear and asks nothing itself."""


def test_an_ungrounded_draft_is_looked_for_from_another_angle_twice_and_then_the_person_is_asked(
    said: Said,
) -> None:
    turn = said(script=(script := Script(validate=False, rewrite=["one", "two"])))
    again = "rewrite_final retrieve grade generate validate"
    assert (
        turn.way == f"router retrieve grade generate validate {again} {again} clarify_final respond"
        and turn.status is Status.WAITING
    )
    assert turn.state.own.retry_count == 2 and turn.state.own.queries == [ASKED, "one", "two"]
    assert [verdict.grounded for verdict in turn.state.own.groundings] == [False] * 3
    assert (
        "it says more than it may" in script.of("rewrite")[0]
        and "it says more than it may" in script.of("clarify")[0]
    )
    assert turn.state.own.needs_clarification == "Which one?" and turn.state.own.choices == [
        "the ferry",
        "the lighthouse",
    ]


def test_the_retries_of_grading_and_validation_are_the_same(said: Said, bench: Workbench) -> None:
    stock_kiosks(bench)
    rewrites = ["harbour kiosk", "price of a crossing"]
    turn = said(script=Script(grade=[[0.9], 0.9], validate=[False, True], rewrite=rewrites))
    assert (
        turn.way
        == f"router retrieve grade {RETRY} generate validate rewrite_final retrieve grade generate validate end"
    )
    assert turn.state.own.retry_count == 2


def test_a_best_effort_that_does_not_hold_is_not_told(said: Said) -> None:
    turn = said(script=Script(grade=[[0.9]], validate=False, rewrite=["one", "two"]))
    assert turn.way == f"{THRICE} generate_caveat validate clarify_final respond"
    assert turn.text == "Which one?" and turn.seed["draft_answer"] == "A ticket costs 38 kronor.", (
        "the draft is kept for whoever looks"
    )


def test_a_quote_that_does_not_stand_in_its_passage_is_never_grounded_whatever_the_model_says(
    said: Said,
) -> None:
    script = Script(generate=[[("It costs 99 kronor.", "A ticket costs 99 kronor.")]], validate=True)
    turn = said(script=script)
    assert turn.path[-2:] == ["clarify_final", "respond"] and "99" not in turn.text
    assert script.roles.count("validate") == 0, "code has seen enough"
    assert turn.state.own.groundings[-1].by == "code"


def test_a_figure_that_the_quote_does_not_hold_is_not_told(said: Said) -> None:
    turn = said(script=Script(generate=[[("A ticket costs 83 kronor.", QUOTE)]], validate=True))
    assert "83" not in turn.text


def test_nothing_written_is_not_grounded(said: Said) -> None:
    turn = said(script=Script(generate=[[]]))
    assert turn.path[-2:] == ["clarify_final", "respond"]
    assert turn.state.own.groundings[-1].reason == "What was found does not answer the question."


def test_keyless_an_answer_is_quoted_and_its_sources_are_named(said: Said) -> None:
    turn = said("When does the last ferry leave Brannvik?")
    assert turn.way == "router retrieve grade generate validate end" and "22:10" in turn.text
    [source] = turn.seed["sources"]
    assert source["title"] == "The Brannvik ferry" and any("22:10" in quote for quote in source["quotes"])
    answer = turn.state.answer
    assert (
        answer and answer.by == "keyless" and answer.statements.unsupported == answer.statements.dropped == 0
    )
    assert all(fact.verified for fact in turn.state.facts.values())


def test_keyless_what_the_library_does_not_hold_is_said_and_asked_back(said: Said) -> None:
    turn = said("What colour is the moon of Zanzibar?")
    assert turn.path[-2:] == ["clarify_final", "respond"] and turn.status is Status.WAITING
    assert "could not find an answer" in turn.text
    assert all("Zanzibar" in query and "moon" in query for query in turn.state.own.queries), (
        "no search asked for less"
    )


def answer(bench: Workbench, turn: Turned, text: str) -> Turned:
    bench.act(turn.id, "respond", turn.view.head, text=text)
    bench.drive(turn.id)
    return Turned(bench, turn.id)


def test_a_persons_answer_to_clarify_leads_to_retrieve(said: Said, bench: Workbench) -> None:
    asked = said("Who built it?", Script(router="ASK_CLARIFICATION"))
    assert (asked.way, asked.text, asked.state.own.needs_clarification) == (
        "router clarify respond",
        "Which ferry?",
        "Which ferry?",
    )
    turn = answer(bench, asked, "the Brannvik ferry")
    assert (
        turn.way == "router clarify respond retrieve grade generate validate end"
        and turn.status is Status.DONE
    )
    assert turn.state.own.queries == ["Who built it? the Brannvik ferry"] and turn.state.own.responses == [
        "the Brannvik ferry"
    ]
    assert turn.state.own.needs_clarification is None and turn.state.own.choices == []
    assert [message["content"] for message in turn.seed["messages"]] == [
        "Who built it?",
        "Which ferry?",
        "the Brannvik ferry",
        "A ticket costs 38 kronor.",
    ]


def test_a_persons_answer_to_clarify_final_starts_the_retries_anew(said: Said, bench: Workbench) -> None:
    rewrites = ["one", "two", "three"]
    asked = said(script=Script(validate=[False, False, False, False, True], rewrite=rewrites))
    assert asked.state.own.retry_count == 2
    turn = answer(bench, asked, "for children")
    after = turn.path[turn.path.index("respond") :]
    assert after == [
        "respond",
        "retrieve",
        "grade",
        "generate",
        "validate",
        "rewrite_final",
        "retrieve",
        "grade",
        "generate",
        "validate",
        "end",
    ]
    assert turn.state.own.retry_count == 1 and turn.state.own.queries[3] == f"{ASKED} for children"


def test_a_number_picks_a_choice(said: Said, bench: Workbench) -> None:
    turn = answer(bench, said("Who built it?", Script(router=UNCLEAR)), "2")
    assert (
        turn.state.own.responses == ["the lighthouse"]
        and turn.state.own.queries[0] == "Who built it? the lighthouse"
    )
    asked = said("Who built it?", Script(router=UNCLEAR))
    assert answer(bench, asked, "9").state.own.responses == ["9"], "there are two choices"


def test_it_can_be_asked_back_again_and_again(said: Said, bench: Workbench) -> None:
    turn = said(script=Script(validate=False, clarify=["First?", "Second?", "Third?"]))
    for n, expected in enumerate(["First?", "Second?", "Third?"], start=1):
        assert turn.text == expected and turn.status is Status.WAITING and len(turn.state.answers) == n
        turn = answer(bench, turn, f"answer {n}")
    assert turn.state.own.responses == ["answer 1", "answer 2", "answer 3"]


@pytest.mark.parametrize(
    ("text", "told"), [("", "is empty"), ("  \n", "is empty"), ("x" * 4001, "4,000 are the most")]
)
def test_an_answer_is_checked_before_it_is_written_down(
    said: Said, bench: Workbench, text: str, told: str
) -> None:
    asked = said("Who built it?", Script(router="ASK_CLARIFICATION"))
    with pytest.raises(UsageError, match=told):
        bench.act(asked.id, "respond", asked.view.head, text=text)
    assert bench.snapshot(asked.id).head == asked.view.head
    assert answer(bench, asked, "x" * 4000).state.own.responses == ["x" * 4000]


def test_only_what_is_asked_can_be_answered_and_only_once(said: Said, bench: Workbench) -> None:
    done = said(script=Script())
    with pytest.raises(ConcurrentChange):
        bench.act(done.id, "respond", done.view.head, text="the ferry")
    asked = said("Who built it?", Script(router="ASK_CLARIFICATION"))
    answer(bench, asked, "the ferry")
    with pytest.raises(ConcurrentChange):
        bench.act(asked.id, "respond", asked.view.head, text="the lighthouse")


def test_an_answer_given_after_another_tab_answered_is_overtaken(said: Said, bench: Workbench) -> None:
    asked = said(script=Script(validate=False))
    answer(bench, asked, "one")
    with pytest.raises(ConcurrentChange):
        bench.act(asked.id, "respond", asked.view.head, text="two")


def test_when_the_calls_are_used_up_the_draft_is_checked_by_rule(said: Said) -> None:
    turn = said(script=Script(), max_calls=3)
    assert (
        turn.way == "router retrieve grade generate validate end" and turn.text == "A ticket costs 38 kronor."
    )
    verdict = turn.state.own.groundings[-1]
    assert verdict.by == "keyless" and "3 of 3 model calls are used" in verdict.trouble


def test_when_the_budget_ends_a_draft_that_was_rejected_is_not_told(said: Said) -> None:
    turn = said(script=Script(validate=False), max_calls=5)
    assert turn.way == "router retrieve grade generate validate budget validate end" and "38" not in turn.text
    assert turn.state.answer and turn.state.answer.reason == "budget"


def test_a_person_who_will_not_wait_gets_the_draft_as_far_as_it_is_backed(
    said: Said, bench: Workbench
) -> None:
    given(bench, script := Script(generate=[[TICKET, ("It costs 99 euros.", QUOTE)]]))
    run_id = bench.start(ASKED, Talk(bench, script=script).settings)

    def stop() -> None:
        if bench.snapshot(run_id).next == "validate" and not bench.snapshot(run_id).state.stop_reason:
            bench.act(run_id, "finish")

    bench.drive(run_id, watch=stop)
    turn = Turned(bench, run_id)
    answer = turn.state.answer
    assert (
        turn.path[-3:] == ["finish", "validate", "end"]
        and answer
        and answer.text == "A ticket costs 38 kronor."
    )
    assert answer.verdict == "answered" and "before its checks were finished" in answer.certainty


def test_when_nothing_was_drafted_yet_it_is_said_why(said: Said) -> None:
    turn = said(script=Script(), max_calls=2)
    answer = turn.state.answer
    assert (
        turn.path[-3:] == ["budget", "validate", "end"]
        and answer
        and answer.reason == "budget"
        and "model calls are used" in answer.certainty
    )


def test_a_person_who_wants_no_more_asking_gets_an_honest_word(said: Said, bench: Workbench) -> None:
    asked = said("Who built it?", Script(router="ASK_CLARIFICATION"))
    bench.act(asked.id, "finish")
    bench.drive(asked.id)
    turn = Turned(bench, asked.id)
    assert (
        turn.path[-3:] == ["finish", "validate", "end"]
        and turn.status is Status.DONE
        and "No answer is given" in turn.text
    )


def test_a_model_that_fails_leaves_the_turn_to_the_rules_and_says_so(said: Said) -> None:
    down = ModelUnavailable("The server is down.")
    turn = said(script=Script(router=down, grade=down, generate=down, validate=down, rewrite=down))
    assert "38 kronor" in turn.text and turn.state.own.speakers["router"].trouble == "The server is down."
    assert turn.state.answer and turn.state.answer.by == "keyless" and "down" in turn.state.answer.trouble


@pytest.mark.parametrize("role", ["router", "grade", "generate", "validate"])
@pytest.mark.parametrize("said_", ["not JSON", "", {"nonsense": 1}])
def test_bad_json_is_asked_for_once_more_and_then_judged_by_rule(said: Said, role: str, said_: Any) -> None:
    script = Script(**{role: said_})
    turn = said(script=script)
    assert (
        script.roles.count(role) >= 1
        and turn.status in (Status.DONE, Status.WAITING)
        and turn.state.answer is not None
    )
    assert "38 kronor" in turn.text or turn.state.own.needs_clarification


def test_a_bad_reply_is_repaired_by_the_next(said: Said) -> None:
    script = Script(router=["not JSON", "RETRIEVE"])
    turn = said(script=script)
    assert (
        script.roles[:3] == ["router", "router", "grade"] and turn.state.own.speakers["router"].by == "model"
    )


def test_no_route_but_the_five_is_taken(said: Said) -> None:
    turn = said(script=Script(router={"route": "SING", "reasoning": "la"}))
    assert (
        turn.state.own.route_decision in {"RETRIEVE", "REWRITE_THEN_RETRIEVE"}
        and turn.state.own.speakers["router"].by == "keyless"
    )
