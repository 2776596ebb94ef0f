"""What bounds the work of one workbench when several share a process: places for working runs, the pace of
fetches from a host, and the quotas of the person it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from agent.store.database import Store
from agent.types import Usage
from agent.web.rate_limit import HostRateLimiter


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
    describe_start_refusal: Callable[[Store], str] = field(default=lambda store: "")
    """Why no further run may start now, as a sentence; "" when one may."""
    describe_overrun: Callable[[Store, float], str] = field(default=lambda store, share: "")
    """Which quota is used up to this share, as a sentence; "" for none."""
    record_unstored: Callable[[Usage], None] = field(default=lambda usage: None)
    """Counts what a run used that is stored nowhere."""
