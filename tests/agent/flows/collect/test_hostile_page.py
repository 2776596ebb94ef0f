"""A page that is nested absurdly deep costs the reading of its structure no more than the reading of its text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from agent.engine.run_state import RunState
from agent.flows.collect.parsed_page import ParsedPage, parse_page
from agent.flows.collect.state import CollectState
from agent.types import Link, Page
from agent.types.collection import CollectIntent, CrawlNode
from agent.web.extract import dispatch
from agent.web.extract.extraction import Extraction
from agent.web.parser_pool import ParserLimits, ParserPool

POST = b"<article class=post><a class=author>Ada</a><time>2020-01-01</time><p>Milk</p></article>"
SLOW_PAGE = POST * 20_000
"""Its posts take minutes of CPU time to tell apart: the time grows with the square of their number."""


def page_of(raw: bytes) -> Page:
    address = "https://a.example/"
    links = [Link(url="https://a.example/cheese", text="Cheese")]
    return Extraction(text="Milk", links=links).to_page(
        url=address, final_url=address, fetched_at="2026-01-01T00:00:00Z", content_type="text/html", raw=raw
    )


def parse(page: Page, checkpoint: Callable[[], None] = lambda: None) -> ParsedPage:
    state = RunState(own=CollectState(intent=CollectIntent(today="2026-01-01")))
    tools = SimpleNamespace(page=lambda _id, raw: page, checkpoint=checkpoint)
    return parse_page(state, tools, CrawlNode(id="1", url=page.url, page_id="p"))  # type: ignore[arg-type]


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[ParserPool]:
    made = ParserPool(ParserLimits(seconds=1, megabytes=300))
    monkeypatch.setattr(dispatch, "shared_pool", made)
    yield made
    made.close()


@pytest.mark.slow
def test_the_structure_of_a_slow_page_ends_at_the_limit_and_its_links_are_kept(pool: ParserPool) -> None:
    parsed = parse(page_of(SLOW_PAGE))
    assert not parsed.posts and [link.text for link in parsed.links] == ["Cheese"]
    assert "posts were not told apart" in parsed.trouble and "PARSER_TIMEOUT" in parsed.trouble
