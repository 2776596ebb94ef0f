"""The replying services of the screen: on the library (shared with HTTP), and on the demo's documents."""

from __future__ import annotations

import threading

from agent.bot.http import ReplyHttp
from agent.bot.responder import ReplyService
from agent.errors import UsageError
from agent.settings import reply_config
from agent.settings.reply_config import DEMO_KB, ResponseConfig
from agent.types.reply import RequestContext
from pages.widgets.shell import client, http_gate

LIBRARY, DEMO = "library", "demo"
SCREEN_PLATFORM = "screen"
"""The platform that a request from here comes from; its channel is the place that is answered from."""


HTTP = ReplyHttp(client.benches, http_gate.is_known_name)
"""The routes for bots; their service answers the screen, too."""
_lock = threading.Lock()
_demo_services: dict[str, ReplyService] = {}
"""By the id of the person; "" where nobody signs in."""


def list_places() -> dict[str, str]:
    """What can be answered from, by name."""
    return {LIBRARY: "The library"} | (
        {DEMO: "The demo knowledge base (invented)"} if DEMO_KB.is_dir() else {}
    )


def build_context(place: str) -> RequestContext:
    """Where a conversation of the screen comes from."""
    return RequestContext(platform=SCREEN_PLATFORM, channel=place)


def is_demo(asked: RequestContext) -> bool:
    """Was it answered from the demo's knowledge base?"""
    return (asked.platform, asked.channel) == (SCREEN_PLATFORM, DEMO)


def get_service(place: str) -> ReplyService:
    """The service that answers from it. Raises UsageError when `config.yaml` cannot be used as it is."""
    owner, bench = client.owner_key(), client.workbench()
    if place != DEMO:
        return HTTP.get_service(owner, bench)
    with _lock:
        former = _demo_services.get(owner)
        if former and former.bench is not bench:
            former.close()
        if former is None or former.bench is not bench:
            _demo_services[owner] = ReplyService(bench, kb=DEMO_KB)
        return _demo_services[owner]


def close() -> None:
    """Close the services."""
    HTTP.close()
    with _lock:
        while _demo_services:
            _demo_services.popitem()[1].close()


def read_settings() -> tuple[ResponseConfig | None, str]:
    """What `config.yaml` says, and why it cannot be used when it cannot."""
    try:
        return reply_config.read_response_config(client.workbench().config), ""
    except UsageError as wrong:
        return None, str(wrong)
