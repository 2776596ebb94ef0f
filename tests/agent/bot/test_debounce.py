"""Batches: a quiet window that each message opens anew, one answer for all of them, and the two lines of the
log. No clock is waited for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass

import pytest

from agent.bot.debounce import MAX_MESSAGES, MAX_PARALLEL_BATCHES, Debouncer, MessageBatch
from agent.types.reply import Conversation, Message, RequestContext


@dataclass
class Fake:
    """A timer that goes off when a test says so."""

    seconds: float
    call: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class Desk:
    """A Batching over fake timers that answers with what it was given."""

    def __init__(self, process: Callable[[MessageBatch[str]], str] | None = None) -> None:
        self.timers: list[Fake] = []
        self.seen: list[MessageBatch[str]] = []
        self.batching = Debouncer[str](5.0, process or self._answer, later=self._later)

    def say(
        self, text: str, user: str = "ann", channel: str = "help", before: Conversation | None = None
    ) -> Future[str | None]:
        return self.batching.add(
            Message(role="user", text=text), RequestContext(channel=channel, user=user), before
        )

    def quiet(self) -> None:
        """The newest window is over."""
        self.timers[-1].call()

    def _later(self, seconds: float, call: Callable[[], None]) -> Fake:
        self.timers.append(Fake(seconds, call))
        return self.timers[-1]

    def _answer(self, batch: MessageBatch[str]) -> str:
        self.seen.append(batch)
        return batch.conversation.question


def test_messages_within_the_window_are_one_batch() -> None:
    desk = Desk()
    first, second, third = desk.say("Hello"), desk.say("I have a question"), desk.say("How do I install it?")
    assert [timer.seconds for timer in desk.timers] == [5.0] * 3
    assert [timer.cancelled for timer in desk.timers] == [True, True, False]
    assert first.result(5) is None and second.result(5) is None and not third.done()
    desk.quiet()
    assert third.result(5) == "Hello\nI have a question\nHow do I install it?"
    [batch] = desk.seen
    assert [message.text for message in batch.messages] == [
        "Hello",
        "I have a question",
        "How do I install it?",
    ]


def test_each_user_and_channel_has_a_window_of_its_own() -> None:
    desk = Desk()
    ann, bob, other = desk.say("a"), desk.say("b", user="bob"), desk.say("c", channel="general")
    for timer in list(desk.timers):
        timer.call()
    assert (ann.result(5), bob.result(5), other.result(5)) == ("a", "b", "c")


def test_a_message_after_the_window_begins_a_new_batch() -> None:
    desk = Desk()
    one = desk.say("one")
    desk.quiet()
    assert one.result(5) == "one"
    two = desk.say("two")
    desk.quiet()
    assert two.result(5) == "two"


def test_a_window_that_ends_as_a_message_comes_in_does_nothing() -> None:
    desk = Desk()
    desk.say("one")
    late = desk.timers[0]
    two = desk.say("two")
    late.call()
    assert not desk.seen and not two.done()
    desk.quiet()
    assert two.result(5) == "one\ntwo"
    desk.quiet()
    assert len(desk.seen) == 1, "a timer that goes off twice"


def test_what_was_said_before_comes_with_the_first_message() -> None:
    desk = Desk()
    before = Conversation(messages=[Message(role="user", text="Hi"), Message(role="bot", text="Hello.")])
    desk.say("one", before=before)
    done = desk.say("two", before=Conversation(messages=[Message(role="user", text="not this")]))
    desk.quiet()
    done.result(5)
    assert [message.text for message in desk.seen[0].conversation.messages] == ["Hi", "Hello.", "one", "two"]


def test_a_person_who_never_pauses_is_answered_all_the_same() -> None:
    desk = Desk()
    for n in range(MAX_MESSAGES):
        done = desk.say(str(n))
    assert desk.timers[-1].seconds == 0.0
    desk.quiet()
    assert done.result(5) == "\n".join(map(str, range(MAX_MESSAGES)))


def test_the_boundaries_of_a_batch_are_logged_with_their_fields(caplog: pytest.LogCaptureFixture) -> None:
    desk = Desk()
    with caplog.at_level(logging.DEBUG, "agent.bot.debounce"):
        desk.say("secret words")
        done = desk.say("more")
        desk.quiet()
        done.result(5)
    told = [(line.event, line.messages, line.channel, line.user) for line in caplog.records]  # type: ignore[attr-defined]
    assert told == [
        ("discord.user_batch_wait", 1, "help", "ann"),
        ("discord.user_batch_wait", 2, "help", "ann"),
        ("discord.user_batch_process_start", 2, "help", "ann"),
    ]
    waits = caplog.records[:2]
    assert [(line.reset, line.window_s) for line in waits] == [(False, 5.0), (True, 5.0)]  # type: ignore[attr-defined]
    assert all(
        line.getMessage().startswith("discord.user_batch_") and "secret" not in line.getMessage()
        for line in caplog.records
    )


def test_trouble_reaches_whoever_waits() -> None:
    desk = Desk(lambda batch: 1 / 0)  # type: ignore[arg-type,return-value]
    done = desk.say("x")
    desk.quiet()
    with pytest.raises(ZeroDivisionError):
        done.result(5)


def test_closing_drops_what_waits() -> None:
    desk = Desk()
    done = desk.say("x")
    desk.batching.close()
    assert desk.timers[0].cancelled
    with pytest.raises(CancelledError):
        done.result(5)
    with pytest.raises(RuntimeError):
        desk.say("y")
    desk.quiet()
    assert not desk.seen


def test_who_went_away_does_not_keep_the_next_message_from_being_taken() -> None:
    desk = Desk()
    assert desk.say("one").cancel()
    two = desk.say("two")
    desk.quiet()
    assert two.result(5) == "one\ntwo"


def test_a_batch_that_waits_in_line_when_this_ends_is_dropped() -> None:
    going, let_go = threading.Semaphore(0), threading.Event()

    def slow(batch: MessageBatch[str]) -> str:
        going.release()
        assert let_go.wait(20)
        return "ok"

    desk = Desk(slow)
    working = []
    for n in range(MAX_PARALLEL_BATCHES):
        working.append(desk.say("x", user=str(n)))
        desk.quiet()
        assert going.acquire(timeout=20)
    waits = desk.say("y", user="last")
    desk.quiet()
    desk.batching.close()
    with pytest.raises(CancelledError):
        waits.result(5)
    let_go.set()
    assert [done.result(20) for done in working] == ["ok"] * MAX_PARALLEL_BATCHES


def test_names_with_line_breaks_stay_on_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "agent.bot.debounce"):
        Desk().say("x", channel="help\nERROR forged", user="ann\r\u2028bob")
    [line] = caplog.records
    assert line.getMessage().isprintable() and "channel=help ERROR forged user=ann bob" in line.getMessage()
    assert line.channel == "help ERROR forged"  # type: ignore[attr-defined]


def test_many_threads_lose_no_message() -> None:
    lock, seen = threading.Lock(), list[int]()

    def process(batch: MessageBatch[str]) -> str:
        with lock:
            seen.append(len(batch.messages))
        return "ok"

    batching = Debouncer[str](0.02, process)
    futures: list[Future[str | None]] = []

    def talk(user: int) -> None:
        for n in range(30):
            done = batching.add(
                Message(role="user", text=str(n)), RequestContext(channel="c", user=str(user))
            )
            with lock:
                futures.append(done)

    threads = [threading.Thread(target=talk, args=(user,)) for user in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers = [done.result(20) for done in futures]
    assert sum(seen) == 240 and answers.count("ok") == len(seen)
    batching.close()
