"""Messages that arrive one after the other are answered as one: a quiet window, opened anew by each message
of the same channel and user.

It knows messages and a timer, no platform and no model. What is done with a batch is given; who sent a
message gets a future: the last message of a batch gets what came of it, the ones before it get None at once,
for they are answered with it.

Logged for whoever looks for the boundaries of a batch (logger `agent.bot.debounce`, fields in `extra`):
`discord.user_batch_wait` when a window is opened or opened anew, `discord.user_batch_process_start` when a
batch is complete and about to be answered."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from agent.types.reply import Conversation, Message, RequestContext

log = logging.getLogger("agent.bot.debounce")
MAX_MESSAGES = 20
"""Messages a batch holds; a person who never pauses is answered then."""
MAX_PARALLEL_BATCHES = 8
"""Batches that are answered at the same time."""

T = TypeVar("T")


class Timer(Protocol):
    """A call that is to be made later."""

    def cancel(self) -> None: ...


TimerFactory = Callable[[float, Callable[[], None]], Timer]
"""(seconds, call) -> a timer that is running."""


@dataclass
class MessageBatch(Generic[T]):
    """What one person wrote in one channel since they were quiet for long enough."""

    context: RequestContext
    earlier_conversation: Conversation
    """What was said before, as the first message told it."""
    messages: list[Message] = field(default_factory=list)
    result: Future[T | None] = field(default_factory=Future)
    timer: Timer | None = None
    closed_at: float = 0.0
    """When its window was over, on the monotonic clock: from then on whoever waits, waits for an answer."""

    @property
    def conversation(self) -> Conversation:
        """What was said before, and the messages of the batch."""
        return Conversation(messages=[*self.earlier_conversation.messages, *self.messages])


def start_timer(seconds: float, call: Callable[[], None]) -> Timer:
    """A timer in a thread of its own."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer


class Debouncer(Generic[T]):
    """Gathers messages and hands complete batches to `process`, in threads of its own. Thread-safe."""

    def __init__(
        self, window_s: float, process: Callable[[MessageBatch[T]], T], *, later: TimerFactory = start_timer
    ) -> None:
        self.window_s, self._process, self._later = window_s, process, later
        self._open: dict[tuple[str, str, str], MessageBatch[T]] = {}
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(MAX_PARALLEL_BATCHES, thread_name_prefix="batch")
        self._closed = False

    def add(
        self, message: Message, context: RequestContext, before: Conversation | None = None
    ) -> Future[T | None]:
        """Take a message. Its future gets what came of its batch, or None as soon as a later message takes
        its place."""
        key = (context.platform, context.channel, context.user)
        with self._lock:
            if self._closed:
                raise RuntimeError("this program is ending and takes no more messages")
            batch = self._open.get(key)
            again = batch is not None
            if batch is None:
                batch = self._open[key] = MessageBatch(context, before or Conversation())
            elif batch.timer:
                batch.timer.cancel()
            former, batch.result = batch.result, Future()
            batch.messages.append(message)
            full = len(batch.messages) >= MAX_MESSAGES
            window = 0.0 if full else self.window_s
            _log_event("discord.user_batch_wait", batch, window_s=window, reset=again)
            number = len(batch.messages)
            batch.timer = self._later(window, lambda: self._close_window(key, batch, number))
            waiting = batch.result
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
            _cancel_batch(batch)
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _close_window(self, key: tuple[str, str, str], batch: MessageBatch[T], number: int) -> None:
        """The window is over, unless a message came in this very moment."""
        with self._lock:
            if self._open.get(key) is not batch or len(batch.messages) != number:
                return
            del self._open[key]
        batch.closed_at = time.monotonic()
        try:
            work = self._threads.submit(self._answer, batch)
        except RuntimeError:  # closed in this very moment
            _cancel_batch(batch)
        else:
            work.add_done_callback(lambda done: _cancel_batch(batch) if done.cancelled() else None)

    def _answer(self, batch: MessageBatch[T]) -> None:
        _log_event("discord.user_batch_process_start", batch)
        if not batch.result.set_running_or_notify_cancel():
            return
        try:
            batch.result.set_result(self._process(batch))
        except BaseException as trouble:  # noqa: BLE001 - handed to whoever waits
            batch.result.set_exception(trouble)


def _cancel_batch(batch: MessageBatch[T]) -> None:
    """Tell whoever waits for a batch that will not be answered."""
    if batch.result.cancel():
        batch.result.set_running_or_notify_cancel()


def _log_event(name: str, batch: MessageBatch[T], **fields: object) -> None:
    where = {
        "platform": _one_line(batch.context.platform),
        "channel": _one_line(batch.context.channel),
        "user": _one_line(batch.context.user),
    }
    extra = {"event": name, **where, "messages": len(batch.messages), **fields}
    log.debug(
        "%s channel=%s user=%s messages=%d %s",
        name,
        where["channel"],
        where["user"],
        len(batch.messages),
        fields or "",
        extra=extra,
    )


def _one_line(name: str) -> str:
    """A stranger's words on one line."""
    return "".join(sign if sign.isprintable() else " " for sign in name)
