"""The Chat screen, whole: first visit, an answer with its way and grades, follow-ups, questions back, places,
scope, documents, failures."""

from __future__ import annotations

import pytest

from agent.errors import ModelUnavailable
from agent.types import Settings
from pages.widgets.chat import scope, turn
from pages.widgets.shell import client
from tests.pages.conftest import find_button, shown
from tests.web.chatting_model import ASKED, QUOTE, Script, given, stocked

pytestmark = pytest.mark.slow

EVIL = "<img src=x onerror=alert(1)> and <b>what</b> of the ferry?"


def _turn(bench, question=ASKED, *, after="", model="auto", **settings) -> str:
    chosen = Settings(flow="chat", model=model, **settings)
    run_id = bench.follow_up(after, question, chosen) if after else bench.start(question, chosen)
    bench.drive(run_id)
    return run_id


def test_a_first_visit_offers_the_demo_and_its_examples(app, bench):
    tester = app("chat")
    assert not tester.exception and "nothing to talk about yet" in shown(tester) and not tester.chat_input
    assert "No conversation yet" in shown(tester)
    find_button(tester, "Add the demo knowledge base").click().run()
    assert not tester.exception and len(tester.chat_input) == 1 and tester.session_state[scope.DEMO_KEY]
    find_button(tester, "What does the Harbour edition cost?").click().run()
    run_id = (
        tester.query_params["run"][0]
        if isinstance(tester.query_params["run"], list)
        else tester.query_params["run"]
    )
    bench.drive(run_id)
    text = shown(tester.run())
    assert not tester.exception and "48 euros" in text and "invented: nothing in them" in text


def test_an_answer_shows_its_quotes_and_on_demand_its_way_and_grades(app, bench):
    stocked(bench)
    given(bench, Script())
    run_id = _turn(bench)
    tester = app("chat", run=run_id)
    text = shown(tester)
    assert (
        not tester.exception
        and "38 kronor" in text
        and 'class="cite"' in text
        and "page?run=" in text
        and "flowchart" not in text
    )
    tester.session_state[f"chat-how-{run_id}"] = True
    text = shown(tester.run())
    assert (
        "RETRIEVE — so it is" in text
        and "Workflow: router → retrieve → grade" in text
        and "flowchart TD" in text
    )
    tester = app("chat", run=run_id)
    tester.session_state[f"chat-how-{run_id}"], tester.session_state[f"chat-tab-{run_id}"] = (
        True,
        "Passages and grades",
    )
    text = shown(tester.run())
    assert "relevant" in text and QUOTE in text and "&amp;from=" in text


def test_thanks_are_answered_in_kind_without_a_form_or_a_badge(app, bench):
    stocked(bench)
    given(bench, Script(router="small talk"))
    tester = app("chat", run=_turn(bench, "thanks!"))
    text = shown(tester)
    assert (
        not tester.exception
        and "You are welcome" in text
        and "A clarifying question" not in text
        and "does not answer" not in text
    )
    assert {button.label for button in tester.button}.isdisjoint(
        {"Answer", "Open as research"}
    ) and tester.chat_input[0].placeholder == "Ask a follow-up"


def test_a_model_that_fails_is_told_at_the_answer(app, bench):
    stocked(bench)
    gone = ModelUnavailable("the server of the model burned down")
    given(bench, Script(generate=gone))
    text = shown(app("chat", run=_turn(bench)))
    assert "burned down" in text and "38 kronor" not in text


def test_a_model_server_that_is_away_is_told_beside_the_box(app, bench):
    stocked(bench)
    bench.config.OPENAI_BASE_URL, bench.config.OPENAI_API_KEY = "http://127.0.0.1:9/v1", "x"
    told = [caption.value.replace("\\", "") for caption in app("chat").caption]
    assert any("without a model: quoted sentences (" in line and "127.0.0.1:9" in line for line in told)
    assert "127.0.0.1:9" in client.explain_missing_model()


def test_long_and_evil_texts_stay_text(app, bench):
    stocked(bench)
    long = f"{EVIL} {'and so on ' * 300}"
    tester = app("chat", run=_turn(bench, long[:3900]))
    assert not tester.exception and "<img" not in shown(tester) and "&lt;b&gt;what" in shown(tester)


def test_of_a_long_conversation_the_newest_turns_are_drawn(app, bench):
    stocked(bench)
    given(bench, Script())
    run_id = _turn(bench)
    for n in range(8):
        run_id = _turn(bench, f"Question {n} on the ferry ticket?", after=run_id)
    tester = app("chat", run=run_id)
    assert "Question 7" in shown(tester) and "Question 0" not in shown(tester)
    tester.toggle(key="chat-opened-all").set_value(True).run()
    assert "Question 0" in shown(tester) and ASKED in shown(tester)


def test_an_answer_is_streamed_to_who_waits_for_it_once(app, bench, monkeypatch):
    monkeypatch.setattr(turn, "WORD_S", 0.0)
    monkeypatch.setattr(turn, "MIN_STREAM_S", 0.0)
    stocked(bench)
    run_id = _turn(bench)
    tester = app("chat")
    tester.session_state[turn.STREAM_RUN_KEY] = run_id
    tester.query_params["run"] = run_id
    tester.run()
    assert (
        not tester.exception
        and turn.STREAM_RUN_KEY not in tester.session_state
        and "38 kronor" in shown(tester)
    )


def test_a_run_of_another_kind_is_sent_where_it_belongs(app, demo):
    assert "This run is no conversation" in shown(app("chat", run=demo()))
    assert "no run called" in shown(app("chat", run="nothing"))
