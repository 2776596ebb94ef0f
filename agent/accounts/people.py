"""The people who have signed in, with role, folder and whether their sign-ins still hold."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, func, insert, select, update

from agent.accounts import tables
from agent.accounts.audit import AuditedTable, AuditLog
from agent.accounts.sign_in import SignIn, SignInRules
from agent.errors import NotFound, SignInRefused, UsageError
from agent.store.dialect import lock_once
from agent.store.ledger import utc_timestamp
from agent.store.table_access import Writer

Role = Literal["member", "admin"]
p = tables.people.c


@dataclass(frozen=True)
class Person:
    """Someone who signed in. `folder` lies below the data folder and holds their store; "" is the data folder
    itself, which belongs to the first admin. `signed_out_at`: sign-ins issued up to then (seconds since 1970
    on the provider's clock) hold no longer, nor do those of `ended`, with spaces between."""

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
    ended: str

    @property
    def is_admin(self) -> bool:
        """May they see the people screen?"""
        return self.role == "admin"

    @property
    def label(self) -> str:
        """What they are called on the screens."""
        return self.name or self.email or self.subject


LOCAL = Person("local", "", "", "", "this computer", "admin", "", "", False, 0, 0, "")
"""Whose tokens are those of a server where nobody signs in."""


class People(AuditedTable):
    """Who has signed in. Thread-safe."""

    def __init__(self, writer: Writer, audit: AuditLog, rules: SignInRules) -> None:
        super().__init__(writer, audit)
        self.rules = rules

    def recognize(self, claims: Mapping[str, Any]) -> Person:
        """The person of a sign-in, by the claims of its ID token. A new person is added; a sign-in seen for
        the first time is recorded. Raises SignInRefused when it does not hold."""
        sign_in = self.rules.read(claims)
        person = self._find(p.issuer == sign_in.issuer, p.subject == sign_in.subject)
        if person and person.is_blocked:
            raise SignInRefused("an admin of this server has blocked your account: ask them")
        issued = sign_in.issued
        if person and (issued <= person.signed_out_at or str(issued) in person.ended.split()):
            raise SignInRefused("this sign-in was ended: sign in again")
        return person if person and issued <= person.signed_in_at else self._record(sign_in)

    def get(self, person_id: str) -> Person:
        """A person by id. Raises NotFound."""
        if person := self._find(p.id == person_id):
            return person
        raise NotFound("there is no such person")

    def list(self) -> list[Person]:
        """Everybody, in the order in which they came."""
        return list(map(_to_person, self._read(select(tables.people).order_by(p.created_at, p.id)).all()))

    def find_first_admin(self) -> Person | None:
        """Who owns the data folder itself; None before they have signed in."""
        return self._find(p.folder == "")

    def set_role(self, actor: Person, person_id: str, role: Role) -> None:
        """Make someone an admin or a member. Raises UsageError for the first admin, whose settings are the
        server's."""
        person = self.get(person_id)
        if role == "member" and not person.folder:
            raise UsageError(f"{person.label} owns the settings of this server and stays an admin")
        self._change(actor.id, person_id, "change role", f"{person_id} is {role} now", role=role)

    def set_blocked(self, actor: Person, person_id: str, *, blocked: bool) -> None:
        """Block someone, which ends their sign-ins and tokens, or let them in again. Raises UsageError for
        oneself and for the first admin, whose settings are the server's."""
        if person_id == actor.id:
            raise UsageError("you cannot block yourself")
        person = self.get(person_id)
        if blocked and not person.folder:
            raise UsageError(f"{person.label} owns the settings of this server and cannot be blocked")
        over = max(person.signed_in_at, int(time.time())) if blocked else person.signed_out_at
        change: dict[str, Any] = {"is_blocked": int(blocked), "signed_out_at": over}
        self._change(actor.id, person_id, "block" if blocked else "unblock", **change)

    def release_address(self, actor: Person, person_id: str) -> None:
        """Let another account have the address of somebody blocked. Raises UsageError for who is not."""
        person = self.get(person_id)
        if not person.is_blocked:
            raise UsageError(f"{person.label} uses their address: block them first")
        self._change(actor.id, person_id, "release address", f"{person_id}: {person.email}", email="")

    def sign_out(self, claims: Mapping[str, Any]) -> None:
        """End this sign-in, in every tab and copy; those of other browsers hold."""
        person, issued = self.recognize(claims), self.rules.read(claims).issued
        self._change(person.id, person.id, "sign out", person.email, ended=p.ended + f" {issued}")

    def sign_out_everywhere(self, actor: Person, person_id: str) -> None:
        """End every sign-in of a person that this server has seen, and every token."""
        seen = self.get(person_id).signed_in_at
        self._change(actor.id, person_id, "sign out everywhere", signed_out_at=seen)

    def is_let_in(self, person: Person) -> bool:
        """May this person still use the server, by what is known of them now?"""
        now = self._find(p.id == person.id)
        return bool(now and not now.is_blocked and self.rules.admits(now.email))

    def find_admitted(self, issuer: str, subject: str, issued: int) -> Person | None:
        """Whom a provider knows by this number, for what it issued then (seconds since 1970); None for who
        has not signed in here, may not any more, or ended what was issued up to then."""
        person = self._find(p.issuer == issuer, p.subject == subject)
        if person and issued > person.signed_out_at and self.is_let_in(person):
            return person
        return None

    def _find(self, *wanted: ColumnElement[bool]) -> Person | None:
        row = self._read(select(tables.people).where(*wanted)).first()
        return _to_person(row) if row else None

    def _record(self, sign_in: SignIn) -> Person:
        """Record a sign-in, the first of a new person or a later one. The first admin gets the data folder
        itself, and all that is in it. Raises SignInRefused for the address of somebody else, and for that of
        somebody blocked even where it is not proven."""
        stated = {"signed_in_at": sign_in.issued, "email": sign_in.email, "name": sign_in.name}
        with self._writer.begin() as connection:
            lock_once(connection, "people")
            same = (p.issuer == sign_in.issuer, p.subject == sign_in.subject)
            person_id = connection.scalar(select(p.id).where(*same)) or ""
            others = (func.lower(p.email) == sign_in.stated_email, p.email != "", p.id != person_id)
            is_blocked = connection.scalar(select(func.max(p.is_blocked)).where(*others))
            if is_blocked:
                raise SignInRefused("an admin of this server has blocked your address: ask them")
            if is_blocked is not None and sign_in.email:
                raise SignInRefused(
                    "your address belongs to another account that has signed in here: sign in with that one, "
                    "or ask an admin to block it and release its address"
                )
            if person_id:
                newer = (p.id == person_id, p.signed_in_at < sign_in.issued)
                connection.execute(update(tables.people).where(*newer).values(stated))
            else:
                person_id = uuid.uuid4().hex
                has_first = connection.scalar(select(func.count()).where(p.folder == "")) or 0
                is_admin = sign_in.email in self.rules.admins if self.rules.admins else not has_first
                row = {
                    "id": person_id,
                    "issuer": sign_in.issuer,
                    "subject": sign_in.subject,
                    "role": "admin" if is_admin else "member",
                    "folder": "" if is_admin and not has_first else f"people/{person_id}",
                    "created_at": utc_timestamp(),
                }
                connection.execute(insert(tables.people).values(row | stated))
        self._audit.add(person_id, "sign in", sign_in.email)
        return self.get(person_id)

    def _change(self, actor: str, person_id: str, action: str, told: str = "", **columns: Any) -> None:
        with self._writer.begin() as connection:
            connection.execute(update(tables.people).where(p.id == person_id).values(columns))
            if action in ("block", "sign out everywhere"):
                connection.execute(tables.end_tokens(person_id))
        self._audit.add(actor, action, told or person_id)


def _to_person(row: Any) -> Person:
    return Person(**{**row._mapping, "is_blocked": bool(row.is_blocked)})
