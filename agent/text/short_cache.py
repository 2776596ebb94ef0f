"""A cache that keeps short texts only: strangers write long ones, which would stay in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

CACHE_SIZE = 8192
"""Results of a pure function that are remembered."""
MAX_KEPT = 500
"""Characters of the arguments of a call that is remembered."""
P = ParamSpec("P")
T = TypeVar("T")


def cache_short(size: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """`lru_cache` for a function of texts."""

    def decorate(read: Callable[P, T]) -> Callable[P, T]:
        kept = lru_cache(maxsize=size)(read)

        @wraps(kept)
        def call(*texts: P.args, **none: P.kwargs) -> T:
            return (kept if sum(map(len, texts)) <= MAX_KEPT else read)(*texts, **none)  # type: ignore[arg-type]

        return call

    return decorate
