"""What a person's edit does to a run: conflicts, marks and confidence are computed again. Pure; asks no
model.

    recompute_after_edit(state, step, facts=[...], why="struck 1 fact of example.org")

All edits use it, so that a pin, a struck source, a settled conflict and a pasted page have the same
consequences. `apply_person_edits` does the same for a step that was running while a person edited."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import TypeAdapter

from agent.answering import fact_view
from agent.answering.confidence import assess_confidence
from agent.answering.fact_intake import update_conflicts
from agent.engine.run_state import RunState
from agent.engine.state import REMOVAL_PREFIX, Change, state_after, to_jsonable
from agent.evidence.contradiction.groups import update_disputed
from agent.evidence.contradiction.pairs import PairingScope
from agent.evidence.contradiction.resolution import CLOSED_REASONS, PINNED_REASON
from agent.text.negative_constraints import find_excluded_sites
from agent.types import Confidence, Conflict, Edit, Fact, Note, Step

FULL_COMPARISON_LIMIT = 200
"""Facts up to which all are compared with one another. Of more, those that changed are compared with all, and
those of the prompt or of a conflict with one another: an edit changes nothing between the others."""
_FACTS, _CONFLICTS = TypeAdapter(list[Fact]), TypeAdapter(list[Conflict])


def recompute_after_edit(
    state: RunState,
    step: int,
    *,
    facts: Iterable[Fact] = (),
    conflicts: Iterable[Conflict] = (),
    why: str = "",
) -> Change:
    """The change of an edit that replaces these facts and conflicts.

    `why` says in a few words what was done; the confidence's moves and the run's edits quote it."""
    edited, ruled = {fact.id: fact for fact in facts}, {conflict.id: conflict for conflict in conflicts}
    known = {**state.facts, **edited}
    now = state.model_copy(update={"facts": known})
    before = {**{name: _reopen_conflict(old) for name, old in state.conflicts.items()}, **ruled}
    scope = _comparison_scope(state, now, edited, before)
    found = update_conflicts(now, fact_view.facts_after_notes(now).values(), before.values(), scope)
    marked = {fact.id: fact for fact in update_disputed(known.values(), found)}
    now.facts, now.conflicts = {**known, **marked}, {conflict.id: conflict for conflict in found}
    level = _reassess_confidence(now, step, why)
    return {
        "facts": [
            now.facts[name] for name in {**edited, **marked} if now.facts[name] != state.facts.get(name)
        ],
        "conflicts": [conflict for conflict in found if conflict != state.conflicts.get(conflict.id)],
        **({"confidence": [level]} if level else {}),
        **({"edits": [Edit(step=step, text=why)]} if why else {}),
    }


def record_note(state: RunState, note: Note) -> Change:
    """The change of a person's note. One that rules a source out takes its conflicts and its share of the
    confidence along at once."""
    sites = find_excluded_sites([note.text])
    if not sites:
        return {"notes": [note]}
    now = state_after(state, {"notes": [note]})
    change = recompute_after_edit(now, note.step, why=f"left out {', '.join(sites)}")
    return {"notes": [note], **{name: value for name, value in change.items() if name != "edits" and value}}


def apply_person_edits(state: RunState, change: Change, spoken: Sequence[Step]) -> Change:
    """A running step's (JSON) change as it is recorded after a person's steps; `state` includes these.

    What they edited, and the plan, stays as they left it; what the step found gets their marks."""
    if any("plan_parts" in step.change for step in spoken):
        change = {name: value for name, value in change.items() if name != "plan_parts"}
    touched = {part: _edited_ids(part, spoken) for part in ("facts", "conflicts")}
    sources = any("struck_sources" in step.change for step in spoken)
    notes = [note["text"] for step in spoken for note in step.change.get("notes", [])]
    if not sources and not find_excluded_sites(notes) and not any(touched.values()):
        return change
    facts = _FACTS.validate_python(change.get("facts", []))
    conflicts = _CONFLICTS.validate_python(change.get("conflicts", []))
    made: Change = {name: value for name, value in change.items() if name in ("answers", "confidence")}
    recomputed = recompute_after_edit(
        state_after(state, made),
        change["confidence"][-1]["step"] if change.get("confidence") else spoken[-1].n,
        facts=fact_view.apply_person_marks(state, (f for f in facts if f.id not in touched["facts"])),
        conflicts=[conflict for conflict in conflicts if conflict.id not in touched["conflicts"]],
    )
    kept = {name: value for name, value in change.items() if name not in ("facts", "conflicts")}
    recomputed = to_jsonable(recomputed)
    points = [*change.get("confidence", []), *recomputed.get("confidence", [])]
    return {**kept, **recomputed, **({"confidence": points} if points else {})}


def _reassess_confidence(now: RunState, step: int, why: str) -> Confidence | None:
    """The confidence after an edit, with the judgement held; None when it is unchanged. It rests on the
    claims of the answer, unless something was read since."""
    previous = now.confidence[-1] if now.confidence else None
    rests_on_answer = now.answer is not None and not now.actions_this_round
    level = assess_confidence(now, step, answer=now.answer if rests_on_answer else None)
    if level.value == (previous.value if previous else 0.0) and (
        previous is None or level.parts == previous.parts
    ):
        return None
    if not why:
        return level
    return level.replace(moves=[move.replace(reason=f"{why}: {move.reason}") for move in level.moves])


def _edited_ids(part: str, spoken: Sequence[Step]) -> set[str]:
    """The ids of what a person's steps changed or removed."""
    changed = {value["id"] for step in spoken for value in step.change.get(part, [])}
    return changed | {name for step in spoken for name in step.change.get(f"{REMOVAL_PREFIX}{part}", [])}


def _reopen_conflict(conflict: Conflict) -> Conflict:
    """The conflict as before a pin settled it or its facts fell, so that both are decided again."""
    if conflict.status != "settled" or conflict.reason not in (PINNED_REASON, *CLOSED_REASONS):
        return conflict
    return conflict.replace(status="open", chosen="", reason="", settled_by="")


def _comparison_scope(
    state: RunState, now: RunState, edited: Mapping[str, Fact], before: Mapping[str, Conflict]
) -> PairingScope | None:
    """Which facts are compared again; None for all."""
    if len(now.facts) <= FULL_COMPARISON_LIMIT:
        return None
    changed = {
        name
        for name, fact in edited.items()
        if _comparison_key(fact) != _comparison_key(state.facts.get(name))
    }
    in_conflict = {i for conflict in before.values() for value in conflict.values for i in value.fact_ids}
    shown = {fact.id for fact in fact_view.facts_for_prompt(now)}
    return PairingScope(changed, related_ids=in_conflict | shown)


def _comparison_key(fact: Fact | None) -> tuple[str, ...]:
    """What decides which facts it contradicts; empty when it does not count."""
    if fact is None or not fact.is_active:
        return ()
    return (fact.statement, fact.subject, fact.attribute, fact.title, fact.url)
