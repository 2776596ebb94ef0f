"""Threads that hand work to the event loop wake it once, and none of it waits for the next one."""

from __future__ import annotations

import asyncio
import threading

from pages.widgets.shell import event_loop


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts how often it is woken."""

    wakes = 0

    def _write_to_self(self) -> None:
        self.wakes += 1
        super()._write_to_self()  # type: ignore[misc]


def run_on(loop: CountingLoop, per_thread: int, threads: int) -> list[int]:
    """Hand the numbers up to `per_thread` to the loop from each thread; returns what the loop did."""
    done: list[int] = []
    all_done = asyncio.Event()

    def take(n: int) -> None:
        done.append(n)
        if len(done) == per_thread * threads:
            all_done.set()

    def hand_over() -> None:
        for n in range(per_thread):
            loop.call_soon_threadsafe(take, n)

    async def work() -> None:
        event_loop.wake_once(loop)
        started = [threading.Thread(target=hand_over) for _ in range(threads)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()  # the loop does not look meanwhile
        assert loop.wakes == 1
        await asyncio.wait_for(all_done.wait(), 30)

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(work())
    return done


def test_many_calls_from_threads_wake_a_busy_loop_once_and_all_are_done():
    assert sorted(run_on(CountingLoop(), 500, 4)) == sorted(list(range(500)) * 4)


def test_a_loop_that_sleeps_again_is_woken_again():
    async def work() -> list[int]:
        loop, done = asyncio.get_running_loop(), list[int]()
        event_loop.wake_once(loop)
        for n in range(50):
            came = asyncio.Event()
            threading.Thread(target=loop.call_soon_threadsafe, args=(came.set,)).start()
            await asyncio.wait_for(came.wait(), 30)
            done.append(n)
        return done

    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        assert runner.run(work()) == list(range(50))


def test_another_kind_of_loop_stays_as_it_is():
    loop = object()
    event_loop.wake_once(loop)
    assert not vars(type(loop)).get("_write_to_self")
