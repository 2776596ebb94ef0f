"""What a chat does with the grades of its passages: answer, search again, or answer with a caveat."""

from __future__ import annotations

import pytest

from agent.workbench import Workbench
from tests.agent.flows.chat.test_flow import RETRY, THRICE, Said
from tests.web.chatting_model import KIOSK, QUOTE, TICKET, Script, passage_ids, stock_kiosks

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("scores", "way"),
    [
        ([0.9, 0.5, 0.5], "router retrieve grade generate validate end"),
        ([0.9, 0.9, 0.49], f"{THRICE} generate_caveat validate end"),
        ([1.0, 1.0], f"{THRICE} generate_caveat validate end"),
        ([], f"{THRICE} generate_caveat validate clarify_final respond"),
    ],
)
def test_three_relevant_passages_are_enough_and_a_half_is_relevant(
    said: Said, scores: list[float], way: str
) -> None:
    assert said(script=Script(grade=[scores])).way == way


def test_the_writer_is_shown_what_was_graded_as_relevant_and_nothing_else(said: Said) -> None:
    turn = said(script=(script := Script(grade=[[0.9, 0.8, 0.5, 0.49]])))
    [prompt] = script.of("generate")
    shown = {doc.heading for doc in turn.state.own.retrieved_docs[:3]}
    assert prompt.count("<passage-") == 3 and turn.state.own.retrieved_docs[3].heading not in shown
    assert turn.way == "router retrieve grade generate validate end"


def test_one_passage_that_answers_alone_is_enough_unless_the_setting_says_no(
    said: Said, bench: Workbench
) -> None:
    def first_alone(prompt: str) -> dict[str, object]:
        return {
            "grades": [
                {"passage_id": name, "score": float(n == 0), "answers_alone": n == 0}
                for n, name in enumerate(passage_ids(prompt))
            ]
        }

    turn = said(script=(script := Script(grade=first_alone)))
    assert turn.way == "router retrieve grade generate validate end" and turn.text == TICKET[0]
    assert script.of("generate")[0].count("<passage-") == 1 and turn.state.own.retry_count == 0
    bench.config.CHAT_ONE_PASSAGE = False
    turn = said(script=Script(grade=first_alone))
    assert turn.way == f"{THRICE} generate_caveat validate end"


def test_only_passages_that_are_new_are_graded_on_a_retry(said: Said, bench: Workbench) -> None:
    stock_kiosks(bench)
    script = Script(grade=[[0.9, 0.1], 0.8], rewrite="harbour kiosk")
    turn = said(script=script)
    first, second = script.of("grade")
    assert turn.way == f"router retrieve grade {RETRY} generate validate end"
    assert len(passage_ids(second)) == 3 and QUOTE in first and QUOTE not in second
    assert all(KIOSK.format(n=n) in second and KIOSK.format(n=n) not in first for n in range(3))
    own = turn.state.own
    assert own.doc_relevance_scores.count(0.8) == 3 and own.doc_relevance_scores[0] == 0.9


def test_passages_that_the_grader_forgot_or_made_up_do_not_count(said: Said) -> None:
    grades = {"grades": [{"passage_id": name, "score": 1.0} for name in ("nowhere", "p9", "", "x")]}
    turn = said(script=Script(grade=grades))
    assert set(turn.state.own.doc_relevance_scores) == {0.0} and turn.state.own.grades == {}
    assert turn.way == f"{THRICE} generate_caveat validate clarify_final respond"
