"""The posts of threads: each one, from its stored page, over several pages of a thread or board."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import html as lxml_html

from tests.agent.flows.collect.conftest import BOARD, CURD, DOCS, branch

pytestmark = pytest.mark.slow


def marked(url: str) -> list[tuple[str, str, str]]:
    """User, date and text of every post, by the markup of the two demo forums."""
    tree = lxml_html.fromstring(DOCS[url]["html"])
    if "curdtalk" in url:
        return [
            (
                post.findtext('.//span[@class="username"]'),
                post.find(".//time").get("datetime"),
                said(post.find('.//div[@class="post-body"]')),
            )
            for post in tree.xpath('//article[@class="post"]')
        ]
    return [
        (row.findtext(".//b"), row.findtext(".//small"), said(row.find('td[@class="what"]')))
        for row in tree.xpath('//tr[@class="msg"]')
    ]


def said(node: Any) -> str:
    return " ".join(" ".join(node.itertext()).split())


THREADS = [url for url in DOCS if "/thread/" in url or "/forum/t/" in url]


def test_every_post_of_every_demo_thread(collect) -> None:
    state = collect("Collect every discussion", f"{CURD}board/home-cheese", BOARD, max_articles=50).state
    by_page = {page.final_url: page.page_id for page in state.pages.values()}
    assert len(THREADS) == 11
    for url in THREADS:
        found = [post for item in state.own.kept_items for post in item.posts if post.page_id == by_page[url]]
        wanted = marked(url)
        assert [(post.user, " ".join(post.text.split())) for post in found] == [
            (user, text) for user, _, text in wanted
        ]
        for post, (_, day, _) in zip(found, wanted, strict=True):
            assert post.date == day if day[0] == "2" and "T" in day else same_moment(post.date, day)


def same_moment(iso: str, written: str) -> bool:
    """Is 2026-11-12T09:14 what the page writes as “12 November 2026, 09:14”?"""
    day, month, year, clock = written.replace(",", "").split()
    months = ("March", "October", "November")
    number = {"March": 3, "October": 10, "November": 11}[month]
    return month in months and iso == f"{year}-{number:02d}-{int(day):02d}T{clock}"


def test_a_thread_over_two_pages_is_one_item(collect) -> None:
    state = collect("What do members say about bitter blue cheese?", CURD + "board/home-cheese").state
    item = state.own.kept_items[0]
    assert (item.title, len(item.posts), len(item.page_ids)) == ("Bitter blue cheese, please help", 12, 2)
    assert [post.n for post in item.posts] == list(range(1, 13))
    first, second = branch(state, CURD + "thread/1182"), branch(state, CURD + "thread/1182?page=2")
    assert second.depth == first.depth and second.continues == "thread"
    assert item.last_date == "2026-11-09T18:00:00Z"


def test_a_board_is_read_page_by_page_at_its_depth(collect) -> None:
    state = collect(
        "Collect every discussion from the forum", CURD + "board/home-cheese", max_articles=50
    ).state
    boards = [branch(state, CURD + f"board/home-cheese{page}") for page in ("", "?page=2", "?page=3")]
    assert [board.depth for board in boards] == [0, 0, 0] and [board.continues for board in boards] == [
        "",
        "listing",
        "listing",
    ]
    assert len(state.own.kept_items) == 5
