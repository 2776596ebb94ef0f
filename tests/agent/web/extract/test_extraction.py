"""The limits of what one body gives, whatever its format."""

from __future__ import annotations

import pytest

from agent.types import Block, Heading, Link, Table
from agent.web.extract import dispatch, extraction
from agent.web.extract.extraction import Extraction


def test_a_page_of_too_many_parts_is_cut_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction, "MAX_PARTS", 3)
    found = Extraction(
        text="One\n\nfirst\n\nTwo\n\nsecond\n\nlast",
        headings=[Heading(start=0, level=1, text="One"), Heading(start=12, level=1, text="Two")],
        blocks=[Block("paragraph", 5, 10), Block("paragraph", 17, 23), Block("paragraph", 25, 29)],
        tables=[Table(start=25, end=29)],
        detail="A sheet was not read.",
    ).limit()
    assert found.text == "One\n\nfirst\n\nTwo\n\n" and len(found.headings) == 2
    assert found.blocks == [Block("paragraph", 5, 10)] and not found.tables
    assert found.detail.startswith("A sheet was not read. Only its first 17 characters were read")


def test_a_page_within_the_limits_is_as_it_is() -> None:
    page = dispatch.extract_content(b"<h1>Dairy</h1><p>Milk.</p>", "text/html", "https://a.test/")
    assert (page.text, page.detail, len(page.headings), len(page.blocks)) == ("Dairy\n\nMilk.", "", 1, 1)


def test_the_links_of_a_page_have_a_limit_together() -> None:
    short = [Link(url=f"https://a.test/{n}") for n in range(6_000)]
    long = [Link(url=f"https://a.test/{n}/{'a' * 4_000}") for n in range(1_000)]
    assert len(Extraction(links=short).limit().links) == 5_000
    assert 200 < len(Extraction(links=long).limit().links) < 250
