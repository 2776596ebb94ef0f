"""Undo and redo of a person's edits, rulings and notes. An undo is a step that takes another out of the fold,
a redo one that takes the undo out; no step is deleted, and what a model did is not undone. The answer that
these facts and words led to before stands again; where there was none, it is written."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from agent.actions.commit import GO_ON, RECOVER, PersonStep, edit_step
from agent.answering.fact_view import facts_after_notes
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import Change, find_undone
from agent.errors import ConcurrentChange, UsageError
from agent.flows import FLOWS
from agent.types import Edit, Status, Step

EDIT_STEPS = frozenset(
    "pin unpin strike restore correct revise add strike_source restore_source settle reopen".split()
)
NOTE_STEPS = frozenset("steer send_back comment look".split())
"""Names of the steps that can be undone: edits and rulings, and notes."""


Expected = Annotated[int | None, Field(description="refuse unless it is about this step")]


def undo(view: RunSnapshot, step: Expected = None) -> PersonStep:
    """Undo the newest edit, ruling or note; the answer of before stands again, or it is written again."""
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
    said = Edit(step=view.head + 1, text=f"{verb}: {edit.text}", undoes=edit.step)
    change: Change = {"edits": [said]}
    if view.run.status is not Status.RUNNING and (step := _return_to_answer(view, said)):
        return step
    if view.steps[of].name in NOTE_STEPS and view.run.status is Status.WAITING and view.state.pending:
        return PersonStep({**change, "pending": None}, "decide", GO_ON)  # it was proposed by the note
    return edit_step(view, change)


def _return_to_answer(view: RunSnapshot, said: Edit) -> PersonStep | None:
    """The step of this edit back to the newest answer that the words and facts which are left led to; None
    where they led to none. What was found since stays. What was written from private words is written again:
    what of it may leave is told by the step that wrote it."""
    flow, change = FLOWS[view.run.settings.flow], {"edits": [said.model_dump()]}
    undoing = Step(n=said.step, name="", change=change, next="", by="person")
    now = flow.fold_steps([*view.steps, undoing])
    for step in reversed(view.steps):
        if not step.change.get("answers") or step.n <= now.forked_at:
            continue
        then = flow.fold_steps(view.steps[: step.n + 1])
        is_private = then.file_words or then.earlier_private_notes or any(n.private for n in then.notes)
        if is_private or _list_words(then) != _list_words(now) or then.conflicts != now.conflicts:
            continue
        left = facts_after_notes(now)
        if any(left.get(name) != fact for name, fact in facts_after_notes(then).items()):
            continue
        kept = {name: getattr(then, name) for name in ("plan_parts", "why_stopped", "stop_reason")}
        back: Change = {**change, **kept, "halt": None, "pending": None}
        if then.answer != now.answer or now.actions_this_round:
            told = {"n": len(now.answers) + 1, "step": said.step, "because": f"after your edit: {said.text}"}
            back["answers"] = [{**step.change["answers"][-1], **told}]
            judged = step.change.get("assessments", ())
            back["assessments"] = [{**one, "step": said.step} for one in judged]
        return PersonStep(back, "review", {**RECOVER, "status": Status.REVIEW})
    return None


def _list_words(state: RunState) -> list[object]:
    """What persons said, gave, asked for and chose so far, without what is undone."""
    undone, chosen = find_undone((), state.edits), state.settings
    edits = [one for one in state.edits if one.undoes < 0 and one.step not in undone]
    given = {page.url: page.page_id for page in state.pages.values() if page.origin != "fetched"}
    asked = [edits, state.notes, given, state.again, state.rewriting]
    return [*asked, chosen.model, chosen.served_by, chosen.report]


def find_undoable(view: RunSnapshot) -> Edit | None:
    """The step that an undo takes out, with the text of what it did; None when there is none."""
    undone = find_undone(view.steps)
    return next((_describe(step) for step in reversed(view.steps) if _can_undo(step, undone)), None)


def find_redoable(view: RunSnapshot) -> Edit | None:
    """The undo that a redo takes out, with the text of what it undid; None for none since the last edit."""
    undone = find_undone(view.steps)
    for step in reversed(view.steps):
        if _can_undo(step, undone):
            return None
        target = step.change["edits"][0]["undoes"] if step.name == "undo" and step.n not in undone else -1
        if target >= 0:
            return _describe(view.steps[target]).replace(step=step.n)
    return None


def _can_undo(step: Step, undone: set[int]) -> bool:
    is_edit = step.name in EDIT_STEPS and step.change.get("edits")
    is_note = step.name in NOTE_STEPS and step.change.get("notes")
    return bool(is_edit or is_note) and step.by == "person" and step.n not in undone


def _describe(step: Step) -> Edit:
    texts = [edit["text"] for edit in step.change.get("edits", ())]
    return Edit(step=step.n, text="; ".join(texts) or f"your note of step {step.n}")
