"""What runs that came to an answer have done and spent: what an estimate is made from. Knows settings and
sums, no flow."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import Engine, case, func, select

from agent.store import tables
from agent.types import Settings, Status

r, s, c = tables.runs.c, tables.steps.c, tables.calls.c
MAX_RUNS = 60
"""Runs looked at, the newest first."""


@dataclass(frozen=True)
class FinishedRun:
    """One run: its settings, its tool actions, the pages it asked for, and what it spent (cost None: a price
    was unknown)."""

    settings: Settings
    steps: int
    pages: int
    calls: int
    tokens: int
    cost_usd: float | None
    seconds: float


def list_finished_runs(reader: Engine) -> list[FinishedRun]:
    """The newest runs that reached an answer here by themselves: no forks, nothing imported, none of the
    bin."""
    mine = (
        r.status.in_((Status.REVIEW, Status.DONE)),
        r.forked_from == "",
        r.imported == "",
        r.deleted_at == "",
    )
    newest = (
        select(r.id, r.settings, r.actions)
        .where(*mine)
        .order_by(r.created_at.desc())
        .limit(MAX_RUNS)
        .subquery()
    )
    crawls, worked = func.sum(case((s.name == "crawl", 1), else_=0)), func.sum(s.seconds)
    steps = select(s.run_id, crawls, worked).where(s.run_id.in_(select(newest.c.id))).group_by(s.run_id)
    tokens = func.sum(c.tokens_in + c.tokens_out)
    calls = select(c.run_id, func.count(), tokens, func.sum(c.cost_usd), func.count(c.cost_usd)).where(
        c.run_id.in_(select(newest.c.id))
    )
    with reader.connect() as connection:
        runs = connection.execute(select(newest)).all()
        done = {row[0]: row[1:] for row in connection.execute(steps)}
        spent = {row[0]: row[1:] for row in connection.execute(calls.group_by(c.run_id))}
    found = []
    for run_id, settings, actions in runs:
        pages, seconds = done.get(run_id, (0, 0.0))
        count, used, cost, priced = spent.get(run_id, (0, 0, 0.0, 0))
        known = (cost or 0.0) if priced == count else None
        with suppress(ValidationError):  # nothing is estimated from a run that cannot be read
            found.append(
                FinishedRun(
                    Settings.model_validate_json(settings), actions, pages, count, used or 0, known, seconds
                )
            )
    return found
