"""API tokens and shared runs, both by random keys that are shown once: a program acts for the person who made
its token, within its scopes; a link opens one run for reading; until they are taken back."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, insert, select, update

from agent.accounts import tables
from agent.accounts.audit import AuditedTable
from agent.accounts.people import Person
from agent.errors import NotFound, UsageError
from agent.store.dialect import lock_once
from agent.store.ledger import utc_timestamp

SCOPES = {
    "reply": "POST /reply: answer a conversation",
    "messages": "POST /messages: answer messages as they come",
    "research": "ask questions, in batches too",
    "site": "ask websites",
    "collect": "collect articles and threads",
    "check": "check texts against their sources",
    "library": "search the library, add to it, talk with it",
    "read": "read every run, and what it found",
    "decide": "decide as you would: accept, resolve conflicts, overrule marks, edit facts, erase notes",
}
"""What a token may be for. A program that decides is never taken for its person: each step names it."""
MAX_TOKENS = 50
"""Tokens that hold, of one person."""
t = tables.tokens.c


@dataclass(frozen=True)
class ApiToken:
    """A token without its text, which is shown once."""

    id: str
    person_id: str
    name: str
    scopes: tuple[str, ...]
    created_at: str
    used_at: str
    revoked_at: str


class ApiTokens(AuditedTable):
    """The tokens of everybody."""

    def create(self, person: Person, name: str, scopes: Sequence[str]) -> tuple[ApiToken, str]:
        """A new token and its text, which is not stored. Raises UsageError."""
        if not name.strip() or len(name) > 80:
            raise UsageError("give the token a name of at most 80 characters, such as what will use it")
        wanted = tuple(scope for scope in SCOPES if scope in scopes)
        if not wanted or len(wanted) != len(set(scopes)):
            raise UsageError(f"choose what the token is for: {', '.join(SCOPES)}")
        return self._add(person, name.strip(), wanted, f"tst_{secrets.token_urlsafe()}")

    def renew_feed(self, person: Person, schedule_id: str, name: str) -> str:
        """The key of a new address for the feed of a schedule, and for nothing else; the one before ends.
        Raises UsageError."""
        scopes = (f"feed:{schedule_id}",)
        for former in self.list(person):
            if former.scopes == scopes and not former.revoked_at:
                self.revoke(person, former.id)
        return self._add(person, f"Feed: {name}", scopes, f"fed_{secrets.token_urlsafe()}")[1]

    def _add(self, person: Person, name: str, scopes: tuple[str, ...], text: str) -> tuple[ApiToken, str]:
        made = ApiToken(uuid.uuid4().hex, person.id, name, scopes, utc_timestamp(), "", "")
        row = {**vars(made), "scopes": " ".join(scopes), "hash": hash_key(text)}
        with self._writer.begin() as connection:
            lock_once(connection, person.id)  # what is counted here stays true
            if sum(not token.revoked_at for token in self.list(person)) >= MAX_TOKENS:
                raise UsageError(f"you have {MAX_TOKENS} tokens: revoke one that is no longer used")
            connection.execute(insert(tables.tokens).values(row))
        self._audit.add(person.id, "create token", f"{name} ({', '.join(scopes)})")
        return made, text

    def list(self, person: Person) -> list[ApiToken]:
        """A person's tokens, newest first, revoked ones too."""
        query = select(tables.tokens).where(t.person_id == person.id).order_by(t.created_at.desc(), t.id)
        return list(map(_to_token, self._read(query).all()))

    def revoke(self, person: Person, token_id: str) -> None:
        """Revoke a token of this person, at once. Raises NotFound."""
        mine = (t.id == token_id, t.person_id == person.id, t.revoked_at == "")
        if not self._write(update(tables.tokens).where(*mine).values(revoked_at=utc_timestamp())):
            raise NotFound("there is no such token")
        self._audit.add(person.id, "revoke token", token_id)

    def revoke_all(self, person: Person) -> None:
        """Revoke every token of this person, at once."""
        self._write(tables.end_tokens(person.id))

    def holds(self, token_id: str) -> bool:
        """Was the token of this id made here, and not revoked?"""
        return self._read(select(t.id).where(t.id == token_id, t.revoked_at == "")).first() is not None

    def find(self, text: str, scope: str = "") -> ApiToken | None:
        """The token of this text that holds for a scope ("": for any), or None. Notes its use, once a minute
        at most."""
        row = self._read(select(tables.tokens).where(t.hash == hash_key(text), t.revoked_at == "")).first()
        token = _to_token(row) if row else None
        if token is None or (scope and scope not in token.scopes):
            return None
        if token.used_at[:16] != (now := utc_timestamp())[:16]:
            self._write(update(tables.tokens).where(t.id == token.id).values(used_at=now))
        return token


def _to_token(row: Any) -> ApiToken:
    columns = {name: value for name, value in row._mapping.items() if name != "hash"}
    return ApiToken(**{**columns, "scopes": tuple(row.scopes.split())})


s = tables.shares.c
_SHARE = select(s.id, s.owner_id, s.run_id, s.created_at)


@dataclass(frozen=True)
class Share:
    """A link to a run, without its text, which is shown once."""

    id: str
    owner_id: str
    run_id: str
    created_at: str


class Shares(AuditedTable):
    """The shared runs of everybody."""

    def create(self, owner: Person, run_id: str) -> tuple[Share, str]:
        """A new link to a run and its key, which is not stored. The caller checks whose the run is."""
        key = f"shr_{secrets.token_urlsafe()}"
        made = Share(uuid.uuid4().hex, owner.id, run_id, utc_timestamp())
        self._write(insert(tables.shares).values(**vars(made), hash=hash_key(key)))
        self._audit.add(owner.id, "share run", f"run {run_id}")
        return made, key

    def list_for_run(self, owner: Person, run_id: str) -> list[Share]:
        """The links to a run that hold, newest first."""
        mine = (s.owner_id == owner.id, s.run_id == run_id, s.revoked_at == "")
        return [Share(*row) for row in self._read(_SHARE.where(*mine).order_by(s.created_at.desc(), s.id))]

    def find(self, key: str) -> Share:
        """The share of a key. Raises NotFound when there is none, or it was taken back."""
        row = self._read(_SHARE.where(s.hash == hash_key(key), s.revoked_at == "")).first()
        if row is None:
            raise NotFound("there is no such shared run, or its link was taken back")
        return Share(*row)

    def take_back(self, owner: Person, share_id: str) -> None:
        """End a link of this owner, at once. Raises NotFound."""
        mine = (s.id == share_id, s.owner_id == owner.id, s.revoked_at == "")
        if not self._write(update(tables.shares).where(*mine).values(revoked_at=utc_timestamp())):
            raise NotFound("there is no such link")
        self._audit.add(owner.id, "take back share", share_id)

    def delete_all(self, owner: Person) -> None:
        """End every link of this owner."""
        self._write(delete(tables.shares).where(s.owner_id == owner.id))


def hash_key(key: str) -> str:
    """What is stored of a key: its SHA-256. It is random and long, so no salt and no slow hash are needed."""
    return hashlib.sha256(key.encode()).hexdigest()
