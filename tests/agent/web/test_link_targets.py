"""Where a text links to: absolute addresses, and what notes of the page itself lead to."""

from __future__ import annotations

from agent.types import Anchor
from agent.web.link_targets import find_addresses, resolve_anchors
from tests.tables import by_table

URL = "https://paper.example/mills"


def resolve(href: str, html: str = "", text: str = "[1]") -> list[str]:
    return [anchor.url for anchor in resolve_anchors([Anchor(0, len(text), href)], text, html, URL)]


@by_table
def test_addresses_and_dois_in_a_text(text: str, found: list[str]) -> None:
    assert find_addresses(text) == found


def test_a_relative_link_is_made_absolute_and_other_schemes_are_left_out() -> None:
    assert resolve("/about") == ["https://paper.example/about"]
    assert resolve("mailto:a@b.example") == []


@by_table
def test_a_mark_leads_to_the_address_in_its_note(note: str, leads_to: list[str]) -> None:
    assert resolve("#n1", f"<ol>{note}</ol>") == leads_to


def test_words_that_lead_to_a_section_cite_nothing() -> None:
    section = f'<section id="n1"><a href="https://a.example/">A</a>{"long text " * 200}</section>'
    assert resolve("#n1", section, "see below") == []
    assert resolve(f"{URL}#n1", section, "see below") == []


def test_a_hostile_fragment_finds_nothing() -> None:
    assert resolve('#"]a[href="x', "<p id='x'>x</p>", "words") == []
