"""Threads that drive the runs, outside any browser session.

A run is driven when it is scheduled; a running run that no process holds (its process was killed) is
recovered within RECOVER_S seconds, and at once when this process starts."""

from __future__ import annotations

import hashlib
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from agent import logs
from agent.engine.batch_scheduler import BatchScheduler
from agent.engine.context import RunContext, WorkLimits
from agent.engine.dispatch import ApartDispatcher, QueueDispatcher, ThreadDispatcher
from agent.engine.loop import Flow, drive
from agent.engine.model_rests import PAUSES_S, RECOVER_S, ModelRests
from agent.engine.schedules import Scheduler
from agent.engine.shared_pace import SharedHostRateLimiter
from agent.engine.webhooks import Webhooks
from agent.errors import (
    BudgetSpent,
    CorruptRow,
    ModelDown,
    ModelUnavailable,
    NotFound,
    ShutdownRequested,
    StoreError,
    TouchstoneError,
)
from agent.library.collection import Library
from agent.llm import detect, embed
from agent.llm.client import ModelClient
from agent.llm.detect import ModelSearch, ReplyModel
from agent.llm.recorded import LABEL, RECORDED, RecordedModel, has_example
from agent.settings import config as configuration
from agent.settings import reply_config
from agent.store.database import Store
from agent.store.dialect import is_sqlite
from agent.store.ledger import LEASE_S, Lease, new_owner_id
from agent.types import Run, Sentence, Settings, Status
from agent.web.world import World, open_world

log = logging.getLogger(__name__)
LIBRARY_SYNC_S = LEASE_S
"""Seconds between two synchronisations of the library, unless something asks for one before."""
FOLLOW_POLL_S = 0.2
"""Seconds between two readings of a run that another process drives."""


class Worker:
    """Drives runs in daemon threads; without any, `drive` does it in the caller's thread."""

    def __init__(
        self,
        config: configuration.Config,
        store: Store,
        flows: Mapping[str, Flow],
        limits: WorkLimits | None = None,
    ) -> None:
        self.config, self.store, self.flows = config, store, flows
        self.limits = limits or WorkLimits()
        self._own_pace: SharedHostRateLimiter | None = None
        if self.limits.pace is None and not is_sqlite(store.engine.dialect):
            self._own_pace = SharedHostRateLimiter(store.engine, config.FETCH_GAP)
            self.limits = replace(self.limits, pace=self._own_pace)
        found = embed.find_embedder(config)
        self.embedder_detail = found.detail
        """Which model searches by meaning, or why none does, as a sentence."""
        kb_dir, team_dir = reply_config.resolve_folders(config)
        absent = "" if found.embedder else found.detail
        self.library = Library(store, found.embedder, absent=absent, kb_dir=kb_dir, team_dir=team_dir)
        self.batch_scheduler = BatchScheduler(store, flows)
        self.scheduler = Scheduler(store, flows, self.limits, self.choose_model)
        self.owner = new_owner_id()
        self.person = ""
        """The hash of whose runs these are, for the log; "" without a login."""
        self.shutdown_event = threading.Event()
        self.rests = ModelRests()
        self.checked: dict[str, Sequence[Sentence]] = {}
        """By run the sentences that are checked of the answer it writes."""
        self._library_sync_due = threading.Event()
        """Set when a run rests: its pages can be indexed."""
        self._lock = threading.Lock()
        self._worlds: dict[str, World] = {}
        self.model_search = ModelSearch(config)
        self._reply_model: ReplyModel | None = None
        self._keepers: list[threading.Thread] = []
        self.dispatcher = self._choose_dispatcher()
        self.is_watched_from_afar = isinstance(self.dispatcher, QueueDispatcher)
        """Whether other processes show the runs: then what is to be shown goes through the store."""
        store.writer.wake = self.dispatcher.wake
        store.writer.enqueue = self.dispatcher.enqueue
        if isinstance(self.dispatcher, QueueDispatcher):
            store.writer.enqueue = partial(self.dispatcher.enqueue, owner=self.limits.owner)
            store.writer.flags = self.dispatcher.flags

    def _choose_dispatcher(self) -> ThreadDispatcher | ApartDispatcher | QueueDispatcher:
        store, event = self.store, self.shutdown_event
        if self.config.WORKERS_APART:
            return ApartDispatcher(self.config, event)
        if is_sqlite(store.engine.dialect):
            return ThreadDispatcher(self._work, event)
        alone = lambda owner, run_id: self.work_slice(run_id)  # noqa: E731
        return self.limits.queue or QueueDispatcher(store.writer, alone, event)

    def start(self, threads: int) -> None:
        """Start working, on runs of an earlier process too, or with more threads than before; with 0 other
        processes do the work (`./touchstone work`)."""
        if not threads:
            return
        self.dispatcher.start(threads)
        if not self._keepers and not isinstance(self.dispatcher, ApartDispatcher):
            self._keepers = [
                threading.Thread(target=target, name=target.__name__.strip("_"), daemon=True)
                for target in (self._recover, self._sync_library, self._tell_webhooks)
            ]
            for thread in self._keepers:
                thread.start()

    def stop(self, timeout: float = 5.0) -> None:
        """Stop all runs where they are (the next process goes on) and end the threads, within `timeout`
        seconds each."""
        self.shutdown_event.set()
        self._library_sync_due.set()
        if self.dispatcher is not self.limits.queue:
            self.dispatcher.stop(timeout)
        for thread in self._keepers:
            thread.join(timeout)
        for world in self._worlds.values():
            world.close()
        if self._own_pace:
            self._own_pace.close()

    def is_busy(self) -> bool:
        """Is a run at work or queued here, has a batch rows to start, or a webhook something to be told?"""
        if self.limits.queue:  # of all; and whoever works on a run may need its store
            is_busy = bool(self.store.ledger.list(status=Status.RUNNING, limit=1))
        else:
            is_busy = self.dispatcher.is_busy() or bool(self.store.ledger.list_claimable())
        return is_busy or bool(self.store.batches.list_running()) or self.webhooks().has_due()

    def find_faults(self) -> list[str]:
        """Which threads ended although they should work; one sentence when none was started."""
        if isinstance(self.dispatcher, ApartDispatcher):
            return self.dispatcher.find_faults()
        if not self._keepers:
            return ["the workers were not started"] if self.config.WORKERS else []
        ended = [f"{thread.name} ended" for thread in self._keepers if not thread.is_alive()]
        return [*self.dispatcher.find_faults(), *ended]

    def schedule_batches(self) -> None:
        """Start what may start of the running batches; nothing without threads."""
        if self._keepers and not self.shutdown_event.is_set():
            self.batch_scheduler.schedule_all()

    def drive(self, run_id: str, watch: Callable[[], None] | None = None) -> Status:
        """Drive a run in this thread until it rests; `watch` is called after each step. When another process
        drives it already, its steps are watched instead. Without threads the library is made ready first for
        a flow that searches it with a model: “No model” asks no embedding server either."""
        settings = self.store.ledger.get(run_id).settings
        is_searching = "retrieve" in self.flows[settings.flow].steps
        if not self._keepers and is_searching and settings.model != "keyless":
            try:
                self.library.vector_index.embed_pending()
            except (
                ModelUnavailable
            ) as trouble:  # what has no vector is found by words, and the answer says so
                log.warning("the library has passages without a vector: %s", trouble)
        while (status := self._drive(run_id, watch)) is Status.RUNNING and not self.shutdown_event.wait(
            FOLLOW_POLL_S
        ):
            if watch:
                watch()
        if not self._keepers:
            try:
                self.library.index_pending()
            except StoreError as error:  # the run is stored; its pages are indexed later
                log.warning("the library did not index what was read: %s", error)
        return status

    def _drive(
        self, run_id: str, watch: Callable[[], None] | None = None, slice_s: float = math.inf
    ) -> Status:
        with logs.bind(run=run_id, person=self.person):
            return drive(
                run_id,
                flows=self.flows,
                store=self.store,
                owner=self.owner,
                equip=self.build_context,
                watch=watch,
                slice_s=slice_s,
            )

    def build_context(self, run: Run, lease: Lease) -> RunContext:
        """The context of a run, with its world and its model."""
        world = self.world(run.settings.world)
        own = run.settings
        is_reply = own.flow == "reply"  # it keeps its first model
        client, error = self.reply_model().client(own.model) if is_reply else (None, "")
        # A function that finds whether the quota of the person, or the batch of a run, is used up to a
        # share. A run rests at the quota when a person is there to be asked; at that of its batch it ends
        check_batch = self.batch_scheduler.make_budget_check(run.id)

        def check(share: float) -> BudgetSpent | None:
            if over := self.limits.describe_overrun(share):
                return BudgetSpent(over, cap="quota")
            over = check_batch(share)
            return BudgetSpent(over) if over else None

        return RunContext(
            own,
            world,
            self.store,
            lease,
            client=client,
            model_failure=error,
            find_model=(lambda own: None) if is_reply else self._find_model,
            on_model_down=partial(self._note_rest, run.id) if self._keepers else None,
            shutdown_event=self.shutdown_event,
            step_gap_s=self.config.STEP_GAP,
            library=self.library,
            find_parent_overrun=check,
            reserve_use=self.limits.reserve,
            show_checked=partial(self._show_checked, run.id),
        )

    def _find_model(self, own: Settings) -> tuple[object | None, str, str]:
        """The client for a run's next step, why there is none, and its `served_by`. Raises ModelDown where
        the run waits for a server that is not found."""
        client, error = self.model_client(own.model, own.fast_model)
        is_named = own.served_by or self.config.OPENAI_API_KEY or self.config.OPENAI_BASE_URL
        is_wanted = own.model != "keyless" and is_named and not detect.asks_no_server(self.config)
        if client is None and is_wanted and self._keepers and not self.flows[own.flow].is_one_shot:
            raise ModelDown(error)
        return client, error, _hash(_name(client))

    def use_models_of(self, config: configuration.Config) -> None:
        """Use the model servers of another configuration; runs that had others rest at their next step."""
        found = embed.find_embedder(config)
        with self._lock:
            self.config, self.model_search, self._reply_model = config, ModelSearch(config), None
        self.rests.forget()
        if isinstance(self.dispatcher, ApartDispatcher):
            self.dispatcher.restart()  # the next process reads what was saved
        self.library.use_embedder(found.embedder, found.detail)
        self.embedder_detail = found.detail
        self._library_sync_due.set()

    def world(self, name: str) -> World:
        """The world of this name; it is opened once. Raises NotFound."""
        if name not in ("live", "demo") and not self.limits.has_folder_worlds:
            raise NotFound("on this server runs read the web or the demo world, no folders")
        with self._lock:
            if name not in self._worlds:
                self._worlds[name] = open_world(name, self.config, self.limits.pace, self.limits.take_page)
            return self._worlds[name]

    def reopen_live_world(self, config: configuration.Config, changed: str = "") -> None:
        """Ask the engines of another configuration from now on; runs that are under way keep theirs. What is
        known of the engines stays, except of the one that changed."""
        former = self.world("live").health
        with self._lock:
            self.config = config
            self._worlds["live"] = open_world("live", config, self.limits.pace, self.limits.take_page)
            self._worlds["live"].health.update({name: one for name, one in former.items() if name != changed})
        if isinstance(self.dispatcher, ApartDispatcher):
            self.dispatcher.restart()

    def model_client(self, name: str, fast: str = "") -> tuple[object | None, str]:
        """The client for a run's `model` setting, and a sentence when the named model is not available."""
        client, absent = self.model_search.client(name, fast)
        is_wanted = name != "auto" or self.config.OPENAI_API_KEY or self.config.OPENAI_BASE_URL
        named = "a model" if name == "auto" else f"the model {name}"
        return client, f"{named} was asked for, but {absent}" if absent and is_wanted else ""

    def choose_model(self, settings: Settings, question: str) -> str:
        """The `model` of a new run: recorded for a demo example (not step by step) while none is set up."""
        if settings.model not in ("auto", RECORDED) or settings.mode == "step":
            return settings.model
        found = settings.world == "demo" and has_example(settings, question) and self.model_search.peek()
        is_named = self.config.OPENAI_API_KEY or self.config.OPENAI_BASE_URL
        return RECORDED if found and not is_named and self.model_client("auto")[0] is None else "auto"

    def name_model(self, settings: Settings) -> str:
        """The model and server of a run with these settings now; "" for none, or not known yet."""
        if settings.model == RECORDED:
            return LABEL
        is_known = settings.model != "keyless" and self.model_search.peek()
        return _name(self.model_client(settings.model, settings.fast_model)[0]) if is_known else ""

    def mark_model(self, settings: Settings) -> str:
        """The same as a `served_by`."""
        return _hash(self.name_model(settings))

    def reply_model(self) -> ReplyModel:
        """The model of `reply`, by its own settings. Raises UsageError when they cannot be read."""
        with self._lock:
            if self._reply_model is None:
                self._reply_model = ReplyModel(
                    self.config, reply_config.read_response_config(self.config).ai_response.llm
                )
            return self._reply_model

    def _work(self, run_id: str, slice_s: float = math.inf) -> Status:
        """Drive a run until it rests, or for a slice; returns its status."""
        status = Status.RUNNING
        try:
            with self.limits.places:
                if self.shutdown_event.is_set():  # the place was long in coming
                    return status
                status = self._drive(run_id, partial(self._forget_rest, run_id), slice_s)
                if status is not Status.RUNNING:
                    self._forget_rest(run_id)
            self.schedule_batches()
        except CorruptRow as error:  # trying again does not help
            log.error("%s", error)
            status = Status.FAILED
            self.store.ledger.update_run(run_id, status=status, error=str(error), owner="", lease_until=0.0)
        except TouchstoneError as error:  # the store, mostly: the run is recovered later
            log.error("run %s: %s", run_id, error)
        finally:
            self._library_sync_due.set()
            if self.checked.pop(run_id, None) and self.is_watched_from_afar:
                self.store.draft(f".checked {run_id}", "")
        return status

    def _note_rest(self, run_id: str, why: str) -> None:
        self.rests.note(run_id, why)
        if self.is_watched_from_afar:
            self.store.draft(f".rest {run_id}", f"{self.store.ledger.position(run_id)[0]} {why}")

    def _forget_rest(self, run_id: str) -> None:
        if self.is_watched_from_afar and self.rests.wait_s(run_id):
            self.store.draft(f".rest {run_id}", "")
        self.rests.forget(run_id)

    def describe_rest(self, run_id: str) -> str:
        """Why a run rests that works here or elsewhere, in a sentence or two for a person; "" otherwise."""
        if told := self.rests.describe(run_id):
            return told
        head, _, why = self.store.draft(f".rest {run_id}").partition(" ")
        is_current = why and head == str(self.store.ledger.position(run_id)[0])
        return f"Paused: {why} It is tried again by itself." if is_current else ""

    def _show_checked(self, run_id: str, sentences: Sequence[Sentence]) -> None:
        self.checked[run_id] = sentences
        if self.is_watched_from_afar:
            told = "\n".join(one.text for one in sentences if one.backed)
            self.store.draft(f".checked {run_id}", told)

    def list_checked(self, run_id: str) -> list[str]:
        """The sentences that passed their check of the answer that a run writes here or elsewhere."""
        if held := self.checked.get(run_id):
            return [one.text for one in held if one.backed]
        return self.store.draft(f".checked {run_id}").splitlines()

    def work_slice(self, run_id: str) -> float | None:
        """Drive a run for a slice; returns in how many seconds it goes on, None when it rests."""
        head = self.store.ledger.position(run_id)[0]
        if self._work(run_id, 2 * LEASE_S) is not Status.RUNNING:
            return None
        if wait_s := self.rests.wait_s(run_id):
            return wait_s
        has_moved = self.store.ledger.position(run_id)[0] > head
        # one that did not move is driven by another process, which may be about to rest or to end
        return 0.0 if has_moved or self.shutdown_event.is_set() else RECOVER_S

    def _sync_library(self) -> None:
        """Keep the library current: its folders, the pages of runs, missing vectors."""
        while not self.shutdown_event.is_set():
            self._library_sync_due.clear()
            try:
                self.library.sync()
                while self.library.index_pending(most=50) and not self.shutdown_event.is_set():
                    pass
                self.library.vector_index.embed_pending(checkpoint=self._check_shutdown)
            except ShutdownRequested:
                return
            except TouchstoneError as error:  # a model that does not answer, mostly
                log.warning("the library is not current: %s", error)
            except (OSError, ValueError, LookupError, RuntimeError, TypeError) as error:  # a bad file or page
                log.error("the library is not current", exc_info=error)
            self._library_sync_due.wait(LIBRARY_SYNC_S)

    def webhooks(self) -> Webhooks:
        """The webhooks of the store."""
        return Webhooks(self.store, self.config, self.limits.holds_token)

    def _check_shutdown(self) -> None:
        if self.shutdown_event.is_set():
            raise ShutdownRequested("this process is ending; the next one goes on")

    def _tell_webhooks(self) -> None:
        while not self.shutdown_event.wait(RECOVER_S):
            try:
                self.webhooks().send_due(PAUSES_S, self._check_shutdown)
            except ShutdownRequested:
                return
            except TouchstoneError as error:
                log.error("the webhooks cannot be told: %s", error)

    def try_model_now(self, run_id: str) -> None:
        """Try a run that rests because its model failed."""
        own = self.store.ledger.get(run_id).settings
        client, _ = self.model_client(own.model, own.fast_model)
        if isinstance(client, ModelClient):
            client.breaker.ask_at_once()
        self.rests.try_now(run_id)
        self.put_back(run_id)

    def check_model(self, client: ModelClient) -> tuple[bool, str]:
        """Ask a model for one word, which counts as every call does."""
        return detect.check_model(client, lambda *most: self.limits.reserve(1.0, *most))

    def put_back(self, run_id: str) -> None:
        """Have a run driven soon that works and that nobody drives."""
        if isinstance(self.dispatcher, QueueDispatcher):
            self.dispatcher.put_back(run_id, owner=self.limits.owner)
        else:
            self.dispatcher.wake(run_id)

    def _recover(self) -> None:
        """Find the runs that nobody drives, at the start and from time to time: a queue in the database loses
        none, so there it is the net below."""
        pause_s = PAUSES_S[-1] if isinstance(self.dispatcher, QueueDispatcher) else RECOVER_S
        swept_at = -math.inf
        while True:
            try:
                if time.monotonic() - swept_at >= pause_s:
                    swept_at = time.monotonic()
                    for run_id in self.store.ledger.list_claimable():
                        is_due = self.rests.is_due(run_id) or self.store.ledger.control(run_id)
                        if run_id not in self.dispatcher.busy and is_due:
                            self.put_back(run_id)
                self.schedule_batches()
                self.scheduler.fire_due()
            except TouchstoneError as error:
                log.error("the store cannot be read: %s", error)
            if self.shutdown_event.wait(RECOVER_S):
                return


def _name(client: Any) -> str:
    if isinstance(client, RecordedModel):
        return LABEL
    server = getattr(client, "server", "")
    return f"{' and '.join(dict.fromkeys((client.strong, client.fast)))} at {server}" if server else ""


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:12] if name else ""
