"""How a note was understood, on the screen: a model's words are text, never markup."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from agent.types import NoteReading, Status
from pages.widgets.research import revision_panel
from tests.records import fill

HOSTILE = "<img src=x onerror=alert(1)> “</div><script>alert(1)</script>"


def make_view(status: Status, *readings: NoteReading, answered: tuple[int, ...] = ()) -> Any:
    answers = [SimpleNamespace(step=step) for step in answered]
    state = SimpleNamespace(plan=[], readings=list(readings), answers=answers)
    return SimpleNamespace(run=SimpleNamespace(status=status, id="r"), state=state)


def test_a_models_words_are_escaped_and_what_code_does_stands_beside_them():
    reading = fill(
        NoteReading, note=3, step=4, by="model", understood=HOSTILE, excluded_sites=["wiki.example"]
    )
    shown = revision_panel.render_understood(make_view(Status.REVIEW, reading), reading)
    assert "<script" not in shown and "<img" not in shown and "&lt;script&gt;" in shown
    assert "(leave out wiki.example)" in shown and "Send the answer back with another note" in shown
    accepted = revision_panel.render_understood(make_view(Status.DONE, reading), reading)
    assert "Reopen the answer, then send it back" in accepted, "there is no Send back any more"
    running = revision_panel.render_understood(make_view(Status.RUNNING, reading), reading)
    assert "Add guidance" in running
