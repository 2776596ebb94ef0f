"""How a note was understood, on the screen: a model's words are text, never markup."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from agent.types import NoteReading, Status
from pages.widgets.research import revision_panel

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
    running = revision_panel.render_understood(make_view(Status.RUNNING, reading), reading)
    assert "Add guidance" in running


def test_a_reading_is_shown_until_an_answer_for_another_reason():
    reading = NoteReading(note=3, step=4)
    assert revision_panel.find_shown_reading(make_view(Status.RUNNING, reading)) is reading
    assert revision_panel.find_shown_reading(make_view(Status.REVIEW, reading, answered=(2, 9))) is reading
    assert revision_panel.find_shown_reading(make_view(Status.REVIEW, reading, answered=(2, 9, 12))) is None
    carried = NoteReading(note=-1, step=0, by="code", excluded_sites=["wiki.example"])
    assert revision_panel.find_shown_reading(make_view(Status.REVIEW, carried)) is None
