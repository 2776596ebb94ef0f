"""Shared runs: a link opens one run for reading, or for comments too, until its owner takes it back.

A comment is stored beside the share, never in the run: the owner reads it, and decides what to do with it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from sqlalchemy import Engine, delete, insert, select, update

from agent.accounts import tables
from agent.accounts.audit import AuditLog
from agent.accounts.people import Person
from agent.accounts.secret_keys import hash_key, make_key
from agent.errors import NotFound, UsageError
from agent.store.ledger import utc_timestamp
from agent.store.table_access import TableAccess
from agent.store.write_lock import Writer

MAX_COMMENT_CHARS = 2000
MAX_COMMENTS = 200
"""Comments that one share takes."""
s, c = tables.shares.c, tables.comments.c


@dataclass(frozen=True)
class Share:
    """A link to a run, without its text, which is shown once."""

    id: str
    owner_id: str
    run_id: str
    may_comment: bool
    created_at: str
    revoked_at: str


@dataclass(frozen=True)
class ShareComment:
    """What a guest wrote to the owner of a run."""

    author: str
    text: str
    at: str


class Shares(TableAccess):
    """The shared runs of everybody, and what guests wrote about them."""

    def __init__(self, reader: Engine, writer: Writer, audit: AuditLog) -> None:
        super().__init__(reader, writer)
        self._audit = audit

    def create(self, owner: Person, run_id: str, *, may_comment: bool) -> tuple[Share, str]:
        """A new link to a run and its key, which is not stored. The caller checks whose the run is."""
        key = make_key("shr")
        made = Share(uuid.uuid4().hex, owner.id, run_id, may_comment, utc_timestamp(), "")
        row = {**vars(made), "may_comment": int(may_comment), "hash": hash_key(key)}
        self._write(insert(tables.shares).values(row))
        self._audit.add(owner.id, "share run", f"run {run_id} ({'comments' if may_comment else 'read only'})")
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
        """End every link of this owner, and delete what guests wrote."""
        mine = select(s.id).where(s.owner_id == owner.id)
        self._write(delete(tables.comments).where(c.share_id.in_(mine)))
        self._write(delete(tables.shares).where(s.owner_id == owner.id))

    def comment(self, key: str, author: Person, text: str) -> None:
        """Store a guest's comment for the owner. Raises UsageError, NotFound."""
        share, text = self.find(key), text.strip()
        if not share.may_comment:
            raise UsageError("this run was shared for reading only")
        if not text or len(text) > MAX_COMMENT_CHARS:
            raise UsageError(f"write a comment of at most {MAX_COMMENT_CHARS:,} characters")
        if len(self._rows(select(c.id).where(c.share_id == share.id))) >= MAX_COMMENTS:
            raise UsageError(f"this run has {MAX_COMMENTS} comments already: write to its owner")
        row = {"id": uuid.uuid4().hex, "share_id": share.id, "author": author.label, "text": text}
        self._write(insert(tables.comments).values(row | {"at": utc_timestamp()}))
        self._audit.add(author.id, "comment", f"run {share.run_id}")

    def list_comments(self, owner: Person, run_id: str) -> list[ShareComment]:
        """What guests wrote about a run of this owner, oldest first, through links taken back too."""
        mine = (s.owner_id == owner.id, s.run_id == run_id)
        query = select(c.author, c.text, c.at).join(tables.shares, s.id == c.share_id).where(*mine)
        return [ShareComment(*row) for row in self._rows(query.order_by(c.at, c.id))]


def _to_share(row: object) -> Share:
    columns = {name: getattr(row, name) for name in Share.__dataclass_fields__}
    return Share(**{**columns, "may_comment": bool(columns["may_comment"])})
