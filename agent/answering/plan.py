"""The parts of the question: which facts bear on them, and what is known of each while a run works. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.answering.fact_view import facts_after_notes
from agent.engine.run_state import RunState
from agent.evidence.confidence import PRECISION, compute_part
from agent.text.plurals import format_count
from agent.types import Fact, PartStatus, PlanPart

MAX_PARTS = 6
"""Parts of a question that a chat or a site tells apart."""
SECTION_CALLS, SECTION_TOKENS = 2, 4_000
"""What a section of a full report costs at most (`bench.report`)."""


@dataclass(frozen=True)
class PartView:
    """A part as it stands: `part` with its status and confidence now, how many active facts bear on it, and
    whether it waits for the answer of another part."""

    part: PlanPart
    facts: int
    waits_for: tuple[str, ...] = ()


def assign_parts(plan: Sequence[PlanPart], facts: Iterable[Fact]) -> list[Fact]:
    """The facts with the id of a part of the plan in `part`."""
    return [fact.replace(part=find_part(plan, fact)) for fact in facts]


def list_parts(parts: Iterable[str], question: str) -> list[PlanPart]:
    """The plan of a question: the parts that a model told apart, else the question as one."""
    told = [part.strip() for part in parts if part.strip()][:MAX_PARTS]
    asked = told if len(told) > 1 else [question]
    return [PlanPart(id=str(n), question=part, by="model") for n, part in enumerate(asked, 1)]


def find_free_id(plan: Sequence[PlanPart], facts: Iterable[Fact]) -> int:
    """The first number for a new part that no part has and no fact of a dropped one bears on."""
    used = [*(part.id for part in plan), *(fact.part for fact in facts)]
    return 1 + max((int(id) for id in used if id.isdecimal()), default=0)


def find_part(plan: Sequence[PlanPart], fact: Fact) -> str:
    """The id of the part that a fact bears on: the one named for it, or the only one; "" for none."""
    if len(plan) == 1:
        return plan[0].id
    return fact.part if any(part.id == fact.part for part in plan) else ""


def view_plan(state: RunState) -> list[PartView]:
    """The parts in order. Once there is an answer and nothing was read since, a part stands as the answer
    left it; before that it is answered when its facts say so and the analyzer does not object, and found
    where no model judged."""
    parts = list(state.plan)
    active = [fact for fact in facts_after_notes(state).values() if fact.is_active]
    counted = Counter(find_part(parts, fact) for fact in active)
    if state.answer is None or state.actions_this_round:
        level = state.confidence[-1] if state.confidence else None
        figures = {part.part: part for part in level.parts} if level else {}
        for n, part in enumerate(parts):
            figure = figures.get(part.id)
            status: PartStatus = "open"
            if counted[part.id] and figure is None:
                status = "found"
            elif figure and counted[part.id] and figure.disputed:
                status = "disputed"
            elif figure and counted[part.id] and figure.weight and not figure.unanswered:
                status = "answered"
            value = round(compute_part(figure), PRECISION) if figure else 0.0
            parts[n] = part.replace(status=status, confidence=value)
    done = {part.id for part in parts if part.status in ("answered", "found")}
    return [
        PartView(part, counted[part.id], tuple(id for id in part.after if id not in done)) for part in parts
    ]


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
