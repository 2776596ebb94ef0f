"""The answer that passages give without a model: for each part of a question one lead line, up to three
passages, and what else was found.

It finds and shows; it does not understand. Knows passages and a question, no run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.retrieval.extractive_answer import Quotation, find_best_quotes, find_unknown_codes
from agent.text.question_parts import split_compound_question
from agent.types import Passage

MAX_LEAD_WORDS = 40
"""Words of a lead (the issue's limit)."""
MAX_PASSAGES = 3
"""Passages shown below the lead; more are folded."""
MAX_OTHERS = 5


@dataclass(frozen=True)
class PartAnswer:
    """What was found for one part of a question. Without a `lead` the part was not found, and `missing` says
    which of its names, codes or kinds of answer stand nowhere."""

    question: str
    lead: Quotation | None = None
    passages: tuple[Quotation, ...] = ()
    others: tuple[Quotation, ...] = ()
    missing: tuple[str, ...] = ()
    fit: float = 0.0
    """How well the lead fits (0..1), for the confidence."""


@dataclass(frozen=True)
class PassageAnswer:
    """What was found for a question, part by part."""

    parts: tuple[PartAnswer, ...] = field(default_factory=tuple)

    @property
    def is_refusal(self) -> bool:
        """Whether nothing was found for any part."""
        return not any(part.lead for part in self.parts)


def find_answer(question: str, passages: Sequence[Passage]) -> PassageAnswer:
    """The answer of these passages, given in any order."""
    return PassageAnswer(tuple(_answer_part(part, passages) for part in split_compound_question(question)))


def _answer_part(question: str, passages: Sequence[Passage]) -> PartAnswer:
    if unknown := find_unknown_codes(question, passages):
        return PartAnswer(question, missing=tuple(unknown))
    quotes = find_best_quotes(question, passages, 1 + MAX_PASSAGES + MAX_OTHERS)
    if not quotes:
        return PartAnswer(question)
    below = quotes[1 : 1 + MAX_PASSAGES]
    return PartAnswer(
        question, quotes[0], tuple(below), tuple(quotes[1 + MAX_PASSAGES :]), fit=quotes[0].score
    )
