"""Webhooks: a program is told by a signed request (the Standard Webhooks form) when a run comes to rest.

What is to be told is read from the runs themselves, behind the moment up to which a hook was told: what could
not be delivered is tried again, in order, until it is, and nothing is lost with a process. A message may come
twice, with the same id."""

from __future__ import annotations

import base64
import hmac
import json
import logging
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from pydantic import Field
from sqlalchemy import select, update

from agent.accounts.tokens import MAX_TOKENS
from agent.errors import NotFound, UsageError
from agent.net.deadline import NoAnswer
from agent.net.exchange import Connections
from agent.net.policies import SIGN_IN
from agent.net.ssrf_guard import FetchRefused, SsrfGuard
from agent.settings.config import Config
from agent.store import tables
from agent.store.database import Store
from agent.store.dialect import lock_once, read_clock
from agent.store.ledger import LEASE_S, new_id, utc_timestamp
from agent.types import Status
from agent.types.record import Record

log = logging.getLogger(__name__)
RESTS = tuple(status.value for status in Status if status is not Status.RUNNING)


class WebhookRecord(Record):
    """Who is told, of what, and how the last try went."""

    id: str
    url: str
    statuses: tuple[str, ...]
    program: str = Field("", description="the program that added it; empty where its person did")
    added_at: str = Field(description="of changes before this moment it is not told")
    tries: int = Field(description="how often the message that is due was tried")
    trouble: str = Field(description="what went wrong the last time; empty when it was taken")


class Webhook(WebhookRecord):
    """What is stored of it: also up to where it was told."""

    secret: str = Field(repr=False)
    """What signs, encrypted where there is a key."""
    since: str
    """The moment of the newest change of which it was told."""
    told: dict[str, str]
    """The last changes (run and step) of which it was told, with their moments."""
    next_at: float
    """When it may be tried again, in seconds of the database's clock; meanwhile a process has it in hand."""
    token: str = Field(default="")
    """The id of that program's token: nothing is told when it holds no longer."""


class Webhooks:
    """The webhooks of a store. `holds_token`: does the token of this id hold?"""

    def __init__(
        self, store: Store, config: Config, holds_token: Callable[[str], bool] = lambda token_id: True
    ) -> None:
        self._store, self._config, self._hooks = store, config, store.webhooks
        self._holds_token = holds_token
        self.policy = replace(SIGN_IN, purpose="an answer to a webhook", is_cut=True)

    def add(
        self, url: str, statuses: tuple[str, ...] = (), *, program: str = "", token: str = ""
    ) -> tuple[Webhook, str]:
        """A new webhook and its secret, which is shown once. Raises UsageError."""
        if len(self.list()) >= MAX_TOKENS:
            raise UsageError(f"there are {MAX_TOKENS} webhooks: remove one that is no longer used")
        if strange := set(statuses) - set(RESTS):
            raise UsageError(f"there is no status {', '.join(sorted(strange))}; there are {', '.join(RESTS)}")
        try:
            address = SsrfGuard(self._config.FETCH_ALLOW).check_url(url)
        except FetchRefused as refused:
            raise UsageError(f"{refused} Own hosts are named in FETCH_ALLOW.") from refused
        secret, box = f"whsec_{base64.b64encode(secrets.token_bytes()).decode()}", self._config.saved.box
        kept = box.encrypt(secret) if box.source else secret
        now = utc_timestamp()
        made = Webhook(
            id=new_id(),
            url=address,
            secret=kept,
            statuses=statuses or RESTS,
            added_at=now,
            since=now,
            told={},
            tries=0,
            next_at=0.0,
            trouble="",
            program=program,
            token=token,
        )
        self._hooks.put(made.id, made.model_dump_json())
        return made, secret

    def list(self) -> list[Webhook]:
        """All, by their ids."""
        return [Webhook.model_validate_json(text) for text in self._hooks.all().values()]

    def remove(self, hook_id: str) -> None:
        """Tell it nothing more. Raises NotFound."""
        if self._hooks.get(hook_id) is None:
            raise NotFound(f"there is no webhook {hook_id}; `./touchstone webhook` lists those there are")
        self._hooks.drop(hook_id)

    def remove_of(self, token_id: str) -> None:
        """Remove those that the program with this token added."""
        for hook in self.list():
            if hook.token == token_id:
                self._hooks.drop(hook.id)

    def has_due(self) -> bool:
        """Is there something that a webhook was not told yet?"""
        return any(self._find_due(hook) for hook in self.list())

    def send_due(self, pauses_s: tuple[float, ...], checkpoint: Callable[[], None]) -> None:
        """Tell every webhook what it was not told yet; after a failure again in `pauses_s` seconds, the last
        of them again and again. `checkpoint` is called before each message."""
        for listed in self.list():
            if listed.token and not self._holds_token(listed.token):
                self.remove_of(listed.token)
        for hook_id in self._hooks.all():
            while (hook := self._claim(hook_id)) and (due := self._find_due(hook)):
                checkpoint()
                key, moment, message = due
                trouble = self._post(hook, key, moment, json.dumps(message, ensure_ascii=False))
                if trouble:
                    pause = pauses_s[min(hook.tries, len(pauses_s) - 1)]
                    log.warning("webhook %s: %s; tried again in %g s", hook.id, trouble, pause)
                    hook = hook.replace(tries=hook.tries + 1, trouble=trouble)
                    self._settle(hook, pause)
                    break
                self._settle(hook.replace(tries=0, trouble="", **_note(hook, key, moment)), 0.0)
            else:
                if hook:
                    self._settle(hook, 0.0)

    def _claim(self, hook_id: str) -> Webhook | None:
        """The webhook, for this process for a while; None when it is not its time, or another's."""
        h = tables.webhooks.c
        with self._store.writer.begin() as connection:
            lock_once(connection, "webhooks")
            text = connection.scalar(select(h.record).where(h.id == hook_id))
            hook, now = Webhook.model_validate_json(text) if text else None, read_clock(connection)
            if hook is None or hook.next_at > now:
                return None
            held = hook.replace(next_at=now + LEASE_S)
            values = {"record": held.model_dump_json()}
            connection.execute(update(tables.webhooks).where(h.id == hook_id).values(values))
            return held

    def _settle(self, hook: Webhook, pause: float) -> None:
        """Store how it went, unless it was removed meanwhile, and let go of it for `pause` seconds."""
        h = tables.webhooks.c
        with self._store.writer.begin() as connection:
            settled = hook.replace(next_at=read_clock(connection) + pause if pause else 0.0)
            values = {"record": settled.model_dump_json()}
            connection.execute(update(tables.webhooks).where(h.id == hook.id).values(values))

    def _find_due(self, hook: Webhook) -> tuple[str, str, dict[str, object]] | None:
        """The oldest change of which it was not told: its key, its moment and the message. Changes of the
        last LEASE_S seconds before `since` are looked at again: a slow transaction may come behind a faster
        one."""
        r = tables.runs.c
        begun = datetime.fromisoformat(hook.since) - timedelta(seconds=LEASE_S)
        after = begun.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        query = select(tables.runs).where(
            r.updated_at >= after, r.status.in_(hook.statuses), r.deleted_at == ""
        )
        with self._store.engine.connect() as connection:
            for row in connection.execute(query.order_by(r.updated_at, r.id)):
                key = f"{row.id}:{row.head}"
                if key not in hook.told and row.updated_at >= hook.added_at:
                    told = {"run": row.id, "step": row.head, "status": row.status, "question": row.question}
                    message = {"type": f"run.{row.status}", "timestamp": row.updated_at, "data": told}
                    return key, row.updated_at, message
        return None

    def _post(self, hook: Webhook, key: str, moment: str, body: str) -> str:
        """Send a message; returns what went wrong, "" when it was taken."""
        sent_at = str(int(datetime.now().timestamp()))
        message_id = f"msg_{hook.id}_{key.replace(':', '_')}"
        secret = self._config.saved.box.decrypt(hook.secret).removeprefix("whsec_")
        signed = f"{message_id}.{sent_at}.{body}".encode()
        signature = base64.b64encode(hmac.digest(base64.b64decode(secret), signed, "sha256"))
        headers = {
            "content-type": "application/json",
            "webhook-id": message_id,
            "webhook-timestamp": sent_at,
            "webhook-signature": f"v1,{signature.decode()}",
        }
        connections = Connections(self._config.FETCH_ALLOW)
        try:
            reply = connections.exchange(
                self.policy, connections.guard.check_url(hook.url), headers, body.encode()
            )
        except NoAnswer as trouble:
            return str(trouble) or f"it did not answer within {self.policy.seconds:g} s"
        finally:
            connections.close()
        return "" if str(reply.status).startswith("2") else f"it answered with the status {reply.status}"


def _note(hook: Webhook, key: str, moment: str) -> dict[str, object]:
    """What changes of a webhook that was told of a change; what is long past is forgotten."""
    since = max(hook.since, moment)
    begun = datetime.fromisoformat(since) - timedelta(seconds=LEASE_S)
    kept = {name: at for name, at in hook.told.items() if datetime.fromisoformat(at) >= begun}
    return {"since": since, "told": {**kept, key: moment}}
