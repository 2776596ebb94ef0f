"""What PostgreSQL tells of runs on which a person acted (LISTEN/NOTIFY): the flag that stops a run need not
be read ten times a second."""

from __future__ import annotations

import time

from sqlalchemy import Connection, func, select

from agent.store.dialect import is_sqlite


def notify(connection: Connection, run_id: str) -> None:
    """Tell every listener, when the transaction commits, that a person acted on a run. Nothing on SQLite."""
    if not is_sqlite(connection.dialect):
        connection.execute(select(func.pg_notify("touchstone_runs", run_id)))


class Flags:
    """The control flags of runs as they were last read. One is known for 2 s while somebody listens, or until
    its run is heard of; never while nobody listens."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, float]] = {}
        self._is_live, self._heard = False, 0

    def listen(self, *, is_live: bool) -> None:
        """Somebody listens from now on, or nobody any more: what was not heard meanwhile is not known."""
        self._known.clear()
        self._is_live, self._heard = is_live, self._heard + 1

    def hear(self, run_id: str) -> None:
        """A run moved."""
        self._heard += 1
        self._known.pop(run_id, None)

    def recall(self, run_id: str) -> str | None:
        """The flag of a run; None when it has to be read."""
        flag, read_at = self._known.get(run_id, ("", 0.0))
        return flag if read_at and time.monotonic() - read_at < 2 else None

    def mark(self) -> int:
        """What was heard so far: give it to `keep` with what is read behind it."""
        return self._heard

    def keep(self, run_id: str, flag: str, mark: int) -> None:
        """Know a flag, unless something was heard since it was read."""
        if self._is_live and mark == self._heard:
            self._known[run_id] = flag, time.monotonic()
