"""The parts of the question that facts and sentences bear on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent.retrieval.scorer import covered_share
from agent.text.answer_type import has_answer_type
from agent.text.question_analysis import ParsedQuestion, parse_question
from agent.types import Fact, PlanPart

SHARP_TYPES = ("person", "date", "number", "reason")
"""The types of answer that few sentences hold by chance."""

MIN_PART_SHARE = 0.6
"""Share of a part's words from which a fact of another part answers it too."""


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
