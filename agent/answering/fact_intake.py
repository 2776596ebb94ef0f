"""The change that new facts make, with a model's readings of the conflicts among them: what the analyzer says
of those it was shown, and one call for those that nobody ruled on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from agent.answering.plan import assign_parts
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change, state_after
from agent.roles.check_claims import COMPARE_FACTS
from agent.roles.research import ConflictRuling
from agent.types import Assessment, Conflict, Fact, Ruling

ConflictReview = Callable[[RunState], list[Ruling]]
"""A model's readings of the conflicts of a state."""


def add_facts(
    state: RunState,
    step: int,
    new: Sequence[Fact],
    *,
    model: float | None = None,
    unanswered: Collection[str] = (),
    sides: Collection[str] = (),
    review: ConflictReview | None = None,
) -> Change:
    """The change of new facts, with a model's readings of the conflicts that they make.

    `model` is the model's own estimate, `unanswered` are the parts that it does not call answered, `sides`
    the ids of one fact for each side of an inconsistency that it reports."""
    change: Change = {"facts": assign_parts(state.plan, new)}
    if review and (rulings := review(state_after(state, change))):
        change["rulings"] = rulings
    said = Assessment(step=step, model=model, unanswered=list(unanswered), sides=list(sides))
    return {**change, "assessments": [said]}


MAX_COMPARED_CONFLICTS = 12
"""Conflicts of one call: about 2,000 tokens of quotes."""


def open_conflicts(state: RunState) -> list[Conflict]:
    """The open conflicts, those about the question first."""
    found = [conflict for conflict in state.conflicts.values() if conflict.status == "open"]
    return sorted(found, key=lambda conflict: not conflict.asks)


def read_rulings(conflicts: Sequence[Conflict], given: Sequence[ConflictRuling], step: int) -> list[Ruling]:
    """A model's readings of these conflicts; of others they count for nothing."""
    said = {ruling.id: ruling for ruling in given}
    return [
        Ruling(
            conflict=conflict.id,
            kind=conflict.kind,
            values=conflict.values,
            ruling=said[conflict.id].ruling,
            chosen="",
            reason=" ".join(said[conflict.id].reason.split())[:300],
            by="model",
            step=step,
        )
        for conflict in conflicts
        if conflict.id in said
    ]


def review_by_model(tools: RunContext) -> ConflictReview:
    """A review by one call of a model for all open conflicts that no one ruled on; none without those."""

    def review(state: RunState) -> list[Ruling]:
        asked = [c for c in open_conflicts(state) if not c.ruling and not c.model_ruling]
        asked = asked[:MAX_COMPARED_CONFLICTS]
        if not asked or not tools.client:
            return []
        named = {i for conflict in asked for value in conflict.values for i in value.fact_ids}
        result = tools.judge(
            COMPARE_FACTS,
            question=state.own.relevance_question(state),
            conflicts=asked,
            facts=[fact for name, fact in state.facts.items() if name in named],
        )
        return read_rulings(asked, result.value.conflicts, tools.step)

    return review
