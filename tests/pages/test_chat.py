"""The Chat screen, whole: first visit, an answer with its way and grades, follow-ups, questions back, places,
scope, documents, failures."""

from __future__ import annotations

import pytest

from agent.errors import ModelUnavailable
from agent.types import Settings
from pages.widgets.shell import client
from tests.pages.conftest import shown
from tests.web.chatting_model import ASKED, Script, given, stocked

pytestmark = pytest.mark.slow

EVIL = "<img src=x onerror=alert(1)> and <b>what</b> of the ferry?"


def _turn(bench, question=ASKED, *, after="", model="auto", **settings) -> str:
    chosen = Settings(flow="chat", model=model, **settings)
    run_id = bench.follow_up(after, question, chosen) if after else bench.start(question, chosen)
    bench.drive(run_id)
    return run_id


def test_thanks_are_answered_in_kind_without_a_form_or_a_badge(app, bench):
    stocked(bench)
    given(bench, Script(router="small talk"))
    tester = app("chat", run=_turn(bench, "thanks!"))
    text = shown(tester)
    assert not tester.exception and "You are welcome" in text and "A clarifying question" not in text
    assert "does not answer" not in text
    assert {button.label for button in tester.button}.isdisjoint(
        {"Answer", "Open as research"}
    ) and tester.chat_input[0].placeholder == "Ask a follow-up"


def test_a_model_that_fails_is_told_at_the_answer(app, bench):
    stocked(bench)
    gone = ModelUnavailable("the server of the model burned down")
    given(bench, Script(generate=gone))
    text = shown(app("chat", run=_turn(bench)))
    assert "burned down" in text and 'class="sentence' not in text


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


def test_a_run_of_another_kind_is_sent_where_it_belongs(app, demo):
    tester = app("chat", run=demo())
    assert not tester.exception and "How this was found" in shown(tester)
    assert "no run called" in shown(app("chat", run="nothing"))


def test_a_message_that_is_refused_stands_in_the_box_again(app, bench):
    stocked(bench)
    long = "word " * 900
    for run_id in ("", _turn(bench)):
        tester = app("chat", **({"run": run_id} if run_id else {}))
        tester.chat_input[0].set_value(long).run()
        assert "are the most" in shown(tester)
        assert tester.chat_input[0].proto.value == bench.store.draft("chat:say") == long
    tester.chat_input[0].set_value(ASKED).run()
    assert len(bench.runs()) == 2 and not bench.store.draft("chat:say")


def test_an_answer_to_a_question_back_stays_until_it_is_taken(app, bench):
    stocked(bench)
    given(bench, Script(router="ASK_CLARIFICATION"))
    run_id = _turn(bench, "What does it cost?")
    bench.store.draft("chat:say", "something else")
    tester, field = app("chat", run=run_id), f"clarify:{run_id}"
    tester.text_area(key=field).set_value("The ferry").run()
    bench.act(run_id, "respond", text="The bus")
    tester.button(key="chat-clarify-send").click().run()
    assert not tester.exception and bench.store.draft(field) == "The ferry"
    assert bench.store.draft("chat:say") == "something else"
