"""The keeper of living runs: a few threads that drive whatever should be working, outside any browser session.

It finds work by being told (`kick`) and by looking: a run that should be working and is held by nobody (its process was killed)
is taken up within RECOVER_S seconds, and at once when this process starts.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Mapping

from agent import config as configuration
from agent import queueing, response_config
from agent.errors import ShuttingDown, StoreError, TouchstoneError, Unreadable
from agent.holdings import Library
from agent.llm import detect, embed
from agent.loop import Flow, advance
from agent.reply_model import ReplyModel
from agent.store.database import Store
from agent.store.ledger import Lease
from agent.store.owner import new_owner
from agent.toolbox import Tools
from agent.tools.worlds import World, open_world
from agent.types import Run, Status

log = logging.getLogger(__name__)
RECOVER_S = 2.0
TEND_S = 30.0
"""Seconds between two looks at the library's folders and at what waits for its shelf, when nothing calls for one before."""
FOLLOW_S = 0.2
"""Seconds between two looks at a run that another process drives."""


class Worker:
    """Drives runs in `threads` daemon threads; without any, `drive` does it in the caller's."""

    def __init__(self, config: configuration.Config, store: Store, flows: Mapping[str, Flow]) -> None:
        self.config, self.store, self.flows = config, store, flows
        found = embed.find(config)
        config.switched_on("CONVERSATIONAL_MODE")  # a word that says neither yes nor no is told now, not at the first question
        kb_dir, team_dir = response_config.folders(config)
        self.holdings = Library(store, found.embedder, absent="" if found.embedder else found.detail, kb_dir=kb_dir, team_dir=team_dir)
        self.owner = new_owner()
        self.closing = threading.Event()
        self._queue: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._waiting: set[str] = set()
        self._busy: set[str] = set()
        self._again: set[str] = set()
        self._shelve = threading.Event()
        """Set when a run rests: what it read can be put on the library's shelf."""
        self._lock = threading.Lock()
        self._worlds: dict[str, World] = {}
        self._found: detect.Found | None = None
        self._reply_model: ReplyModel | None = None
        self._threads: list[threading.Thread] = []

    def start(self, threads: int) -> None:
        """Start working, and take up what an earlier process left."""
        if self._threads:
            return
        targets = [self._work] * threads + [self._recover, self._tend]
        self._threads = [threading.Thread(target=target, name=f"worker-{i}", daemon=True) for i, target in enumerate(targets)]
        for thread in self._threads:
            thread.start()

    def stop(self, timeout: float = 5.0) -> None:
        """Let every run rest where it stands (the next process goes on) and end the threads; waits `timeout` seconds at most."""
        self.closing.set()
        self._shelve.set()
        for _ in self._threads:
            self._queue.put("")
        for thread in self._threads:
            thread.join(timeout)
        for world in self._worlds.values():
            world.close()

    def kick(self, run_id: str) -> None:
        """There is something to do for this run."""
        if self._threads:
            self._enqueue(run_id)

    def tend(self) -> None:
        """Start what may start of the batches that run; nothing when this process has no threads to work in."""
        if self._threads and not self.closing.is_set():
            for run_id in queueing.tend(self.store):
                self._enqueue(run_id)

    def drive(self, run_id: str, watch: Callable[[], None] | None = None) -> Status:
        """Drive a run in this thread until it rests; `watch` is called after each step.

        When another process (a server on the same store) was faster and drives it, its steps are watched instead.
        """
        while (status := self._advance(run_id, watch)) is Status.RUNNING and not self.closing.wait(FOLLOW_S):
            if watch:
                watch()
        if not self._threads:
            try:
                self.holdings.catch_up()
            except StoreError as trouble:  # the run is safe; its pages wait for the next look
                log.warning("the library did not take up what was read: %s", trouble)
        return status

    def _advance(self, run_id: str, watch: Callable[[], None] | None = None) -> Status:
        return advance(run_id, flows=self.flows, store=self.store, owner=self.owner, equip=self.equip, watch=watch)

    def equip(self, run: Run, lease: Lease) -> Tools:
        """The toolbox of a run: its world and its model."""
        world = self.world(run.settings.world)
        own = run.settings
        client, trouble = self.reply_model().client(own.model) if own.flow == "reply" else self.model(own.model, own.fast_model)
        gap_s = self.config.number("STEP_GAP")
        return Tools(
            run.settings, world, self.store, lease, client=client, trouble=trouble, closing=self.closing, gap_s=gap_s, holdings=self.holdings,
            wider=queueing.watching(self.store, run.id),
        )  # fmt: skip

    def world(self, name: str) -> World:
        """The world of this name, opened once."""
        with self._lock:
            if name not in self._worlds:
                self._worlds[name] = open_world(name, self.config)
            return self._worlds[name]

    def found(self, *, again: bool = False) -> detect.Found:
        """The model server that was found; looked for once, or `again`."""
        if self._found is None or again:
            self._found = detect.find(self.config)
        return self._found

    def model(self, name: str, fast: str = "") -> tuple[object | None, str]:
        """The client for a run's `model` setting, and a sentence when one was asked for by name and there is none."""
        if name == "keyless":
            return None, ""
        found = self.found()
        if found.client is None:
            return None, "" if name == "auto" else f"the model {name} was asked for, but {found.detail}"
        if name == "auto":
            return found.client, ""
        return found.client.named(strong=name, fast=fast or name), ""

    def reply_model(self) -> ReplyModel:
        """The model of `reply`, by its own settings. Raises UsageError when those cannot be read."""
        with self._lock:
            if self._reply_model is None:
                self._reply_model = ReplyModel(self.config, response_config.read(self.config).ai_response.llm)
            return self._reply_model

    def _work(self) -> None:
        while not self.closing.is_set():
            run_id = self._queue.get()
            if not run_id or self.closing.is_set():
                continue
            with self._lock:
                self._waiting.discard(run_id)
                if run_id in self._busy:
                    self._again.add(run_id)  # it may be about to rest: look once more when it does
                    continue
                self._busy.add(run_id)
            try:
                self._advance(run_id)
                self.tend()
            except Unreadable as trouble:  # it will not get better by being looked at again
                log.error("%s", trouble)
                self.store.ledger.mark(run_id, status=Status.FAILED, error=str(trouble), owner="", lease_until=0.0)
            except TouchstoneError as trouble:  # the store, mostly: the run stands where it stood, and is looked for again
                log.error("run %s: %s", run_id, trouble)
            finally:
                self._shelve.set()
                with self._lock:
                    self._busy.discard(run_id)
                    again = run_id in self._again
                    self._again.discard(run_id)
                if again:
                    self._enqueue(run_id)

    def _enqueue(self, run_id: str) -> None:
        """Put a run in line, once: a backlog must not make the line longer each time it is looked at."""
        with self._lock:
            if run_id not in self._waiting:
                self._waiting.add(run_id)
                self._queue.put(run_id)

    def _tend(self) -> None:
        """Keep the library current: its folders, the pages runs have read, the vectors that are missing."""
        while not self.closing.is_set():
            self._shelve.clear()
            try:
                self.holdings.sync()
                while self.holdings.catch_up(most=50) and not self.closing.is_set():
                    pass
                self.holdings.catch_up_vectors(checkpoint=self._until_closing)
            except ShuttingDown:
                return
            except TouchstoneError as trouble:  # a model that does not answer, mostly: it goes on at the next look
                log.warning("the library is not current: %s", trouble)
            except (OSError, ValueError, LookupError, RuntimeError, TypeError) as fault:  # of one file or page: this thread must not end by it
                log.error("the library is not current", exc_info=fault)
            self._shelve.wait(TEND_S)

    def _until_closing(self) -> None:
        if self.closing.is_set():
            raise ShuttingDown("this process is ending; vectors are made on when the next one starts")

    def _recover(self) -> None:
        while True:
            try:
                for run_id in self.store.ledger.unfinished():
                    if run_id not in self._busy:
                        self._enqueue(run_id)
                self.tend()
            except TouchstoneError as trouble:
                log.error("the store cannot be read: %s", trouble)
            if self.closing.wait(RECOVER_S):
                return
