"""How far a source is trusted: a person's word on its domain, else a few visible signs, each with its reason. Deliberately simple.

The signs and their weights are our own judgement; a person's word goes before them. Pure functions.
"""

from __future__ import annotations

from dataclasses import dataclass

from agent.errors import UsageError
from agent.types import Page, Trusted
from agent.urls import host

PLAIN = 0.6
OFFICIAL = ("gov", "edu", "mil", "int")
TALK = ("forum", "community", "reddit", "quora", "discuss", "boards", "answers")
SCALE: tuple[tuple[str, float], ...] = (("not at all", 0.0), ("low", 0.3), ("ordinary", PLAIN), ("high", 0.8), ("fully", 1.0))
"""Trust in plain words. At 0 a source is not heard: its facts support nothing and dispute nothing, unless a person pins one."""


PLAINLY = ("nothing speaks for or against it",)
"""The reasons of a page without a sign."""


@dataclass(frozen=True)
class Trust:
    """A share between 0 and 1, and what it was made of."""

    value: float
    reasons: tuple[str, ...]


def of_page(page: Page, said: Trusted | None = None) -> Trust:
    """The trust in a page: what a person said of its domain, else by its address and what it says of itself."""
    if said is not None and said.value >= 0:
        return Trust(said.value, (because(said),))
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
    return Trust(round(min(0.95, max(0.1, value)), 2), tuple(reasons) or PLAINLY)


def because(said: Trusted) -> str:
    """A person's word as a reason."""
    return f"your word: {said.reason}" if said.reason else "your word"


def in_words(value: float) -> str:
    """The word of SCALE that is nearest; "not at all" only for 0."""
    return min(SCALE if value <= 0 else SCALE[1:], key=lambda entry: (abs(entry[1] - value), entry[1]))[0]


def value_of(text: str) -> float:
    """A word of SCALE ("high"), a share ("0.8") or a percentage ("80 %") as a share. Raises UsageError for anything else."""
    said = " ".join(text.replace("%", " % ").replace("_", " ").split()).casefold()
    if found := dict(SCALE).get(said):
        return found
    try:
        number = float(said.removesuffix("%")) / (100.0 if said.endswith("%") else 1.0)
    except ValueError:
        number = -1.0
    if said == "not at all" or 0 <= number <= 1:
        return max(0.0, number)
    raise UsageError(f"“{text[:40]}” is no trust: say {', '.join(word for word, _ in SCALE)}, or a number from 0 to 1")
