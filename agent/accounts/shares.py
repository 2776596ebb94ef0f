"""Shared runs: a link opens one run for reading, until its owner takes it back."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from sqlalchemy import Engine, delete, insert, select, update

from agent.accounts import tables
from agent.accounts.audit import AuditLog
from agent.accounts.people import Person
from agent.accounts.tokens import hash_key, make_key
from agent.errors import NotFound
from agent.store.ledger import utc_timestamp
from agent.store.table_access import TableAccess, Writer

s = tables.shares.c


@dataclass(frozen=True)
class Share:
    """A link to a run, without its text, which is shown once."""

    id: str
    owner_id: str
    run_id: str
    created_at: str
    revoked_at: str


class Shares(TableAccess):
    """The shared runs of everybody."""

    def __init__(self, reader: Engine, writer: Writer, audit: AuditLog) -> None:
        super().__init__(reader, writer)
        self._audit = audit

    def create(self, owner: Person, run_id: str) -> tuple[Share, str]:
        """A new link to a run and its key, which is not stored. The caller checks whose the run is."""
        key = make_key("shr")
        made = Share(uuid.uuid4().hex, owner.id, run_id, utc_timestamp(), "")
        self._write(insert(tables.shares).values(**vars(made), hash=hash_key(key)))
        self._audit.add(owner.id, "share run", f"run {run_id}")
        return made, key

    def list_for_run(self, owner: Person, run_id: str) -> list[Share]:
        """The links to a run that hold, newest first."""
        mine = (s.owner_id == owner.id, s.run_id == run_id, s.revoked_at == "")
        return list(
            map(_to_share, self._rows(select(tables.shares).where(*mine).order_by(s.created_at.desc(), s.id)))
        )

    def find(self, key: str) -> Share:
        """The share of a key. Raises NotFound when there is none, or it was taken back."""
        row = self._row(select(tables.shares).where(s.hash == hash_key(key), s.revoked_at == ""))
        if row is None:
            raise NotFound("there is no such shared run, or its link was taken back")
        return _to_share(row)

    def take_back(self, owner: Person, share_id: str) -> None:
        """End a link of this owner, at once. Raises NotFound."""
        mine = (s.id == share_id, s.owner_id == owner.id, s.revoked_at == "")
        if not self._write(update(tables.shares).where(*mine).values(revoked_at=utc_timestamp())):
            raise NotFound("there is no such link")
        self._audit.add(owner.id, "take back share", share_id)

    def delete_all(self, owner: Person) -> None:
        """End every link of this owner."""
        self._write(delete(tables.shares).where(s.owner_id == owner.id))


def _to_share(row: object) -> Share:
    return Share(**{name: getattr(row, name) for name in Share.__dataclass_fields__})
