"""Figures of one thing at different times: a series (2023: 120, 2025: 180), no conflict.

Two statements are of one series when they say nearly the same, one has all names of the other, each has one
date and the same number of figures of the same units, and the dates exclude each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agent.evidence.contradiction.statements import MIN_FRAME_SIMILARITY, MIN_SHARED_WORDS, dice_similarity
from agent.evidence.statement_features import StatementFeatures, extract_features
from agent.text.date_intervals import is_compatible
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
    """The series among facts, those with the most points first. Compares all pairs: give it few facts."""
    groups: list[list[tuple[Fact, StatementFeatures]]] = []
    for fact in facts:
        features = extract_features(fact.statement)
        if len(features.dates) != 1 or not features.quantities:
            continue
        group = next((group for group in groups if _is_same_series(group[0][1], features)), None)
        if group is None:
            groups.append([(fact, features)])
        elif not any(is_compatible(known.dates[0], features.dates[0]) for _, known in group):
            group.append((fact, features))
    timelines = [_make_timeline(group) for group in groups if len(group) > 1]
    return sorted(timelines, key=lambda timeline: -len(timeline.points))


def _make_timeline(group: list[tuple[Fact, StatementFeatures]]) -> Timeline:
    group = sorted(group, key=lambda entry: entry[1].dates[0].spans[0])
    points = [TimelinePoint(known.dates[0].text, known.quantities[0].text, fact) for fact, known in group]
    return Timeline(group[-1][0].statement, points)


def _is_same_series(a: StatementFeatures, b: StatementFeatures) -> bool:
    if a.is_negated != b.is_negated or a.labels != b.labels:
        return False
    if [quantity.unit for quantity in a.quantities] != [quantity.unit for quantity in b.quantities]:
        return False
    left, right = (frozenset(word for name in f.names for word in name.words) for f in (a, b))
    return (
        (left <= right or right <= left)
        and len(a.words & b.words) >= MIN_SHARED_WORDS
        and dice_similarity(a.words, b.words) >= MIN_FRAME_SIMILARITY
    )
