"""A model's readings of open conflicts: what the analyzer says of those it was shown, and one call for those
that nobody ruled on before a write-up. A person's ruling is never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.answering import fact_view
from agent.answering.fact_intake import ConflictReview, add_facts
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.evidence.contradiction.resolution import apply_model_ruling
from agent.roles.check_claims import COMPARE_FACTS
from agent.roles.research import ConflictRuling
from agent.types import Conflict, Fact

MAX_COMPARED_CONFLICTS = 12
"""Conflicts of one call: about 2,000 tokens of quotes."""


def open_conflicts(state: RunState) -> list[Conflict]:
    """The open conflicts with two sides that count after the notes, those about the question first."""
    facts = fact_view.facts_after_notes(state)
    return sorted(
        (
            conflict
            for conflict in state.conflicts.values()
            if conflict.status == "open" and fact_view.count_stated_sides(conflict, facts) > 1
        ),
        key=lambda conflict: not conflict.asks,
    )


def review_by_rulings(state: RunState, rulings: Sequence[ConflictRuling]) -> ConflictReview:
    """A review by the rulings on the conflicts of `state`. A conflict that got a further value since was not
    shown with it, and stays as it is."""

    def review(conflicts: Sequence[Conflict], facts: Mapping[str, Fact]) -> list[Conflict]:
        given = {ruling.id: ruling for ruling in rulings}
        return [
            _apply(conflict, given[conflict.id], facts)
            if conflict.id in given and _was_shown(conflict, state.conflicts.get(conflict.id))
            else conflict
            for conflict in conflicts
        ]

    return review


def review_by_model(state: RunState, tools: RunContext) -> ConflictReview:
    """A review by one call of a model for all open conflicts that no one ruled on; none without those."""

    def review(conflicts: Sequence[Conflict], facts: Mapping[str, Fact]) -> list[Conflict]:
        asked = [
            c for c in conflicts if _needs_ruling(c) and fact_view.count_stated_sides(c, dict(facts)) > 1
        ]
        asked = sorted(asked, key=lambda conflict: not conflict.asks)[:MAX_COMPARED_CONFLICTS]
        if not asked or not tools.client:
            return list(conflicts)
        named = {i for conflict in asked for value in conflict.values for i in value.fact_ids}
        result = tools.judge(
            COMPARE_FACTS,
            question=state.own.relevance_question(state),
            conflicts=asked,
            facts=[fact for name, fact in facts.items() if name in named],
        )
        shown = {conflict.id for conflict in asked}
        given = {ruling.id: ruling for ruling in result.value.conflicts if ruling.id in shown}
        return [_apply(c, given[c.id], facts) if c.id in given else c for c in conflicts]

    return review


def review_conflicts(state: RunState, tools: RunContext) -> Change:
    """The change that a model's readings make before a write-up; {} when there is nothing to rule on."""
    if not tools.client or not any(map(_needs_ruling, open_conflicts(state))):
        return {}
    return add_facts(state, tools.step, [], review=review_by_model(state, tools))


def _needs_ruling(conflict: Conflict) -> bool:
    return conflict.status == "open" and not conflict.ruling and not conflict.model_ruling


def _was_shown(conflict: Conflict, before: Conflict | None) -> bool:
    texts = {value.text for value in before.values} if before else set()
    return conflict.status == "open" and bool(texts) and {v.text for v in conflict.values} <= texts


def _apply(conflict: Conflict, ruling: ConflictRuling, facts: Mapping[str, Fact]) -> Conflict:
    return apply_model_ruling(conflict, ruling.ruling, " ".join(ruling.reason.split())[:300], facts)
