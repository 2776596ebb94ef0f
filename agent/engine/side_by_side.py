"""Searches and page fetches of one run, side by side: those of a round, and pages fetched before they are
needed.

A request runs in a daemon thread, so that a stop works at once and the process can end; an abandoned one ends
by its own deadline. A world without servers answers at once and is asked directly, in order."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agent.errors import BudgetSpent, ShutdownRequested, Signal, StopRequested
from agent.text.urls import canonicalize
from agent.types import Page, SearchResult

POLL_S = 0.1
"""Seconds between two looks at the stop flag and the budget while requests run."""
Check = Callable[[], None]
WebResult = SearchResult | Page


@dataclass(frozen=True)
class WebRequest:
    """A page to fetch, or with `engine` a search for `target`."""

    target: str
    engine: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What makes two requests the same: the engine and the query, or the address in any spelling."""
        return self.engine, self.target if self.engine else canonicalize(self.target) or self.target


Keep = Callable[[WebRequest, WebResult], None]
Send = Callable[[WebRequest, Check], WebResult]


@dataclass
class _Task:
    """One request under way in its thread."""

    request: WebRequest
    abandoned: threading.Event = field(default_factory=threading.Event)
    result: WebResult | None = None
    error: BaseException | None = None
    thread: threading.Thread = field(init=False)

    def start(self, send: Send) -> _Task:
        run = contextvars.copy_context().run  # its log lines name the run, too
        self.thread = threading.Thread(target=run, args=(self._run, send), name="web-request", daemon=True)
        self.thread.start()
        return self

    def _run(self, send: Send) -> None:
        try:
            self.result = send(self.request, self._check)
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for it
            self.error = error

    def _check(self) -> None:
        if self.abandoned.is_set():
            raise StopRequested("the request was abandoned")

    @property
    def is_over(self) -> bool:
        return not self.thread.is_alive()


class SideBySide:
    """The requests of one run. `send` carries one out, `keep` stores a result as soon as it is there, so that
    a killed process need not ask again; `is_live`: its world has servers to wait for."""

    def __init__(self, send: Send, *, is_live: bool, keep: Keep = lambda _request, _result: None) -> None:
        self._send, self._is_live, self._keep = send, is_live, keep
        self._ahead: dict[tuple[str, str], _Task] = {}

    def fetch_ahead(self, urls: Iterable[str], most: int) -> None:
        """Begin to fetch pages that may be asked for next, `most` at a time; those begun before and no longer
        among `urls` are dropped."""
        if not self._is_live:
            return
        wanted = {request.key: request for request in map(WebRequest, urls)}
        pages = [task for task in self._ahead.values() if not task.request.engine]
        self._drop(task for task in pages if task.request.key not in wanted)
        for key, request in wanted.items():
            if key not in self._ahead and len(self._ahead) < most:
                self._ahead[key] = _Task(request).start(self._send)

    def search_ahead(self, engine: str, query: str) -> None:
        """Begin a search that the next round makes."""
        request = WebRequest(query, engine)
        if self._is_live and request.key not in self._ahead:
            self._ahead[request.key] = _Task(request).start(self._send)

    def run(
        self, requests: Sequence[WebRequest], checkpoint: Check
    ) -> tuple[list[WebResult | None], Signal | None]:
        """The results in the order of `requests`, and None.

        A Signal that `checkpoint` raises ends the wait: then the results that there are, None for the others,
        and the signal; it is raised where there is no result yet. Other errors are raised."""
        if not self._is_live:
            return self._run_in_order(requests, checkpoint)
        tasks = [self._take_ahead(request) or _Task(request).start(self._send) for request in requests]
        signal: Signal | None = None
        try:
            waiting = list(tasks)
            while waiting:
                waiting[0].thread.join(POLL_S)
                for task in [task for task in waiting if task.is_over]:
                    waiting.remove(task)
                    if task.result:
                        self._keep(task.request, task.result)
                checkpoint()
        except (StopRequested, ShutdownRequested, BudgetSpent) as raised:
            signal = raised
        finally:
            for task in tasks:
                task.abandoned.set()
        for task in tasks:
            if task.is_over and task.error and not (signal and isinstance(task.error, StopRequested)):
                raise task.error
        results = [task.result for task in tasks]
        if signal and not any(results):
            raise signal
        return results, signal

    def _run_in_order(
        self, requests: Sequence[WebRequest], checkpoint: Check
    ) -> tuple[list[WebResult | None], Signal | None]:
        results: list[WebResult | None] = []
        for request in requests:
            try:
                checkpoint()
                results.append(self._send(request, checkpoint))
            except (StopRequested, ShutdownRequested, BudgetSpent) as signal:
                if not results:
                    raise
                return [*results, *[None] * (len(requests) - len(results))], signal
        return results, None

    def _take_ahead(self, request: WebRequest) -> _Task | None:
        return self._ahead.pop(request.key) if request.key in self._ahead else None

    def _drop(self, tasks: Iterable[_Task]) -> None:
        """Forget these and let them end."""
        for task in list(tasks):
            task.abandoned.set()
            self._ahead.pop(task.request.key, None)
