"""How a note was understood, on the screen: a model's words are text, never markup."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from agent.types import Answer, AnswerBlock, NoteReading, Sentence, Source
from pages.widgets.research import revision_panel
from tests.records import fill

HOSTILE = "<img src=x onerror=alert(1)> “</div><script>alert(1)</script>"


def make_view(*answers: Answer) -> Any:
    return SimpleNamespace(state=SimpleNamespace(plan=[], answers=list(answers)))


def write_answer(n: int, *texts: str) -> Answer:
    source = fill(Source, n=1, url="https://wiki.example/a" if n == 1 else "https://b.example/")
    said = [fill(Sentence, text=text, block="b") for text in texts]
    blocks = [AnswerBlock(id="b")]
    return fill(Answer, n=n, step=10 * n, sentences=said, blocks=blocks, sources=[source])


def test_a_note_is_called_done_only_where_the_answer_shows_it():
    reading = fill(
        NoteReading,
        note=13,
        step=14,
        by="model",
        understood=HOSTILE,
        excluded_sites=["wiki.example"],
        removed=["s2"],
    )
    old, same, new = (
        write_answer(1, "One.", "Two."),
        write_answer(2, "Two.", "Three."),
        write_answer(2, "One."),
    )
    followed = revision_panel.render_understood(make_view(old), reading)
    assert "<script" not in followed and "<img" not in followed and "&lt;script&gt;" in followed
    assert "Your note is followed" in followed and "(leave out wiki.example" in followed
    assert "does not show your note" in revision_panel.render_understood(make_view(old, same), reading)
    assert "Your note is done" in revision_panel.render_understood(make_view(old, new), reading)
    kept = new.replace(sources=old.sources)
    assert "does not show your note" in revision_panel.render_understood(make_view(old, kept), reading)
