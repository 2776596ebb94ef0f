"""A page that is nested absurdly deep costs the reading of its structure no more than the reading of its text."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from agent.flows.collect import parsed_page
from agent.flows.collect.parsed_page import parse_page
from agent.types.collection import CrawlNode
from agent.web.extract.extraction import Extraction


def test_the_structure_of_a_page_is_read_within_the_limits_of_its_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []
    finders = parsed_page.forum_posts
    monkeypatch.setattr(finders, "find_posts", lambda html, _today: shown.append(html) or [])
    raw = b"<div>" * 20_000 + b"<p>Milk</p>"
    page = Extraction().to_page(
        url="https://a.example/",
        final_url="https://a.example/",
        fetched_at="2026-01-01T00:00:00Z",
        content_type="text/html",
        raw=raw,
    )
    state = SimpleNamespace(own=SimpleNamespace(today="2026-01-01"))
    tools = SimpleNamespace(page=lambda _id, raw: page)
    node = CrawlNode(id="1", url=page.url, page_id="p")
    assert parse_page(state, tools, node).posts == []  # type: ignore[arg-type]
    assert "Milk" in shown[0] and "<div>" not in shown[0]
