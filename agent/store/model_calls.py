"""Model calls: kept by their key, so that none is paid for twice and each can be read afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Engine, bindparam, func, select

from agent.store import tables
from agent.store.write_lock import Writer
from agent.types import ModelCall, Usage

c = tables.calls.c
# Put together once: that costs more than the asking.
_INSERT = tables.calls.insert()
_DELETE = tables.calls.delete().where(c.key == bindparam("call"))
_SELECT_RECORD = select(c.record).where(c.key == bindparam("call"))
_SUM_USAGE = select(
    func.count(),
    func.coalesce(func.sum(c.tokens_in), 0),
    func.coalesce(func.sum(c.tokens_out), 0),
    func.sum(c.cost_usd),
    func.count(c.cost_usd),
).where(c.run_id == bindparam("run"), c.step > bindparam("after"))


class ModelCalls:
    """Records calls and finds them again."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    def record(self, call: ModelCall) -> None:
        """Keep a call; a later record of the same key replaces it (a failed attempt that was tried again)."""
        with self._writer.begin() as connection:
            connection.execute(_DELETE, {"call": call.key})
            connection.execute(_INSERT, _call_to_row(call))

    def add_if_absent(self, calls: Iterable[ModelCall]) -> None:
        """Put in calls of a run that came from elsewhere. None of ours is replaced: one whose key is taken is
        left out."""
        with self._writer.begin() as connection:
            for call in calls:
                if (
                    connection.scalar(select(tables.calls.c.key).where(tables.calls.c.key == call.key))
                    is None
                ):
                    connection.execute(_INSERT, _call_to_row(call))

    def recall(self, key: str) -> ModelCall | None:
        """The call kept under this key, or None."""
        with self._reader.connect() as connection:
            record = connection.scalar(_SELECT_RECORD, {"call": key})
        return ModelCall.model_validate_json(record) if record else None

    def list_for_run(self, run_id: str) -> list[ModelCall]:
        """Every call of a run, oldest first."""
        query = (
            select(tables.calls.c.record)
            .where(tables.calls.c.run_id == run_id)
            .order_by(tables.calls.c.step, tables.calls.c.at)
        )
        with self._reader.connect() as connection:
            return [ModelCall.model_validate_json(record) for record in connection.scalars(query)]

    def count(self, run_id: str) -> int:
        """How many calls a run has made."""
        with self._reader.connect() as connection:
            return connection.scalar(select(func.count()).where(tables.calls.c.run_id == run_id)) or 0

    def list_newest(self, run_id: str, limit: int, offset: int = 0) -> list[ModelCall]:
        """Calls of a run, newest first: a stretch of them."""
        keys = (
            select(c.key)
            .where(c.run_id == run_id)
            .order_by(c.step.desc(), c.at.desc())
            .limit(limit)
            .offset(offset)
        )
        query = select(c.record).where(c.key.in_(keys)).order_by(c.step.desc(), c.at.desc())
        with self._reader.connect() as connection:
            return [ModelCall.model_validate_json(record) for record in connection.scalars(query)]

    def sum_usage(self, run_id: str, after: int = -1) -> Usage:
        """Calls, tokens and US dollars a run has spent in the steps above `after`; the cost is None when any
        call's price is unknown."""
        with self._reader.connect() as connection:
            count, tokens_in, tokens_out, cost, priced = connection.execute(
                _SUM_USAGE, {"run": run_id, "after": after}
            ).one()
        known = (cost or 0.0) if priced == count else None
        return Usage(llm_calls=count, prompt_tokens=tokens_in, completion_tokens=tokens_out, cost_usd=known)


def _call_to_row(call: ModelCall) -> dict[str, Any]:
    return {
        "key": call.key,
        "run_id": call.run_id,
        "step": call.step,
        "record": call.model_dump_json(),
        "tokens_in": call.prompt_tokens,
        "tokens_out": call.completion_tokens,
        "cost_usd": call.cost_usd,
        "at": call.at,
    }
