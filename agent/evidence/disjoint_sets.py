"""Disjoint sets of hashable things: what belongs together is joined step by step (union-find)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class DisjointSets(Generic[T]):
    """Sets that are joined; every thing starts in a set of its own."""

    def __init__(self) -> None:
        self.parents: dict[T, T] = {}

    def find(self, thing: T) -> T:
        """The representative of the thing's set."""
        self.parents.setdefault(thing, thing)
        while self.parents[thing] != thing:
            self.parents[thing] = thing = self.parents[self.parents[thing]]
        return thing

    def join(self, one: T, other: T) -> None:
        """Put both sets together."""
        self.parents[self.find(one)] = self.find(other)
