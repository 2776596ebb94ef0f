"""The workbenches of one server: one for everybody where nobody signs in, else one a person, with a store of
their own.

    benches.open(person).runs()      # the runs of this person, and of nobody else"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DatabaseError

from agent import logs
from agent.accounts.accounts import Accounts
from agent.accounts.people import LOCAL, Person
from agent.accounts.quotas import Quota
from agent.accounts.tokens import ApiToken
from agent.engine.context import WorkLimits
from agent.errors import StoreError, TouchstoneError, UsageError
from agent.settings.config import Config, personalize
from agent.store.backup import BIN, find_free_name
from agent.store.database import open_engine
from agent.store.ledger import utc_timestamp
from agent.web.rate_limit import HostRateLimiter
from agent.workbench import Workbench

log = logging.getLogger(__name__)
STORE_FILE = "touchstone.db"
IDLE_S = 900.0
"""Seconds after which a workbench is closed that nobody uses and in which nothing works."""
CLOSE_CHECK_S = 60.0
_UNFINISHED = text(
    "SELECT 1 FROM runs WHERE status = 'running' AND deleted_at = '' "
    "UNION SELECT 1 FROM batches WHERE state = 'running' UNION SELECT 1 FROM webhooks WHERE :is_start "
    "UNION SELECT 1 FROM schedules WHERE state = 'active' AND next_at <= :now LIMIT 1"
)


@dataclass
class _OpenBench:
    """An open workbench, the server's settings then, whether its runs go on, and when it was last asked for
    (monotonic clock)."""

    bench: Workbench
    server: Config
    works: bool = True
    used_at: float = field(default_factory=time.monotonic)


class Workbenches:
    """Opens workbenches as they are needed and closes them when they are not. Thread-safe.

    Raises UsageError for a login with a database that is not SQLite, or without workers."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.accounts: Accounts | None = None
        if config.has_login:
            if not config.WORKERS or config.WORKERS_APART:
                raise UsageError(
                    "WORKERS=0 and WORKERS_APART are for a server without a login: `./touchstone work` "
                    "drives one store, and here each person has one"
                )
            if config.DATABASE_URL and make_url(config.DATABASE_URL).get_backend_name() != "sqlite":
                raise UsageError(
                    "a login keeps the data of each person in a file of their own, which DATABASE_URL does "
                    "not allow: remove DATABASE_URL, or the settings of OIDC"
                )
            self.accounts = Accounts(config)
        self._places = threading.BoundedSemaphore(config.WORKERS)
        self._pace = HostRateLimiter(config.FETCH_GAP)
        self._open: dict[str, _OpenBench] = {}
        """By person; "" is everybody where nobody signs in."""
        self._first_admin_id = ""
        self._leaving: set[str] = set()
        """Whose data is being deleted: nothing of theirs is opened meanwhile."""
        self._lock = threading.RLock()
        self._closing = threading.Event()

    def start(self) -> None:
        """Go on with unfinished runs, and close what is idle from now on."""
        if self.accounts is None:
            self.local()
        else:
            threading.Thread(target=self._keep_house, name="workbenches", daemon=True).start()

    def local(self) -> Workbench:
        """The workbench of everybody, where nobody signs in. Raises UsageError where people do."""
        if self.accounts is not None:
            raise UsageError("sign in first")
        return self._get_or_open("", lambda: Workbench(self.config))

    def open(self, person: Person) -> Workbench:
        """The workbench of a person, with its workers, and with what the first admin has saved since."""
        with self._lock:
            if not person.folder:
                self._first_admin_id = person.id
            works = self.accounts is None or self.accounts.people.is_let_in(person)
            bench = self._get_or_open(person.id, lambda: self._open_store(person), works=works)
            held, server = self._open[person.id], self._server_config()
            if person.folder and held.server is not server:
                held.server = server
                bench.config = personalize(server, self.folder_of(person))
                bench.worker.reopen_live_world(bench.config)
                bench.worker.use_models_of(bench.config)
            return bench

    @cached_property
    def token_accounts(self) -> Accounts:
        """Where tokens are kept: with the accounts, or where nobody signs in, in a file of the same form."""
        return self.accounts or Accounts(self.config)

    def find_program(self, text: str) -> tuple[ApiToken, Person] | None:
        """The token of this text and whom it acts for; None for one that does not hold on this server."""
        token, person = self.token_accounts.find_program(text) if text else (None, LOCAL)
        is_here = (person is LOCAL) == (self.accounts is None)
        return (token, person) if token and is_here else None

    def open_server(self, admin: Person) -> Workbench:
        """The workbench whose settings are the server's. Raises UsageError for who is no admin (any more)."""
        first = self.accounts.people.find_first_admin() if self.accounts and admin.is_admin else None
        if first is None:
            raise UsageError("an admin sets up the engines and models of this server")
        return self.open(first)

    def _server_config(self) -> Config:
        """The server's settings, with what the first admin saved since the start."""
        held = self._open.get(self._first_admin_id)
        return held.bench.config if held else self.config

    def list_open(self, *, working: bool = False) -> list[Workbench]:
        """The workbenches that are open now; when `working`, without those of people who are blocked."""
        with self._lock:
            return [held.bench for held in self._open.values() if held.works or not working]

    def folder_of(self, person: Person) -> Path:
        """The folder of a person's store."""
        return self.config.data_folder / person.folder

    def close_idle(self, idle_s: float = IDLE_S) -> int:
        """Close the workbenches that nobody asked for in this time and that are idle; returns how many."""
        return sum(self._close(person_id, idle_s) for person_id in list(self._open))

    def _close(self, person_id: str, idle_s: float = -1.0) -> bool:
        """Close a workbench, with `idle_s` only one that is idle; says whether it did. What the first admin
        saved in it holds on. Nobody else waits for its end."""
        with self._lock:
            held = self._open.get(person_id)
            if held is None or time.monotonic() - held.used_at < idle_s:
                return False
            if idle_s >= 0 and held.bench.worker.is_busy():
                return False
            del self._open[person_id]
            if person_id == self._first_admin_id:
                self.config = held.bench.config
        held.bench.shutdown()
        return True

    def shut_out(self, actor: Person, person_id: str) -> None:
        """Block a person: nothing of theirs is served or works from now on. Raises UsageError, NotFound."""
        self._require_accounts().people.set_blocked(actor, person_id, blocked=True)
        self._close(person_id)

    def set_quota(self, actor: Person, person_id: str, quota: Quota) -> None:
        """Give a person a quota of their own; what limits work, from the next start on. Raises UsageError."""
        self._require_accounts().quotas.set(actor, person_id, quota)
        with self._lock:
            if held := self._open.get(person_id):
                held.bench.worker.start(min(quota.runs, self.config.WORKERS))

    def delete_data(self, person: Person) -> Path:
        """Put a person's store and what they saved into the bin; returns where it is. What they used
        today stays counted, their tokens and the links to their runs end. The settings of the server, in the
        folder of the first admin, stay."""
        accounts = self._require_accounts()
        accounts.tokens.revoke_all(person)
        with self._lock:
            bench = self.open(person)
            self._leaving.add(person.id)
        try:
            self._close(person.id)
            folder = self.folder_of(person)
            name = f"{person.id}-{utc_timestamp()[:19].replace(':', '')}"
            target = find_free_name(self.config.data_folder / BIN / name)
            target.mkdir(parents=True)
            moved = [*sorted(folder.glob(f"{STORE_FILE}*")), folder / "kb"]
            for path in filter(Path.exists, moved if not person.folder else [folder]):
                shutil.move(path, target / path.name)
            if person.folder:
                bench.config.saved.forget_held()
        finally:
            self._leaving.discard(person.id)
        accounts.shares.delete_all(person)
        accounts.audit.add(person.id, "delete data", target.name)
        return target

    def _require_accounts(self) -> Accounts:
        if self.accounts is None:
            raise UsageError("there is nobody to sign in here")
        return self.accounts

    def close(self) -> None:
        """Let every run rest, and close everything."""
        self._closing.set()
        with self._lock:
            still_open = list(self._open)
        for person_id in still_open:
            self._close(person_id)
        if self.accounts is not None or "token_accounts" in vars(self):
            self.token_accounts.close()

    def _get_or_open(self, key: str, make: Callable[[], Workbench], *, works: bool = True) -> Workbench:
        with self._lock:
            if self._closing.is_set():
                raise StoreError("this server is stopping")
            if key in self._leaving:
                raise StoreError("this data is being deleted: come back in a moment")
            held = self._open.get(key)
            if held is None:
                held = self._open[key] = _OpenBench(make(), self._server_config())
            if works:
                held.bench.start_workers()
            held.works = works
            held.used_at = time.monotonic()
            return held.bench

    def _open_store(self, person: Person) -> Workbench:
        server = self._server_config()
        config = personalize(server, self.folder_of(person)) if person.folder else server
        bench = Workbench(config, limits=self._limits_of(person))
        bench.worker.person = logs.hash_person(person.id)
        return bench

    def _limits_of(self, person: Person) -> WorkLimits:
        accounts = self._require_accounts()
        quotas = accounts.quotas
        return WorkLimits(
            places=self._places,
            pace=self._pace,
            has_folder_worlds=False,
            max_runs=min(quotas.get(person.id).runs, self.config.WORKERS),
            admit_start=partial(quotas.admit_start, person.id),
            describe_overrun=partial(quotas.describe_overrun, person.id),
            reserve=partial(quotas.reserve, person.id),
            take_page=partial(quotas.take_page, person.id),
            holds_token=accounts.tokens.holds,
        )

    def _keep_house(self) -> None:
        """Open who has unfinished runs, or a schedule whose time has come; and close what is idle, until the
        server stops."""
        people, tried, is_start = self._require_accounts().people, set[str](), True
        while True:
            for person in people.list():
                path = self.folder_of(person) / STORE_FILE
                try:
                    is_wanted = path.is_file() and people.is_let_in(person) and not self._closing.is_set()
                    is_closed = person.id not in self._open and person.id not in tried
                    if is_wanted and is_closed and _has_unfinished(path, is_start):
                        self.open(person)
                except TouchstoneError as error:
                    tried.add(person.id)
                    with logs.bind(person=logs.hash_person(person.id)):
                        log.error("the store of a person cannot be opened: %s", error)
            if self._closing.wait(CLOSE_CHECK_S):
                return
            is_start = False
            self.close_idle()


def _has_unfinished(path: Path, is_start: bool) -> bool:
    """Does a store hold a run or batch at work, a schedule that is due, or at the start webhooks? True also
    when it is too old to say."""
    engine = open_engine(f"sqlite:///{path}")
    try:
        with engine.connect() as connection:
            return (
                connection.execute(_UNFINISHED, {"now": time.time(), "is_start": is_start}).first()
                is not None
            )
    except (StoreError, DatabaseError):
        return True
    finally:
        engine.dispose()
