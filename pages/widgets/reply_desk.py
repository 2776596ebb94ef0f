"""The replying services the screen uses: one on the library (shared with the HTTP door), one on the demo's knowledge base."""

from __future__ import annotations

import threading

from agent import response_config
from agent.errors import UsageError
from agent.replying import Replying
from agent.response_config import DEMO_KB, ResponseConfig
from agent.types.reply import RequestContext
from pages.widgets import door, reply_door

LIBRARY, DEMO = "library", "demo"
SCREEN = "screen"
"""The platform that a request from here comes from; its channel is the place that is answered from."""
_lock = threading.Lock()
_demo: list[Replying] = []


def places() -> dict[str, str]:
    """What can be answered from, by name."""
    return {LIBRARY: "The library"} | ({DEMO: "The demo knowledge base (invented)"} if DEMO_KB.is_dir() else {})


def context(place: str) -> RequestContext:
    """Where a conversation of the screen comes from."""
    return RequestContext(platform=SCREEN, channel=place)


def is_demo(asked: RequestContext) -> bool:
    """Was it answered from the demo's knowledge base?"""
    return (asked.platform, asked.channel) == (SCREEN, DEMO)


def service(place: str) -> Replying:
    """The service that answers from it. Raises UsageError when `config.yaml` cannot be used as it is."""
    if place != DEMO:
        return reply_door.service()[0]
    bench = door.workbench()
    with _lock:
        if _demo and _demo[0].bench is not bench:
            _demo.pop().close()
        if not _demo:
            _demo.append(Replying(bench, kb=DEMO_KB))
        return _demo[0]


def close() -> None:
    """Let go of the demo's; the door closes its own."""
    with _lock:
        while _demo:
            _demo.pop().close()


def settings() -> tuple[ResponseConfig | None, str]:
    """What `config.yaml` says, and why it cannot be used when it cannot."""
    try:
        return response_config.read(door.workbench().config), ""
    except UsageError as wrong:
        return None, str(wrong)
