"""Collecting with a scripted model behind a real server: what it is asked, on which tier, how often, and what
code does with wrong replies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.collecting_model import Walker, collect, served
from tests.web.model_server import Request

pytestmark = pytest.mark.slow

QUOTE, BOARD = "https://borskvart.example/stock/KALL", "https://borskvart.example/stock/KALL/forum"
NEWS = "https://granvattnet-courier.example/news/"
ARTICLE = "https://granvattnet-courier.example/2026/08/20/kallsteg-factory"
FORUM_PROMPT = "Go to the forum section and find out what people are saying about Kallsteg in the last month"


def test_the_tiers_are_as_the_seed_allots_them() -> None:
    model = Walker(topic="Kallsteg", section="forum", days=30)
    with served(model) as bench:
        collect(bench, FORUM_PROMPT, QUOTE)
    assert dict(model.calls.keys()) == {
        "IntentReply": "small",
        "PageDecision": "big",
        "LinkRanking": "big",
        "RelevanceReply": "small",
        "DigestReply": "big",
    }


INVENTED = "https://borskvart.example/stock/KALL/secret-forum"


def test_an_invented_target_is_corrected_when_the_model_hears_why() -> None:
    class Hearing(Walker):
        def __call__(self, request: Request) -> Any:
            if "Code refused this reply" in request.prompt:
                self.decisions = {}
            return super().__call__(request)

    wrong = {QUOTE: {"action": "NAVIGATE_TO", "target_url": INVENTED}}
    with served(Hearing(topic="Kallsteg", section="forum", decisions=wrong)) as bench:
        view = collect(bench, FORUM_PROMPT, QUOTE)
    assert [refusal.what for refusal in view.state.refusals] == [INVENTED]
    node = view.state.own.tree[QUOTE]
    assert (node.by, node.action, node.trouble) == ("model", "NAVIGATE_TO", "")
    assert node.target_url != INVENTED and view.state.own.kept_items


def test_a_ranking_of_invented_links_alone_is_told_back_once_and_then_made_by_rule() -> None:
    class Inventor(Walker):
        def _LinkRanking(self, prompt: str) -> dict[str, Any]:
            return {
                "links": [{"url": f"https://borskvart.example/{n}", "relevance_score": 1.0} for n in (1, 2)]
            }

    model = Inventor(topic="Kallsteg", section="forum", days=30)
    with served(model) as bench:
        view = collect(bench, FORUM_PROMPT, BOARD)
    assert model.calls["LinkRanking", "big"] == 2, "asked once more, with the reasons"
    assert {refusal.what for refusal in view.state.refusals} == {
        f"https://borskvart.example/{n}" for n in (1, 2)
    }
    assert len(view.state.own.kept_items) == 3, "an invented address ends nothing"
    assert "not on this page" in view.state.own.tree[BOARD].trouble


def test_a_doubtful_decision_ends_its_branch() -> None:
    doubtful = {BOARD: {"action": "EXTRACT_LINKS", "confidence": 0.2}}
    with served(Walker(section="forum", decisions=doubtful)) as bench:
        view = collect(bench, FORUM_PROMPT, BOARD)
    assert "not sure enough" in view.state.own.tree[BOARD].ended
    assert len(view.state.pages) == 1


def test_content_is_asked_of_the_model_only_where_code_cannot_see_it() -> None:
    said = "The hall is 140 metres long and is heated by the river."

    class Reader(Walker):
        def _ContentReply(self, prompt: str) -> dict[str, Any]:
            posts = [
                {"user": "petter", "date": "2026-08-20", "text": said},
                {"user": "anna", "date": None, "text": "I never wrote this."},
            ]
            return {
                "title": "A thread",
                "content": "",
                "publish_date": "2026-08-20",
                "metadata": {"post_count": 2, "author": None},
                "posts": posts,
            }

    unseen = {ARTICLE: {"action": "EXTRACT_CONTENT", "page_type": "forum_thread"}}
    model = Reader(decisions=unseen)
    with served(model) as bench:
        view = collect(bench, "Summarize this thread", ARTICLE)
    (item,) = view.state.own.kept_items
    assert model.calls["ContentReply", "big"] == 1
    assert (item.kind, item.extracted_by, [post.user for post in item.posts]) == (
        "thread",
        "model",
        ["petter", "anna"],
    )
    assert item.posts[0].start >= 0 and item.posts[1].start == -1
    assert [fact.quote for fact in view.state.facts.values()] == [said], (
        "what stands on no page is never quoted"
    )
    assert "petter" in next(iter(view.state.facts.values())).heading


def test_a_sentence_under_another_writers_name_goes_back_once_and_keeps_a_mark() -> None:
    class Mixing(Walker):
        def _DigestReply(self, prompt: str) -> dict[str, Any]:
            first = super()._DigestReply(prompt)["answer"][0]
            return {"answer": [{**first, "text": f"quietmoney writes: {first['text']}"}]}

    model = Mixing(topic="Kallsteg", section="forum", days=30)
    with served(model) as bench:
        answer = collect(bench, FORUM_PROMPT, BOARD).state.answer
    assert model.calls["DigestReply", "big"] == 2
    assert [(one.kind, one.claimed, one.quoted) for one in answer.sentences[0].findings][-1:] == [
        ("name", "quietmoney", "fellfox")
    ]


def test_a_circle_is_not_walked() -> None:
    circle = {
        QUOTE: {"action": "NAVIGATE_TO", "target_url": BOARD},
        BOARD: {"action": "NAVIGATE_TO", "target_url": QUOTE},
    }
    with served(Walker(decisions=circle)) as bench:
        view = collect(bench, "Collect the news", QUOTE)
    fetched = [action.query_or_url for action in view.state.actions]
    assert len(fetched) == len(set(fetched)) > 2, "the model is told once, then the rules decide"
    assert {(refusal.what, refusal.why) for refusal in view.state.refusals} == {
        (QUOTE, "this page was visited or planned before")
    }
