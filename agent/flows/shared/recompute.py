"""What a person's word does to what a run knows: the one recount after facts or conflicts were changed by
hand. Pure, no model.

    revised(state, step, facts=[...], why="struck 1 fact of example.org")

Every door for persons uses it, so that a pin, a struck source, a settled conflict and a pasted page lead to
marks, conflicts and a confidence of one kind; `heeded` does the same for a worker's step that a person's word
overtook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import TypeAdapter

from agent.engine.run_state import RunState
from agent.engine.state import REMOVAL_PREFIX, Change, to_jsonable
from agent.evidence.contradiction.blocking import PairingScope
from agent.evidence.contradiction.groups import update_disputed
from agent.evidence.contradiction.resolution import CLOSED_REASONS, PINNED_REASON
from agent.flows.shared import fact_view
from agent.flows.shared.fact_intake import assess_confidence, update_conflicts
from agent.types import Confidence, Conflict, Edit, Fact, Step

FULL_COMPARISON_LIMIT = 200
"""Facts that are all compared with one another. Of more, those that changed are compared with all, and those
a judgement looks at or that stand in a conflict with one another: what the others say was compared as it was
read, and an edit changes nothing between them."""
_FACTS, _CONFLICTS = TypeAdapter(list[Fact]), TypeAdapter(list[Conflict])


def recompute_after_edit(
    state: RunState,
    step: int,
    *,
    facts: Iterable[Fact] = (),
    conflicts: Iterable[Conflict] = (),
    why: str = "",
) -> Change:
    """The change a person's word makes: these facts and conflicts stand instead of the old.

    The marks `disputed`, the conflicts found by code and the confidence are worked out anew over what the run
    knows then. `why` says in a few words what was done; it is told in the confidence's move when that moved,
    and kept as an edit of the run."""
    new, said = {fact.id: fact for fact in facts}, {clash.id: clash for clash in conflicts}
    known = {**state.facts, **new}
    now = state.model_copy(update={"facts": known})
    before = {**{name: _reopen_conflict(clash) for name, clash in state.conflicts.items()}, **said}
    scope = _comparison_scope(state, now, new, before)
    clashes = update_conflicts(now, fact_view.facts_after_notes(now).values(), before.values(), scope)
    marked = {fact.id: fact for fact in update_disputed(known.values(), clashes)}
    now = state.model_copy(
        update={"facts": {**known, **marked}, "conflicts": {clash.id: clash for clash in clashes}}
    )
    level = reassess_confidence(now, step, why)
    change: Change = {
        "facts": [now.facts[name] for name in {**new, **marked} if now.facts[name] != state.facts.get(name)],
        "conflicts": [clash for clash in clashes if clash != state.conflicts.get(clash.id)],
        **({"confidence": [level]} if level else {}),
    }
    return {**change, **({"edits": [Edit(step=step, text=why)]} if why else {})}


def reassess_confidence(now: RunState, step: int, why: str = "") -> Confidence | None:
    """The confidence of what the run knows now; None when it is what it was. The model's own figure goes on
    holding it down."""
    previous = now.confidence[-1] if now.confidence else None
    known = fact_view.facts_for_prompt(now)
    level = assess_confidence(
        now,
        step,
        known,
        model=previous.model if previous else None,
        features=now.own.answer_features(now, known),
    )
    if (level.value, level.factors) == (
        (previous.value, previous.factors) if previous else (0.0, level.factors)
    ):
        return None
    told = (
        [move.model_copy(update={"reason": f"{why}: {move.reason}"}) for move in level.moves]
        if why
        else level.moves
    )
    return level.model_copy(update={"moves": told})


def apply_person_edits(state: RunState, change: Change, spoken: Sequence[Step]) -> Change:
    """A worker's (JSON) change as it may be recorded after what a person said meanwhile; `state` is the one
    with their word.

    What they changed stays as they left it, what was found counts as they said of its source, and the rest is
    counted anew."""
    touched = {part: _edited_ids(part, spoken) for part in ("facts", "conflicts")}
    if not any(touched.values()) and not any(
        part in step.change for step in spoken for part in ("struck_sources", "trusts")
    ):
        return change
    found = [
        fact for fact in _FACTS.validate_python(change.get("facts", [])) if fact.id not in touched["facts"]
    ]
    clashes = [
        clash
        for clash in _CONFLICTS.validate_python(change.get("conflicts", []))
        if clash.id not in touched["conflicts"]
    ]
    step = change["confidence"][-1]["step"] if change.get("confidence") else spoken[-1].n
    recounted = recompute_after_edit(
        state, step, facts=fact_view.apply_person_marks(state, found), conflicts=clashes
    )
    kept = {name: value for name, value in change.items() if name not in ("facts", "conflicts", "confidence")}
    return {**kept, **to_jsonable(recounted)}


def _edited_ids(part: str, spoken: Sequence[Step]) -> set[str]:
    """The ids of what a person's words changed or took away."""
    return {
        name
        for step in spoken
        for name in [
            *(value["id"] for value in step.change.get(part, [])),
            *step.change.get(f"{REMOVAL_PREFIX}{part}", []),
        ]
    }


def _reopen_conflict(clash: Conflict) -> Conflict:
    """As it was before a pin settled it, or before its facts fell: whether that holds is looked at anew."""
    gone = clash.status == "settled" and clash.reason in (PINNED_REASON, *CLOSED_REASONS)
    return (
        clash.model_copy(update={"status": "open", "chosen": "", "reason": "", "settled_by": ""})
        if gone
        else clash
    )


def _comparison_scope(
    state: RunState, now: RunState, new: Mapping[str, Fact], before: Mapping[str, Conflict]
) -> PairingScope | None:
    """Which facts are compared anew; None for all."""
    if len(now.facts) <= FULL_COMPARISON_LIMIT:
        return None
    clashing = {i for clash in before.values() for value in clash.values for i in value.fact_ids}
    fresh = {
        name for name, fact in new.items() if _comparison_key(fact) != _comparison_key(state.facts.get(name))
    }
    return PairingScope(
        fresh, related_ids={*clashing, *(fact.id for fact in fact_view.facts_for_prompt(now))}
    )


def _comparison_key(fact: Fact | None) -> tuple[str, ...]:
    """What of a fact decides what it contradicts; nothing when it does not count."""
    return (
        (fact.statement, fact.subject, fact.attribute, fact.title, fact.url)
        if fact and fact.is_active
        else ()
    )
