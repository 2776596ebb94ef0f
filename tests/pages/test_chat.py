"""The Chat screen, whole: first visit, an answer with its way and grades, follow-ups, questions back, places,
scope, documents, failures."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent.errors import ModelUnavailable
from agent.flows.chat.state import ChatRun
from agent.types import LibraryScope, Settings, Status, Turn
from pages.widgets.chat import message_box, places_map, scope, turn
from pages.widgets.shell import client
from tests.pages.conftest import shown
from tests.web.chatting_model import ASKED, QUOTE, Script, given, stocked

pytestmark = pytest.mark.slow

EVIL = "<img src=x onerror=alert(1)> and <b>what</b> of the ferry?"


def _button(tester, label):
    return next(
        button for button in tester.button if button.label.replace("\\", "").split("  \n")[0] == label
    )


def _turn(bench, question=ASKED, *, after="", model="auto", **settings) -> str:
    chosen = Settings(flow="chat", model=model, **settings)
    run_id = bench.follow_up(after, question, chosen) if after else bench.start(question, chosen)
    bench.drive(run_id)
    return run_id


def test_a_first_visit_offers_the_demo_and_its_examples(app, bench):
    tester = app("chat")
    assert not tester.exception and "nothing to talk about yet" in shown(tester) and not tester.chat_input
    assert "No conversation yet" in shown(tester)
    _button(tester, "Add the demo knowledge base").click().run()
    assert not tester.exception and len(tester.chat_input) == 1 and tester.session_state[scope.DEMO_KEY]
    _button(tester, "What does the Harbour edition cost?").click().run()
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


def test_a_follow_up_says_what_it_was_read_as(app, bench):
    stocked(bench)
    given(
        bench,
        Script(router=["RETRIEVE", "REWRITE_THEN_RETRIEVE"], rewrite="price of a ferry ticket for children"),
    )
    first = _turn(bench)
    tester = app("chat", run=first)
    tester.chat_input[0].set_value("And for children?").run()
    newest = bench.thread(first)[-1]
    assert newest != first and newest in tester.query_params["run"]
    bench.drive(newest)
    text = shown(app("chat", run=newest))
    assert ASKED in text and "And for children?" in text


def test_a_question_back_is_a_form_and_its_answer_goes_on(app, bench):
    stocked(bench)
    unclear = {"route": "ASK_CLARIFICATION", "reasoning": "it is unclear"}
    given(bench, Script(router=unclear, clarify="Which crossing do you mean?"))
    run_id = _turn(bench, "What does it cost?")
    assert bench.snapshot(run_id).run.status is Status.WAITING
    tester = app("chat", run=run_id)
    assert (
        not tester.exception
        and "A clarifying question" in shown(tester)
        and tester.chat_input[0].placeholder == "Answer, or ask something else"
    )
    assert [str(option) for option in tester.radio[0].options] == ["the ferry", "the lighthouse"]
    _button(tester, "Answer").click().run()
    assert "Pick an answer" in tester.warning[0].value.replace("\\", "")
    tester.radio[0].set_value("0").run()
    _button(tester, "Answer").click().run()
    bench.drive(run_id)
    text = shown(app("chat", run=run_id))
    assert "Which crossing do you mean?" in text and "the ferry" in text and "38 kronor" in text


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


def test_places_have_a_map_and_a_table_with_distances(app, bench):
    stocked(bench)
    given(bench, Script(router="LOCATION_SEARCH"))
    tester = app("chat", run=_turn(bench, "Where is the nearest clinic to Brannvik?"))
    text = shown(tester)
    assert not tester.exception and "Norra Clinic" in text and "No." in text and "10.0 km" in text
    assert any("Map: 3 places of the kind clinic" in str(image.proto) for image in tester.get("image"))


def test_distances_read_as_people_say_them():
    assert [places_map.format_distance(km) for km in (None, 0.004, 0.26, 3.44, 128.2)] == [
        "–",
        "0 m",
        "260 m",
        "3.4 km",
        "128 km",
    ]


def test_what_the_library_does_not_know_becomes_research(app, bench):
    stocked(bench, places=False)
    run_id = _turn(bench, "Which orchestra played at the opening of the opera in Valparaiso?")
    tester = app("chat", run=run_id)
    assert not tester.exception and "The library does not answer this" in shown(tester)
    _button(tester, "Open as research").click().run()
    assert not tester.exception and {run.settings.flow for run in bench.runs()} == {"chat", "research"}


def test_research_asks_what_the_person_wrote_and_not_what_the_library_says():
    """A model completes a question from an answer, which quotes a private file."""
    earlier = Turn(user="Who owns the ferry Vinga?", bot="Zyxantor Holdings owns it.")
    state = ChatRun(
        question="And when was it built?", asked="When was Zyxantor Holdings built?", history=[earlier]
    )
    assert turn.complete_typed_question(state) == "And when was it built? Vinga"
    assert turn.complete_typed_question(state.model_copy(update={"history": []})) == "And when was it built?"


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


def test_the_scope_comes_from_the_address_and_holds(app, bench):
    stocked(bench)
    tester = app("chat", tag="light")
    assert scope.describe(
        LibraryScope()
    ) == "everything in the library" and "but the invented demo pages" in scope.describe(
        LibraryScope(), demo=False
    )
    assert scope.describe(LibraryScope(tags=["light"])) == "#light" and tester.session_state[
        scope.TAGS_KEY
    ] == ["light"]
    tester.chat_input[0].set_value("How high is the lighthouse?").run()
    run = bench.runs()[0]
    assert run.settings.scope.tags == ["light"]
    bench.drive(run.id)
    tester = app("chat", run=run.id)
    assert "31 metres" in shown(tester)
    _button(tester, "Talk about everything").click().run()
    tester.chat_input[0].set_value("What is the ship called?").run()
    assert bench.snapshot(bench.thread(run.id)[-1]).run.settings.scope.is_unlimited


def test_documents_sent_with_a_message_are_added_and_refused_by_themselves(app, bench, monkeypatch):
    stocked(bench)
    tester = app("chat")
    sent = SimpleNamespace(
        text="", files=[_file("notes.txt", b"The gate opens at seven."), _file("broken.pdf", b"%PDF-1.4 no")]
    )
    chat_box = tester.chat_input[0]
    assert chat_box.placeholder == "Ask what the library may know"
    told = []
    monkeypatch.setattr(client, "set_notice", lambda kind, text: told.append((kind, text)))
    state = {message_box.INPUT_KEY: sent}
    monkeypatch.setattr(message_box.st, "session_state", state)
    message_box._handle_submit(Settings(flow="chat"), "")
    assert bench.library.source("kb:notes.txt").passages == 1 and state[scope.DOCUMENTS_KEY] == [
        "kb:notes.txt"
    ]
    assert told[0][0] == "warning" and "broken.pdf" in told[0][1] and "1 document added" in told[0][1]


def _file(name, data):
    return SimpleNamespace(name=name, getvalue=lambda: data)


def test_a_turn_that_was_stopped_or_still_works_is_told(app, bench):
    stocked(bench)
    run_id = bench.start(ASKED, Settings(flow="chat"))
    tester = app("chat", run=run_id)
    assert not tester.exception and 'role="status"' in shown(tester) and tester.chat_input[0].proto.disabled
    _button(tester, "Stop").click().run()
    bench.drive(run_id)
    tester = app("chat", run=run_id)
    assert not tester.exception and "Stopped" in shown(tester)


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
