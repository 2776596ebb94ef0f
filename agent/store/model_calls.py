"""Model calls, stored under their key, so that none is paid for twice and each can be read afterwards."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy import JSON, ColumnElement, Engine, bindparam, case, cast, func, select

from agent import counters
from agent.store import tables
from agent.store.dialect import JsonField, is_sqlite, upsert
from agent.store.table_access import TableAccess
from agent.types import ModelCall, Settings, Status, Usage

r, s, c = tables.runs.c, tables.steps.c, tables.calls.c
MAX_RUNS = 60
"""Finished runs of which an estimate is made: the newest."""
# Built once: building a statement costs more than running it.
_DELETE = tables.calls.delete().where(c.key == bindparam("call"))
_SELECT_RECORD = select(c.record).where(c.key == bindparam("call"))
USAGE_COLUMNS = (
    func.count(),
    func.coalesce(func.sum(c.tokens_in), 0),
    func.coalesce(func.sum(c.tokens_out), 0),
    func.sum(c.cost_usd),
    func.count(c.cost_usd),
)
"""What `usage_from_row` reads."""
NO_USAGE = (0, 0, 0, 0.0, 0)
_SUM_USAGE = select(*USAGE_COLUMNS).where(c.run_id == bindparam("run"), c.step > bindparam("after"))


def usage_from_row(row: Sequence[Any], seconds: float = 0.0) -> Usage:
    """The usage in a row of `USAGE_COLUMNS`; the cost is None when the price of any call is unknown."""
    count, tokens_in, tokens_out, cost, priced = row
    known = (cost or 0.0) if priced == count else None
    return Usage(
        llm_calls=count,
        prompt_tokens=tokens_in,
        completion_tokens=tokens_out,
        cost_usd=known,
        seconds=round(seconds, 2),
    )


class ModelCalls(TableAccess):
    """Stores calls and returns them."""

    def record(self, call: ModelCall) -> None:
        """Store a call; it replaces one of the same key (a failed attempt that was repeated)."""
        self.rewrite({call.key: call})
        counters.count("model_calls", call.role)
        counters.count("model_tokens", "prompt", amount=call.prompt_tokens)
        counters.count("model_tokens", "completion", amount=call.completion_tokens)

    def adopt(
        self, run_id: str, calls: Iterable[ModelCall], *, keep_key: Callable[[ModelCall], bool]
    ) -> None:
        """Add calls of another run (imported, or forked from) as calls of this one, except those whose key is
        taken. Except where `keep_key` says so they get another key, so that they never answer for a call that
        is still to be made."""
        adopted = dict[str, ModelCall]()
        for call in calls:
            other = hashlib.sha256(f"{run_id}\n{call.key}".encode()).hexdigest()
            key = call.key if keep_key(call) else other
            if self.recall(key) is None:
                adopted[key] = call.replace(run_id=run_id, key=key)
        self.rewrite(adopted)

    def rewrite(self, calls: Mapping[str, ModelCall]) -> None:
        """Put these calls in the place of those under their keys: only to erase or mark them."""
        with self._writer.begin() as connection:
            for key, call in calls.items():
                row = {
                    "key": call.key,
                    "run_id": call.run_id,
                    "step": call.step,
                    "record": call.model_dump_json(),
                    "tokens_in": call.prompt_tokens,
                    "tokens_out": call.completion_tokens,
                    "cost_usd": call.cost_usd,
                    "at": call.at,
                }
                if key != call.key:
                    connection.execute(_DELETE, {"call": key})
                upsert(connection, tables.calls, row)

    def spend(
        self, run_id: str, steps: Collection[int], role: str, messages: Sequence[dict[str, str]]
    ) -> None:
        """The replies that a role got in these steps to a prompt with these messages are not used again."""
        asked = list(messages[1:])  # the first one holds the form of the reply too
        self.rewrite(
            {
                call.key: call.replace(is_spent=True)
                for call in self.list_for_run(run_id)
                if call.step in steps and call.role == role and call.prompt[1 : len(messages)] == asked
            }
        )

    def recall(self, key: str) -> ModelCall | None:
        """The call of this key, or None."""
        record = self._read(_SELECT_RECORD, {"call": key}).scalar()
        return ModelCall.model_validate_json(record) if record else None

    def list_for_run(self, run_id: str) -> list[ModelCall]:
        """Every call of a run, oldest first."""
        records = self._read(select(c.record).where(c.run_id == run_id).order_by(c.step, c.at))
        return [ModelCall.model_validate_json(record) for (record,) in records]

    def count(self, run_id: str) -> int:
        """How many calls a run has made."""
        return self._read(select(func.count()).where(c.run_id == run_id)).scalar() or 0

    def list_newest(self, run_id: str, limit: int, offset: int = 0) -> list[ModelCall]:
        """One page of a run's calls, newest first."""
        newest = (c.step.desc(), c.at.desc())
        keys = select(c.key).where(c.run_id == run_id).order_by(*newest).limit(limit).offset(offset)
        records = self._read(select(c.record).where(c.key.in_(keys)).order_by(*newest))
        return [ModelCall.model_validate_json(record) for (record,) in records]

    def sum_usage(self, run_id: str, after: int = -1) -> Usage:
        """Calls, tokens and US dollars that a run used in its steps above `after`."""
        row = self._read(_SUM_USAGE, {"run": run_id, "after": after}).first()
        return usage_from_row(row) if row else Usage()


@dataclass(frozen=True)
class FinishedRun:
    """One run: its settings, its actions, the pages it requested, and its usage."""

    settings: Settings
    steps: int
    pages: int
    usage: Usage


def list_finished_runs(reader: Engine) -> list[FinishedRun]:
    """The newest runs that reached an answer, without forks, imported runs, deleted ones and such as cannot
    be read."""
    finished = (
        r.status.in_((Status.REVIEW, Status.DONE)),
        *(column == "" for column in (r.forked_from, r.imported, r.deleted_at)),
    )
    newest = select(r.id, r.settings, r.actions).where(*finished).order_by(r.created_at.desc())
    newest = newest.limit(MAX_RUNS)
    ids = select(newest.subquery().c.id)
    of_change: ColumnElement[Any] = JsonField(s.change, "pages")
    listed = of_change if is_sqlite(reader.dialect) else cast(of_change, JSON)
    of_step = func.coalesce(func.json_array_length(listed), 0)
    pages = func.sum(case((s.name.in_(("act", "crawl")), of_step), else_=0))
    work = select(s.run_id, pages, func.sum(s.seconds)).where(s.run_id.in_(ids)).group_by(s.run_id)
    usage = select(c.run_id, *USAGE_COLUMNS).where(c.run_id.in_(ids)).group_by(c.run_id)
    with reader.connect() as connection:
        runs = connection.execute(newest).all()
        work_of = {row[0]: row[1:] for row in connection.execute(work)}
        usage_of = {row[0]: row[1:] for row in connection.execute(usage)}
    sample = []
    for run_id, settings, actions in runs:
        requested, seconds = work_of.get(run_id, (0, 0.0))
        used = usage_from_row(usage_of.get(run_id, NO_USAGE), seconds)
        with suppress(ValidationError):  # a run that cannot be read tells nothing
            sample.append(FinishedRun(Settings.model_validate_json(settings), actions, requested, used))
    return sample
