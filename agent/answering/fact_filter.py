"""Facts filtered by words, source, step and status, for every surface. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.answering.fact_view import is_from_source
from agent.types import Fact

FACT_STATUSES = (
    "checked",
    "disputed",
    "not found",
    "pinned",
    "struck",
    "own knowledge",
    "corrected",
    "flagged",
)
"""The statuses of a fact; several can hold at once."""


@dataclass(frozen=True)
class FactFilter:
    """All words, a site or page, the ledger's steps that found it (none: any), and one of FACT_STATUSES."""

    find: str = ""
    source: str = ""
    steps: frozenset[int] = frozenset()
    status: str = ""


def filter_facts(facts: Iterable[Fact], wanted: FactFilter) -> list[Fact]:
    """The facts that match, newest first."""
    newest = sorted(facts, key=lambda fact: (-fact.step, fact.start, fact.id))
    return [
        fact
        for fact in newest
        if matches_text(fact, wanted.find)
        and (not wanted.source or is_from_source(fact.url, wanted.source))
        and (not wanted.steps or fact.step in wanted.steps)
        and (not wanted.status or wanted.status in fact_statuses(fact))
    ]


def matches_text(fact: Fact, find: str) -> bool:
    """Whether all words occur in the fact, its quote, its former words, its address or its statuses."""
    parts = (fact.statement, fact.quote, fact.former, fact.url, *fact_statuses(fact), fact.id)
    text = " ".join(parts).casefold()
    return all(word in text for word in find.casefold().split())


def fact_statuses(fact: Fact) -> list[str]:
    """All statuses of a fact, the most important first."""
    found = "disputed" if fact.disputed else "checked"
    statuses = [
        "own knowledge" if fact.is_own_knowledge else "",
        "" if fact.decision == "none" else fact.decision,
        "flagged" if fact.flagged else "",
        "" if fact.is_own_knowledge else found if fact.verified else "not found",
        "corrected" if fact.former else "",
    ]
    return [status for status in statuses if status]


def main_fact_status(fact: Fact) -> str:
    """The status of a fact in a few words."""
    if fact.is_own_knowledge:
        return "struck" if fact.decision == "struck" else "own knowledge"
    if fact.former and not fact.verified and fact.decision == "none":
        return "not carried by its quote"
    return fact_statuses(fact)[0]
