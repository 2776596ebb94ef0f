"""How far a source is trusted before anybody looked closer: a few visible signs, each with its reason. Deliberately simple.

The signs and their weights are our own judgement; a person's word about a domain will go before them. Pure functions.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.types import Page
from agent.urls import host

PLAIN = 0.6
OFFICIAL = ("gov", "edu", "mil", "int")
TALK = ("forum", "community", "reddit", "quora", "discuss", "boards", "answers")


@dataclass(frozen=True)
class Trust:
    """A share between 0 and 1, and what it was made of."""

    value: float
    reasons: tuple[str, ...]


def of_page(page: Page) -> Trust:
    """The trust in a page by its address and what it says of itself."""
    name = host(page.final_url or page.url)
    labels = name.split(".")
    value, reasons = PLAIN, list[str]()
    if any(label in OFFICIAL for label in labels[-2:]):
        value, reasons = value + 0.2, [*reasons, "an official or academic domain"]
    if any(word in label for word in TALK for label in labels):
        value, reasons = value - 0.2, [*reasons, "a discussion, where anyone may write"]
    if page.author:
        value, reasons = value + 0.05, [*reasons, "signed by an author"]
    if page.published_at:
        value, reasons = value + 0.05, [*reasons, "dated"]
    return Trust(round(min(0.95, max(0.1, value)), 2), tuple(reasons) or ("nothing speaks for or against it",))
