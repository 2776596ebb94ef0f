"""A schedule: what is asked again and again, when, and how that went."""

from __future__ import annotations

from typing import Literal

from agent.types.record import Record
from agent.types.runs import Settings


class Schedule(Record, use_attribute_docstrings=True):
    """What is asked (`repeats`: the run it is taken from), the times (`cron` has five fields, `zone` is a
    name of the IANA database, `next_at` is in seconds since 1970), and how it stands."""

    id: str
    name: str
    state: Literal["active", "paused", "deleted"]
    question: str
    settings: Settings
    repeats: str
    cron: str
    zone: str
    next_at: float
    run_id: str
    """Its last run; "" before the first."""
    is_open: bool
    """Whether the outcome of that run is not counted yet."""
    fired: int
    """Runs that it started."""
    skipped: int
    """Times at which its last run worked or waited."""
    missed: int
    """Times that passed unused, as no server ran or a quota held it up; the last of them is made up for."""
    failures: int
    """Runs that failed in a row."""
    remark: str
    """What there was to tell last: a pause, a time that was skipped or missed, a quota; "" for nothing."""
    program: str
    """The program that made it; "" where its person did."""
    created_at: str
