"""Figures of one thing at different times: no conflict but a series (2023: 120, 2025: 180). Knows statements,
no run.

Two statements are of one series when they say nearly the same, with no name on both sides that the other
lacks, each with one date and the same number of figures of the same units, and the dates exclude each other.
The first figure is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.evidence.contradiction.statements import MIN_FRAME_SIMILARITY, MIN_SHARED_WORDS, dice_similarity
from agent.evidence.statement_features import StatementFeatures, extract_features
from agent.text import date_intervals
from agent.types import Fact


@dataclass(frozen=True)
class TimelinePoint:
    """What a fact says for one time."""

    when: str
    value: str
    fact: Fact


@dataclass(frozen=True)
class Timeline:
    """The points of one series, in the order of their times; `about` is the statement of its latest."""

    about: str
    points: list[TimelinePoint]


def find_timelines(facts: Sequence[Fact]) -> list[Timeline]:
    """The series among facts, those with the most points first. The work is that of all pairs: give it few
    (what a judgement looks at)."""
    dated = [
        (fact, said)
        for fact in facts
        if len((said := extract_features(fact.statement)).dates) == 1 and said.quantities
    ]
    groups: list[list[tuple[Fact, StatementFeatures]]] = []
    for one in dated:
        home = next((group for group in groups if _is_same_series(group[0][1], one[1])), None)
        if home is None:
            groups.append([one])
        elif not any(date_intervals.is_compatible(said.dates[0], one[1].dates[0]) for _, said in home):
            home.append(one)
    found = [
        sorted(group, key=lambda entry: entry[1].dates[0].spans[0]) for group in groups if len(group) > 1
    ]
    told = [
        Timeline(
            group[-1][0].statement,
            [TimelinePoint(said.dates[0].text, said.quantities[0].text, fact) for fact, said in group],
        )
        for group in found
    ]
    return sorted(told, key=lambda timeline: -len(timeline.points))


def _is_same_series(a: StatementFeatures, b: StatementFeatures) -> bool:
    named = [frozenset(word for name in said.names for word in name.words) for said in (a, b)]
    same = (
        [q.unit for q in a.quantities] == [q.unit for q in b.quantities]
        and a.is_negated == b.is_negated
        and a.labels == b.labels
    )
    same = same and (named[0] <= named[1] or named[1] <= named[0])
    return (
        same
        and len(a.words & b.words) >= MIN_SHARED_WORDS
        and dice_similarity(a.words, b.words) >= MIN_FRAME_SIMILARITY
    )
