"""How a note was understood, on the screen: a model's words are text, never markup."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from agent.flows.research.plan_step import CHECK_PLAN
from agent.types import NoteReading, Status
from pages.widgets.research import revision_panel
from pages.widgets.research.run import PAGE
from pages.widgets.run.pause_prompt import build_rest_hints

HOSTILE = "<img src=x onerror=alert(1)> “</div><script>alert(1)</script>"


def make_view(status: Status, *readings: NoteReading, answered: tuple[int, ...] = ()) -> Any:
    answers = [SimpleNamespace(step=step) for step in answered]
    state = SimpleNamespace(plan=[], readings=list(readings), answers=answers)
    return SimpleNamespace(run=SimpleNamespace(status=status, id="r"), state=state)


def test_a_models_words_are_escaped_and_what_code_does_stands_beside_them():
    reading = NoteReading(note=3, step=4, by="model", understood=HOSTILE, excluded_sites=["wiki.example"])
    shown = revision_panel.render_understood(make_view(Status.REVIEW, reading), reading)
    assert "<script" not in shown and "<img" not in shown and "&lt;script&gt;" in shown
    assert "(leave out wiki.example)" in shown and "Send the answer back with another note" in shown
    accepted = revision_panel.render_understood(make_view(Status.DONE, reading), reading)
    assert "Reopen the answer, then send it back" in accepted, "there is no Send back any more"
    running = revision_panel.render_understood(make_view(Status.RUNNING, reading), reading)
    assert "Add guidance" in running


def test_a_reading_is_shown_until_an_answer_for_another_reason():
    reading = NoteReading(note=3, step=4, by="keyless")
    assert revision_panel.find_shown_reading(make_view(Status.RUNNING, reading)) is reading
    assert revision_panel.find_shown_reading(make_view(Status.REVIEW, reading, answered=(2, 9))) is reading
    assert revision_panel.find_shown_reading(make_view(Status.REVIEW, reading, answered=(2, 9, 12))) is None
    carried = NoteReading(note=-1, step=0, by="code", excluded_sites=["wiki.example"])
    assert revision_panel.find_shown_reading(make_view(Status.REVIEW, carried)) is None


def test_while_the_plan_waits_the_status_names_the_plan():
    for step, said in ((CHECK_PLAN, "Check the plan."), ("act", "Decide on the next step.")):
        view = SimpleNamespace(run=SimpleNamespace(status=Status.WAITING), next=step)
        assert build_rest_hints(view, PAGE.hints)[Status.WAITING] == said
