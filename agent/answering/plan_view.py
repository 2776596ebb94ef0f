"""What is known of each part of a plan while a run works: its status, its facts, its confidence. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from agent.answering.fact_view import facts_after_notes
from agent.answering.plan import find_part
from agent.engine.run_state import RunState
from agent.evidence.confidence import compute_part
from agent.text.plurals import format_count
from agent.types import PartConfidence, PartStatus, PlanPart

SECTION_CALLS, SECTION_TOKENS = 2, 4_000
"""What a section of a full report costs at most (`tests.bench.report`)."""


@dataclass(frozen=True)
class PartView:
    """A part as it stands: `part` with its status and confidence now, how many active facts bear on it, and
    whether it waits for the answer of another part."""

    part: PlanPart
    facts: int
    waits_for: tuple[str, ...] = ()


def view_plan(state: RunState) -> list[PartView]:
    """The parts in order. Once there is an answer and nothing was read since, a part stands as the answer
    left it; before that it is answered (found, where no model judged) when its facts say so and the analyzer
    does not object."""
    plan, is_closed = state.plan, state.answer is not None and not state.actions_this_round
    active = [fact for fact in facts_after_notes(state).values() if fact.is_active]
    counted = Counter(find_part(plan, fact) for fact in active)
    figures = {part.part: part for part in (state.confidence[-1].parts if state.confidence else [])}
    is_judged = bool(state.confidence) and state.confidence[-1].model is not None
    parts = (
        plan
        if is_closed
        else [_assess(part, figures.get(part.id), counted[part.id], is_judged=is_judged) for part in plan]
    )
    done = {part.id for part in parts if part.status in ("answered", "found")}
    return [
        PartView(part, counted[part.id], tuple(id for id in part.after if id not in done)) for part in parts
    ]


def _assess(part: PlanPart, figure: PartConfidence | None, facts: int, *, is_judged: bool) -> PlanPart:
    status: PartStatus = "open"
    if figure and facts and figure.disputed:
        status = "disputed"
    elif figure and facts and figure.weight and not figure.unanswered:
        status = "answered" if is_judged else "found"
    level = round(compute_part(figure), 4) if figure and is_judged else 0.0
    return part.replace(status=status, confidence=level)


def describe_remaining(state: RunState) -> str:
    """What a full report on several parts still costs at most: the searches and pages that are left, then the
    writing; "" for other answers."""
    if state.settings.report != "full" or len(state.plan) < 2:
        return ""
    left = max(0, state.settings.max_steps - len(state.actions_this_round))
    calls, tokens = SECTION_CALLS * len(state.plan), SECTION_TOKENS * len(state.plan)
    research = format_count(left, "search or page", "searches and pages")
    return (
        f"Still to come: at most {research}, then the report with about {calls} calls and {tokens:,} tokens."
    )
