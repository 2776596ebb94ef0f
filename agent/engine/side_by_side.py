"""What one run does side by side: searches and page fetches, model calls, and pages fetched before they are
needed.

A task runs in a daemon thread, so that a stop works at once and the process can end; an abandoned one ends
by its own deadline. Where there is no server to wait for, tasks are done in order."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar, cast

from agent.errors import BudgetSpent, ShutdownRequested, Signal, StopRequested
from agent.text.urls import canonicalize
from agent.types import Page, SearchResult

POLL_S = 0.1
"""Seconds between two looks at the stop flag and the budget while tasks run."""
Check = Callable[[], None]
WebResult = SearchResult | Page
T = TypeVar("T")


class Task(Generic[T]):
    """Work under way in its thread, or without one (`is_threaded`) what `finish` does in its turn; `work`
    calls its argument, which raises once the task is abandoned. Tasks that share `turns` wait for one of
    them, those that share `abandoned` end when one fails."""

    def __init__(
        self,
        work: Callable[[Check], T],
        *,
        is_threaded: bool = True,
        turns: AbstractContextManager[object] | None = None,
        abandoned: threading.Event | None = None,
        keep: Callable[[T], None] = lambda _result: None,
    ) -> None:
        self.work, self.keep = work, keep
        self.turns, self.abandoned = turns or nullcontext(), abandoned or threading.Event()
        self.result: T | None = None
        self.error: BaseException | None = None
        self.thread: threading.Thread | None = None
        if is_threaded:
            in_context = contextvars.copy_context().run  # its log lines name the run, too
            self.thread = threading.Thread(
                target=in_context, args=(self._run,), name="side-by-side", daemon=True
            )
            self.thread.start()

    def _run(self) -> None:
        with self.turns:
            try:
                self._check()
                self.result = self.work(self._check)
            except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
                self.error = error
                self.abandoned.set()

    def _check(self) -> None:
        if self.abandoned.is_set():
            raise StopRequested("the task was abandoned")


def finish(tasks: Sequence[Task[T]], checkpoint: Check) -> tuple[list[T | None], Signal | None]:
    """The results of the tasks in order, each kept as soon as it is there, and None.

    A Signal that `checkpoint` raises ends the wait: then the results that there are, None for the others, and
    the signal; it is raised where there is no result yet. Other errors are raised, once all have ended."""
    signal: Signal | None = None
    try:
        for task in tasks:
            if task.thread is None:
                checkpoint()
                task.result = task.work(checkpoint)
        waiting = {task: task.thread for task in tasks if task.thread}
        while waiting:
            next(iter(waiting.values())).join(POLL_S)
            for task in [task for task, thread in waiting.items() if not thread.is_alive()]:
                del waiting[task]
                if task.result is not None:
                    task.keep(task.result)
            checkpoint()
    except (StopRequested, ShutdownRequested, BudgetSpent) as raised:
        signal = raised
    finally:
        for task in tasks:
            task.abandoned.set()
    stops = [task.error for task in tasks if isinstance(task.error, StopRequested)]
    for error in [task.error for task in tasks if task.error not in stops] + stops:
        if error and not (signal and error in stops):
            raise error
    results = [task.result for task in tasks]
    if signal and not any(results):
        raise signal
    return results, signal


def finish_all(
    works: Sequence[Callable[[Check], T]], checkpoint: Check, most: int, *, is_waiting: bool
) -> list[T]:
    """The results of these works, at most so many at the same time; where nothing `is_waiting` for a server,
    one after the other. A Signal abandons them."""
    turns, failed = threading.Semaphore(most), threading.Event()
    tasks = [Task(work, is_threaded=is_waiting, turns=turns, abandoned=failed) for work in works]
    results, signal = finish(tasks, checkpoint)
    if signal:
        raise signal
    return cast("list[T]", results)


@dataclass(frozen=True)
class WebRequest:
    """A page to fetch, or with `engine` a search for `target`."""

    target: str
    engine: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What makes two requests the same: the engine and the query, or the address in any spelling."""
        return self.engine, self.target if self.engine else canonicalize(self.target) or self.target


@dataclass(kw_only=True)
class SideBySide:
    """The requests of one run. `send` carries one out, `keep` stores a result as soon as it is there, so that
    a killed process need not ask again; `is_live`: its world has servers to wait for."""

    send: Callable[[WebRequest, Check], WebResult]
    is_live: bool
    keep: Callable[[WebRequest, WebResult], None]
    _ahead: dict[tuple[str, str], Task[WebResult]] = field(default_factory=dict)

    def fetch_ahead(self, urls: Iterable[str], most: int) -> None:
        """Begin to fetch pages that may be asked for next, `most` at a time; those begun before and no longer
        among `urls` are dropped."""
        if not self.is_live:
            return
        wanted = {request.key: request for request in map(WebRequest, urls)}
        for key in [key for key in self._ahead if not key[0] and key not in wanted]:
            self._ahead.pop(key).abandoned.set()
        for key, request in wanted.items():
            if key not in self._ahead and len(self._ahead) < most:
                self._ahead[key] = self._start(request)

    def search_ahead(self, engine: str, query: str) -> None:
        """Begin a search that the next round makes."""
        request = WebRequest(query, engine)
        if self.is_live and request.key not in self._ahead:
            self._ahead[request.key] = self._start(request)

    def run(
        self, requests: Sequence[WebRequest], checkpoint: Check
    ) -> tuple[list[WebResult | None], Signal | None]:
        """The results in the order of `requests`, and None; after a Signal as `finish` says."""
        tasks = [
            self._ahead.pop(request.key) if request.key in self._ahead else self._start(request)
            for request in requests
        ]
        return finish(tasks, checkpoint)

    def _start(self, request: WebRequest) -> Task[WebResult]:
        keep = partial(self.keep, request)
        return Task(partial(self.send, request), is_threaded=self.is_live, keep=keep)
