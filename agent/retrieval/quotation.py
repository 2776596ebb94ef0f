"""A quote of a stored page that may answer a question."""

from __future__ import annotations

from dataclasses import dataclass


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
