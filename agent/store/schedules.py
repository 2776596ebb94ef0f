"""Schedules, and the one way in which they change: under a lock, with the run that this starts."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Row, or_, select, update

from agent.errors import CorruptRow, NotFound
from agent.store import tables
from agent.store.dialect import read_clock
from agent.store.ledger import insert_run, new_id
from agent.store.table_access import TableAccess
from agent.types import Schedule, Settings, Status, Step

log = logging.getLogger(__name__)
c, r = tables.schedules.c, tables.runs.c
_SELECT = select(tables.schedules).where(c.state != "deleted")
Decide = Callable[[Schedule, Status | None, float], dict[str, Any]]
"""From a schedule, the status of its last run (None without one) and the time to what changes; with `due` the
run of this time (a text or a number that occurs once) starts."""


class Schedules(TableAccess):
    """Reads and writes schedules by the database's clock, in seconds since 1970."""

    clock: Callable[[Connection], float] = staticmethod(read_clock)

    def add(self, schedule: Schedule) -> None:
        """Store a new schedule."""
        row = schedule.model_dump() | {"settings": schedule.settings.model_dump_json()}
        self._write(tables.schedules.insert().values(row | {"is_open": int(schedule.is_open)}))

    def list_newest(self) -> list[Schedule]:
        """All, newest first. One that cannot be read is left out and logged."""
        found = []
        for row in self._read(_SELECT.order_by(c.created_at.desc(), c.id)):
            try:
                found.append(_schedule_from(row))
            except CorruptRow as error:
                log.warning("%s", error)
        return found

    def list_due(self) -> list[str]:
        """The ids of the active ones whose time has come, or whose last run came to rest uncounted."""
        rests = r.status.not_in((Status.RUNNING, Status.WAITING, Status.PAUSED)) | (r.deleted_at != "")
        made = tables.schedules.outerjoin(tables.runs, c.run_id == r.id)
        with self._reader.connect() as connection:
            due = or_(c.next_at <= self.clock(connection), (c.is_open == 1) & rests)
            query = select(c.id).select_from(made).where(c.state == "active", due)
            return list(connection.execute(query.order_by(c.next_at, c.id)).scalars())

    def look(self, schedule_id: str, held: Connection | None = None) -> tuple[Schedule, Status | None, float]:
        """A schedule, the status of its last run, and the time; locked in a transaction that is `held`.
        Raises NotFound, CorruptRow."""
        with nullcontext(held) if held else self._reader.connect() as connection:
            query = _SELECT.with_for_update() if held else _SELECT
            row = connection.execute(query.where(c.id == schedule_id)).first()
            if row is None:
                raise NotFound(f"there is no schedule {schedule_id}")
            status = connection.scalar(select(r.status).where(r.id == row.run_id, r.deleted_at == ""))
            return _schedule_from(row), Status(status) if status else None, self.clock(connection)

    def move(self, schedule_id: str, decide: Decide, first: Step | None = None) -> str:
        """Do with a schedule what `decide` says of it, in one transaction with the run that this starts;
        returns the run's id, "" for none. Without its `first` step none starts, and nothing changes where one
        should. Raises NotFound, CorruptRow."""
        with self._writer.begin() as connection:
            schedule, last, now = self.look(schedule_id, connection)
            values = decide(schedule, last, now)
            due = values.pop("due", None)
            if not values or (due and first is None):
                return ""
            if due and first:
                run_id = hashlib.sha256(f"{schedule_id} {due}".encode()).hexdigest()[: len(new_id())]
                settings = Settings.model_validate(first.change["settings"])
                values["run_id"] = run_id
                if not connection.scalar(select(r.id).where(r.id == run_id)):  # else a clock was set back
                    made = {"id": run_id, "schedule_id": schedule_id}
                    insert_run(connection, schedule.question, settings, first, **made)
            connection.execute(update(tables.schedules).where(c.id == schedule_id).values(values))
            return str(values.get("run_id", ""))


def _schedule_from(row: Row[Any]) -> Schedule:
    try:
        settings = Settings.model_validate_json(row.settings)
    except ValidationError as error:
        raise CorruptRow(f"the schedule {row.id} cannot be opened: its settings are damaged") from error
    return Schedule(**dict(row._mapping) | {"settings": settings, "is_open": bool(row.is_open)})
