"""Runs of the `reply` flow for tests: their way, and how they ended."""

from __future__ import annotations

import re
from collections.abc import Callable

from agent.flows.reply.state import ReplyRun
from agent.types import Status
from agent.types.reply import Picture
from agent.workbench import Workbench

NIGHT = ("Backups run at night, at half past two.", "Backups run at night, at half past two.")
KEPT = ("They are kept for 90 days.", "They are kept for 90 days.")
RENEWED = ("It is renewed 30 days before it ends.", "A certificate is renewed 30 days before it ends.")
ASKED = "When do backups run?"
PICTURE = Picture(url="https://cdn.example/1.png", media_type="image/png", sha256="c" * 64, size=9)
Run = Callable[..., "Ran"]


class Ran:
    """A run that has ended: its state and its way."""

    def __init__(self, bench: Workbench, run_id: str, status: Status) -> None:
        self.view, self.status = bench.snapshot(run_id), status
        self.state: ReplyRun = self.view.state  # type: ignore[assignment]
        self.path = [step.name for step in self.view.steps[1:]] + [self.view.next]


def silent(ran: Ran, *path: str) -> str:
    """It ended in silence by this way; returns why."""
    assert ran.path == [*path, "silent"] and ran.status is Status.DONE
    assert ran.state.own.result.model_dump() == {"should_reply": False, "reply_text": ""}
    assert ran.state.answer is not None and ran.state.answer.verdict == "no_evidence"
    return ran.state.own.silence


def replied(ran: Ran, *path: str) -> str:
    """It replied by this way; returns what was posted, without the names of documents."""
    assert (
        ran.path == [*path, "replied"] and ran.status is Status.DONE and ran.state.own.result.should_reply
    ), ran.state.own.silence
    return re.sub(r"\n\nSources:(\n- .*)+", "", ran.state.own.result.reply_text)
