"""What new facts do to a run: conflicts, `disputed` marks and the confidence that follow. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from agent.answering import fact_view
from agent.answering.confidence import assess_confidence
from agent.answering.plan import assign_parts
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.evidence.contradiction.groups import find_conflicts, update_disputed
from agent.evidence.contradiction.pairs import PairingScope
from agent.evidence.contradiction.resolution import FACTS_GONE_REASON
from agent.text.urls import site
from agent.types import Conflict, Fact

ConflictReview = Callable[[Sequence[Conflict], Mapping[str, Fact]], list[Conflict]]
"""The conflicts as they are found, with a model's readings; the facts are those known now, by id."""


def add_facts(
    state: RunState,
    step: int,
    new: Sequence[Fact],
    *,
    model: float | None = None,
    unanswered: Collection[str] | None = None,
    review: ConflictReview | None = None,
) -> Change:
    """The change that new facts make: the facts with their marks, the conflicts that changed, the confidence.
    `review` adds a model's readings of the conflicts.

    `model` is the model's own estimate, `unanswered` are the parts that it does not call answered."""
    new = assign_parts(state.plan, new)
    known = [*fact_view.facts_for_prompt(state), *fact_view.remove_excluded(state, new)]
    conflicts, marked = list(state.conflicts.values()), dict[str, Fact]()
    if new:
        conflicts = update_conflicts(state, known, conflicts)
    if review:
        conflicts = review(conflicts, {fact.id: fact for fact in known})
    if new or review:
        marked = {fact.id: fact for fact in update_disputed(known, conflicts)}
    facts = {fact.id: fact for fact in new} | marked
    level = assess_confidence(
        state, step, facts.values(), conflicts=conflicts, model=model, unanswered=unanswered
    )
    return {
        "facts": list(facts.values()),
        "conflicts": [conflict for conflict in conflicts if conflict != state.conflicts.get(conflict.id)],
        "confidence": [level],
    }


def update_conflicts(
    state: RunState, facts: Iterable[Fact], former: Iterable[Conflict], scope: PairingScope | None = None
) -> list[Conflict]:
    """All conflicts: those found among the facts, and the `former` ones that code found and whose facts are
    gone, closed. One between facts that were not compared now stays open."""
    facts, former = list(facts), list(former)
    others = fact_view.facts_after_notes(state).keys() - {fact.id for fact in facts}
    others = {name for name in others if state.facts[name].is_active}
    several = state.own.compares_within_site or len({site(fact.url) for fact in facts if fact.url}) > 1
    found = find_conflicts(facts, former, state.own.comparison_questions(state), scope) if several else []
    known = {conflict.id for conflict in found}
    gone = {"status": "settled", "reason": FACTS_GONE_REASON}
    return found + [
        old.model_copy(update=gone)
        if old.status == "open" and old.found_by == "code" and not _is_stated_by(old, others)
        else old
        for old in former
        if old.id not in known
    ]


def _is_stated_by(conflict: Conflict, names: Collection[str]) -> bool:
    """Whether one of these facts states a side of a conflict."""
    return any(name in names for value in conflict.values for name in value.fact_ids)
