"""Undo and redo of a person's edits, rulings and notes. An undo is a step that takes another out of the fold,
a redo one that takes the undo out; no step is deleted, and what a model did is not undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from agent.actions.commit import GO_ON, PersonStep, edit_step
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change, find_undone
from agent.errors import ConcurrentChange, UsageError
from agent.types import Edit, Sentence, Status, Step

EDIT_STEPS = frozenset(
    "pin unpin strike restore correct revise add strike_source restore_source settle reopen".split()
)
NOTE_STEPS = frozenset("steer send_back comment look".split())
"""Names of the steps that can be undone: edits and rulings, and notes."""


Expected = Annotated[int | None, Field(description="refuse unless it is about this step")]


@dataclass(frozen=True)
class BuiltOn:
    """What was built on a step since: the numbers of the steps, and the sentences of the newest answer."""

    steps: list[int]
    sentences: list[Sentence]


def undo(view: RunSnapshot, step: Expected = None) -> PersonStep:
    """Undo the newest edit, ruling or note; the answer is written again."""
    if (edit := _expect(find_undoable(view), step)) is None:
        raise UsageError(
            "there is nothing to undo: nobody has edited this run or guided it, or all is undone"
        )
    return _take_out(view, edit, "undid", edit.step)


def redo(view: RunSnapshot, step: Expected = None) -> PersonStep:
    """Redo what was undone last."""
    if (edit := _expect(find_redoable(view), step)) is None:
        raise UsageError("there is nothing to redo")
    return _take_out(view, edit, "redid", view.steps[edit.step].change["edits"][0]["undoes"])


def _expect(edit: Edit | None, step: int | None) -> Edit | None:
    if edit and step not in (None, edit.step):
        raise ConcurrentChange("this run was edited meanwhile: look at the newest edit again")
    return edit


def _take_out(view: RunSnapshot, edit: Edit, verb: str, of: int) -> PersonStep:
    """The step that takes another out; `of` is the step of the edit or note that it is about in the end."""
    change: Change = {"edits": [Edit(step=view.head + 1, text=f"{verb}: {edit.text}", undoes=edit.step)]}
    if view.steps[of].name in NOTE_STEPS and view.run.status is Status.WAITING and view.state.pending:
        return PersonStep({**change, "pending": None}, "decide", GO_ON)  # it was proposed by the note
    return edit_step(view, change)


def find_undoable(view: RunSnapshot) -> Edit | None:
    """The step that an undo takes out, with the text of what it did; None when there is none."""
    undone = find_undone(view.steps)
    return next((_describe(step) for step in reversed(view.steps) if _can_undo(step, undone)), None)


def find_redoable(view: RunSnapshot) -> Edit | None:
    """The undo that a redo takes out, with the text of what it undid; None when there is none since the last
    edit."""
    undone = find_undone(view.steps)
    for step in reversed(view.steps):
        if _can_undo(step, undone):
            return None
        target = step.change["edits"][0]["undoes"] if step.name == "undo" and step.n not in undone else -1
        if target >= 0:
            return _describe(view.steps[target]).replace(step=step.n)
    return None


def list_built_on(view: RunSnapshot, n: int) -> BuiltOn:
    """What was built on the step `n` since: on a note all that was done after it, on an edit what names its
    facts."""
    change, later = view.steps[n].change, [step for step in view.steps[n + 1 :] if step.by != "person"]
    sides = [side for ruling in change.get("rulings", ()) for side in ruling["values"]]
    ids = {fact["id"] for fact in change.get("facts", ())} | {i for side in sides for i in side["fact_ids"]}
    ids |= {fact.id for fact in view.state.facts.values() if fact.struck_with in change.get("strikes", ())}
    is_note, answer = bool(change.get("notes")), view.state.answer
    steps = [s.n for s in later if is_note or (ids and any(map(str(s.change).__contains__, ids)))]
    written = answer.sentences if answer and answer.step > n else []
    return BuiltOn(steps, [said for said in written if is_note or ids.intersection(said.fact_ids)])


def _can_undo(step: Step, undone: set[int]) -> bool:
    is_edit = step.name in EDIT_STEPS and step.change.get("edits")
    is_note = step.name in NOTE_STEPS and step.change.get("notes")
    return bool(is_edit or is_note) and step.by == "person" and step.n not in undone


def _describe(step: Step) -> Edit:
    texts = [edit["text"] for edit in step.change.get("edits", ())]
    return Edit(step=step.n, text="; ".join(texts) or f"your note of step {step.n}")
