"""What finished runs did and used: the sample that budget estimates are made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Engine, case, func, select

from agent.store import tables
from agent.store.model_calls import USAGE_COLUMNS, usage_from_row
from agent.types import Settings, Status, Usage

r, s, c = tables.runs.c, tables.steps.c, tables.calls.c
MAX_RUNS = 60
"""Size of the sample: the newest runs."""


@dataclass(frozen=True)
class FinishedRun:
    """One run: its settings, its actions, the pages it requested, and its usage."""

    settings: Settings
    steps: int
    pages: int
    usage: Usage


def list_finished_runs(reader: Engine) -> list[FinishedRun]:
    """The newest runs that reached an answer, without forks, imported runs and deleted ones."""
    finished = (
        r.status.in_((Status.REVIEW, Status.DONE)),
        r.forked_from == "",
        r.imported == "",
        r.deleted_at == "",
    )
    newest = select(r.id, r.settings, r.actions).where(*finished)
    newest = newest.order_by(r.created_at.desc()).limit(MAX_RUNS)
    ids = select(newest.subquery().c.id)
    of_step = func.coalesce(func.json_array_length(s.change, "$.pages"), 0)
    pages = func.sum(case((s.name.in_(("act", "crawl")), of_step), else_=0))
    work = select(s.run_id, pages, func.sum(s.seconds)).where(s.run_id.in_(ids)).group_by(s.run_id)
    usage = select(c.run_id, *USAGE_COLUMNS).where(c.run_id.in_(ids)).group_by(c.run_id)
    with reader.connect() as connection:
        runs: list[Any] = list(connection.execute(newest))
        work_of = {row[0]: row[1:] for row in connection.execute(work)}
        usage_of = {row[0]: row[1:] for row in connection.execute(usage)}
    return list(_build_sample(runs, work_of, usage_of))


def _build_sample(
    runs: Iterable[tuple[str, str, int]], work_of: Mapping[str, Any], usage_of: Mapping[str, Any]
) -> Iterator[FinishedRun]:
    for run_id, settings, actions in runs:
        pages, seconds = work_of.get(run_id, (0, 0.0))
        usage = usage_from_row(usage_of.get(run_id, (0, 0, 0, 0.0, 0)), seconds)
        try:
            yield FinishedRun(Settings.model_validate_json(settings), actions, pages, usage)
        except ValidationError:  # a run that cannot be read tells nothing
            continue
