"""Who drives which run: the threads of this process, a process beside it, or workers of any machine that take
tickets from a queue in the database.

All deliver at least once. That no step is recorded twice is the lease's and the key's doing."""

from __future__ import annotations

import asyncio
import logging
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select, text

from agent import __version__
from agent.engine.model_rests import RECOVER_S
from agent.errors import NotFound, StoreError, UsageError
from agent.settings.config import Config, make_environment
from agent.store.dialect import lock_once
from agent.store.ledger import LEASE_S
from agent.store.table_access import Writer

if TYPE_CHECKING:
    from procrastinate import App

log = logging.getLogger(__name__)


class ThreadDispatcher:
    """Threads of this process, which take runs from a queue in memory."""

    def __init__(self, work: Callable[[str], object], shutdown_event: threading.Event) -> None:
        self._work, self._shutdown_event = work, shutdown_event
        self.threads: list[threading.Thread] = []
        self.busy: set[str] = set()
        """The runs that are driven here."""
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._queued: set[str] = set()
        self._requeue: set[str] = set()
        self._lock = threading.Lock()

    def enqueue(self, connection: Connection, run_id: str) -> None:
        """Nothing: memory knows no transaction."""

    def wake(self, run_id: str) -> None:
        """Queue a run, once."""
        with self._lock:
            if self.threads and run_id not in self._queued:
                self._queued.add(run_id)
                self._queue.put(run_id)

    def start(self, threads: int) -> None:
        """Start as many threads, or those that lack."""
        for i in range(len(self.threads), threads):
            thread = threading.Thread(target=self._run, name=f"worker-{i}", daemon=True)
            self.threads.append(thread)
            thread.start()

    def stop(self, timeout: float) -> None:
        """End the threads."""
        for _ in self.threads:
            self._queue.put("")
        for thread in self.threads:
            thread.join(timeout)

    def find_faults(self) -> list[str]:
        """Which threads ended although they should work."""
        return [f"{thread.name} ended" for thread in self.threads if not thread.is_alive()]

    def is_busy(self) -> bool:
        """Whether a run is driven or waits for a thread."""
        with self._lock:
            return bool(self.busy or self._queued)

    def _run(self) -> None:
        while not self._shutdown_event.is_set():
            run_id = self._queue.get()
            if not run_id or self._shutdown_event.is_set():
                continue
            with self._lock:
                self._queued.discard(run_id)
                if run_id in self.busy:
                    self._requeue.add(run_id)  # it may be about to rest
                    continue
                self.busy.add(run_id)
            try:
                self._work(run_id)
            finally:
                with self._lock:
                    self.busy.discard(run_id)
                    again = run_id in self._requeue
                    self._requeue.discard(run_id)
                if again:
                    self.wake(run_id)


class ApartDispatcher:
    """A process beside this one (`./touchstone work --told`), which hears on its standard input of runs that
    have something to do, and ends with this one. It is started anew when it ends by itself."""

    def __init__(self, config: Config, shutdown_event: threading.Event) -> None:
        self._config, self._shutdown_event = config, shutdown_event
        self._keeper: threading.Thread | None = None
        self._child: subprocess.Popen[str] | None = None
        self.busy: set[str] = set()
        """No run is driven here."""

    def enqueue(self, connection: Connection, run_id: str) -> None:
        """Nothing: the other process does not see it before the commit."""

    def wake(self, run_id: str) -> None:
        """Tell the other process; one that just ends finds the run when it starts again."""
        child = self._child
        if child and child.stdin:
            with suppress(OSError, ValueError):
                child.stdin.write(f"{run_id}\n")
                child.stdin.flush()

    def start(self, threads: int) -> None:
        """Start the process; once."""
        if self._keeper is None:
            self._keeper = threading.Thread(target=self._keep, args=(threads,), name="apart", daemon=True)
            self._keeper.start()

    def restart(self) -> None:
        """Let the process end, with what it knows of models and engines; the next one starts at once."""
        if self._child:
            self._child.terminate()

    def stop(self, timeout: float) -> None:
        """End the process, in twice `timeout` seconds the hard way."""
        self.restart()
        if self._keeper:
            self._keeper.join(2 * timeout)
        if self._child and self._child.poll() is None:
            self._child.kill()

    def find_faults(self) -> list[str]:
        """Whether the process is there."""
        is_there = self._child is not None and self._child.poll() is None
        return [] if is_there else ["the process that drives the runs is not there; it is started anew"]

    def is_busy(self) -> bool:
        """Never: what works, works elsewhere."""
        return False

    def _keep(self, threads: int) -> None:
        command = [sys.executable, "-m", "agent", "work", "--told", "--concurrency", str(threads)]
        while not self._shutdown_event.is_set():
            self._child = subprocess.Popen(
                command,
                cwd=Path(__file__).parents[2],
                env=make_environment(self._config),
                stdin=subprocess.PIPE,
                text=True,
            )
            if self._shutdown_event.is_set():  # it may have been set before there was one to end
                self._child.terminate()
            code = self._child.wait()
            if not self._shutdown_event.wait(1):
                log.warning("the process that drives the runs ended (%s) and is started anew", code)


class QueueDispatcher:
    """A queue in PostgreSQL (Procrastinate): the ticket of a run is committed with the step that makes it
    running, and any process with `start` takes it. A run goes back into the queue after each slice, and the
    tickets of a killed process are handed out again. Where people sign in, one queue serves the stores of
    all, and a ticket names its person. Raises UsageError without the packages it needs."""

    def __init__(
        self, writer: Writer, work: Callable[[str, str], float | None], shutdown_event: threading.Event
    ) -> None:
        """`work` drives a run of a person for a slice of time and returns in how many seconds it goes on,
        None if not; a ticket without a run says that something else is due in the store of the person."""
        try:
            from procrastinate import App, PsycopgConnector, RetryStrategy, SyncPsycopgConnector
            from procrastinate.schema import SchemaManager
        except ModuleNotFoundError as error:
            raise UsageError(
                f"runs of a store in PostgreSQL are handed out by a queue, and {error.name} is not "
                "installed: pip install -r requirements-cluster.txt"
            ) from error
        self._writer, self._work, self._shutdown_event = writer, work, shutdown_event
        self.flags = writer.flags
        """What was heard of the runs of all stores."""
        self._address = writer.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
        putting = App(connector=SyncPsycopgConnector())  # on connections of ours
        self._app: App = putting.with_connector(PsycopgConnector(conninfo=self._address))
        again = RetryStrategy(wait=int(RECOVER_S))  # when what follows a slice cannot be written
        self._drive = putting.task(name="drive", queue="runs", retry=again)(self._take)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._serving: asyncio.Task[None] | None = None
        self.busy: set[str] = set()
        """The runs that are driven here."""
        self._fault = ""
        with writer.begin() as connection:
            lock_once(connection, "queue")
            if connection.scalar(select(func.to_regclass("procrastinate_jobs"))) is None:
                _dbapi(connection).execute(SchemaManager.get_schema())

    def enqueue(
        self,
        connection: Connection,
        run_id: str,
        seconds: float = 0.0,
        version: str = __version__,
        owner: str = "",
    ) -> None:
        """A ticket for a run, which is handed out in so many seconds; one that waits already stays the only
        one, and waits no longer than that."""
        from procrastinate.exceptions import AlreadyEnqueued

        lock = f"{owner}:{run_id}"
        try:
            with connection.begin_nested():
                ticket = self._drive.configure(
                    queueing_lock=lock,
                    connection=_dbapi(connection),
                    schedule_in={"seconds": int(seconds)} if seconds else None,
                )
                ticket.defer(owner=owner, run_id=run_id, version=version)
        except AlreadyEnqueued:
            sooner = "least(coalesce(scheduled_at, now()), now() + :seconds * interval '1 second')"
            waiting = "queueing_lock = :lock AND status = 'todo'"
            sooner = f"UPDATE procrastinate_jobs SET scheduled_at = {sooner} WHERE {waiting}"
            connection.execute(text(sooner), {"lock": lock, "seconds": seconds})

    def wake(self, run_id: str) -> None:
        """Nothing: the ticket's own row wakes a worker. What has none is found by the sweep (`put_back`)."""

    def put_back(
        self, run_id: str, seconds: float = 0.0, version: str = __version__, owner: str = ""
    ) -> None:
        """A ticket in a transaction of its own."""
        with self._writer.begin() as connection:
            self.enqueue(connection, run_id, seconds, version, owner)

    def start(self, threads: int) -> None:
        """Take tickets, so many at a time; once."""
        if self._thread is None:
            run = lambda: asyncio.run(self._serve(threads))  # noqa: E731
            self._thread = threading.Thread(target=run, name="queue", daemon=True)
            self._thread.start()

    def stop(self, timeout: float) -> None:
        """Take no more tickets; those whose runs rest now are put back by them."""
        if self._thread and self._loop and self._serving:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._serving.cancel)
            self._thread.join(timeout)

    def find_faults(self) -> list[str]:
        """Why no ticket is taken, or which are refused."""
        ended = self._thread is not None and not self._thread.is_alive()
        return [*(["the thread that takes tickets ended"] if ended else []), *filter(None, [self._fault])]

    def is_busy(self) -> bool:
        """Whether a run is driven here."""
        return bool(self.busy)

    async def _serve(self, threads: int) -> None:
        """Take tickets until `stop`; anew when the database was away."""
        from procrastinate.exceptions import ConnectorException

        self._loop = asyncio.get_running_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(threads + 2))  # two for the loop's own needs
        while not self._shutdown_event.is_set():
            self._serving = asyncio.create_task(self._take_tickets(threads))
            try:
                await self._serving
            except asyncio.CancelledError:
                return
            except (ConnectorException, OSError) as error:
                why = error.__cause__ or error
                self._fault = f"the queue in the database could not be read ({why}); it is tried again"
                log.error("%s", self._fault)
                await asyncio.sleep(1)

    async def _take_tickets(self, threads: int) -> None:
        async with self._app.open_async():
            tasks = [asyncio.create_task(one) for one in (self._reap(), self._listen())]
            try:
                await self._app.run_worker_async(
                    queues=["runs"],
                    concurrency=threads,
                    fetch_job_polling_interval=RECOVER_S,
                    install_signal_handlers=False,
                    delete_jobs="always",
                    shutdown_graceful_timeout=LEASE_S,
                )
            finally:
                for task in tasks:
                    task.cancel()

    async def _reap(self) -> None:
        """Hand out the tickets of processes that were killed again."""
        from procrastinate.exceptions import ConnectorException

        manager = self._app.job_manager
        while True:
            try:
                for job in await manager.get_stalled_jobs(queue="runs"):
                    log.warning("the ticket %s of a process that ended is handed out again", job.task_kwargs)
                    # its run may wait under another ticket by now: then this one is only finished
                    told = {name: str(value) for name, value in job.task_kwargs.items()}
                    version, owner = told.get("version", __version__), told.get("owner", "")
                    await asyncio.to_thread(self.put_back, told["run_id"], 0.0, version, owner)
                    with suppress(ConnectorException):  # another process was faster
                        await manager.finish_job(job, status=_failed(), delete_job=True)
                self._fault = "" if "the queue" in self._fault else self._fault
            except (ConnectorException, StoreError) as error:
                log.warning("tickets of ended processes cannot be looked for: %s", error)
            await asyncio.sleep(RECOVER_S)

    async def _listen(self) -> None:
        """Hear of the runs on which persons act."""
        from psycopg import AsyncConnection, Error

        flags = self.flags
        while True:
            with suppress(Error, OSError):  # flags are read as often as without notices meanwhile
                async with await AsyncConnection.connect(self._address, autocommit=True) as connection:
                    await connection.execute("LISTEN touchstone_runs")
                    flags.listen(is_live=True)
                    async for notice in connection.notifies():
                        flags.hear(notice.payload)
            flags.listen(is_live=False)
            await asyncio.sleep(RECOVER_S)

    def _take(self, run_id: str, version: str, owner: str = "") -> None:
        """Drive a run for a slice, and put it back when it still works. A ticket of a newer version is left
        to workers of that version."""
        if _parse_version(version) > _parse_version(__version__):
            self._fault = (
                f"runs of Touchstone {version} wait, and this worker is of {__version__}: update it, "
                "runs are left to newer workers"
            )
            log.error("%s", self._fault)
            return self.put_back(run_id, RECOVER_S, version, owner)
        if run_id in self.busy:  # it may be about to rest
            return self.put_back(run_id, RECOVER_S, owner=owner)
        if run_id:
            self.busy.add(run_id)
        try:
            again = self._work(owner, run_id)
        except NotFound:
            again = None  # the run is gone, or its person
        finally:
            self.busy.discard(run_id)
        if again is not None:
            self.put_back(run_id, again, owner=owner)
        return None


def _dbapi(connection: Connection) -> Any:
    return connection.connection.dbapi_connection


def _failed() -> Any:
    from procrastinate.jobs import Status

    return Status.FAILED


def _parse_version(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]
