"""What the engines behind an HTTP API answer (`engine_answers.json`: their documented fields with invented content),
and a live world that asks a server on this machine instead of theirs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.types import SearchResult, SourceFilter
from agent.web.world import World
from tests.web.site import Page, Reply, Site

KEYS = {
    "brave": {"BRAVE_API_KEY": "key-of-brave"},
    "tavily": {"TAVILY_API_KEY": "key-of-tavily"},
    "openalex": {"OPENALEX_API_KEY": "key-of-openalex", "CONTACT_EMAIL": "reader@heron.example"},
    "crossref": {"CONTACT_EMAIL": "reader@heron.example"},
    "semanticscholar": {"SEMANTIC_SCHOLAR_API_KEY": "key-of-s2"},
}
DOI = "10.5555/heron.12"

_STORED = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
ANSWERS: dict[str, Any] = {name: stored["answer"] for name, stored in _STORED.items()}
EMPTY: dict[str, Any] = {name: stored["empty"] for name, stored in _STORED.items()}
NOWHERE = ",".join(f"{name}=http://127.0.0.1:9/" for name in ANSWERS)
"""The setting that makes each of them ask where nobody listens."""


def reply(body: Any, status: int = 200, **headers: str) -> Reply:
    """A JSON answer, or one of another text."""
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, text.encode(), named)


def point_at(site: Site, name: str) -> dict[str, str]:
    """The settings that make an engine ask the server on this machine, with its keys."""
    here = (
        {"SEARXNG_URL": site.url("/")}
        if name == "searxng"
        else {"ENGINE_URLS": f"{name}={site.url('/search')}"}
    )
    return here | KEYS.get(name, {})


def ask(
    live_world: Callable[..., World],
    name: str,
    page: Page,
    query: str = "grey heron diet",
    reach: SourceFilter | None = None,
    most: int = 5,
) -> tuple[SearchResult, Site]:
    """One search with an engine whose server answers `page`."""
    with Site({"/search": page}) as site:
        world = live_world(**point_at(site, name))
        return world.search(name, query, max_results=most, reach=reach or SourceFilter()), site
