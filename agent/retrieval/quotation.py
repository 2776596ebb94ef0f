"""A quote of a stored page that may answer a question, and what it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.text.question_analysis import ParsedQuestion
from agent.text.tokens import tokenize


@dataclass(frozen=True)
class Quotation:
    """Verbatim words of a stored page, what they state and about what, and how well they answer (0..1)."""

    page_id: str
    quote: str
    statement: str = ""
    subject: str = ""
    attribute: str = ""
    score: float = 0.0
    passage_id: str = ""
    heading: str = ""
    """The path of headings it stands under."""


def find_topic(asked: ParsedQuestion, title: str, quote: str) -> str:
    """The subject of a sentence: a name of the question that it or its title holds, else the title without
    its site's name."""
    text = f" {' '.join(tokenize(f'{title} {quote}'))} "
    name = next((name for name in asked.names if f" {' '.join(tokenize(name))} " in text), "")
    return name or re.split(r"\s+[|–—·]\s+|\s+-\s+", title)[0].strip() or quote[:60]
