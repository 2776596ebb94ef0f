"""The Research screen, whole: asking, watching, deciding, and what it says when something cannot be."""

from __future__ import annotations

import pytest

from agent.types import Settings, Status
from pages.widgets.forms import form_page
from tests.pages.conftest import QUESTION, shown
from tests.web.researching_model import ASK, ROOF, Script, crawl, together
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow


def _button(tester, label):
    return next(button for button in tester.button if button.label.replace("\\", "") == label)


def test_the_first_minute_says_what_this_is_and_offers_examples(app):
    tester = app()
    assert not tester.exception
    text = shown(tester)
    assert (
        "Research you can check." in text and "There seems to be no network" in text and "No runs yet" in text
    )
    assert "without a model" in text.replace("\\", "")
    assert sum(button.key.startswith("research-example-") for button in tester.button) == len(
        form_page.list_examples("research")
    )
    assert tester.text_area[0].label == "Your question"


def test_an_empty_question_is_refused_in_words_and_starts_nothing(app, bench):
    tester = app()
    _button(tester, "Research").click().run()
    assert "There is no question yet" in tester.warning[0].value
    assert bench.runs() == []


def test_offline_never_switches_to_the_demo_by_itself(app, bench):
    tester = app()
    tester.text_area[0].set_value(QUESTION).run()
    _button(tester, "Research").click().run()
    assert bench.runs()[0].settings.world == "live"


def test_a_button_switches_to_the_demo_and_the_run_says_so(app, bench):
    tester = app()
    _button(tester, "Use the demo world instead").click().run()
    tester.text_area[0].set_value(QUESTION).run()
    _button(tester, "Research").click().run()
    run = bench.runs()[0]
    assert (run.settings.world, run.question) == ("demo", QUESTION)
    assert run.id in tester.query_params["run"]
    assert "band" in shown(tester) and "invented" in shown(tester)
    assert bench.draft("question") == ""


def test_options_reach_the_run(app, bench):
    tester = app()
    tester.number_input(key="research-max-steps").set_value(5).run()
    tester.slider(key="research-threshold").set_value(70).run()
    tester.segmented_control(key="research-mode").set_value("step").run()
    _button(
        tester, next(b.label for b in tester.button if b.key == "research-example-0").replace("\\", "")
    ).click().run()
    settings = bench.runs()[0].settings
    assert (settings.max_steps, settings.threshold, settings.mode, settings.world) == (5, 0.7, "step", "demo")


def test_an_example_is_answered_by_recorded_replies_and_leads_on(app, bench):
    app().button(key="research-example-1").click().run()
    [run] = bench.runs()
    bench.drive(run.id)
    tester = app(run=run.id)
    text = shown(tester)
    assert "Recorded model." in text and "written by the recorded model" in text
    assert "by the model" not in text and not tester.exception
    tester.button(key="research-recorded-act").click().run()
    bench.drive(run.id)
    assert "A person settled this" in shown(app(run=run.id))


def test_where_the_recorded_replies_end_there_are_two_ways_on(app, bench):
    tester = app()
    tester.number_input(key="research-max-steps").set_value(5).run()
    tester.button(key="research-example-0").click().run()
    [run] = bench.runs()
    bench.drive(run.id)
    tester = app(run=run.id)
    assert "Recorded until here" in shown(tester) and not tester.exception
    tester.button(key="research-halt-drop").click().run()
    bench.drive(run.id)
    assert bench.snapshot(run.id).state.answers[-1].verdict == "passages_found"


def test_a_draft_is_there_again(app, bench):
    bench.draft("question", "half a question")
    assert app().text_area[0].value == "half a question"


def test_a_finished_run_shows_its_answer_with_sources_and_can_be_accepted(app, demo, bench):
    run_id = demo()
    tester = app(run=run_id)
    assert not tester.exception
    text = shown(tester)
    assert "quoted word for word" in text and "31 people" in text and 'class="cite"' in text
    assert "Answer 1 written" in text and "page?run=" in text
    _button(tester, "Accept").click().run()
    assert bench.snapshot(run_id).run.status is Status.DONE
    assert "Accepted" in shown(tester) and not [
        button for button in tester.button if button.label == "Accept"
    ]


def test_sending_back_needs_a_note_and_keeps_what_was_typed(app, demo, bench):
    run_id = demo("How many solar panels are there on the roof of Älvmora Mejeri?", max_steps=2)
    tester = app(run=run_id)
    _button(tester, "Send back and continue").click().run()
    assert "what is wrong or missing" in tester.warning[0].value
    tester.text_area[0].set_value("And who is the head cheesemaker?").run()
    assert bench.draft(f"back:{run_id}") == "And who is the head cheesemaker?"
    _button(tester, "Send back and continue").click().run()
    assert bench.snapshot(run_id).run.status is Status.RUNNING
    bench.drive(run_id)
    tester = app(run=run_id)
    text = shown(tester)
    assert "You sent the answer back" in text and "Answer 2 written" in text
    assert any("What changed since answer 1" in expander.label for expander in tester.expander)


def test_step_by_step_every_answer_of_a_person_works(app, demo, bench):
    other = {**ASK, "query_or_url": "dairy jobs"}
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(Script(ASK, other, ASK).scripted), "")
    run_id = demo(mode="step")
    bench.act(run_id, "approve", bench.snapshot(run_id).head)  # the plan
    bench.drive(run_id)
    tester = app(run=run_id)
    assert "Next step, if you approve (step 1)" in shown(tester)
    _button(tester, "Skip, propose another").click().run()
    bench.drive(run_id)
    tester.run()
    assert "You skipped the decision" in shown(tester)
    key = next(area.key for area in tester.text_area if area.key.startswith("change:"))
    choice = next(box for box in tester.selectbox if box.key.startswith("research-change-action"))
    choice.set_value("crawl_url").run()
    address = next(area for area in tester.text_area if area.key.startswith("change:"))
    assert not address.value, "words to search for are no address"
    choice = next(box for box in tester.selectbox if box.key.startswith("research-change-action"))
    choice.set_value("search_duckduckgo").run()
    tester.text_area(key=key).set_value("people at the dairy").run()
    _button(tester, "Do this").click().run()
    pending = bench.snapshot(run_id).state.pending
    assert pending.query_or_url == "people at the dairy"
    assert "(proposed: search the demo world " in pending.reasoning
    bench.drive(run_id)
    tester.run()
    assert "You changed the decision" in shown(tester)
    _button(tester, "Approve").click().run()
    assert "You approved the decision" in shown(tester)


def test_each_action_of_a_round_is_decided_on_by_itself(app, demo, bench):
    asked = {"next_action": "ask", "query_or_url": "Which dairy?", "choices": ["the old one", "the new one"]}
    round_of_three = together(ASK, {**ASK, "query_or_url": "dairy jobs"}, asked)
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(Script(round_of_three).scripted), "")
    run_id = demo(mode="step")
    while not (pending := bench.snapshot(run_id).state.pending) or not pending.beside:  # plan, first search
        bench.act(run_id, "approve", bench.snapshot(run_id).head)
        assert bench.drive(run_id) is Status.WAITING
    tester = app(run=run_id)
    text = shown(tester)
    assert "3 actions side by side, 3 to decide" in text and "Which dairy?" in text
    tester.button(key="research-approve-0").click().run()
    assert "2 to decide" in shown(tester)
    _button(tester, "the new one").click().run()
    assert bench.snapshot(run_id).state.notes[-1].text == "Which dairy? the new one"
    tester.button(key="research-skip-1").click().run()
    assert bench.snapshot(run_id).run.status is Status.RUNNING
    bench.drive(run_id)
    assert [action.query_or_url for action in bench.snapshot(run_id).state.actions[1:]] == [
        ASK["query_or_url"]
    ]


def test_the_second_answer_to_one_decision_is_told_kindly(app, demo, bench):
    run_id = demo(mode="step")
    tester = app(run=run_id)
    bench.act(run_id, "approve", bench.snapshot(run_id).head)  # in another tab
    _button(tester, "Approve").click().run()
    assert "This is how it stands now" in tester.info[0].value.replace("\\", "")


def test_stop_and_go_on(app, demo, bench):
    run_id = demo(mode="step")
    tester = app(run=run_id)
    _button(tester, "Stop").click().run()
    assert bench.snapshot(run_id).run.status is Status.STOPPED
    tester.text_area(key=f"note:{run_id}").set_value("Look in the register").run()
    tester.checkbox(key=f"private:note:{run_id}").check().run()
    _button(tester, "Send guidance").click().run()
    [note] = bench.snapshot(run_id).state.notes
    assert note.text == "Look in the register" and note.private
    assert "Noted" in tester.success[0].value
    _button(tester, "Continue").click().run()
    assert bench.snapshot(run_id).run.status is not Status.STOPPED


def test_an_unknown_run_says_what_to_do(app):
    tester = app(run="nosuchrun")
    assert not tester.exception
    assert "There is no run called nosuchrun" in shown(tester)


def test_each_tab_is_drawn(app, demo):
    gone = "https://granvattnet-courier.example/2024/02/11/ferry"
    read, unread = demo(), demo(f"What does {gone} say about the ferry?")
    for name, expected in {
        "Facts": "verbatim quote",
        "Confidence": "No confidence yet",
        "Sources": "Trust, and why",
        "Source graph": "Click a page",
        "Unavailable sources": "Page: ",
        "Conflicts": "onflict",
        "Model calls": "No model was asked",
    }.items():
        tester = app(run=unread if name == "Unavailable sources" else read)
        tester.session_state["research-tab"] = name
        tester.run()
        assert not tester.exception, name
        assert expected in shown(tester), name


def test_the_threshold_is_moved_and_the_sources_are_told_on_the_runs_own_screen(app, demo, bench):
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(Script(ASK, crawl(ROOF)).scripted), "")
    run_id = demo()
    tester = app(run=run_id)
    tester.session_state["research-tab"] = "Confidence"
    tester.run()
    assert "= confidence" in shown(tester)
    tester.slider(key=f"research-goal-{run_id}").set_value(75).run()
    assert bench.snapshot(run_id).run.settings.threshold == 0.75
    tester.session_state["research-tab"] = "Sources"
    tester.run()
    assert "Trust, and why" in shown(tester)


def test_the_sources_are_chosen_beside_the_question_and_told_above_the_run(app, bench):
    tester = app()
    next(field for field in tester.text_input if field.label == "Never these domains").set_value(
        "b.example, c.example"
    ).run()
    next(field for field in tester.selectbox if field.label == "Language of the pages").set_value("sv").run()
    tester.text_area[0].set_value(QUESTION).run()
    _button(tester, "Research").click().run()
    settings = bench.runs()[0].settings
    assert (settings.blocked_domains, settings.language) == (["b.example", "c.example"], "sv")
    assert "Sources: never b.example, c.example; in Swedish." in shown(tester)


def test_a_run_that_waits_for_its_model_says_so_and_can_go_on_without_it(app, bench, monkeypatch):
    run_id = bench.start(QUESTION, Settings(world="demo"))
    told = "Paused: The model server llm.example does not answer; it is asked again once a minute."
    monkeypatch.setattr(bench.worker, "describe_outage", lambda _run_id: told)
    tester = app(run=run_id)
    assert told in shown(tester) and "Nothing is lost or paid twice" in shown(tester)
    assert "no answer from the model" in shown(tester)
    _button(tester, "Go on without the model").click().run()
    assert bench.snapshot(run_id).run.settings.model == "keyless"
    assert [step.name for step in bench.snapshot(run_id).steps][-1] == "drop_model"
