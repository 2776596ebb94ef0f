"""Messages that arrive one after the other are answered as one: a quiet window, opened anew by each message of the same channel and user.

It knows messages and a timer, no platform and no model. What is done with a batch is given; who sent a message gets a future: the last
message of a batch gets what came of it, the ones before it get None at once, for they are answered with it.

Logged for whoever looks for the boundaries of a batch (logger `agent.batching`, fields in `extra`): `discord.user_batch_wait` when a
window is opened or opened anew, `discord.user_batch_process_start` when a batch is complete and about to be answered.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from agent.types.reply import Conversation, Message, RequestContext

log = logging.getLogger("agent.batching")
MOST = 20
"""Messages a batch holds; a person who never pauses is answered then."""
SIDE_BY_SIDE = 8
"""Batches that are answered at the same time."""

T = TypeVar("T")


class Timer(Protocol):
    """A call that is to be made later."""

    def cancel(self) -> None: ...


Later = Callable[[float, Callable[[], None]], Timer]
"""(seconds, call) -> a timer that is running."""


@dataclass
class Batch(Generic[T]):
    """What one person wrote in one channel since they were quiet for long enough."""

    context: RequestContext
    before: Conversation
    """What was said before, as the first message told it."""
    messages: list[Message] = field(default_factory=list)
    waiting: Future[T | None] = field(default_factory=Future)
    timer: Timer | None = None
    closed_at: float = 0.0
    """When its window was over, on the monotonic clock: from then on whoever waits, waits for an answer."""

    @property
    def conversation(self) -> Conversation:
        """What was said before, and the messages of the batch."""
        return Conversation(messages=[*self.before.messages, *self.messages])


def later(seconds: float, call: Callable[[], None]) -> Timer:
    """A timer in a thread of its own."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer


class Batching(Generic[T]):
    """Gathers messages and hands complete batches to `process`, in threads of its own. Thread-safe."""

    def __init__(self, window_s: float, process: Callable[[Batch[T]], T], *, later: Later = later) -> None:
        self.window_s, self._process, self._later = window_s, process, later
        self._open: dict[tuple[str, str, str], Batch[T]] = {}
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(SIDE_BY_SIDE, thread_name_prefix="batch")
        self._closed = False

    def add(self, message: Message, context: RequestContext, before: Conversation | None = None) -> Future[T | None]:
        """Take a message. Its future gets what came of its batch, or None as soon as a later message takes its place."""
        key = (context.platform, context.channel, context.user)
        with self._lock:
            if self._closed:
                raise RuntimeError("this program is ending and takes no more messages")
            batch = self._open.get(key)
            again = batch is not None
            if batch is None:
                batch = self._open[key] = Batch(context, before or Conversation())
            elif batch.timer:
                batch.timer.cancel()
            former, batch.waiting = batch.waiting, Future()
            batch.messages.append(message)
            full = len(batch.messages) >= MOST
            window = 0.0 if full else self.window_s
            _told("discord.user_batch_wait", batch, window_s=window, reset=again)
            number = len(batch.messages)
            batch.timer = self._later(window, lambda: self._quiet(key, batch, number))
            waiting = batch.waiting
        if again and former.set_running_or_notify_cancel():
            former.set_result(None)
        return waiting

    def close(self) -> None:
        """Drop what waits (its futures are cancelled) and take nothing more."""
        with self._lock:
            self._closed = True
            dropped, self._open = list(self._open.values()), {}
        for batch in dropped:
            if batch.timer:
                batch.timer.cancel()
            _dropped(batch)
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _quiet(self, key: tuple[str, str, str], batch: Batch[T], number: int) -> None:
        """The window is over, unless a message came in this very moment."""
        with self._lock:
            if self._open.get(key) is not batch or len(batch.messages) != number:
                return
            del self._open[key]
        batch.closed_at = time.monotonic()
        try:
            work = self._threads.submit(self._work, batch)
        except RuntimeError:  # closed in this very moment
            _dropped(batch)
        else:
            work.add_done_callback(lambda done: _dropped(batch) if done.cancelled() else None)

    def _work(self, batch: Batch[T]) -> None:
        _told("discord.user_batch_process_start", batch)
        if not batch.waiting.set_running_or_notify_cancel():
            return
        try:
            batch.waiting.set_result(self._process(batch))
        except BaseException as trouble:  # noqa: BLE001 - handed to whoever waits
            batch.waiting.set_exception(trouble)


def _dropped(batch: Batch[T]) -> None:
    """Tell whoever waits for a batch that will not be answered."""
    if batch.waiting.cancel():
        batch.waiting.set_running_or_notify_cancel()


def _told(name: str, batch: Batch[T], **fields: object) -> None:
    where = {"platform": _line(batch.context.platform), "channel": _line(batch.context.channel), "user": _line(batch.context.user)}
    extra = {"event": name, **where, "messages": len(batch.messages), **fields}
    log.debug("%s channel=%s user=%s messages=%d %s", name, where["channel"], where["user"], len(batch.messages), fields or "", extra=extra)


def _line(name: str) -> str:
    """A stranger's words on one line."""
    return "".join(sign if sign.isprintable() else " " for sign in name)
