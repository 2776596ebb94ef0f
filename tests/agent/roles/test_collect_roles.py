"""The keyless sides of the walk: the decision about a page, the ranking of links, relevance, the digest."""

from __future__ import annotations

from typing import Any

import pytest
from agent.roles.collect_items import content_fallback as content

from agent.roles import collect, collect_items
from agent.roles.site import DraftSentence
from agent.types import Passage
from agent.types.collection import CollectIntent, LinkCandidate, PageFeatures

PAGE = "https://a.example/"


def decide(
    *,
    section: str = "",
    url: str = PAGE,
    title: str = "A page",
    links: list[LinkCandidate] | None = None,
    text: str = "",
    **signs: Any,
) -> collect.PageDecision:
    return collect.page_decision_fallback(
        intent=CollectIntent(topic="Kallsteg", target_section=section),
        url=url,
        depth=0,
        max_depth=3,
        title=title,
        signs=PageFeatures(**signs),
        left_out=0,
        links=links or [],
        text=text,
    )


FORUM = LinkCandidate(url=PAGE + "forum", text="Forum (5 threads)")


@pytest.mark.parametrize(
    ("given", "action", "page_type"),
    [
        ({"posts": 6, "words": 200}, "EXTRACT_CONTENT", "forum_thread"),
        ({"words": 300, "link_share": 0.02, "article": True}, "EXTRACT_CONTENT", "article"),
        (
            {"words": 80, "dated_links": 5, "alike_links": 5, "link_share": 0.4},
            "EXTRACT_LINKS",
            "news_listing",
        ),
        (
            {"words": 80, "dated_links": 5, "link_share": 0.4, "title": "Forum: all threads"},
            "EXTRACT_LINKS",
            "forum_listing",
        ),
        (
            {
                "words": 160,
                "link_share": 0.02,
                "section": "forum",
                "url": PAGE + "stock/KALL",
                "links": [FORUM],
            },
            "NAVIGATE_TO",
            "company_profile",
        ),
        (
            {"words": 4, "links": [LinkCandidate(url=PAGE + "k", text="All about Kallsteg")]},
            "NAVIGATE_TO",
            "other",
        ),
        ({"words": 4}, "STOP", "other"),
        ({"words": 0}, "STOP", "other"),
    ],
)
def test_what_a_page_is(given: dict[str, Any], action: str, page_type: str) -> None:
    told = decide(**given)
    assert (told.action, told.page_type) == (action, page_type)
    assert told.reasoning and 0.4 <= told.confidence <= 1
    assert bool(told.target_url) == (action == "NAVIGATE_TO")


def test_a_list_of_threads_is_no_content_and_its_forum_link_no_circle() -> None:
    told = decide(
        section="forum", title="Forum: Kallsteg", words=100, dated_links=3, link_share=0.2, links=[FORUM]
    )
    assert told.action == "EXTRACT_LINKS"


def rank(
    *offers: LinkCandidate, topic: str = "", dated: bool = True, leave_out: tuple[str, ...] = ()
) -> list[tuple[str, float]]:
    intent = CollectIntent(topic=topic, leave_out=list(leave_out))
    reply = collect.link_ranking_fallback(
        intent=intent,
        url=PAGE,
        title="News",
        today="2026-11-21",
        limit=20,
        dated=dated,
        links=list(offers),
        left_out=0,
    )
    return [(link.anchor_text, link.relevance_score) for link in reply.links]


def test_what_names_the_topic_comes_first_and_menus_are_left_out() -> None:
    ranked = rank(
        LinkCandidate(url=PAGE + "1", text="Snow on the school roof", date="2026-11-19"),
        LinkCandidate(url=PAGE + "2", text="Cracks in the Stenfors bridge", date="2026-06-18"),
        LinkCandidate(url=PAGE + "3", text="Privacy policy"),
        LinkCandidate(url=PAGE + "4", text="Next"),
        LinkCandidate(url=PAGE + "5", text="A story of the bridge", content=False),
        topic="Stenfors bridge",
    )
    assert [text for text, _ in ranked] == ["Cracks in the Stenfors bridge", "Snow on the school roof"]
    assert ranked[0][1] > ranked[1][1]


def test_no_more_links_than_the_limit_in_the_order_of_the_page() -> None:
    many = [
        LinkCandidate(url=f"{PAGE}{n}", text=f"A headline number {n}", date="2026-11-01") for n in range(40)
    ]
    assert [text for text, _ in rank(*many)] == [offer.text for offer in many[:20]]


def test_in_a_list_with_dates_a_link_without_one_is_furniture() -> None:
    undated = LinkCandidate(url=PAGE + "1", text="A headline that bears no date")
    assert rank(undated) == [] and rank(undated, dated=False)


def test_a_link_that_names_what_is_left_out_is_not_followed() -> None:
    offers = [
        LinkCandidate(url=f"{PAGE}{n}", text=text, date="2026-11-19")
        for n, text in enumerate(("Dividend next spring", "The factory and the debt"))
    ]
    assert [text for text, _ in rank(*offers, leave_out=("no threads about dividends",))] == [
        "The factory and the debt"
    ]


def judge(topic: str, *leave_out: str, **given: Any) -> collect_items.ItemVerdict:
    preview = collect_items.ItemPreview(**{"id": "i1", "title": "t", **given})
    return collect_items.relevance_fallback(
        intent=CollectIntent(topic=topic, leave_out=list(leave_out)), today="2026-11-21", items=[preview]
    ).items[0]


def test_what_is_left_out_is_known_by_title_and_writer() -> None:
    assert (
        judge("", "leave out threads of quietmoney", author="quietmoney").reason
        == "You said: “leave out threads of quietmoney”."
    )
    assert not judge("", "no threads about dividends", title="Dividends").is_relevant
    assert judge("", "leave out threads of quietmoney", preview="quietmoney said so").is_relevant


def test_relevance_by_the_words_of_the_topic_and_the_way_that_led_there() -> None:
    assert judge("").is_relevant
    assert judge("goat milk", preview="My goats give less milk now.").is_relevant
    assert judge("goat milk", matched=["goat", "milk"]).is_relevant
    assert (
        judge("the debt, and the Factory it paid", preview="The debt for the factory was paid.").reason
        == "It contains debt, Factory, paid."
    )
    assert "Kallsteg" in judge("Kallsteg", title="Dividend", trail=["Forum: Kallsteg Instruments"]).reason
    dropped = judge("Kallsteg", title="Dividend", trail=["Forum: Another share"])
    assert not dropped.is_relevant and dropped.reason == "It does not contain Kallsteg."


LINES = ["The harbour was frozen for three weeks.", "Nobody had seen such a winter before.", "Ships wait."]


def gathered(n: int, *, posted: bool = False) -> collect_items.DigestItem:
    """An item of three lines, one a passage."""
    passages = [
        Passage(
            id=f"p{n}.{i}",
            page_id=f"page{n}",
            url="https://a.example/",
            start=i * 50,
            end=i * 50 + 40,
            text=text,
        )
        for i, text in enumerate(LINES)
    ]
    writers = {passage.id: "anna" for passage in passages} if posted else {}
    return collect_items.DigestItem(title=f"T{n}", kind="thread", passages=passages, writers=writers)


def digested(items: list[collect_items.DigestItem], topic: str = "") -> list[DraftSentence]:
    return collect_items.digest_fallback(
        prompt="p", notes=[], intent=CollectIntent(topic=topic), items=items, failures=[], former=None
    ).answer


def test_the_digest_without_a_model_quotes_one_or_two_sentences_an_item() -> None:
    told = digested([gathered(n) for n in range(2)])
    assert [(s.text, s.quotes[0].passage_id) for s in told] == [
        (text, f"p{n}.{i}") for n in range(2) for i, text in enumerate(LINES[:2])
    ]
    assert len(digested([gathered(n) for n in range(9)])) == 9
    assert len(digested([gathered(n) for n in range(30)])) == collect_items.MAX_SENTENCES
    assert digested([]) == []


def test_the_digest_without_a_model_prefers_the_topic_and_names_who_posted() -> None:
    (first, _) = digested([gathered(0, posted=True)], topic="winter")
    assert first.text == "anna: “Nobody had seen such a winter before.”"
    assert first.quotes[0].quote == "Nobody had seen such a winter before."


def test_content_without_a_model_is_the_page_as_it_was_read() -> None:
    reply = content(
        topic="",
        url=PAGE,
        page_type="article",
        title="T",
        author="A",
        published_at="2026-11-02T05:00:00Z",
        text="x",
    )
    assert (reply.title, reply.content, reply.publish_date, reply.metadata.author) == (
        "T",
        "x",
        "2026-11-02",
        "A",
    )
