"""Undo and redo of a person's edits, newest first: each is an edit of its own, and no step is deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agent.actions.commit import commit_edit
from agent.actions.context import ActionContext
from agent.answering import fact_view
from agent.answering.recompute import recompute_after_edit
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import REMOVAL_PREFIX, Change
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.types import Confidence, ConfidenceChange, Conflict, Edit, Fact

UNDOABLE_STEPS = frozenset(
    "pin unpin strike restore correct revise add strike_source restore_source settle reopen undo redo".split()
)
"""Names of the steps that can be undone."""
_EDITED_FIELDS = (
    "decision trust struck_with statement quote former verified start end sha256 relevance".split()
)
"""Fields of a fact that an edit changes."""
_Pick = Callable[[list[Edit], Mapping[int, str]], Edit | None]
_OPEN = {"status": "open", "chosen": "", "reason": "", "ruling": "", "settled_by": ""}
"""A conflict without a ruling: open until it is recomputed."""


def undo(bench: ActionContext, run_id: str, head: int | None = None) -> int:
    """Undo the newest edit; returns the step's number. Raises UsageError when there is none."""
    nothing = "there is nothing to undo: nobody has edited the facts of this run, or all is undone"
    return _commit_reversal(bench, run_id, "undo", newest_edit, nothing, head)


def redo(bench: ActionContext, run_id: str, head: int | None = None) -> int:
    """Redo what was undone last; returns the step's number. Raises UsageError when there is nothing."""
    return _commit_reversal(bench, run_id, "redo", newest_undo, "there is nothing to redo", head)


def find_undoable(view: RunSnapshot) -> Edit | None:
    """The edit that an undo reverses, with the text of what it did; None when there is none."""
    return _find_newest(view, newest_edit)


def find_redoable(view: RunSnapshot) -> Edit | None:
    """The undo that a redo reverses, with the text of the edit it undid; None when there is none."""
    return _find_newest(view, newest_undo)


def _find_newest(view: RunSnapshot, pick: _Pick) -> Edit | None:
    edits, steps = view.state.edits, view.steps
    edit = pick(edits, {edit.step: steps[edit.step].name for edit in edits if edit.step < len(steps)})
    return edit and edit.replace(text=describe_original_edit(edits, edit))


def _commit_reversal(
    bench: ActionContext, run_id: str, name: str, pick: _Pick, nothing: str, head: int | None
) -> int:
    view = bench.snapshot(run_id)
    edit = _find_newest(view, pick)
    if edit is None:
        raise UsageError(nothing)
    flow = FLOWS[view.run.settings.flow]
    before, after = flow.fold_steps(view.steps[: edit.step]), flow.fold_steps(view.steps[: edit.step + 1])

    def build_change(state: RunState, step: int) -> Change:
        newest = _find_newest(bench.snapshot(run_id), pick)
        if newest is None or newest.step != edit.step:
            raise UsageError("somebody else has edited the run meanwhile: look at the newest edit again")
        return undo_edit(state, step, edit, before, after)

    return commit_edit(bench, run_id, name, build_change, head)


def newest_edit(edits: list[Edit], names: Mapping[int, str]) -> Edit | None:
    """The edit that an undo reverses; `names` are the names of the steps by number."""
    return next(iter(_undo_stacks(edits, names)[0][::-1]), None)


def newest_undo(edits: list[Edit], names: Mapping[int, str]) -> Edit | None:
    """The undo that a redo reverses; None when there is none since the last edit."""
    return next(iter(_undo_stacks(edits, names)[1][::-1]), None)


def describe_original_edit(edits: list[Edit], edit: Edit) -> str:
    """What an edit did at first, in words, however often it was taken back and done again."""
    by_step = {other.step: other for other in edits}
    while edit.undoes in by_step:
        edit = by_step[edit.undoes]
    return edit.text


def undo_edit(state: RunState, step: int, edit: Edit, before: RunState, after: RunState) -> Change:
    """The change that undoes an edit; `before` and `after` are the states around it. When nothing was learnt
    since, facts and conflicts become what they were; else the edited facts do, and the rest follows."""
    verb = "redid" if edit.undoes >= 0 else "undid"
    why = f"{verb}: {describe_original_edit(state.edits, edit)}"
    sources = _restore_sources(state, before, after)
    kept = {"edits": [Edit(step=step, text=why, undoes=edit.step)], **sources}
    if (state.facts, state.conflicts) == (after.facts, after.conflicts):
        return {**_restore_exactly(state, step, before, why), **kept}
    gone = [name for name in after.facts if name not in before.facts]
    facts = [
        _restore_fact(state.facts[name], fact, after.facts.get(name)) if name in state.facts else fact
        for name, fact in before.facts.items()
        if name not in state.facts or fact != after.facts.get(name)
    ]
    struck = sources.get("struck_sources", state.struck_sources)
    facts += _restrike_new_facts(state, {fact.id for fact in facts}, struck)
    remaining = {name: fact for name, fact in state.facts.items() if name not in gone}
    rulings = [
        state.conflicts[name].model_copy(
            update={field: getattr(conflict, field) for field in _OPEN} if conflict.ruling else _OPEN
        )
        for name, conflict in before.conflicts.items()
        if _ruling_key(conflict) != _ruling_key(after.conflicts.get(name)) and name in state.conflicts
    ]
    left = state.model_copy(update={"facts": remaining})
    return {
        **recompute_after_edit(left, step, facts=facts, conflicts=rulings),
        **({f"{REMOVAL_PREFIX}facts": gone} if gone else {}),
        **kept,
    }


def _ruling_key(conflict: Conflict | None) -> tuple[str, ...]:
    return (conflict.ruling, conflict.chosen, conflict.reason) if conflict and conflict.ruling else ()


def _restore_exactly(state: RunState, step: int, before: RunState, why: str) -> Change:
    change: Change = {}
    for part in ("facts", "conflicts"):
        old: Mapping[str, Fact | Conflict] = getattr(before, part)
        now: Mapping[str, Fact | Conflict] = getattr(state, part)
        change[part] = [value for name, value in old.items() if value != now.get(name)]
        if gone := [name for name in now if name not in old]:
            change[f"{REMOVAL_PREFIX}{part}"] = gone
    then = before.confidence[-1] if before.confidence else Confidence(step=step, value=0.0)
    if state.confidence and (then.value, then.parts) != (
        state.confidence[-1].value,
        state.confidence[-1].parts,
    ):
        moved = round(then.value - state.current_confidence, 4)
        change["confidence"] = [
            then.replace(step=step, moves=[ConfidenceChange(delta=moved, reason=why)] if moved else [])
        ]
    return change


def _restore_sources(state: RunState, before: RunState, after: RunState) -> Change:
    """The struck sources without the edit."""
    old, new = set(before.struck_sources), set(after.struck_sources)
    if old == new:
        return {}
    kept = [source for source in state.struck_sources if source not in new - old]
    return {"struck_sources": [*kept, *sorted((old - new) - set(state.struck_sources))]}


def _restrike_new_facts(state: RunState, known: set[str], sources: list[str]) -> list[Fact]:
    """The facts found since the edit, struck or restored with their source when these sources are struck."""
    freed = set(state.struck_sources) - set(sources)
    more = [source for source in sources if source not in state.struck_sources]
    back = [
        fact.replace(decision="none", struck_with="")
        for fact in state.facts.values()
        if fact.struck_with in freed and fact.id not in known
    ]
    others = [fact for fact in state.facts.values() if fact.id not in known and fact.struck_with not in freed]
    taken = fact_view.apply_person_marks(state.model_copy(update={"struck_sources": more}), others)
    return [
        *fact_view.apply_person_marks(state.model_copy(update={"struck_sources": sources}), back),
        *(fact for fact in taken if fact != state.facts[fact.id]),
    ]


def _restore_fact(fact: Fact, then: Fact, edited: Fact | None) -> Fact:
    """The fact with the fields that the edit changed as they were `then`."""
    return fact.model_copy(
        update={
            part: getattr(then, part)
            for part in _EDITED_FIELDS
            if edited is None or getattr(then, part) != getattr(edited, part)
        }
    )


def _undo_stacks(edits: list[Edit], names: Mapping[int, str]) -> tuple[list[Edit], list[Edit]]:
    """The edits that can be undone, and the undos that can be redone, oldest first."""
    done: list[Edit] = []
    undone: list[Edit] = []
    for edit in edits:
        if names.get(edit.step) not in UNDOABLE_STEPS:
            continue
        if edit.undoes < 0:
            done, undone = [*done, edit], []
        elif undone and undone[-1].step == edit.undoes:
            done, undone = [*done, edit], undone[:-1]
        else:
            # in ledgers of early versions it is not always the newest
            done, undone = [other for other in done if other.step != edit.undoes], [*undone, edit]
    return done, undone
