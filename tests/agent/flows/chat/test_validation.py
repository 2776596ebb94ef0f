"""The chat flow: validation of drafts, answers to clarifying questions, budget and failures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agent.errors import ModelUnavailable, UsageError
from agent.flows.chat import retrieve
from agent.types import LibraryScope, Status
from agent.workbench import Workbench
from tests.web.chatting_model import ASKED, QUOTE, TICKET, Script, Talk, Turned, given

pytestmark = pytest.mark.slow

Said = Callable[..., Turned]


def test_a_quote_that_does_not_stand_in_its_passage_is_never_grounded_whatever_the_model_says(
    said: Said,
) -> None:
    script = Script(generate=[[("It costs 99 kronor.", "A ticket costs 99 kronor.")]])
    turn = said(script=script)
    assert turn.path[-2:] == ["clarify_final", "respond"] and "99" not in turn.text
    assert turn.state.own.groundings[-1].by == "code"


def test_a_right_half_is_told_with_what_it_leaves_open_after_one_search_for_the_rest(said: Said) -> None:
    script = Script(open="What it costs for dogs is left open.", rewrite=["dogs on the ferry", "two"])
    turn = said(script=script)
    assert turn.way == (
        "router retrieve grade generate validate rewrite_final retrieve grade generate validate end"
    )
    assert "dogs is left open" in script.of("rewrite")[0] and QUOTE in script.of("rewrite")[0]
    assert "dogs is left open" in script.of("generate")[1]
    answer = turn.state.answer
    assert answer and turn.text == TICKET[0] and answer.open == "What it costs for dogs is left open."


def test_a_document_is_read_from_end_to_end_and_summarised(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrieve, "SECTION_CHARS", 200)
    points = [
        ("It crosses the sound in 25 minutes.", "crosses the sound to Skarholm in 25 minutes"),
        ("It was built in 1987.", "It was built by Olga Lindmark in 1987 and carries 24 cars."),
    ]
    script = Script(router="READ_DOCUMENT", read_section=[points], generate=[points])
    turn = said("Summarise the ferry's page.", script, scope=LibraryScope(tags=["ferry"]))
    assert turn.way == "router read_document generate validate end"
    assert turn.text == " ".join(text for text, _ in points)
    assert script.roles[0] == "router" and script.roles[-2:] == ["generate", "check_claims"]
    assert script.roles.count("read_section") > 1
    assert "1. The Brannvik ferry" in script.of("router")[0]
    assert "38 kronor" in "".join(script.of("read_section")), "all of it is read"
    assert "38 kronor" not in script.of("generate")[0], "what is written up are the points"


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
    assert turn.way == "router clarify respond retrieve grade generate validate end"
    assert turn.status is Status.DONE
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


def test_a_person_who_will_not_wait_gets_the_draft_as_far_as_it_is_backed(
    said: Said, bench: Workbench
) -> None:
    wrong = ("It costs 99 euros.", QUOTE)
    judge = {"generate": [[TICKET, wrong]], "check_claims": lambda said, quotes: said == TICKET[0]}
    given(bench, script := Script(**judge))
    run_id = bench.start(ASKED, Talk(bench, script=script).settings)

    def stop() -> None:
        if bench.snapshot(run_id).next == "validate" and not bench.snapshot(run_id).state.stop_reason:
            bench.act(run_id, "finish")

    bench.drive(run_id, watch=stop)
    turn = Turned(bench, run_id)
    answer = turn.state.answer
    assert turn.path[-3:] == ["finish", "validate", "end"] and answer
    assert answer.text == "A ticket costs 38 kronor."
    assert answer.verdict == "answered" and "before its checks were finished" in answer.certainty


def test_roles_that_fail_are_skipped_and_told_and_without_its_writer_a_turn_rests(
    said: Said, bench: Workbench
) -> None:
    down = ModelUnavailable("The server is down.")
    turn = said(script=Script(router=down, grade=down, rewrite=down))
    assert turn.text == TICKET[0] and turn.state.own.speakers["router"].trouble == "The server is down."
    run_id = bench.start(ASKED, Talk(bench, script=Script(generate=down)).settings)
    bench.drive(run_id)
    resting = bench.snapshot(run_id)
    assert resting.state.answer is None and resting.next == "generate"
    bench.act(run_id, "drop_model")
    bench.drive(run_id)
    assert "38 kronor" in Turned(bench, run_id).text, "on without the model: the passages"
