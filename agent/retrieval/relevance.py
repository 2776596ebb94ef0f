"""How well a fact's quote answers a question, by rule: the share of the question's words that it covers with
its title, less where it holds nothing of the type asked for."""

from __future__ import annotations

from agent.retrieval.term_coverage import covered_share
from agent.text.answer_type import has_answer_type
from agent.text.question_analysis import parse_question
from agent.text.tokens import fold
from agent.types import Fact

OTHER_TYPE_SHARE = 2 / 3
"""What a quote without a value of the type asked for counts (our own judgement: half as much again for one
that has it)."""


def score_fact(question: str, fact: Fact) -> float:
    """The relevance of a fact (0..1)."""
    asked = parse_question(question)
    names = frozenset(fold(name) for name in asked.names)
    fits = has_answer_type(asked.answer_type, fact.quote, names)
    return round(covered_share(asked, fact.quote, fact.title) * (1.0 if fits else OTHER_TYPE_SHARE), 4)
