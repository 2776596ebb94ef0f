"""Addresses judged before they are read: words, link texts, rarity, company, a person's wishes."""

from __future__ import annotations

from agent.retrieval.site_link_scoring import UnreadLink, score_links, split_path_words
from agent.text.question_analysis import parse_question


def best(question: str, *addresses: UnreadLink, wishes: str = "") -> str:
    found = score_links(parse_question(question), addresses, wishes)
    return addresses[max(range(len(found)), key=found.__getitem__)].url


def at(path: str, text: str = "", company: float = 0.0) -> UnreadLink:
    return UnreadLink(f"https://a.example/{path}", text, company)


def test_the_words_of_a_path_are_read_apart():
    assert (
        split_path_words("https://a.example/Help/orderTracking_page-2.html?topic=lost")
        == "Help order Tracking page 2 topic lost"
    )


def test_link_text_and_path_speak_for_an_address():
    assert best("How do I return an order?", at("a"), at("b", "Returns and refunds"), at("returns")) in (
        "https://a.example/b",
        "https://a.example/returns",
    )
    assert best("movement disorders", at("x"), at("movementdisorders")).endswith("movementdisorders")


def test_a_word_that_all_have_tells_nothing_apart():
    assert best(
        "C2 price", *(at(f"c2-{n}", f"C2 part {n}") for n in range(5)), at("shop", "Price list")
    ).endswith("shop")


def test_company_and_wishes_and_help_pages_decide_between_strangers():
    assert best("warranty", at("a"), at("b", company=0.9)).endswith("b")
    assert best("warranty", at("a"), at("faq")).endswith("faq")
    assert best("warranty", at("a"), at("b", "Official policies"), wishes="Prioritise policies").endswith("b")


def test_scores_are_shares():
    assert all(
        0 <= score <= 1
        for score in score_links(
            parse_question("return an order return"), [at("return-order", "return an order"), at("")]
        )
    )
