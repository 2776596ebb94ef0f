"""The audit log: who did what to what, and when. Entries are only ever added."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import insert, select

from agent.accounts import tables
from agent.store.ledger import utc_timestamp
from agent.store.table_access import TableAccess, Writer


@dataclass(frozen=True)
class AuditEntry:
    """One entry. `actor` is a person's id, `target` what it was done to: an id, or a few plain words."""

    at: str
    actor: str
    action: str
    target: str


class AuditLog(TableAccess):
    """Adds entries and lists them."""

    def add(self, actor: str, action: str, target: str = "") -> None:
        """Add an entry, with the time now."""
        row = {"at": utc_timestamp(), "actor": actor, "action": action, "target": target[:400]}
        self._write(insert(tables.audit).values(row))

    def list(self, limit: int = 200, *, actor: str = "") -> list[AuditEntry]:
        """The newest entries (0: all), newest first; those of one actor when it is given."""
        a = tables.audit.c
        query = select(a.at, a.actor, a.action, a.target).order_by(a.n.desc()).limit(limit or None)
        rows = self._read(query.where(a.actor == actor) if actor else query).all()
        return [AuditEntry(*row) for row in rows]


class AuditedTable(TableAccess):
    """A table whose changes are noted in the log."""

    def __init__(self, writer: Writer, audit: AuditLog) -> None:
        super().__init__(writer)
        self._audit = audit
