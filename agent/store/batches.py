"""Batches of questions and their rows. A row and its run start in one transaction, so only once."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, and_, func, select, update

from agent.errors import CorruptRow, NotFound
from agent.store import tables
from agent.store.ledger import (
    act_as_program,
    insert_person_step,
    insert_run,
    name_program,
    new_id,
    utc_timestamp,
)
from agent.store.model_calls import NO_USAGE, USAGE_COLUMNS, usage_from_row
from agent.store.table_access import TableAccess
from agent.types import Batch, BatchBudget, BatchRow, BatchState, Settings, Status, Step, Usage

log = logging.getLogger(__name__)
b, w, r = tables.batches.c, tables.batch_rows.c, tables.runs.c
_SELECT_ROWS = (
    select(tables.batch_rows, r.status, r.verdict, r.confidence, r.error, r.deleted_at)
    .select_from(tables.batch_rows.outerjoin(tables.runs, and_(w.run_id == r.id, w.run_id != "")))
    .order_by(w.n)
)


class Batches(TableAccess):
    """Reads and writes batches."""

    def create(
        self,
        name: str,
        settings: Settings,
        allowance: BatchBudget,
        columns: Sequence[str],
        rows: Iterable[BatchRow],
    ) -> str:
        """A new running batch with all its rows; returns its id."""
        batch_id, at = new_id(), utc_timestamp()
        batch = {"id": batch_id, "name": name, "state": "running", "created_at": at, "updated_at": at}
        batch |= {"settings": settings.model_dump_json(), "allowance": allowance.model_dump_json()}
        batch |= {"columns": json.dumps(list(columns), ensure_ascii=False)}
        batch |= name_program({})
        stored = [
            {
                "batch_id": batch_id,
                **row.model_dump(include={"n", "question", "same_as", "trouble"}),
                "given": json.dumps(row.given, ensure_ascii=False),
                "own": json.dumps(row.own, ensure_ascii=False),
            }
            for row in rows
        ]
        with self._writer.begin() as connection:
            connection.execute(tables.batches.insert().values(batch))
            connection.execute(tables.batch_rows.insert(), stored)
        return batch_id

    def get(self, batch_id: str) -> Batch:
        """A batch. Raises NotFound, CorruptRow."""
        row = self._read(select(tables.batches).where(b.id == batch_id)).first()
        if row is None:
            raise NotFound(f"there is no batch {batch_id}; `./touchstone batch` lists those there are")
        return _batch_from_row(row)

    def list_newest(self, limit: int = 50, *, deleted: bool = False) -> list[Batch]:
        """Batches, newest first, in the bin or not. One that cannot be read is left out and logged."""
        found, newest = [], select(tables.batches).order_by(b.created_at.desc(), b.id)
        for row in self._read(newest.where((b.state == "deleted").is_(deleted)).limit(limit)):
            try:
                found.append(_batch_from_row(row))
            except CorruptRow as error:
                log.warning("%s", error)
        return found

    def list_running(self) -> list[str]:
        """The ids of the running batches, newest first."""
        return list(
            self._read(select(b.id).where(b.state == "running").order_by(b.created_at.desc(), b.id)).scalars()
        )

    def rows(self, batch_id: str) -> list[BatchRow]:
        """The rows in the order of the file, with the status of their runs. A row that repeats a question
        shares the run of the first."""
        found = [_batch_row_from(row) for row in self._read(_SELECT_ROWS.where(w.batch_id == batch_id))]
        shared = {"run_id", "again", "status", "verdict", "confidence", "error", "deleted_at"}
        first = {row.n: row.model_dump(include=shared) for row in found}
        return [row.model_copy(update=first.get(row.same_as, {})) for row in found]

    def batch_of_run(self, run_id: str) -> str:
        """The batch a run belongs to; "" for none."""
        return self._read(select(w.batch_id).where(w.run_id == run_id).limit(1)).scalar() or ""

    def sum_usage(self, batch_id: str) -> Usage:
        """What all runs of a batch have used together; `seconds` is their working time."""
        runs = select(w.run_id).where(w.batch_id == batch_id, w.run_id != "")
        seconds = self._read(
            select(func.sum(tables.steps.c.seconds)).where(tables.steps.c.run_id.in_(runs))
        ).scalar()
        row = self._read(select(*USAGE_COLUMNS).where(tables.calls.c.run_id.in_(runs))).first()
        return usage_from_row(row or NO_USAGE, seconds or 0.0)

    def set_state(
        self,
        batch_id: str,
        *,
        state: BatchState,
        among: Sequence[BatchState],
        allowance: BatchBudget | None = None,
    ) -> bool:
        """Move a batch to a state (with another budget); False, and no change, when in none of `among`."""
        values: dict[str, Any] = {"state": state, "updated_at": utc_timestamp()}
        if allowance:
            values["allowance"] = allowance.model_dump_json()
        changed = update(tables.batches).where(b.id == batch_id, b.state.in_(among)).values(**values)
        return self._write(changed) == 1

    def mark_for_resume(self, batch_id: str, numbers: Collection[int], again: bool = True) -> None:
        """These rows resume as soon as there is room; or not, a person did something else with their runs."""
        started = (w.batch_id == batch_id, w.n.in_(numbers), w.run_id != "")
        self._write(update(tables.batch_rows).where(*started).values(again=int(again)))

    def start_row(self, batch_id: str, n: int, question: str, settings: Settings, first: Step) -> str:
        """Start a waiting row: create its run and store the run's id in the row, in one transaction. "" when
        the batch does not run, has no room, or another process was faster."""
        waiting = and_(w.batch_id == batch_id, w.n == n, w.run_id == "", w.trouble == "", w.same_as == 0)
        with self._writer.begin() as connection:
            if not _has_room(connection, batch_id) or connection.scalar(select(w.n).where(waiting)) is None:
                return ""
            by = connection.scalar(select(b.program).where(b.id == batch_id))
            with act_as_program(by) if by else nullcontext():
                run_id = insert_run(connection, question, settings, first)
            connection.execute(update(tables.batch_rows).where(waiting).values(run_id=run_id))
            touched = update(tables.batches).where(b.id == batch_id)
            connection.execute(touched.values(updated_at=utc_timestamp()))
            return run_id

    def resume_row(self, batch_id: str, n: int, run_id: str, **step: Any) -> bool:
        """Append a "resume" step (see `insert_person_step`) to the run of a marked row and clear its mark,
        in one transaction. False when there is no room or another process was faster; raises
        ConcurrentChange when the run is not as the step expects."""
        with self._writer.begin() as connection:
            marked = update(tables.batch_rows).where(w.again == 1, w.batch_id == batch_id, w.n == n)
            if (
                not _has_room(connection, batch_id)
                or connection.execute(marked.values(again=0)).rowcount != 1
            ):
                return False
            insert_person_step(connection, run_id, "resume", **step)
            return True


def _has_room(connection: Connection, batch_id: str) -> bool:
    room = select(b.state, b.allowance).with_for_update()  # who counts is alone with the batch
    batch = connection.execute(room.where(b.id == batch_id)).first()
    if batch is None or batch.state != "running":
        return False
    running = (w.batch_id == batch_id, r.status == Status.RUNNING, r.deleted_at == "", w.again == 0)
    joined = tables.batch_rows.join(tables.runs, w.run_id == r.id)
    count = connection.scalar(select(func.count()).select_from(joined).where(*running)) or 0
    return count < BatchBudget.model_validate_json(batch.allowance).side_by_side


def _batch_from_row(row: Row[Any]) -> Batch:
    values = {name: getattr(row, name) for name in ("id", "name", "state", "created_at", "updated_at")}
    try:
        return Batch(
            **values,
            settings=Settings.model_validate_json(row.settings),
            allowance=BatchBudget.model_validate_json(row.allowance),
            columns=json.loads(row.columns),
        )
    except ValidationError as error:
        raise CorruptRow(
            f"the batch {row.id} cannot be opened: its stored settings or budget are damaged"
        ) from error


def _batch_row_from(row: Row[Any]) -> BatchRow:
    copied = ("n", "question", "same_as", "trouble", "run_id", "confidence")
    return BatchRow.model_construct(
        **{name: getattr(row, name) for name in copied},
        given=json.loads(row.given),
        own=json.loads(row.own),
        again=bool(row.again),
        status=Status(row.status) if row.status else None,
        verdict=row.verdict or "",
        error=row.error or "",
        deleted_at=row.deleted_at or "",
    )
