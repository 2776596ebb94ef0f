"""Debounces messages: those of one channel and user that arrive within a quiet window are answered as one, to
the last of them. It knows messages and an event loop, no platform and no model.

Logged with fields in `extra` (logger `agent.bot.debounce`): `discord.user_batch_wait` when a window starts or
restarts, `discord.user_batch_process_start` when a batch is complete."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from agent.export.escaping import to_one_line
from agent.types.reply import Conversation, Message, RequestContext

log = logging.getLogger("agent.bot.debounce")
MAX_MESSAGES = 20
"""Messages a batch holds; a full batch is answered without waiting."""

T = TypeVar("T")


@dataclass
class MessageBatch:
    """The messages of one person in one channel since the last quiet window, behind those before."""

    context: RequestContext
    conversation: Conversation
    count: int = 0
    overtaken: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a message joins after the newest one."""


class Debouncer(Generic[T]):
    """Collects messages, and has complete batches answered by `process`, all in one event loop."""

    def __init__(self, window_s: float, process: Callable[[MessageBatch], Awaitable[T]]) -> None:
        self.window_s, self._process = window_s, process
        self._open: dict[tuple[str, str, str], MessageBatch] = {}
        self._closed = False

    async def add(
        self, message: Message, context: RequestContext, before: Conversation | None = None
    ) -> T | None:
        """The answer to the batch of a message once its window is over; None at once when a later message
        joins. What was said `before` counts with the first message. Raises RuntimeError once closed."""
        key = (context.platform, context.channel, context.user)
        batch = self._open.get(key) or MessageBatch(context, before or Conversation())
        batch.overtaken.set()
        batch.overtaken = overtaken = asyncio.Event()
        batch.conversation = Conversation(messages=[*batch.conversation.messages, message])
        batch.count += 1
        self._open[key] = batch
        window = self.window_s if batch.count < MAX_MESSAGES else 0.0
        _log_event("discord.user_batch_wait", batch, window_s=window, reset=batch.count > 1)
        try:
            await asyncio.wait_for(overtaken.wait(), window)
        except TimeoutError:
            pass
        except asyncio.CancelledError:  # who asked went away: what they said waits for more as long as before
            asyncio.get_running_loop().call_later(window, self._drop, key, overtaken)
            raise
        if overtaken.is_set():
            return None
        del self._open[key]
        if self._closed:
            raise RuntimeError("this program is stopping and accepts no more messages")
        _log_event("discord.user_batch_process_start", batch)
        return await self._process(batch)

    def _drop(self, key: tuple[str, str, str], overtaken: asyncio.Event) -> None:
        batch = self._open.get(key)
        if batch and batch.overtaken is overtaken:
            del self._open[key]

    def close(self) -> None:
        """Drop the waiting batches, and accept no more messages."""
        self._closed = True


def _log_event(name: str, batch: MessageBatch, **fields: object) -> None:
    where = {name: to_one_line(getattr(batch.context, name)) for name in ("platform", "channel", "user")}
    extra = {"event": name, **where, "messages": batch.count, **fields}
    log.debug("%(event)s channel=%(channel)s user=%(user)s messages=%(messages)d", extra, extra=extra)
