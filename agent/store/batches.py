"""Batches of questions and their rows. A row and its run begin in one transaction, so no two processes start
a row twice.

Not the batches of messages that `reply` waits for: those are in memory only."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Engine, Row, Update, and_, func, select, update

from agent.errors import CorruptRow, NotFound
from agent.store import tables
from agent.store.ledger import insert_person_step, insert_run, utc_timestamp
from agent.store.write_lock import Writer
from agent.types import Batch, BatchBudget, BatchRow, BatchState, Settings, Status, Step, Usage

log = logging.getLogger(__name__)
b, w, r = tables.batches.c, tables.batch_rows.c, tables.runs.c
_SELECT_ROWS = (
    select(tables.batch_rows, r.status, r.verdict, r.confidence, r.error, r.head, r.deleted_at)
    .select_from(tables.batch_rows.outerjoin(tables.runs, and_(w.run_id == r.id, w.run_id != "")))
    .order_by(w.n)
)


class Batches:
    """Every reading and writing of the two tables."""

    def __init__(self, reader: Engine, writer: Writer) -> None:
        self._reader, self._writer = reader, writer

    def create(
        self,
        name: str,
        settings: Settings,
        allowance: BatchBudget,
        columns: Sequence[str],
        rows: Iterable[BatchRow],
    ) -> str:
        """A new batch that is running, with all its rows; returns its id."""
        batch_id, at = uuid.uuid4().hex[:12], utc_timestamp()
        own = [
            {
                "batch_id": batch_id,
                "n": row.n,
                "question": row.question,
                "given": _to_json(row.given),
                "own": _to_json(row.own),
                "same_as": row.same_as,
                "trouble": row.trouble,
            }
            for row in rows
        ]
        with self._writer.begin() as connection:
            connection.execute(
                tables.batches.insert().values(
                    id=batch_id,
                    name=name,
                    state="running",
                    settings=settings.model_dump_json(),
                    allowance=allowance.model_dump_json(),
                    columns=_to_json(list(columns)),
                    created_at=at,
                    updated_at=at,
                )
            )
            connection.execute(tables.batch_rows.insert(), own)
        return batch_id

    def get(self, batch_id: str) -> Batch:
        """A batch. Raises NotFound, Unreadable."""
        with self._reader.connect() as connection:
            row = connection.execute(select(tables.batches).where(b.id == batch_id)).first()
        if row is None:
            raise NotFound(f"there is no batch {batch_id}; `python -m agent batch` lists those there are")
        return _batch_from_row(row)

    def list_newest(self, state: BatchState | None = None, limit: int = 50) -> list[Batch]:
        """Batches, newest first; of one state when it is given. One that cannot be read is left out, and the
        log says so."""
        query = select(tables.batches).order_by(b.created_at.desc(), b.id).limit(limit)
        with self._reader.connect() as connection:
            rows = connection.execute(query.where(b.state == state) if state else query).all()
        found = []
        for row in rows:
            try:
                found.append(_batch_from_row(row))
            except CorruptRow as trouble:
                log.warning("%s", trouble)
        return found

    def list_running(self) -> list[str]:
        """The ids of the batches that run, the newest first."""
        with self._reader.connect() as connection:
            return list(
                connection.scalars(
                    select(b.id).where(b.state == "running").order_by(b.created_at.desc(), b.id)
                )
            )

    def rows(self, batch_id: str) -> list[BatchRow]:
        """The rows in the order of the file, each with how its run stands. One that asks the same as another
        shares its run."""
        with self._reader.connect() as connection:
            found = [
                _batch_row_from(row) for row in connection.execute(_SELECT_ROWS.where(w.batch_id == batch_id))
            ]
        first = {row.n: row for row in found}
        shared = {"run_id", "again", "status", "verdict", "confidence", "error", "steps", "deleted"}
        return [
            row.model_copy(update=first[row.same_as].model_dump(include=shared))
            if row.same_as in first
            else row
            for row in found
        ]

    def batch_of_run(self, run_id: str) -> str:
        """The batch a run belongs to; "" for none."""
        with self._reader.connect() as connection:
            return connection.scalar(select(w.batch_id).where(w.run_id == run_id).limit(1)) or ""

    def sum_usage(self, batch_id: str) -> Usage:
        """What all runs of a batch have spent together; `seconds` is their working time. The cost is None
        when a price is unknown."""
        runs = select(w.run_id).where(w.batch_id == batch_id, w.run_id != "")
        c, s = tables.calls.c, tables.steps.c
        sums = select(
            func.count(),
            func.sum(c.tokens_in),
            func.sum(c.tokens_out),
            func.sum(c.cost_usd),
            func.count(c.cost_usd),
        )
        with self._reader.connect() as connection:
            count, tokens_in, tokens_out, cost, priced = connection.execute(
                sums.where(c.run_id.in_(runs))
            ).one()
            seconds = connection.scalar(select(func.sum(s.seconds)).where(s.run_id.in_(runs)))
        known = (cost or 0.0) if priced == count else None
        return Usage(
            llm_calls=count,
            prompt_tokens=tokens_in or 0,
            completion_tokens=tokens_out or 0,
            cost_usd=known,
            seconds=round(seconds or 0.0, 2),
        )

    def set_state(
        self,
        batch_id: str,
        *,
        state: BatchState,
        among: Sequence[BatchState],
        allowance: BatchBudget | None = None,
    ) -> bool:
        """Move a batch to a state (with another budget); False, and nothing changes, when it is in none of
        `among`."""
        values: dict[str, Any] = {"state": state, "updated_at": utc_timestamp()} | (
            {"allowance": allowance.model_dump_json()} if allowance else {}
        )
        with self._writer.begin() as connection:
            return (
                connection.execute(
                    update(tables.batches).where(b.id == batch_id, b.state.in_(among)).values(**values)
                ).rowcount
                == 1
            )

    def mark_for_resume(self, batch_id: str, numbers: Collection[int]) -> None:
        """These rows are to be taken up again as soon as there is room."""
        with self._writer.begin() as connection:
            connection.execute(
                update(tables.batch_rows)
                .where(w.batch_id == batch_id, w.n.in_(numbers), w.run_id != "")
                .values(again=1)
            )

    def start_row(self, batch_id: str, n: int, question: str, settings: Settings, first: Step) -> str:
        """Start a waiting row: its run is put in and the row is given its id, together or not at all.

        "" when the batch does not run, has as many at work as it may, or another was faster.
        """
        mine = and_(w.batch_id == batch_id, w.n == n, w.run_id == "", w.trouble == "", w.same_as == 0)
        with self._writer.begin() as connection:
            if not _has_room(connection, batch_id) or connection.scalar(select(w.n).where(mine)) is None:
                return ""
            run_id = insert_run(connection, question, settings, first)
            connection.execute(update(tables.batch_rows).where(mine).values(run_id=run_id))
            connection.execute(
                update(tables.batches).where(b.id == batch_id).values(updated_at=utc_timestamp())
            )
            return run_id

    def resume_row(self, batch_id: str, n: int, run_id: str, **word: Any) -> bool:
        """Take a row up again: its run is told the `word` (see `put_word`) and its mark goes, together or not
        at all.

        False when there is no room, or another was faster. Raises Overtaken when the run is not as the word
        has it."""
        with self._writer.begin() as connection:
            if (
                not _has_room(connection, batch_id)
                or connection.execute(_unmark_statement(batch_id, n)).rowcount != 1
            ):
                return False
            insert_person_step(connection, run_id, "resume", **word)
            return True

    def unmark_row(self, batch_id: str, n: int) -> None:
        """This row is not to be taken up again: a person did something else with its run."""
        with self._writer.begin() as connection:
            connection.execute(_unmark_statement(batch_id, n))


def _unmark_statement(batch_id: str, n: int) -> Update:
    return update(tables.batch_rows).where(w.batch_id == batch_id, w.n == n, w.again == 1).values(again=0)


def _has_room(connection: Connection, batch_id: str) -> bool:
    batch = connection.execute(select(b.state, b.allowance).where(b.id == batch_id)).first()
    if batch is None or batch.state != "running":
        return False
    at_work = select(func.count()).select_from(tables.batch_rows.join(tables.runs, w.run_id == r.id))
    busy = (
        connection.scalar(
            at_work.where(
                w.batch_id == batch_id, r.status == Status.RUNNING, r.deleted_at == "", w.again == 0
            )
        )
        or 0
    )
    return busy < BatchBudget.model_validate_json(batch.allowance).side_by_side


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _batch_from_row(row: Row[Any]) -> Batch:
    try:
        return Batch(
            id=row.id,
            name=row.name,
            state=row.state,
            settings=Settings.model_validate_json(row.settings),
            allowance=BatchBudget.model_validate_json(row.allowance),
            columns=json.loads(row.columns),
            created_at=row.created_at,
            updated_at=row.updated_at,
        )
    except ValidationError as trouble:
        raise CorruptRow(
            f"the batch {row.id} cannot be opened: its settings or its budget in the store are not as they should be"
        ) from trouble


def _batch_row_from(row: Row[Any]) -> BatchRow:
    return BatchRow.model_construct(
        n=row.n,
        question=row.question,
        given=json.loads(row.given),
        own=json.loads(row.own),
        same_as=row.same_as,
        trouble=row.trouble,
        run_id=row.run_id,
        again=bool(row.again),
        status=Status(row.status) if row.status else None,
        verdict=row.verdict or "",
        confidence=row.confidence,
        error=row.error or "",
        steps=row.head or 0,
        deleted=bool(row.deleted_at),
    )
