"""Keeps the threads that draw screens from waiting for each other.

Streamlit hands each element to the event loop by `call_soon_threadsafe`, which wakes the loop with a byte
sent through a socket. Sending lets go of Python's lock, and with other threads at work it takes up to 5 ms to
get it back: a screen of 60 elements waits 60 times."""

from __future__ import annotations

import asyncio
from typing import Any

REST_S = 0.005
"""Seconds until a loop is woken again: the time for which a thread may keep Python's lock while others want
it."""


def wake_once(loop: Any) -> None:
    """Have this loop woken once in REST_S, however many threads ask; what they ask meanwhile is done at the
    end of that time. Other kinds of loops than asyncio's own stay as they are."""
    if not isinstance(loop, asyncio.SelectorEventLoop):
        return
    send, receive = loop._write_to_self, loop._process_self_data  # type: ignore[attr-defined]
    is_woken = False

    def wake() -> None:
        nonlocal is_woken
        if not is_woken:
            is_woken = True
            send()

    def process(data: bytes) -> None:
        receive(data)
        loop.call_later(REST_S, rest)

    def rest() -> None:
        nonlocal is_woken
        is_woken = False  # what was asked until now stands in the loop's list: it does not sleep

    loop._write_to_self, loop._process_self_data = wake, process  # type: ignore[attr-defined]
