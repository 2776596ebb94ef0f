"""What bounds the work of one workbench when several share a process: places for working runs, the pace of
fetches from a host, and the quotas of the person it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from agent.store.database import Store
from agent.web.rate_limit import HostRateLimiter

ReserveUse = Callable[[float, int, float], AbstractContextManager[Callable[[int, float], None]]]


@dataclass(frozen=True)
class WorkLimits:
    """The limits of one workbench; by default there are none but its own settings."""

    places: Any = field(default_factory=nullcontext)
    """A context that a working run holds: a semaphore shared by all workbenches of the process."""
    pace: HostRateLimiter | None = None
    """The limiter of fetches that all workbenches share; None: one for each live world."""
    has_folder_worlds: bool = True
    """May runs read a folder of the server's disk as their web?"""
    max_runs: int = 0
    """Runs that may work at once; 0: as many as WORKERS says."""
    admit_start: Callable[[Store], AbstractContextManager[None]] = field(default=lambda store: nullcontext())
    """What a run is created within; raises UsageError when none may start now."""
    describe_overrun: Callable[[float], str] = field(default=lambda share: "")
    """Which quota is used up to this share, as a sentence; "" for none."""
    reserve: ReserveUse = field(
        default=lambda share, tokens, dollars: nullcontext(lambda tokens, dollars: None)
    )
    """Reserves the most a model call may use up to a share of the quota. Raises BudgetSpent."""
    take_page: Callable[[int], str] = field(default=lambda pages: "")
    """Counts a page to be fetched (-1: it was not); why it may not be, as a sentence."""
