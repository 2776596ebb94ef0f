"""Addresses of a site scored before they are read: path words, link texts, idf."""

from __future__ import annotations

from agent.retrieval.link_scoring import score_links, split_path_words
from agent.types import Link


def best(question: str, *links: Link) -> str:
    found = score_links(question, links)
    return links[max(range(len(found)), key=found.__getitem__)].url


def at(path: str, text: str = "") -> Link:
    return Link(url=f"https://a.example/{path}", text=text)


def test_the_words_of_a_path_are_split() -> None:
    words = split_path_words("https://a.example/Help/orderTracking_page-2.html?topic=lost")
    assert words == "Help order Tracking page 2 topic lost"


def test_link_text_and_path_count() -> None:
    links = at("a"), at("b", "Returns and refunds"), at("returns")
    assert best("How do I return an order?", *links) in ("https://a.example/b", "https://a.example/returns")


def test_a_word_that_all_have_tells_nothing_apart() -> None:
    parts = (at(f"c2-{n}", f"C2 part {n}") for n in range(5))
    assert best("C2 price", *parts, at("shop", "Price list")).endswith("shop")


def test_scores_are_shares() -> None:
    links = [at("return-order", "return an order"), at("")]
    assert all(0 <= score <= 1 for score in score_links("return an order return", links))
    assert score_links("return", []) == []
