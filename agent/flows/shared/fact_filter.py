"""Facts as a person looks for them: by words, by source, by the step that found them, by how they stand.
Pure, for every surface."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.flows.shared.fact_view import is_from_source
from agent.types import Fact

FACT_STATUSES = ("checked", "disputed", "not found", "pinned", "struck", "own knowledge", "corrected")
"""How a fact may stand; several can hold at once."""


@dataclass(frozen=True)
class FactFilter:
    """What is looked for: all the words, a site or page, the step it was found by (-1 for any), one of
    STATUSES."""

    find: str = ""
    source: str = ""
    step: int = -1
    status: str = ""


def filter_facts(facts: Iterable[Fact], sift: FactFilter) -> list[Fact]:
    """The facts that fit, newest first."""
    newest = sorted(facts, key=lambda fact: (-fact.step, fact.start, fact.id))
    return [
        fact
        for fact in newest
        if matches_text(fact, sift.find)
        and (not sift.source or is_from_source(fact.url, sift.source))
        and sift.step in (-1, fact.step)
        and (not sift.status or sift.status in fact_statuses(fact))
    ]


def matches_text(fact: Fact, find: str) -> bool:
    """Do all words stand in the fact, its quote, its former words, its address, or how it stands?"""
    if not find.strip():
        return True
    text = f"{fact.statement} {fact.quote} {fact.former} {fact.url} {' '.join(fact_statuses(fact))} {fact.id}".casefold()
    return all(word in text for word in find.casefold().split())


def fact_statuses(fact: Fact) -> list[str]:
    """All that holds of how it stands, what weighs most first."""
    found = (
        ""
        if fact.is_own_knowledge
        else "disputed"
        if fact.verified and fact.disputed
        else "checked"
        if fact.verified
        else "not found"
    )
    told = [
        "own knowledge" if fact.is_own_knowledge else "",
        "" if fact.decision == "none" else fact.decision,
        found,
        "corrected" if fact.former else "",
    ]
    return [mark for mark in told if mark]


def main_fact_status(fact: Fact) -> str:
    """How a fact stands, in one or two words."""
    if fact.is_own_knowledge:
        return "struck" if fact.decision == "struck" else "own knowledge"
    if fact.former and not fact.verified and fact.decision == "none":
        return "not carried by its quote"
    return fact_statuses(fact)[0]
