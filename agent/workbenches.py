"""The workbenches of one server or worker: one for everybody where nobody signs in, else one a person, with a
store of their own.

    benches.open(person).runs()      # the runs of this person, and of nobody else"""

from __future__ import annotations

import logging
import math
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path

from sqlalchemy import inspect, literal, select, union
from sqlalchemy.exc import DatabaseError

from agent import logs
from agent.accounts.accounts import Accounts
from agent.accounts.people import LOCAL, Person
from agent.accounts.quotas import Quota, RequestRates
from agent.accounts.shared_rates import open_rates
from agent.accounts.tokens import ApiToken
from agent.engine.context import WorkLimits
from agent.engine.dispatch import QueueDispatcher
from agent.engine.shared_pace import SharedHostRateLimiter
from agent.errors import NotFound, StoreError, TouchstoneError, UsageError
from agent.settings.config import Config, personalize
from agent.store import tables
from agent.store.backup import BIN, find_free_name
from agent.store.database import Store, open_engine
from agent.store.dialect import is_sqlite, read_clock, schema_of
from agent.store.fulltext import word_tables
from agent.store.ledger import LEASE_S, utc_timestamp
from agent.store.schemas import exchange_tables
from agent.store.table_access import Writer
from agent.types import Status
from agent.web.rate_limit import HostRateLimiter
from agent.workbench import Workbench

log = logging.getLogger(__name__)
STORE_FILE = "touchstone.db"
IDLE_S = 900.0
"""Seconds after which a workbench is closed that nobody uses and in which nothing works."""
CLOSE_CHECK_S, STOP_S = 60.0, 5.0


@dataclass
class _OpenBench:
    """An open workbench, the server's settings then, whether its runs go on, and when it was last asked for,
    and a worker last told to open it too (monotonic clock)."""

    bench: Workbench
    server: Config
    works: bool = True
    used_at: float = field(default_factory=time.monotonic)
    told_at: float = -math.inf


class Workbenches:
    """Opens workbenches as they are needed and closes them when they are not. Thread-safe.

    Raises UsageError for a login without workers, but with PostgreSQL."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.accounts: Accounts | None = None
        if config.has_login:
            if config.WORKERS_APART or not (config.WORKERS or config.has_server_store):
                raise UsageError(
                    "where people sign in, other processes drive their runs with PostgreSQL alone: set "
                    "DATABASE_URL to it, or remove WORKERS=0 and WORKERS_APART"
                )
            self.accounts = Accounts(config)
        self._places = threading.BoundedSemaphore(config.WORKERS)
        self._pace = HostRateLimiter(config.FETCH_GAP)
        self._queue: QueueDispatcher | None = None
        self._open: dict[str, _OpenBench] = {}
        """By person; "" is everybody where nobody signs in."""
        self._first_admin_id = ""
        self._leaving: set[str] = set()
        """Whose data is being deleted: nothing of theirs is opened meanwhile."""
        self._lock = threading.RLock()
        self._closing = threading.Event()
        if self.accounts and config.has_server_store:
            self._pace = SharedHostRateLimiter(self.accounts.engine, config.FETCH_GAP)
            self._queue = QueueDispatcher(Writer(self.accounts.engine), self._take_ticket, self._closing)

    def start(self) -> None:
        """Go on with unfinished runs, and close what is idle from now on."""
        if self.accounts is None:
            self.local()
            return
        if self._queue and self.config.WORKERS:
            self._queue.start(self.config.WORKERS)
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
            if self._queue and not self.config.WORKERS and held.used_at - held.told_at > IDLE_S / 2:
                held.told_at = held.used_at  # there its library and its batches are looked after
                self._queue.put_back("", owner=person.id)
            if person.folder and held.server is not server:
                held.server = server
                bench.config = personalize(server, self.folder_of(person))
                bench.worker.reopen_live_world(bench.config)
                bench.worker.use_models_of(bench.config)
            return bench

    @cached_property
    def rates(self) -> RequestRates:
        """How often whoever asks with a token may do so, over all servers at one database."""
        engine = self.accounts.engine if self.accounts else self.local().store.engine
        return open_rates(engine, self.config.API_RATE)

    @cached_property
    def token_accounts(self) -> Accounts:
        """Where tokens are kept: with the accounts, or where nobody signs in, in a file of the same form."""
        return self.accounts or Accounts(self.config)

    def find_program(self, text: str, scope: str = "") -> tuple[ApiToken, Person] | None:
        """The token of this text and whom it acts for; None for one that does not hold on this server, or not
        for this scope. Raises NoAnswer when the login's provider cannot be asked."""
        token, person = self.token_accounts.find_program(text, scope) if text else (None, LOCAL)
        is_here = (person is LOCAL) == (self.accounts is None)
        return (token, person) if token and is_here else None

    def renew_feed(self, person: Person, schedule_id: str) -> str:
        """The path of a new secret address for the feed of a schedule; the one before ends. Raises NotFound,
        UsageError."""
        schedule, _, _ = self._open_for(person).store.schedules.look(schedule_id)
        return f"feeds/{self.token_accounts.tokens.renew_feed(person, schedule_id, schedule.name)}"

    def find_address(self, asked: str) -> str:
        """The address that people reach this server by, `asked` where its login does not tell."""
        provider = self.accounts and self.accounts.provider
        is_known = provider and "{port}" not in provider.address
        return (provider.address if provider and is_known else asked).rstrip("/")

    def find_feed(self, key: str) -> tuple[Workbench, str]:
        """The workbench and the schedule whose feed this key opens. Raises NotFound."""
        found = self.find_program(key) if key.startswith("fed_") else None
        if found is None:
            raise NotFound("there is no such feed")
        return self._open_for(found[1]), found[0].scopes[0].removeprefix("feed:")

    def _open_for(self, person: Person) -> Workbench:
        return self.open(person) if self.accounts else self.local()

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
            if self._queue:
                self._empty_store(person, target)
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

    def _empty_store(self, person: Person, target: Path) -> None:
        """Move what a person has in PostgreSQL into a schema that is named after the folder of the bin. Other
        processes may hold the store open: it is there at any moment, and empty then."""
        path = (target / STORE_FILE).relative_to(self.config.data_folder).as_posix()
        Store(self.config.locate_store(path)).close()
        engine = open_engine(self.config.locate_store(_place_store(person)))
        exchange_tables(engine, path, [*tables.metadata.tables, *word_tables.tables])

    def _require_accounts(self) -> Accounts:
        if self.accounts is None:
            raise UsageError("there is nobody to sign in here")
        return self.accounts

    def close(self) -> None:
        """Let every run rest, and close everything."""
        self._closing.set()
        with self._lock:
            still_open = list(self._open.values())
        for held in still_open:
            held.bench.worker.shutdown_event.set()
        if self._queue:
            self._queue.stop(STOP_S)
        for person_id in list(self._open):
            self._close(person_id)
        self._pace.close()
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
            queue=self._queue,
            owner=person.id,
            has_folder_worlds=False,
            max_runs=min(quotas.get(person.id).runs, self.config.WORKERS),
            admit_start=partial(quotas.admit_start, person.id),
            describe_overrun=partial(quotas.describe_overrun, person.id),
            reserve=partial(quotas.reserve, person.id),
            take_page=partial(quotas.take_page, person.id),
            holds_token=accounts.tokens.holds,
        )

    def _keep_house(self) -> None:
        """Open who has something to do, or let a worker do it, and close what is idle or of who is not let in
        any more, until the end."""
        is_start = True
        while True:
            try:
                for person in self._require_accounts().people.list():
                    self._wake(person, is_start)
                is_start = False
                self.close_idle()
            except TouchstoneError as error:  # the accounts, mostly: they are read again
                log.error("it cannot be looked who has something to do: %s", error)
            if self._closing.wait(CLOSE_CHECK_S):
                return

    def _wake(self, person: Person, is_start: bool) -> None:
        held, path = self._open.get(person.id), _place_store(person)
        if not self._require_accounts().people.is_let_in(person):
            if held and held.works:  # another process may have shut them out
                self._close(person.id)
            return
        if not self.config.WORKERS or not (self._queue or (self.config.data_folder / path).is_file()):
            return
        try:
            if (self._queue or not held) and _has_unfinished(self.config.locate_store(path), is_start):
                if self._queue:
                    self._queue.put_back("", owner=person.id)
                elif not self._closing.is_set():
                    self.open(person)
        except TouchstoneError as error:
            with logs.bind(person=logs.hash_person(person.id)):
                log.error("the store of a person cannot be opened: %s", error)

    def _take_ticket(self, owner: str, run_id: str) -> float | None:
        """Drive a run of a person for a slice, or only open their store: it looks what is due. Returns in how
        many seconds it goes on, None if not."""
        if self._closing.is_set():
            return 0.0
        people = self._require_accounts().people
        try:
            person = people.get(owner)
            if not people.is_let_in(person):
                return None
            bench = self.open(person)
            return bench.worker.work_slice(run_id) if run_id else None
        except NotFound:
            raise
        except TouchstoneError as error:
            with logs.bind(person=logs.hash_person(owner), run=run_id):
                log.error("a run cannot be driven, which is tried again: %s", error)
            return LEASE_S


def _place_store(person: Person) -> str:
    """The path of a person's store in the data folder."""
    return f"{person.folder}/{STORE_FILE}".lstrip("/")


def _has_unfinished(address: str, is_start: bool) -> bool:
    """Does a store hold a run or batch at work, a schedule that is due, or at the start webhooks? True also
    when it is too old to say."""
    engine = open_engine(address)
    runs, batches, schedules = tables.runs.c, tables.batches.c, tables.schedules.c
    try:
        with engine.connect() as connection:
            if not inspect(connection).has_table("migrations", schema=schema_of(connection)):
                return False
            wanted = (
                select(literal(1)).where(runs.status == Status.RUNNING, runs.deleted_at == ""),
                select(literal(1)).where(batches.state == "running"),
                select(literal(1)).where(
                    schedules.state == "active", schedules.next_at <= read_clock(connection)
                ),
                select(literal(1)).select_from(tables.webhooks).where(literal(is_start)),
            )
            return connection.execute(union(*wanted).limit(1)).first() is not None
    except (StoreError, DatabaseError):
        return True
    finally:
        if is_sqlite(engine.dialect):  # else others share its connections
            engine.dispose()
