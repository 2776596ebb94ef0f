"""The change that new facts and a model's word on them make. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from agent.answering.plan import assign_parts
from agent.engine.run_state import RunState
from agent.engine.state import Change, state_after
from agent.types import Assessment, Fact, Ruling

ConflictReview = Callable[[RunState], list[Ruling]]
"""A model's readings of the conflicts of a state."""


def add_facts(
    state: RunState,
    step: int,
    new: Sequence[Fact],
    *,
    model: float | None = None,
    unanswered: Collection[str] = (),
    inconsistency: str = "",
    review: ConflictReview | None = None,
) -> Change:
    """The change of new facts, with a model's readings of the conflicts that they make.

    `model` is the model's own estimate, `unanswered` are the parts that it does not call answered,
    `inconsistency` is one that it reports."""
    change: Change = {"facts": assign_parts(state.plan, new)}
    if review and (rulings := review(state_after(state, change))):
        change["rulings"] = rulings
    said = Assessment(step=step, model=model, unanswered=list(unanswered), inconsistency=inconsistency)
    return {**change, "assessments": [said]}
