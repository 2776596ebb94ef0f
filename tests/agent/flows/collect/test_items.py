"""What pages hold: every post of a thread over several pages, entries of changelogs, content that only a model
can tell apart; what is kept of it, and how much of a page each prompt is given (the windows of seed 001)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from lxml import html as lxml_html

from agent.errors import ModelUnavailable
from agent.flows.collect import items
from agent.flows.collect.frontier import choose_links
from agent.types import Passage
from agent.types.collection import CollectIntent, LinkCandidate
from agent.workbench import Workbench
from tests.agent.flows.collect.conftest import (
    ARTICLE,
    BOARD,
    DOCS,
    FORUM,
    FORUM_PROMPT,
    A,
    Collect,
    branch,
    doc,
)
from tests.web.collecting_model import Walker

pytestmark = pytest.mark.slow
CURD = "https://curdtalk.example/"
DECISION, CONTENT = 8_000, 15_000
"""Characters that the seed gives the decision and the extraction."""
PAGE = re.compile(r"^<(page-\w+)>\n(.*?)\n</\1>$", re.MULTILINE | re.DOTALL)
AS_THREAD = {f"{A}/": {"action": "EXTRACT_CONTENT", "page_type": "forum_thread"}}


# --- posts
# ----------------------------------------------------------------------------------------------------------


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


def as_iso(written: str) -> str:
    """ "12 November 2026, 09:14" as 2026-11-12T09:14; another date as it is."""
    if written[0] == "2" and "T" in written:
        return written
    day, month, year, clock = written.replace(",", "").split()
    number = {"March": 3, "October": 10, "November": 11}[month]
    return f"{year}-{number:02d}-{int(day):02d}T{clock}"


def test_every_post_of_every_demo_thread(collect: Collect) -> None:
    state = collect("Collect every discussion", f"{CURD}board/home-cheese", BOARD, max_articles=50)
    by_page = {page.final_url: page.page_id for page in state.pages.values()}
    threads = [url for url in DOCS if "/thread/" in url or "/forum/t/" in url]
    assert len(threads) == 11
    for url in threads:
        found = [post for item in state.own.kept_items for post in item.posts if post.page_id == by_page[url]]
        assert [(post.user, post.date, " ".join(post.text.split())) for post in found] == [
            (user, as_iso(day), text) for user, day, text in marked(url)
        ]


def test_a_thread_over_two_pages_is_one_item_and_a_board_is_read_page_by_page(collect: Collect) -> None:
    state = collect("What do members say?", f"{CURD}board/home-cheese", max_articles=50)
    item = state.own.kept_items[0]
    assert (item.title, len(item.posts), len(item.page_ids)) == ("Bitter blue cheese, please help", 12, 2)
    assert [post.n for post in item.posts] == list(range(1, 13))
    assert item.last_date == "2026-11-09T18:00:00Z" and len(state.own.kept_items) == 5
    first, second = branch(state, f"{CURD}thread/1182"), branch(state, f"{CURD}thread/1182?page=2")
    assert second.depth == first.depth and second.continues == "thread"
    boards = [branch(state, f"{CURD}board/home-cheese{page}") for page in ("", "?page=2", "?page=3")]
    assert [(board.depth, board.continues) for board in boards] == [(0, ""), (0, "listing"), (0, "listing")]


def test_posts_outside_the_time_asked_for_are_no_part_of_the_collection(collect: Collect) -> None:
    days = {"sven": "2023-12-30", "olle": "2024-02-01", "frida": "2025-01-03"}
    posts = "".join(
        f'<article class="post"><span class="username">{user}</span> <time datetime="{day}">{day}</time>'
        f'<div class="post-body">{user.title()} tells what the old pump of the harbour did that day.</div></article>'
        for user, day in days.items()
    )
    wanted = {"since": "2024-01-01", "until": "2024-12-31"}
    docs = [doc(f"{A}/", "The pump", f"<h1>The pump</h1>{posts}")]
    state = collect("Collect it", f"{A}/", docs=docs, wants=wanted)
    [item] = state.own.timely_items
    assert [post.user for post in item.posts] == ["olle"] and item.trouble.endswith("asked for: 2 posts.")
    assert [post.user for post in state.own.kept_items[0].posts] == list(days), "the record keeps them"
    assert {fact.quote[:4] for fact in state.facts.values()} == {"Olle"}


def test_a_sentence_under_another_writers_name_goes_back_once(collect: Collect) -> None:
    class Mixing(Walker):
        def _DigestReply(self, prompt: str) -> dict[str, Any]:
            first = super()._DigestReply(prompt)["answer"][0]
            return {"answer": [{**first, "text": f"quietmoney writes: {first['text']}"}]}

    collect(FORUM_PROMPT, BOARD, wants=(model := Mixing(**FORUM)))
    assert ["what it quotes was written by fellfox" in asked for asked in model.prompts["DigestReply"]] == [
        False,
        True,
    ]


# --- archives, copies
# -----------------------------------------------------------------------------------------------------


def test_only_as_many_entries_are_kept_as_are_wanted(collect: Collect) -> None:
    notes = {"3.1": "2025-02-03", "3.0": "2024-11-21", "2.9": "2024-05-09"}
    body = "".join(
        f"<h2>Version {version}</h2><p>Release date: {day}</p><ul><li>Ropes of {version} are counted twice.</li>"
        f"<li>The lamp {version} is lit at dusk.</li></ul>"
        for version, day in notes.items()
    )
    taken = {f"{A}/changes": {"action": "EXTRACT_CONTENT", "page_type": "article"}}
    wanted = {"newest": True, "max_articles": 2, "decisions": taken}
    docs = [doc(f"{A}/changes", "Changelog", f"<h1>Changelog</h1>{body}")]
    state = collect("Collect the newest", f"{A}/changes", docs=docs, wants=wanted)
    assert [item.title for item in state.own.kept_items] == ["Version 3.1", "Version 3.0"]
    assert "2 were asked for" in next(i.reason for i in state.own.items.values() if i.status == "dropped")


def test_short_release_notes_are_content_and_their_contents_a_list(collect: Collect) -> None:
    versions = {"1.0": "2023-03-01", "1.1": "2024-03-01", "1.2": "2024-09-01"}
    notes = [
        doc(
            f"{A}/r/{version}",
            f"Release {version}",
            f"<p><a href='/r'>Up</a></p><h1>Release {version}</h1><p>Released {day}</p><ul><li>The {version} lamps are"
            f" lit from the shore.</li><li>Nets of {version} dry faster in the wind than before.</li></ul>",
        )
        for version, day in versions.items()
    ]
    rows = "".join(
        f"<li><a href='/r/{v}'>Release {v}</a><ul><li><a href='/r/{v}#up'>How to upgrade to {v}</a></li></ul></li>"
        for v in versions
    )
    top = "<p><a href='/r/1.0'>Next</a></p><h1>Release notes</h1>"
    docs = [doc(f"{A}/r", "Release notes", f"{top}<ul>{rows}</ul>"), *notes]
    state = collect("Collect them", f"{A}/r", docs=docs)
    assert [item.title for item in state.own.kept_items] == ["Release 1.0", "Release 1.1", "Release 1.2"]
    assert branch(state, f"{A}/r").action == "EXTRACT_LINKS"


def test_a_near_copy_is_dropped_and_told(collect: Collect) -> None:
    copy = "https://northernbrief.example/2026/08/kallsteg-opens"
    state = collect("Collect news", ARTICLE, "https://northernbrief.example/business/")
    assert state.own.kept_items[0].also_at == [copy]
    left_out = next(item for item in state.own.items.values() if item.url == copy)
    assert left_out.reason.startswith("The same text as")


# --- what a prompt is given
# -----------------------------------------------------------------------------------------------


def long_page(characters: int, *, lines: int = 0) -> list[dict[str, Any]]:
    """A page whose text can be told apart at every place; of one piece, or in so many paragraphs."""
    words = " ".join(f"w{n:06d}" for n in range(characters // 8 + 1))[:characters]
    size = len(words) // lines if lines else len(words)
    body = "".join(f"<p>{words[at : at + size]}</p>" for at in range(0, len(words), size))
    return [doc(f"{A}/", "Long", f"<h1>Long</h1>{body}")]


@pytest.mark.parametrize("lines", [0, 40])
def test_the_windows_are_those_of_the_seed_and_all_is_stored(
    bench: Workbench, collect: Collect, lines: int
) -> None:
    docs = long_page(40_000, lines=lines)
    state = collect("Collect this", f"{A}/", docs=docs, wants=(model := Walker()))
    [text] = [bench.page(ref.page_id).text for ref in state.pages.values()]
    [decided] = [PAGE.search(prompt)[2] for prompt in model.prompts["PageDecision"]]
    assert len(text) > 40_000 and decided == text[:DECISION].strip()
    collect("Collect this", f"{A}/", docs=docs, wants=(model := Walker(decisions=AS_THREAD)))
    windows = [PAGE.search(prompt)[2] for prompt in model.prompts["ContentReply"]]
    assert len(windows) == 3 and all(len(window) <= CONTENT for window in windows)
    assert "".join("".join(windows).split()) == "".join(text.split())


class Splitter(Walker):
    """Takes every word run between two marks as a post, whole or cut off by the window; answers for so many
    windows."""

    windows = 8

    def _ContentReply(self, prompt: str) -> Any:
        if len(self.prompts["ContentReply"]) > self.windows:
            return ModelUnavailable("no more")
        posts = [
            {"user": f"u{n}", "date": "2026-11-01", "text": body.strip()}
            for n, body in re.findall(r"<<(\d+)>>([^<]*)", PAGE.search(prompt)[2])
        ]
        return {**super()._ContentReply(prompt), "posts": posts}


def test_posts_beyond_the_first_window_are_found_or_the_rest_is_told(collect: Collect) -> None:
    bodies = [" ".join(f"post{n}w{i}" for i in range(35)) for n in range(100)]
    html = "<h1>Thread</h1>" + "".join(f"<p>&lt;&lt;{n}&gt;&gt; {body}</p>" for n, body in enumerate(bodies))
    model, docs = Splitter(decisions=AS_THREAD), [doc(f"{A}/", "Thread", html)]
    [item] = collect("Collect this", f"{A}/", docs=docs, wants=model).own.kept_items
    assert [post.text for post in item.posts] == bodies, "the one on the border is whole"
    assert [post.n for post in item.posts] == list(range(1, 101))
    assert all(post.start >= 0 for post in item.posts)
    model = Splitter(decisions=AS_THREAD)
    model.windows = 1
    [item] = collect("Collect this", f"{A}/", docs=docs, wants=model).own.kept_items
    assert 30 < len(item.posts) < 80
    assert item.trouble.startswith("From character 14,") and "on the model did not answer" in item.trouble


def test_what_a_model_extracts_and_no_page_has_is_never_quoted(collect: Collect) -> None:
    said = "The hall is 140 metres long and is heated by the river."

    class Reader(Walker):
        def _ContentReply(self, prompt: str) -> dict[str, Any]:
            posts = [
                {"user": "petter", "date": "2026-08-20", "text": said},
                {"user": "anna", "date": None, "text": "I never wrote this."},
            ]
            return {**super()._ContentReply(prompt), "title": "A thread", "posts": posts}

    unseen = {ARTICLE: {"action": "EXTRACT_CONTENT", "page_type": "forum_thread"}}
    state = collect("Summarize this thread", ARTICLE, wants=Reader(decisions=unseen))
    [item] = state.own.kept_items
    assert (item.kind, item.extracted_by) == ("thread", "model")
    assert [(post.user, post.start >= 0) for post in item.posts] == [("petter", True), ("anna", False)]
    [fact] = state.facts.values()
    assert fact.quote == said and "petter" in fact.heading


def build_passages(*texts: str) -> list[Passage]:
    starts = [sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
    return [
        Passage(id=f"x{n}", page_id="page", url=A, start=start, end=start + len(text), text=text)
        for n, (start, text) in enumerate(zip(starts, texts, strict=True))
    ]


def test_a_long_item_keeps_its_beginning_and_what_fits_the_topic() -> None:
    texts = ["Head line of it. " * 10, "plain words " * 40, "more words " * 40, "The winner was Ulla. " * 10]
    kept = items.fit_item("winner", build_passages(*texts), 600)
    assert [passage.text[:10] for passage in kept] == [texts[0][:10], texts[1][:10], texts[3][:10]]
    assert sum(len(passage.text) for passage in kept) == 600
    assert all(one.end - one.start == len(one.text) for one in kept), "what is cut stays a quote"


def test_the_links_of_a_long_page_that_fit_are_shown_and_menus_go_first() -> None:
    texts = [*(f"Story number {n}" for n in range(200)), "The ferry is late again", "Forum"]
    links = [LinkCandidate(url=f"{A}/{n}", text=text) for n, text in enumerate(texts)]
    shown, left_out = choose_links(CollectIntent(topic="ferry", target_section="forum"), links, 10)
    assert [link.text for link in shown] == [*texts[:8], *texts[-2:]] and left_out == 192
    menu = LinkCandidate(url=f"{A}/m", text="Menu", content=False)
    entry = LinkCandidate(url=f"{A}/e", text="Entry")
    dated = LinkCandidate(url=f"{A}/d", text="Dated", date="2026-11-01")
    assert choose_links(CollectIntent(), [menu, entry, dated], 2) == ([entry, dated], 1)
    assert choose_links(CollectIntent(), [menu, entry, dated], 1) == ([dated], 2)
