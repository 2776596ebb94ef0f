"""A page with `?run=` is asked for: its run is folded while the browser loads."""

from __future__ import annotations

import asyncio

import pytest

from pages.widgets.shell import server

QUERIES = [
    (b"run=abc&x=1", ["abc"]),
    (b"", []),
    (b"run=", []),
    (b"run=" + b"z" * 500, ["z" * 64]),
    (b"\xff=%", []),
]


@pytest.mark.parametrize(("query", "told"), QUERIES)
def test_what_is_looked_ahead_for(bench, monkeypatch, query, told):
    asked: list[str] = []
    monkeypatch.setattr(bench.snapshots, "prefetch", asked.append)
    passed: list[str] = []

    async def app(scope, receive, send):
        passed.append(scope["type"])

    asyncio.run(server.PrefetchMiddleware(app)({"type": "http", "query_string": query}, None, None))  # type: ignore[arg-type]
    asyncio.run(server.PrefetchMiddleware(app)({"type": "websocket", "query_string": b"run=abc"}, None, None))  # type: ignore[arg-type]
    assert asked == told and passed == ["http", "websocket"]
