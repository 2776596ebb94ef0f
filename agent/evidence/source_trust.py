"""Trust in a source by a few visible signs, each with its reason. The signs and their weights are our own
judgement; a person excludes a source that they do not trust."""

from __future__ import annotations

from dataclasses import dataclass

from agent.text.urls import host
from agent.types import Page

DEFAULT_TRUST = 0.6
OFFICIAL_LABELS = ("gov", "edu", "mil", "int")
DISCUSSION_LABELS = ("forum", "community", "reddit", "quora", "discuss", "boards", "answers")
TRUST_SCALE: tuple[tuple[str, float], ...] = (
    ("not at all", 0.0),
    ("low", 0.3),
    ("ordinary", DEFAULT_TRUST),
    ("high", 0.8),
    ("fully", 1.0),
)
"""Trust in words. At 0 facts support and dispute nothing, unless a person pins one."""
NO_SIGN_REASONS = ("nothing speaks for or against it",)
"""The reasons of a page without a sign."""


@dataclass(frozen=True)
class SourceTrust:
    """A share between 0 and 1, and what it was made of."""

    value: float
    reasons: tuple[str, ...]


def assess_trust(page: Page) -> SourceTrust:
    """The trust in a page by its address, author and date."""
    name = host(page.final_url or page.url)
    labels = name.split(".")
    value, reasons = DEFAULT_TRUST, list[str]()
    if any(label in OFFICIAL_LABELS for label in labels[-2:]):
        value, reasons = value + 0.2, [*reasons, "an official or academic domain"]
    if any(word in label for word in DISCUSSION_LABELS for label in labels):
        value, reasons = value - 0.2, [*reasons, "a discussion, where anyone may write"]
    if page.author:
        value, reasons = value + 0.05, [*reasons, "signed by an author"]
    if page.published_at:
        value, reasons = value + 0.05, [*reasons, "dated"]
    return SourceTrust(round(min(0.95, max(0.1, value)), 2), tuple(reasons) or NO_SIGN_REASONS)


def trust_label(value: float) -> str:
    """The nearest word of TRUST_SCALE; "not at all" only for 0."""
    return min(
        TRUST_SCALE if value <= 0 else TRUST_SCALE[1:], key=lambda entry: (abs(entry[1] - value), entry[1])
    )[0]
