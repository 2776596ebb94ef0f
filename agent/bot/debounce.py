"""Debounces messages: those of one channel and user that arrive within a quiet window are answered as one.

Each message gets a future: the last one of a batch gets the result of the batch, the ones before it get None
at once. It knows messages and a timer, no platform and no model.

Logged with fields in `extra` (logger `agent.bot.debounce`): `discord.user_batch_wait` when a window starts or
restarts, `discord.user_batch_process_start` when a batch is complete."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agent.export.escaping import to_one_line
from agent.types.reply import Conversation, Message, RequestContext

log = logging.getLogger("agent.bot.debounce")
MAX_MESSAGES = 20
"""Messages a batch holds; a full batch is answered without waiting."""
MAX_PARALLEL_BATCHES = 8
"""Batches answered at the same time."""

T = TypeVar("T")


@dataclass
class MessageBatch(Generic[T]):
    """The messages of one person in one channel since their last quiet window."""

    context: RequestContext
    earlier_conversation: Conversation
    """The conversation before the batch, as sent with its first message."""
    messages: list[Message] = field(default_factory=list)
    result: Future[T | None] = field(default_factory=Future)
    timer: threading.Timer | None = None
    closed_at: float = 0.0
    """When its window ended, on the monotonic clock: the answer is timed from then on."""

    @property
    def conversation(self) -> Conversation:
        """The earlier conversation and the messages of the batch."""
        return Conversation(messages=[*self.earlier_conversation.messages, *self.messages])


def start_timer(seconds: float, call: Callable[[], None]) -> threading.Timer:
    """A timer in its own thread."""
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer


class Debouncer(Generic[T]):
    """Collects messages and passes complete batches to `process`, in its own threads. Thread-safe."""

    def __init__(
        self,
        window_s: float,
        process: Callable[[MessageBatch[T]], T],
        *,
        later: Callable[[float, Callable[[], None]], threading.Timer] = start_timer,
    ) -> None:
        self.window_s, self._process, self._later = window_s, process, later
        self._open: dict[tuple[str, str, str], MessageBatch[T]] = {}
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(MAX_PARALLEL_BATCHES, thread_name_prefix="batch")
        self._closed = False

    def add(
        self, message: Message, context: RequestContext, before: Conversation | None = None
    ) -> Future[T | None]:
        """Add a message. Its future gets the result of its batch, or None when a later message joins the
        batch. Raises RuntimeError once closed."""
        key = (context.platform, context.channel, context.user)
        with self._lock:
            if self._closed:
                raise RuntimeError("this program is stopping and accepts no more messages")
            batch = self._open.get(key)
            restarted = batch is not None
            if batch is None:
                batch = self._open[key] = MessageBatch(context, before or Conversation())
            elif batch.timer:
                batch.timer.cancel()
            former, batch.result = batch.result, Future()
            batch.messages.append(message)
            full = len(batch.messages) >= MAX_MESSAGES
            window = 0.0 if full else self.window_s
            _log_event("discord.user_batch_wait", batch, window_s=window, reset=restarted)
            number = len(batch.messages)
            batch.timer = self._later(window, lambda: self._close_window(key, batch, number))
            waiting = batch.result
        if restarted and former.set_running_or_notify_cancel():
            former.set_result(None)
        return waiting

    def close(self) -> None:
        """Drop waiting batches (their futures are cancelled) and accept no more messages."""
        with self._lock:
            self._closed = True
            dropped, self._open = list(self._open.values()), {}
        for batch in dropped:
            if batch.timer:
                batch.timer.cancel()
            _cancel_batch(batch)
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _close_window(self, key: tuple[str, str, str], batch: MessageBatch[T], number: int) -> None:
        """Answer the batch, unless a message has just joined it."""
        with self._lock:
            if self._open.get(key) is not batch or len(batch.messages) != number:
                return
            del self._open[key]
        batch.closed_at = time.monotonic()
        try:
            work = self._threads.submit(self._answer, batch)
        except RuntimeError:  # closed meanwhile
            _cancel_batch(batch)
        else:
            work.add_done_callback(lambda done: _cancel_batch(batch) if done.cancelled() else None)

    def _answer(self, batch: MessageBatch[T]) -> None:
        _log_event("discord.user_batch_process_start", batch)
        if not batch.result.set_running_or_notify_cancel():
            return
        try:
            batch.result.set_result(self._process(batch))
        except BaseException as trouble:  # noqa: BLE001 - raised again where the future is awaited
            batch.result.set_exception(trouble)


def _cancel_batch(batch: MessageBatch[T]) -> None:
    """Cancel the future of a batch that will not be answered."""
    if batch.result.cancel():
        batch.result.set_running_or_notify_cancel()


def _log_event(name: str, batch: MessageBatch[T], **fields: object) -> None:
    where = {
        "platform": to_one_line(batch.context.platform),
        "channel": to_one_line(batch.context.channel),
        "user": to_one_line(batch.context.user),
    }
    extra = {"event": name, **where, "messages": len(batch.messages), **fields}
    log.debug("%(event)s channel=%(channel)s user=%(user)s messages=%(messages)d", extra, extra=extra)
