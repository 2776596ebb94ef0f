"""The windows of seed 001: how much of a page each prompt is given, and that the whole text is stored all the
same."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agent.flows.collect import items
from agent.flows.collect.frontier import choose_links
from agent.types import Passage
from agent.types.collection import CollectIntent, LinkCandidate
from agent.workbench import RunSnapshot, Workbench
from tests.web.collecting_model import Walker, collect, served
from tests.web.folders import page, write_world
from tests.web.model_server import Request, status

pytestmark = pytest.mark.slow

SITE = "https://a.example"
DECISION, CONTENT = 8_000, 15_000
"""Characters that the seed gives the decision, the extraction, and the check of relevance."""
FENCED = {
    name: re.compile(rf"^<({name}-\w+)>\n(.*?)\n</\1>$", re.MULTILINE | re.DOTALL)
    for name in ("page", "item")
}


class Listening(Walker):
    """The scripted model; it keeps every prompt by the shape that was asked for."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.prompts: dict[str, list[str]] = {}

    def __call__(self, request: Request) -> Any:
        self.prompts.setdefault(request.body["response_format"]["json_schema"]["name"], []).append(
            request.prompt
        )
        return super().__call__(request)

    def windows(self, shape: str) -> list[str]:
        """The page's text as each prompt of a shape showed it."""
        return [FENCED["page"].search(prompt)[2] for prompt in self.prompts[shape]]


def long_page(characters: int, *, lines: int = 0) -> str:
    """A page whose text can be told apart at every place; of one piece, or in so many paragraphs."""
    words = " ".join(f"w{n:06d}" for n in range(characters // 8 + 1))[:characters]
    size = len(words) // lines if lines else len(words)
    return "<h1>Long</h1>" + "".join(f"<p>{words[at : at + size]}</p>" for at in range(0, len(words), size))


def stored(bench: Workbench, view: RunSnapshot) -> str:
    (ref,) = [ref for ref in view.state.pages.values() if ref.page_id]
    return bench.page(ref.page_id).text


def as_thread(url: str) -> dict[str, dict[str, Any]]:
    return {url: {"action": "EXTRACT_CONTENT", "page_type": "forum_thread"}}


def test_the_decision_sees_the_first_8000_characters_and_all_is_stored(tmp_path: Path) -> None:
    world = write_world(tmp_path / "w", [page(f"{SITE}/", "Long", "x", html=long_page(40_000))])
    model = Listening()
    with served(model) as bench:
        text = stored(bench, collect(bench, "Collect this", f"{SITE}/", world=world))
    assert len(text) > 40_000
    assert model.windows("PageDecision") == [text[:DECISION]]


@pytest.mark.parametrize("lines", [0, 40])
def test_the_extraction_sees_a_page_in_windows_of_15000(tmp_path: Path, lines: int) -> None:
    world = write_world(tmp_path / "w", [page(f"{SITE}/", "Long", "x", html=long_page(40_000, lines=lines))])
    model = Listening(decisions=as_thread(f"{SITE}/"))
    with served(model) as bench:
        text = stored(bench, collect(bench, "Collect this", f"{SITE}/", world=world))
    windows = model.windows("ContentReply")
    assert len(windows) == 3 and all(len(window) <= CONTENT for window in windows)
    assert "".join("".join(windows).split()) == "".join(text.split())


class Splitter(Listening):
    """Takes every word run between two marks as a post, whole or cut off by the window."""

    def _ContentReply(self, prompt: str) -> dict[str, Any]:
        text = FENCED["page"].search(prompt)[2]
        posts = [
            {"user": f"u{n}", "date": "2026-11-01", "text": body.strip()}
            for n, body in re.findall(r"<<(\d+)>>([^<]*)", text)
        ]
        return {**super()._ContentReply(prompt), "posts": posts}


def test_posts_beyond_the_first_window_are_found_and_one_on_the_border_is_whole(tmp_path: Path) -> None:
    bodies = [" ".join(f"post{n}w{i}" for i in range(35)) for n in range(100)]
    html = "<h1>Thread</h1>" + "".join(f"<p>&lt;&lt;{n}&gt;&gt; {body}</p>" for n, body in enumerate(bodies))
    world = write_world(tmp_path / "w", [page(f"{SITE}/", "Thread", "x", html=html)])
    with served(Splitter(decisions=as_thread(f"{SITE}/"))) as bench:
        view = collect(bench, "Collect this", f"{SITE}/", world=world)
    (item,) = view.state.own.kept_items
    assert [post.text for post in item.posts] == bodies
    assert [post.n for post in item.posts] == list(range(1, 101)) and all(
        post.start >= 0 for post in item.posts
    )


def test_a_window_the_model_did_not_answer_is_told_and_the_rest_kept(tmp_path: Path) -> None:
    class Tired(Splitter):
        def __call__(self, request: Request) -> Any:
            reply = super().__call__(request)
            return (
                status(400, "no more")
                if len(self.prompts.get("ContentReply", [])) > 1 and "ContentReply" in str(request.body)
                else reply
            )

    html = "<h1>Thread</h1>" + "".join(f"<p>&lt;&lt;{n}&gt;&gt; {'word ' * 60}{n}</p>" for n in range(80))
    world = write_world(tmp_path / "w", [page(f"{SITE}/", "Thread", "x", html=html)])
    with served(Tired(decisions=as_thread(f"{SITE}/"))) as bench:
        view = collect(bench, "Collect this", f"{SITE}/", world=world)
    (item,) = view.state.own.items.values()
    assert 30 < len(item.posts) < 80
    assert item.trouble.startswith("From character 14,") and "on the model did not answer" in item.trouble


def build_passages(*texts: str) -> list[Passage]:
    starts = [sum(len(text) + 1 for text in texts[:n]) for n in range(len(texts))]
    return [
        Passage(id=f"x{n}", page_id="page", url=SITE, start=start, end=start + len(text), text=text)
        for n, (start, text) in enumerate(zip(starts, texts, strict=True))
    ]


def test_a_long_item_keeps_its_beginning_and_what_fits_the_topic() -> None:
    texts = ["Head line of it. " * 10, "plain words " * 40, "more words " * 40, "The winner was Ulla. " * 10]
    kept = items.fit_item("winner", build_passages(*texts), 600)
    assert [passage.text[:10] for passage in kept] == [texts[0][:10], texts[1][:10], texts[3][:10]]
    assert sum(len(passage.text) for passage in kept) == 600
    assert all(passage.end - passage.start == len(passage.text) for passage in kept), (
        "what is cut stays a quote"
    )


def build_links(*texts: str) -> list[LinkCandidate]:
    return [LinkCandidate(url=f"https://a.example/{n}", text=text) for n, text in enumerate(texts)]


def test_the_last_link_of_a_long_page_is_shown_when_it_names_what_is_wanted() -> None:
    links = build_links(*(f"Story number {n}" for n in range(200)), "The ferry is late again", "Forum")
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
