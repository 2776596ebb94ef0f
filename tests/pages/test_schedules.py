"""The list of schedules: how each stands, what can be done with it, and the form behind its times."""

from __future__ import annotations

import pytest

from agent.batch import schedules
from agent.types import Settings, Status
from tests.pages.conftest import QUESTION, find_button, shown

pytestmark = pytest.mark.slow


@pytest.fixture
def made(bench):
    return schedules.create(
        bench, QUESTION, Settings(world="demo", model="keyless"), when="weekly", zone="Asia/Tokyo"
    )


def test_an_empty_list_says_how_to_make_one(app):
    assert "choose “Repeat…” below it" in shown(app("schedules"))


def test_a_schedule_tells_how_it_stands_and_what_is_new(app, bench, made):
    tester = app("schedules")
    assert "next on" in shown(tester) and "(Asia/Tokyo)" in shown(tester) and "0 runs" in shown(tester)
    for _ in range(2):
        find_button(tester, "Run now").click().run()
        assert bench.drive(bench.store.schedules.look(made.id)[0].run_id) is Status.REVIEW
    assert "2 runs" in shown(tester.run()) and "Nothing since" in shown(tester)
    told = {"remark": "Paused: <b>3</b> runs failed.", "state": "paused", "skipped": 1, "missed": 4}
    bench.store.schedules.move(made.id, lambda *_: told)
    page = shown(tester.run())
    assert "Paused: &lt;b&gt;3&lt;/b&gt; runs failed." in page and "1 time skipped, 4 times missed" in page
    assert "next on" not in page
    find_button(tester, "Resume").click().run()
    assert "next on" in shown(tester) and "runs failed" not in shown(tester)
    bench.store.schedules.move(made.id, lambda *_: {"run_id": "gone"})
    assert "cannot be shown" in shown(tester.run()) and not tester.exception
    find_button(tester, "Delete the schedule").click().run()
    assert "No schedules yet" in shown(tester) and len(bench.runs()) == 2


def test_one_that_works_is_not_started_twice(app, made):
    tester = app("schedules")
    find_button(tester, "Run now").click().run()
    find_button(tester, "Run now").click().run()
    assert "at work: wait, decide, or stop it first" in shown(tester).replace("\\", "")


def test_the_form_says_what_is_wrong_where_it_is_typed_and_changes_nothing(app, bench, made):
    tester, key = app("schedules"), f"schedule-change-{made.id}"
    tester.session_state[f"{key}-0"] = True
    tester.run()
    assert tester.selectbox(key=f"{key}-way").value == "weekly"
    assert tester.selectbox(key=f"{key}-zone").value == "Asia/Tokyo"
    tester.selectbox(key=f"{key}-way").set_value("").run()
    tester.text_input(key=f"{key}-cron").set_value("*/5 * * * *").run()
    assert "more often than every 15 minutes" in shown(tester)
    assert find_button(tester, "Save").disabled
    tester.text_input(key=f"{key}-cron").set_value("30 7 * * 1-5").run()
    assert bench.store.schedules.look(made.id)[0].cron == made.cron
    tester.text_input(key=f"{key}-name").set_value("Staff")
    find_button(tester, "Save").click().run()
    now = bench.store.schedules.look(made.id)[0]
    assert (now.name, now.cron, now.zone) == ("Staff", "30 7 * * 1-5", "Asia/Tokyo")
    assert "Scheduled. At 07:30 on Monday through Friday" in shown(tester).replace("\\", "")


def test_a_further_question_cannot_be_repeated(app, bench, demo):
    first = demo()
    assert find_repeat(app(run=first), first)
    further = bench.follow_up(first, "Since when?")
    bench.drive(further)
    assert not find_repeat(app(run=further), further)


def find_repeat(tester, run_id):
    tester.session_state[f"repeat-{run_id}-0"] = True
    tester.run()
    return [button for button in tester.button if button.label == "Repeat it"]
