"""The links that a prompt shows of a page with many: those that fit the request, in the page's order."""

from __future__ import annotations

from agent.flows.collect.frontier import choose_links
from agent.types.collection import CollectIntent, LinkCandidate


def _links(*texts: str) -> list[LinkCandidate]:
    return [LinkCandidate(url=f"https://a.example/{n}", text=text) for n, text in enumerate(texts)]


def test_the_last_link_of_a_long_page_is_shown_when_it_names_what_is_wanted() -> None:
    links = _links(*(f"Story number {n}" for n in range(200)), "The ferry is late again", "Forum")
    shown, left_out = choose_links(CollectIntent(topic="ferry", target_section="forum"), links, 10)
    assert [link.text for link in shown[-2:]] == ["The ferry is late again", "Forum"]
    assert [link.text for link in shown[:8]] == [f"Story number {n}" for n in range(8)]
    assert left_out == 192


def test_menus_go_before_undated_entries_and_these_before_dated_ones() -> None:
    menu = LinkCandidate(url="https://a.example/m", text="Menu", content=False)
    entry = LinkCandidate(url="https://a.example/e", text="Entry")
    dated = LinkCandidate(url="https://a.example/d", text="Dated", date="2026-11-01")
    assert choose_links(CollectIntent(), [menu, entry, dated], 2) == ([entry, dated], 1)
    assert choose_links(CollectIntent(), [menu, entry, dated], 1) == ([dated], 2)
