"""The people who have signed in, with role, folder and whether their sign-ins still hold."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Engine, func, insert, select, update

from agent.accounts import tables
from agent.accounts.audit import AuditLog
from agent.errors import NotFound, SignInRefused, UsageError
from agent.store.ledger import utc_timestamp
from agent.store.table_access import TableAccess
from agent.store.write_lock import Writer

Role = Literal["member", "admin"]
FRESH_S = 1.0
"""Seconds a person's row is kept in memory: another process (the command line) may have changed it."""
p = tables.people.c


@dataclass(frozen=True)
class Person:
    """Someone who signed in. `folder` lies below the data folder and holds their store; "" is the data folder
    itself, which belongs to the first admin. `signed_out_at`: sign-ins issued up to then (seconds since 1970
    on the provider's clock) hold no longer."""

    id: str
    issuer: str
    subject: str
    email: str
    name: str
    role: Role
    folder: str
    created_at: str
    is_blocked: bool
    signed_in_at: int
    signed_out_at: int

    @property
    def is_admin(self) -> bool:
        """May they see the people screen?"""
        return self.role == "admin"

    @property
    def label(self) -> str:
        """What they are called on the screens."""
        return self.name or self.email or self.subject


class People(TableAccess):
    """Who has signed in. Thread-safe."""

    def __init__(
        self,
        reader: Engine,
        writer: Writer,
        audit: AuditLog,
        admin_emails: Sequence[str] = (),
        allowed: Sequence[str] = (),
    ) -> None:
        super().__init__(reader, writer)
        self._audit, self._admin_emails = audit, {email.casefold() for email in admin_emails}
        self._allowed = {one.casefold() for one in allowed}
        """Addresses and @domains that may sign in; empty: all."""
        self._known: dict[tuple[str, str], tuple[float, Person]] = {}
        self._lock = threading.Lock()

    def recognize(self, claims: Mapping[str, Any]) -> Person:
        """The person of a sign-in, by the claims of its ID token. A new person is added; a sign-in seen for
        the first time is recorded. Raises SignInRefused when it does not hold."""
        issuer, subject = str(claims.get("iss") or ""), str(claims.get("sub") or "")
        issued = int(claims.get("iat") or 0)
        if not subject:
            raise SignInRefused("sign in first")
        if not self.is_allowed(claims):
            raise SignInRefused("this server admits certain addresses only: ask its admin to add yours")
        person = self._find_known(issuer, subject) or self._add(issuer, subject, claims)
        if person.is_blocked:
            raise SignInRefused("an admin of this server has blocked your account: ask them")
        if issued <= person.signed_out_at:
            raise SignInRefused("you signed out everywhere: sign in again")
        if issued > person.signed_in_at:
            person = self._record_sign_in(person, claims, issued)
        return person

    def get(self, person_id: str) -> Person:
        """A person by id. Raises NotFound."""
        if row := self._row(select(tables.people).where(p.id == person_id)):
            return _to_person(row)
        raise NotFound("there is no such person")

    def list(self) -> list[Person]:
        """Everybody, in the order in which they came."""
        return list(map(_to_person, self._rows(select(tables.people).order_by(p.created_at, p.id))))

    def find_first_admin(self) -> Person | None:
        """Who owns the data folder itself; None before they have signed in."""
        row = self._row(select(tables.people).where(p.folder == ""))
        return _to_person(row) if row else None

    def set_role(self, actor: Person, person_id: str, role: Role) -> None:
        """Make someone an admin or a member. Raises UsageError for the first admin, whose settings are the
        server's."""
        person = self.get(person_id)
        if role == "member" and not person.folder:
            raise UsageError(f"{person.label} owns the settings of this server and stays an admin")
        self._change(actor.id, person_id, "change role", f"{person_id} is {role} now", role=role)

    def set_blocked(self, actor: Person, person_id: str, *, blocked: bool) -> None:
        """Block someone (no sign-in, no token holds) or let them in again. Raises UsageError for oneself."""
        if person_id == actor.id:
            raise UsageError("you cannot block yourself")
        self.get(person_id)
        action: Literal["block", "unblock"] = "block" if blocked else "unblock"
        self._change(actor.id, person_id, action, person_id, is_blocked=int(blocked))

    def sign_out_everywhere(self, actor: Person, person_id: str) -> None:
        """End every sign-in of a person that this server has seen."""
        seen = self.get(person_id).signed_in_at
        self._change(actor.id, person_id, "sign out everywhere", person_id, signed_out_at=seen)

    def is_allowed(self, claims: Mapping[str, Any]) -> bool:
        """May whoever has this e-mail address use the server?"""
        email = _read_names(claims)[0].casefold()
        domain = f"@{email.rpartition('@')[2]}"
        return not self._allowed or (_is_verified(claims) and bool({email, domain} & self._allowed))

    def is_let_in(self, person: Person) -> bool:
        """May this person still use the server?"""
        return not person.is_blocked and self.is_allowed({"email": person.email})

    def _find_known(self, issuer: str, subject: str) -> Person | None:
        key = (issuer, subject)
        with self._lock:
            read_at, person = self._known.get(key, (-FRESH_S, None))
        if person and time.monotonic() - read_at < FRESH_S:
            return person
        row = self._row(select(tables.people).where(p.issuer == issuer, p.subject == subject))
        if row is None:
            return None
        found = _to_person(row)
        with self._lock:
            self._known[key] = (time.monotonic(), found)
        return found

    def _add(self, issuer: str, subject: str, claims: Mapping[str, Any]) -> Person:
        """A new person. The first admin gets the data folder itself, and all that is in it."""
        person_id = uuid.uuid4().hex
        email, name = _read_names(claims)
        with self._writer.begin() as connection:
            same = (p.issuer == issuer, p.subject == subject)
            if connection.scalar(select(func.count()).where(*same)) == 0:
                has_first = connection.scalar(select(func.count()).where(p.folder == "")) or 0
                may_be_admin = _is_verified(claims) and email.casefold() in self._admin_emails
                is_admin = may_be_admin or (not self._admin_emails and not has_first)
                row = {
                    "id": person_id,
                    "issuer": issuer,
                    "subject": subject,
                    "email": email,
                    "name": name,
                    "role": "admin" if is_admin else "member",
                    "folder": "" if is_admin and not has_first else f"people/{person_id}",
                    "created_at": utc_timestamp(),
                }
                connection.execute(insert(tables.people).values(row))
        added = self._find_known(issuer, subject)
        if added is None:
            raise NotFound("there is no such person")
        return added

    def _record_sign_in(self, person: Person, claims: Mapping[str, Any], issued: int) -> Person:
        email, name = _read_names(claims)
        columns = {"signed_in_at": issued, "email": email, "name": name}
        self._change(person.id, person.id, "sign in", email, **columns)
        return self.get(person.id)

    def _change(self, actor: str, person_id: str, action: Any, target: str, **columns: Any) -> None:
        self._write(update(tables.people).where(p.id == person_id).values(columns))
        with self._lock:
            self._known.clear()
        self._audit.add(actor, action, target)


def _is_verified(claims: Mapping[str, Any]) -> bool:
    """Does the provider not deny that the address is theirs? Some say so in a word, some say nothing."""
    return str(claims.get("email_verified")).lower() != "false"


def _read_names(claims: Mapping[str, Any]) -> tuple[str, str]:
    """The e-mail address and the name that a sign-in states."""
    name = claims.get("name") or claims.get("preferred_username") or ""
    return str(claims.get("email") or "")[:320], str(name)[:200]


def _to_person(row: Any) -> Person:
    return Person(**{**row._mapping, "is_blocked": bool(row.is_blocked)})
