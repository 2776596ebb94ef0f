"""The answer that passages give without a model: for each part of a question one lead line, up to three
passages, and what else was found.

It finds and shows; it does not understand. Knows passages and a question, no run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.retrieval.candidate_scores import Scored, analyze_question, score_candidates
from agent.retrieval.candidates import cut_candidates
from agent.retrieval.quotation import Quotation
from agent.retrieval.scorer import CollectionCounts
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


def find_answer(
    question: str, passages: Sequence[Passage], *, counts: CollectionCounts | None = None
) -> PassageAnswer:
    """The answer of these passages, best first, each with its score. `counts`: how often the question's words
    are in the collection that they come from."""
    parts = split_compound_question(question)
    return PassageAnswer(tuple(_answer_part(part, passages, counts) for part in parts))


MIN_SHARE = 0.5
MAX_WORDS_BELOW = 45
MIN_NEW = 0.3
SAME_PASSAGE = 0.85
MAX_OF_PASSAGE = 2


def _answer_part(question: str, passages: Sequence[Passage], counts: CollectionCounts | None) -> PartAnswer:
    asked = analyze_question(question, passages, counts)
    best = max((p.score for p in passages), default=0.0) or 1.0
    scored = [s for p in passages for s in score_candidates(asked, p, cut_candidates(p), p.score / best)]
    scored.sort(key=lambda s: -s.score)
    if not scored or not scored[0].score:
        return PartAnswer(question)
    lead = scored[0]
    below, others = _choose_below(lead, scored[1:])
    return PartAnswer(
        question, _quote([lead]), tuple(map(_quote, below)), tuple(map(_quote, others)), fit=lead.cover
    )


def _choose_below(lead: Scored, rest: Sequence[Scored]) -> tuple[list[list[Scored]], list[list[Scored]]]:
    said, room = set(lead.candidate.words), MAX_WORDS_BELOW
    groups: dict[str, list[Scored]] = {}
    others: dict[str, list[Scored]] = {}
    for s in rest:
        c = s.candidate
        if s.score < MIN_SHARE * lead.score:
            break
        if len(c.words - said) <= MIN_NEW * len(c.words) or c.statement.rstrip().endswith("?"):
            continue
        group = groups.get(c.passage.id)
        if (
            (group is None and len(groups) == MAX_PASSAGES)
            or c.length > room
            or (group and len(group) >= MAX_OF_PASSAGE)
        ):
            if c.passage.id not in groups and len(others) < MAX_OTHERS:
                others.setdefault(c.passage.id, [s])
            continue
        groups.setdefault(c.passage.id, []).append(s)
        room -= c.length
        said |= c.words
    return list(groups.values()), [o for key, o in others.items() if key not in groups]


def _quote(group: Sequence[Scored]) -> Quotation:
    first = group[0].candidate
    lines = sorted((s.candidate for s in group), key=lambda c: c.place)
    quote = " … ".join(c.quote for c in lines)
    return Quotation(
        first.passage.page_id,
        quote,
        " ".join(c.statement for c in lines),
        "",
        "",
        group[0].score,
        first.passage.id,
        first.passage.heading,
    )
