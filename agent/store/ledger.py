"""Runs and their steps: an append-only ledger with one worker a run.

The primary key (run, n) forbids recording a step twice; a lease (owner, expiry, fencing token) avoids trying.
A person may append while a worker holds the run: the worker's next commit raises StaleHead, and it reads the
person's step and appends after it."""

from __future__ import annotations

import json
import os
import socket
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json
from sqlalchemy import Connection, Row, and_, bindparam, case, delete, func, or_, select, update
from sqlalchemy.exc import IntegrityError

from agent.errors import ConcurrentChange, CorruptRow, LeaseLost, NotFound
from agent.store import tables
from agent.store.dialect import read_clock
from agent.store.notices import notify
from agent.store.table_access import TableAccess, note_running
from agent.types import STATUS_PHRASES, Run, Settings, Status, Step

LEASE_S = 30.0
"""Seconds a lease lasts; it is renewed at every step and during model calls and fetches."""

r, s = tables.runs.c, tables.steps.c
# Built once: building a statement costs more than running it.
_SELECT_CONTROL = select(r.control).where(r.id == bindparam("run"))
_LOCK_HEAD = select(r.head).where(r.id == bindparam("run")).with_for_update()
_SELECT_POSITION = select(r.head, r.next, r.control).where(r.id == bindparam("run"))
_LOCK_POSITION = (
    select(r.head, r.next, r.status, r.deleted_at).where(r.id == bindparam("run")).with_for_update()
)
_SELECT_STEPS = (
    select(*(s[name] for name in Step.model_fields))
    .where(s.run_id == bindparam("run"), s.n > bindparam("after"))
    .order_by(s.n)
)
_COPIED_RUN_FIELDS = set("id question created_at updated_at error imported forked_from forked_at".split())
_RUN_COLUMNS = (*sorted(_COPIED_RUN_FIELDS), "verdict", "confidence", "schedule_id")
NOTE_STEPS = ("steer", "send_back", "comment", "fork")
"""The steps by which a person leaves a note."""
ERASE_STEP = "erase"
"""The step by which a person erased a note: the steps before it were rewritten."""
ANSWERED_FIRST = "someone else (perhaps another tab) answered first; their change is kept"


_program: ContextVar[dict[str, str] | None] = ContextVar("program", default=None)


@contextmanager
def act_as_program(name: str, key: str = "", content: str = "") -> Iterator[None]:
    """What this thread records meanwhile for a person is recorded as done by their program of this name.
    `key` is that of its request, and the id of the run that it starts, so that no second one can start;
    `content` stands for what it asks."""
    former = _program.set({"program": name} | ({"request": f"{key} {content}"} if key else {}))
    try:
        yield
    finally:
        _program.reset(former)


def name_program(change: dict[str, Any]) -> dict[str, Any]:
    """The change of a person's step, with the program that takes the step, if one does, and its request."""
    return {**change, **(_program.get() or {})}


class StaleHead(Exception):
    """Steps were appended since the worker last read the run."""


@dataclass(frozen=True)
class Lease:
    """The right to append to a run, until it expires or another takes it."""

    run_id: str
    owner: str
    token: int
    is_takeover: bool
    """Another held it before."""


def utc_timestamp(*, days_ago: float = 0.0) -> str:
    """The time now, or some days ago: ISO 8601, UTC, milliseconds."""
    moment = datetime.now(UTC) - timedelta(days=days_ago)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def new_id() -> str:
    """A random id of 12 hexadecimal digits, for a run or a batch."""
    return uuid.uuid4().hex[:12]


class Ledger(TableAccess):
    """Reads and writes runs and steps."""

    def create(self, question: str, settings: Settings, first: Step, *, owner: str = "") -> str:
        """A new run with its step 0 (the question); returns its id. Only an `owner` can claim it. Raises
        ConcurrentChange when the same request of a program has started a run."""
        try:
            with self._writer.begin() as connection:
                until = read_clock(connection) + LEASE_S
                lease = {"owner": owner, "lease_until": until, "token": 1} if owner else {}
                return insert_run(connection, question, settings, first, **lease)
        except IntegrityError as clash:
            raise ConcurrentChange("this request started its run before: read that one") from clash

    def add_if_absent(self, run: Run, steps: Sequence[Step], **summary: Any) -> bool:
        """Add a whole run with its steps (an import or a fork), as a conversation of its own; `summary` holds
        the columns that follow from its state. False, and nothing changes, when the id is taken."""
        row = run.model_dump(include=_COPIED_RUN_FIELDS) | summary
        row |= {
            "status": run.status,
            "settings": run.settings.model_dump_json(),
            "thread_id": run.id,
            "head": steps[-1].n,
            "next": steps[-1].next,
        }
        with self._writer.begin() as connection:
            if connection.scalar(select(r.id).where(r.id == run.id)) is not None:
                return False
            connection.execute(tables.runs.insert().values(row))
            for step in steps:
                _insert_step(connection, run.id, step)
            if run.status is Status.RUNNING:
                note_running(connection, run.id)
        return True

    def get(self, run_id: str) -> Run:
        """The run's row. Raises NotFound, CorruptRow."""
        row = self._read(select(tables.runs).where(r.id == run_id)).first()
        if row is None:
            raise NotFound(f"there is no run {run_id}; `./touchstone runs` lists those there are")
        return _run_from_row(row)

    def is_deleted(self, run_id: str) -> bool:
        """Whether the run is in the bin."""
        return bool(self._read(select(r.deleted_at).where(r.id == run_id)).scalar())

    def position(self, run_id: str) -> tuple[int, str, str]:
        """The number of the run's last step, its next step's name, and the control flag. Raises NotFound."""
        row = self._read(_SELECT_POSITION, {"run": run_id}).first()
        if row is None:
            raise NotFound(f"there is no run {run_id}")
        return row.head, row.next, row.control

    def control(self, run_id: str) -> str:
        """The flag a person set: "pause", "stop" or ""."""
        flags = self._writer.flags
        if (flag := flags.recall(run_id)) is None:
            mark = flags.mark()
            flag = str(self._read(_SELECT_CONTROL, {"run": run_id}).scalar() or "")
            flags.keep(run_id, flag, mark)
        return flag

    def list_claimable(self) -> list[str]:
        """Running runs whose lease is free, or whose holder is dead, oldest first."""
        query = select(r.id, r.owner, r.lease_until).where(r.status == Status.RUNNING, r.deleted_at == "")
        with self._reader.connect() as connection:
            rows, now = connection.execute(query.order_by(r.created_at)).all(), read_clock(connection)
        return [row.id for row in rows if not row.owner or row.lease_until < now or is_owner_gone(row.owner)]

    def thread_run_ids(self, run_id: str) -> list[str]:
        """The runs of the conversation that this run belongs to, or that has this id, oldest first."""
        thread = select(r.thread_id).where(r.id == run_id).scalar_subquery()
        query = select(r.id).where(r.thread_id == func.coalesce(thread, run_id), r.deleted_at == "")
        return list(self._read(query.order_by(r.created_at, r.id)).scalars())

    def family(self, run_id: str) -> list[str]:
        """The run with the branches, further questions and repetitions by a schedule that it grew from or
        that grew from it; also those in the bin."""
        repeats = tables.schedules.c.repeats
        origin = case((r.forked_from != "", r.forked_from), else_=func.coalesce(repeats, ""))
        made = tables.runs.outerjoin(tables.schedules, r.schedule_id == tables.schedules.c.id)
        rows = self._read(select(r.id, r.thread_id, origin.label("forked_from")).select_from(made)).all()
        found, known = {run_id}, 0
        while len(found) > known:
            known = len(found)
            threads = {row.thread_id for row in rows if row.id in found} - {""}
            origins = {row.forked_from for row in rows if row.id in found}
            found |= {
                row.id
                for row in rows
                if row.thread_id in threads or row.id in origins or row.forked_from in found
            }
        return [row.id for row in rows if row.id in found]

    def rewrite(self, run_id: str, steps: Sequence[Step], error: str) -> None:
        """Put these steps, and why the run failed, in the place of all that are recorded, and append the step
        ERASE_STEP, so that whoever read the run reads it anew. Raises ConcurrentChange when it moved."""
        head, at = steps[-1].n, utc_timestamp()
        rests = and_(r.id == run_id, r.head == head, r.status != Status.RUNNING)
        with self._writer.begin() as connection:
            moved = update(tables.runs).where(rests).values(head=head + 1, error=error, updated_at=at)
            if connection.execute(moved).rowcount != 1:
                raise ConcurrentChange(f"run {run_id} went on meanwhile: pause it, then erase the note again")
            connection.execute(delete(tables.steps).where(s.run_id == run_id))
            own = Step(
                n=head + 1, name=ERASE_STEP, change=name_program({}), next=steps[-1].next, by="person", at=at
            )
            for step in (*steps, own):
                _insert_step(connection, run_id, step)

    def steps(self, run_id: str, after: int = -1) -> list[Step]:
        """The run's steps with a number above `after`, in order."""
        rows = self._read(_SELECT_STEPS, {"run": run_id, "after": after}).mappings()
        return [Step.model_construct(**{**row, "change": from_json(row["change"])}) for row in rows]

    def claim(self, run_id: str, owner: str) -> Lease | None:
        """Take the run for `owner`; None when another living worker holds it."""
        with self._writer.begin() as connection:
            row = connection.execute(select(r.owner, r.token).where(r.id == run_id).with_for_update()).first()
            if row is None:
                raise NotFound(f"there is no run {run_id}")
            now = read_clock(connection)
            free = [r.owner == "", r.owner == owner, r.lease_until < now]
            if row.owner and is_owner_gone(row.owner):
                free.append(r.owner == row.owner)
            claimed = connection.execute(
                update(tables.runs)
                .where(r.id == run_id, r.token == row.token, or_(*free))
                .values(owner=owner, lease_until=now + LEASE_S, token=row.token + 1)
            )
        if claimed.rowcount != 1:
            return None
        return Lease(run_id, owner, row.token + 1, row.token > 0 and row.owner != owner)

    def renew(self, lease: Lease) -> None:
        """Hold the lease for another LEASE_S seconds. Raises LeaseLost."""
        with self._writer.begin() as connection:
            _update_if_held(connection, lease, lease_until=read_clock(connection) + LEASE_S)

    def release(self, lease: Lease, status: Status | None = None, *, flag: str = "", error: str = "") -> None:
        """Let go of the run and set its `status`: always, or with `flag` only while that control flag is
        still set (a person may have withdrawn it). Without a status the run keeps that of its last step.
        `error` is why it failed. Raises LeaseLost."""
        values: dict[str, Any] = {"owner": "", "lease_until": 0.0, "updated_at": utc_timestamp()}
        with self._writer.begin() as connection:
            control = connection.scalar(_SELECT_CONTROL.with_for_update(), {"run": lease.run_id})
            if status and flag in ("", control):
                values |= {"status": status, "control": "", **({"error": error} if error else {})}
            _update_if_held(connection, lease, **values)

    def commit(self, lease: Lease, step: Step, status: Status, summary: dict[str, Any]) -> None:
        """Append a worker's step and update the run's row, in one transaction. Raises LeaseLost when another
        worker holds the run, StaleHead when steps were appended since."""
        with self._writer.begin() as connection:
            now = {"lease_until": read_clock(connection) + LEASE_S, "updated_at": utc_timestamp()}
            head = connection.scalar(_LOCK_HEAD, {"run": lease.run_id})
            _update_if_held(connection, lease, head=step.n, next=step.next, status=status, **now, **summary)
            if head != step.n - 1:
                raise StaleHead
            _insert_step(connection, lease.run_id, step)

    def set_settings(self, lease: Lease, settings: Settings, *, head: int) -> None:
        """Set the settings in the run's row, unless steps were appended behind `head`. Raises LeaseLost."""
        with self._writer.begin() as connection:
            if connection.scalar(_LOCK_HEAD, {"run": lease.run_id}) == head:
                _update_if_held(connection, lease, settings=settings.model_dump_json())

    def append_person_step(self, run_id: str, name: str, change: dict[str, Any], **step: Any) -> int:
        """`insert_person_step` in a transaction of its own."""
        try:
            with self._writer.begin() as connection:
                return insert_person_step(connection, run_id, name, change, **step)
        except IntegrityError as clash:
            raise ConcurrentChange(
                "the run moved at this moment; look again and repeat if still needed"
            ) from clash

    def update_run(self, run_id: str, **values: Any) -> None:
        """Set columns of the run's row that are not part of its state (deleted_at)."""
        with self._writer.begin() as connection:
            connection.execute(update(tables.runs).where(r.id == run_id).values(**values))
            notify(connection, run_id)

    def list(
        self,
        *,
        status: str | None = None,
        text: str = "",
        flows: Collection[str] = (),
        first_turns: bool = False,
        schedule_id: str = "",
        behind: str = "",
        deleted: bool = False,
        limit: int = 0,
        offset: int = 0,
    ) -> list[Run]:
        """Runs, newest first, of one status and these flows, with `text` in the question, an answer or a note
        of a person; at most `limit` (0: all) behind the first `offset`, or behind the run `behind` (its id;
        raises NotFound); `first_turns`: no later in a thread; `schedule_id`: those of a schedule.
        One whose settings cannot be read is listed as failed, with the reason and default settings."""
        query = select(tables.runs).where(r.deleted_at != "" if deleted else r.deleted_at == "")
        if status:
            query = query.where(r.status == status)
        if flows:
            query = query.where(or_(*(r.settings.contains(f'"flow":"{name}"') for name in flows)))
        if first_turns:
            query = query.where(r.thread_id.in_((r.id, "")))
        if schedule_id:
            query = query.where(r.schedule_id == schedule_id)
        if behind:
            at = self.get(behind).created_at
            query = query.where(or_(r.created_at < at, and_(r.created_at == at, r.id > behind)))
        if text:
            asked = func.lower(r.question).contains(text.lower(), autoescape=True)
            is_said = or_(s.name.in_(NOTE_STEPS), s.change.contains('"answers":[{'))
            found = {
                row.run_id
                for row in self._read(select(s.run_id, s.change).where(is_said))
                for key in ("notes", "answers")
                for one in from_json(row.change).get(key, ())
                for told in one.get("sentences", (one,))
                if text.casefold() in told["text"].casefold()
            }
            query = query.where(or_(asked, r.id.in_(found)))
        newest = query.order_by(r.created_at.desc(), r.id).limit(limit or None).offset(offset)
        return [_run_from_row(row, or_failed=True) for row in self._read(newest)]


def insert_run(connection: Connection, question: str, settings: Settings, first: Step, **columns: Any) -> str:
    """Insert a new run with its step 0 in an open transaction; returns its id, by default a new one."""
    first, at = first.replace(change=name_program(first.change)), utc_timestamp()
    run_id = columns.pop("id", "") or first.change.get("request", "").partition(" ")[0] or new_id()
    connection.execute(
        tables.runs.insert().values(
            id=run_id,
            question=question,
            status=Status.RUNNING,
            settings=settings.model_dump_json(),
            head=0,
            next=first.next,
            thread_id=settings.thread_id or run_id,
            created_at=at,
            updated_at=at,
            **columns,
        )
    )
    _insert_step(connection, run_id, first.replace(at=at))
    if "owner" not in columns:  # else whoever holds it drives it
        note_running(connection, run_id)
    return run_id


def insert_person_step(
    connection: Connection,
    run_id: str,
    name: str,
    change: dict[str, Any],
    *,
    next: str = "",
    head: int | None = None,
    among: Collection[Status] = tuple(Status),
    **values: Any,
) -> int:
    """Append a person's step in an open transaction; returns its number. An empty `next` leaves the run's
    next step as it is.

    `head` is the last step the person saw, `among` the statuses in which the step is possible; `values` are
    columns of the run's row to set with it (status, control). Raises NotFound, and ConcurrentChange when the
    run has moved since or is deleted; nothing is written then."""
    row = connection.execute(_LOCK_POSITION, {"run": run_id}).first()
    if row is None:
        raise NotFound(f"there is no run {run_id}")
    if row.deleted_at:
        raise ConcurrentChange("the run is in the bin: restore it first")
    if row.status not in among:
        raise ConcurrentChange(
            f"to {name.replace('_', ' ')} is not possible now: the run is "
            f"{STATUS_PHRASES[Status(row.status)]}"
        )
    if head is not None and row.head != head:
        raise ConcurrentChange(ANSWERED_FIRST)
    change, at = name_program(change), utc_timestamp()
    step = Step(n=row.head + 1, name=name, change=change, next=next or row.next, by="person", at=at)
    connection.execute(
        update(tables.runs)
        .where(r.id == run_id)
        .values(head=step.n, next=step.next, updated_at=step.at, **values)
    )
    _insert_step(connection, run_id, step)
    if values.get("status", row.status) == Status.RUNNING:
        note_running(connection, run_id)
    notify(connection, run_id)
    return step.n


def _update_if_held(connection: Connection, lease: Lease, **values: Any) -> None:
    held = and_(r.id == lease.run_id, r.owner == lease.owner, r.token == lease.token)
    if connection.execute(update(tables.runs).where(held).values(**values)).rowcount != 1:
        raise LeaseLost(f"another worker holds run {lease.run_id}")


def _insert_step(connection: Connection, run_id: str, step: Step) -> None:
    change = json.dumps(step.change, ensure_ascii=False, separators=(",", ":"))
    row = step.model_dump(exclude={"change"}) | {"run_id": run_id, "change": change}
    connection.execute(tables.steps.insert(), row)


def _run_from_row(row: Row[Any], *, or_failed: bool = False) -> Run:
    """A run; one whose settings cannot be read raises CorruptRow, or comes as failed with the defaults."""
    values = {name: getattr(row, name) for name in _RUN_COLUMNS}
    run = Run(**values, status=Status(row.status), settings=Settings(), steps=row.head)
    try:
        return run.replace(settings=Settings.model_validate_json(row.settings))
    except ValidationError as trouble:
        damaged = CorruptRow(f"the run {row.id} cannot be opened: its stored settings are damaged")
        if or_failed:
            return run.replace(status=Status.FAILED, error=str(damaged))
        raise damaged from trouble


def _name_host() -> str:
    """This machine and, as several containers may share its name, the namespace that process ids are of."""
    with suppress(OSError):
        return f"{socket.gethostname()} {Path('/proc/self/ns/pid').readlink()}"
    return socket.gethostname()


_HOST = _name_host()


def new_owner_id() -> str:
    """A unique name for a holder in this process: host, process id, start time, random part."""
    pid = os.getpid()
    return f"{_HOST}|{pid}|{_process_start_time(pid)}|{new_id()}"


def is_owner_gone(owner: str) -> bool:
    """Is the holder surely dead? Only known for processes of this machine; other leases must expire."""
    host, pid, started = [*owner.split("|"), "", "", ""][:3]
    if host != _HOST or not pid.isdigit() or os.name != "posix":
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return bool(started) and _process_start_time(int(pid)) != started


def _process_start_time(pid: int) -> str:
    """The start time of a process (clock ticks since boot, field 22 of /proc/PID/stat), which tells it from a
    later process with the same id; "zombie" for a zombie, "" when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "zombie" if fields[0] == "Z" else fields[19]
