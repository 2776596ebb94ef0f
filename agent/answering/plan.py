"""The parts of the question: which facts bear on them, and what is known of each while a run works. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agent.answering.fact_view import facts_after_notes
from agent.engine.run_state import RunState
from agent.evidence.confidence import compute_part
from agent.retrieval.scorer import covered_share
from agent.text.answer_type import has_answer_type
from agent.text.plurals import format_count
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.types import Fact, PartStatus, PlanPart

SHARP_TYPES = ("person", "date", "number", "reason")
"""The types of answer that few sentences hold by chance."""

MIN_PART_SHARE = 0.6
"""Share of a part's words from which a fact of another part answers it too."""
SECTION_CALLS, SECTION_TOKENS = 2, 4_000
"""What a section of a full report costs at most (`tests.bench.report`)."""


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


def find_free_id(plan: Sequence[PlanPart], facts: Iterable[Fact]) -> int:
    """The first number for a new part that no part has and no fact of a dropped one bears on."""
    used = [*(part.id for part in plan), *(fact.part for fact in facts)]
    return 1 + max((int(id) for id in used if id.isdecimal()), default=0)


def find_part(plan: Sequence[PlanPart], fact: Fact) -> str:
    """The id of the part that a fact bears on: its own where the plan has it, the only one, else the one
    whose words and type of answer its quote holds; "" for none."""
    if any(part.id == fact.part for part in plan):
        return fact.part
    if len(plan) == 1:
        return plan[0].id
    scores = {part.id: _score_part(plan, part, fact) for part in plan}
    best = max(scores, key=lambda name: scores[name], default="")
    return best if best and scores[best] > (0.0, False) else ""


def bears_on(plan: Sequence[PlanPart], part: PlanPart, fact: Fact) -> bool:
    """Whether a fact answers a part: it is its own, or its quote holds most of the part's words, or one of
    them and a value of the type asked for."""
    share, has_type = _score_part(plan, part, fact)
    return fact.part == part.id or share >= MIN_PART_SHARE or (has_type and share > 0)


def parse_parts(plan: Sequence[PlanPart]) -> list[ParsedQuestion]:
    """The questions of the parts, parsed; one without a name ("how many people does it employ?") with the
    names of the part before it."""
    parsed, names = list[ParsedQuestion](), ""
    for part in plan:
        asked = parse_question(part.question)
        if asked.name_words:
            names = " ".join(asked.names)
        parsed.append(asked if asked.name_words or not names else parse_question(f"{asked.text} {names}"))
    return parsed


def _score_part(plan: Sequence[PlanPart], part: PlanPart, fact: Fact) -> tuple[float, bool]:
    """The share of a part's words that a fact holds, without those of other parts, and whether it holds a
    value of the type asked for."""
    parsed = {other.id: asked for other, asked in zip(plan, parse_parts(plan), strict=True)}
    asked = parsed.pop(part.id)
    others = {word for other in parsed.values() for word in other.weights}
    own = {word: weight for word, weight in asked.weights.items() if word not in others}
    share = covered_share(replace(asked, weights=own or asked.weights), fact.quote, fact.title)
    return share, asked.answer_type in SHARP_TYPES and has_answer_type(asked.answer_type, fact.quote)


def view_plan(state: RunState) -> list[PartView]:
    """The parts in order. Once there is an answer and nothing was read since, a part stands as the answer
    left it; before that it is answered (found, where no model judged) when its facts say so and the analyzer
    does not object."""
    parts = list(state.plan)
    active = [fact for fact in facts_after_notes(state).values() if fact.is_active]
    counted = Counter(find_part(parts, fact) for fact in active)
    if state.answer is None or state.actions_this_round:
        level = state.confidence[-1] if state.confidence else None
        is_judged = level is not None and level.model is not None
        figures = {part.part: part for part in level.parts} if level else {}
        for n, part in enumerate(parts):
            figure = figures.get(part.id)
            status: PartStatus = "open"
            if figure and counted[part.id] and figure.disputed:
                status = "disputed"
            elif figure and counted[part.id] and figure.weight and not figure.unanswered:
                status = "answered" if is_judged else "found"
            value = round(compute_part(figure), 4) if figure and is_judged else 0.0
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
