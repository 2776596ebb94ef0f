"""The Research screen, whole: asking, watching, deciding, and what it says when something cannot be."""

from __future__ import annotations

import pytest

from agent.types import Settings, Status
from pages.widgets.research import plan_panel
from tests.pages.conftest import QUESTION, find_button, open_tab, shown
from tests.web.researching_model import ASK, ROOF, Script, crawl
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow


def test_what_is_opened_of_another_run_is_not_shown_in_this_one(app, demo):
    other, run_id = demo(), demo("In which year was Älvmora Mejeri founded?")
    assert "evidence-said" in shown(app(run=run_id, see=f"{run_id}.a1.s1"))
    tester = app(run=run_id, see=f"{other}.a1.s1")
    assert "evidence-said" not in shown(tester) and any(tab.label == "Facts" for tab in tester.tabs)


def test_offline_never_switches_to_the_demo_by_itself(app, bench):
    tester = app()
    tester.text_area[0].set_value(QUESTION).run()
    find_button(tester, "Research").click().run()
    assert bench.runs()[0].settings.world == "live"


def test_options_reach_the_run(app, bench):
    tester = app()
    tester.number_input(key="research-max-steps").set_value(5).run()
    tester.slider(key="research-threshold").set_value(70).run()
    tester.segmented_control(key="research-mode").set_value("step").run()
    find_button(
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
    assert "demo world, recorded model" in text and "31 on 1 September 2026" in text
    assert not tester.exception
    tester.button(key="research-recorded-act").click().run()
    bench.drive(run.id)
    assert "you decided: " in shown(app(run=run.id))


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


def test_stop_and_go_on(app, demo, bench):
    run_id = demo(mode="step")
    tester = app(run=run_id)
    find_button(tester, "Stop").click().run()
    assert bench.snapshot(run_id).run.status is Status.STOPPED
    tester.text_area(key=f"note:{run_id}").set_value("Look in the register").run()
    tester.checkbox(key=f"private:note:{run_id}").check().run()
    find_button(tester, "Send guidance").click().run()
    [note] = bench.snapshot(run_id).state.notes
    assert note.text == "Look in the register" and note.private
    assert "Noted" in tester.success[0].value
    find_button(tester, "Continue").click().run()
    assert bench.snapshot(run_id).run.status is not Status.STOPPED


def test_an_unknown_run_says_what_to_do(app):
    tester = app(run="nosuchrun")
    assert not tester.exception
    assert "There is no run called nosuchrun" in shown(tester)


def test_each_tab_is_drawn(app, demo):
    gone = "https://granvattnet-courier.example/2024/02/11/ferry"
    read, unread = demo(), demo(f"What does {gone} say about the ferry?")
    for name, expected in {
        "Sources": "Trust: ",
        "Facts": "Find",
        "Conflicts": 'class="value"',
        "Plan": "Plan",
        "Activity": "written",
    }.items():
        tester = app(run=read)
        text = open_tab(tester, name)
        assert not tester.exception, name
        assert expected in text or name == "Facts", name
    tester = app(run=unread)
    tester.session_state["folded-unavailable-sources"] = True
    assert "Page: " in shown(tester.run())
    tester = app(run=read)
    tester.session_state["folded-model-calls"] = True
    text = open_tab(tester, "Activity")
    assert "No model was asked" in text


def test_the_threshold_is_moved_on_the_runs_own_screen(app, demo, bench):
    bench.worker.model_client = lambda name, fast="": (ScriptedModel(Script(ASK, crawl(ROOF)).scripted), "")
    run_id = demo()
    tester = app(run=run_id)
    tester.session_state["folded-confidence"] = True
    assert "= confidence" in open_tab(tester, "Activity")
    tester.slider(key=f"research-goal-{run_id}").set_value(75).run()
    assert bench.snapshot(run_id).run.settings.threshold == 0.75


def test_a_run_that_waits_for_its_model_says_so_and_can_go_on_without_it(app, bench, monkeypatch):
    run_id = bench.start(QUESTION, Settings(world="demo"))
    told = "Paused: The model server llm.example does not answer; it is asked again once a minute."
    monkeypatch.setattr(bench.worker.rests, "describe", lambda _run_id: told)
    tester = app(run=run_id)
    assert told in shown(tester) and "Nothing is lost or paid twice" in shown(tester)
    assert "no answer from the model" in shown(tester)
    find_button(tester, "Go on without the model").click().run()
    assert bench.snapshot(run_id).run.settings.model == "keyless"
    assert [step.name for step in bench.snapshot(run_id).steps][-1] == "drop_model"


def test_a_typed_plan_outlives_a_step(app, bench):
    run_id = bench.start(QUESTION, Settings(world="demo", model="keyless", mode="step"))
    bench.drive(run_id)
    draft = plan_panel.name_draft(bench.snapshot(run_id))
    bench.act(run_id, "add", statement="They pay on time.", url="", quote="")
    bench.act(run_id, "approve")
    bench.drive(run_id)
    assert plan_panel.name_draft(bench.snapshot(run_id)) == draft
    bench.act(run_id, "replan", parts=["Who runs it?"])
    assert plan_panel.name_draft(bench.snapshot(run_id)) != draft


def test_a_comment_is_seen_at_its_sentence(app, demo, bench):
    run_id = demo()
    bench.act(run_id, "comment", target="s1", text="Since when?")
    bench.drive(run_id)
    answer = bench.snapshot(run_id).state.answers[-1]
    assert "You commented:</b> Since when?" in shown(app(run=run_id, see=f"{run_id}.a{answer.n}.s1"))
