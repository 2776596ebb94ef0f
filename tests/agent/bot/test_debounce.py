"""Batches: a quiet window that each message opens anew, one answer for all of them, and the two lines of the
log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from agent.bot.debounce import MAX_MESSAGES, Debouncer, MessageBatch
from agent.types.reply import Conversation, Message, RequestContext

LOG = "agent.bot.debounce"


class Desk:
    """A debouncer with a short window that answers with what it was given."""

    def __init__(self, process: Callable[[MessageBatch], str] | None = None, window_s: float = 0.05) -> None:
        self.seen: list[MessageBatch] = []
        self.batching = Debouncer[str](window_s, self._answer)
        self._process = process or (lambda batch: batch.conversation.question)

    async def say(
        self, text: str, user: str = "ann", channel: str = "help", before: Conversation | None = None
    ) -> str | None:
        context = RequestContext(channel=channel, user=user)
        return await self.batching.add(Message(role="user", text=text), context, before)

    async def _answer(self, batch: MessageBatch) -> str:
        self.seen.append(batch)
        return self._process(batch)


def together(*said: Any) -> list[Any]:
    """What messages that are sent at one time are answered."""

    async def send() -> list[Any]:
        return await asyncio.gather(*said, return_exceptions=True)

    return asyncio.run(send())


def test_messages_within_the_window_are_one_batch_behind_what_was_said_before_the_first() -> None:
    desk = Desk()
    before = Conversation(messages=[Message(role="user", text="Hi"), Message(role="bot", text="Hello.")])
    other = Conversation(messages=[Message(role="user", text="not this")])
    assert together(desk.say("one", before=before), desk.say("two", before=other)) == [None, "one\ntwo"]
    [batch] = desk.seen
    assert [message.text for message in batch.conversation.messages] == ["Hi", "Hello.", "one", "two"]
    assert together(desk.say("three")) == ["three"], "a message after the window begins a new batch"


def test_each_user_and_channel_has_a_window_of_its_own() -> None:
    desk = Desk()
    said = desk.say("a"), desk.say("b", user="bob"), desk.say("c", channel="general")
    assert together(*said) == ["a", "b", "c"]


def test_a_person_who_never_pauses_is_answered_all_the_same() -> None:
    desk = Desk(window_s=3600)
    *merged, answer = together(*(desk.say(str(n)) for n in range(MAX_MESSAGES)))
    assert merged == [None] * (MAX_MESSAGES - 1) and answer == "\n".join(map(str, range(MAX_MESSAGES)))


def test_the_boundaries_of_a_batch_are_logged_with_their_fields(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, LOG):
        together(*(Desk.say(desk, text) for desk in [Desk()] for text in ("secret words", "more")))
    told = [
        (line.event, line.messages, line.channel, line.user) for line in caplog.records if line.name == LOG
    ]  # type: ignore[attr-defined]
    waits, starts = "discord.user_batch_wait", "discord.user_batch_process_start"
    assert told == [(waits, 1, "help", "ann"), (waits, 2, "help", "ann"), (starts, 2, "help", "ann")]
    lines = [line for line in caplog.records if line.name == LOG]
    assert [(line.reset, line.window_s) for line in lines[:2]] == [(False, 0.05), (True, 0.05)]  # type: ignore[attr-defined]
    assert "secret" not in caplog.text


def test_names_with_line_breaks_stay_on_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, LOG):
        together(Desk().say("x", channel="help\nERROR forged", user="ann\r\u2028bob"))
    line = next(line for line in caplog.records if line.name == LOG)
    assert line.getMessage().isprintable() and "channel=help ERROR forged user=ann bob" in line.getMessage()
    assert line.channel == "help ERROR forged"  # type: ignore[attr-defined]


def test_trouble_reaches_whoever_waits() -> None:
    [trouble] = together(Desk(lambda batch: 1 / 0).say("x"))  # type: ignore[arg-type,return-value]
    assert isinstance(trouble, ZeroDivisionError)


def test_closing_drops_what_waits() -> None:
    desk = Desk()

    async def close() -> None:
        desk.batching.close()

    waiting, _ = together(desk.say("x"), close())
    assert isinstance(waiting, RuntimeError) and not desk.seen


def test_who_went_away_does_not_keep_the_next_message_from_being_taken() -> None:
    desk = Desk()

    async def leave() -> str | None:
        first = asyncio.ensure_future(desk.say("one"))
        await asyncio.sleep(0)
        first.cancel()
        return await desk.say("two")

    assert together(leave()) == ["one\ntwo"]


def test_what_was_said_by_who_went_away_is_forgotten_with_its_window() -> None:
    desk = Desk()

    async def leave() -> str | None:
        first = asyncio.ensure_future(desk.say("one"))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0.1)
        return await desk.say("two")

    assert together(leave()) == ["two"]
