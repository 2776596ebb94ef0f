"""Several rankings of the same things made into one, by their ranks alone: scores of different kinds need not
be comparable."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

T = TypeVar("T", bound=Hashable)

RRF_K = 60
"""Reciprocal rank fusion as Cormack, Clarke and Büttcher gave it (SIGIR 2009), with their constant."""


def fuse_rankings(rankings: Sequence[Sequence[T]]) -> list[tuple[T, float]]:
    """Everything any ranking holds, best first, with the sum of 1 / (K + rank) over the rankings that hold it
    (the first rank is 1)."""
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, thing in enumerate(ranking, start=1):
            scores[thing] = scores.get(thing, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores.items(), key=lambda entry: -entry[1])
