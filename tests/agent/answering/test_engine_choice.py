"""Which engine takes over, how long a failed one rests, and one list of several engines' results."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from agent.answering.pages import cool_down
from agent.flows.research.analyze_pages import merge_results
from agent.flows.research.policy import take_over_searches
from agent.types import Action, Outcome, Publication, SearchHit, SearchResult
from tests.records import fill

ALL = [
    "search_duckduckgo",
    "search_google",
    "search_wikipedia",
    "search_openalex",
    "search_arxiv",
    "crawl_url",
]


def search(action: str, outcome: Outcome, step: int = 3, query: str = "grey heron", **more: Any) -> Action:
    return fill(Action, step=step, action=action, query_or_url=query, outcome=outcome, **more)


def result(engine: str, *hits: SearchHit, outcome: Outcome = Outcome.OK, **more: Any) -> SearchResult:
    return fill(SearchResult, engine=engine, query="q", outcome=outcome, hits=list(hits), **more)


def hit(url: str, engine: str = "duckduckgo", **more: Any) -> SearchHit:
    known = {"url": url, "title": url, "engine": engine, "snippet": "", "rank": 0, "published_at": ""}
    return SearchHit(**{**known, "publication": None, **more})


def test_the_next_engine_of_its_kind_takes_over_with_the_same_words() -> None:
    (proposal,) = take_over_searches([search("search_duckduckgo", Outcome.BLOCKED, part="2")], ALL)
    assert (proposal.next_action, proposal.query_or_url, proposal.part, proposal.by) == (
        "search_google",
        "grey heron",
        "2",
        "code",
    )
    assert "DuckDuckGo" in proposal.reasoning and "Google" in proposal.reasoning
    (proposal,) = take_over_searches([search("search_openalex", Outcome.RATE_LIMITED)], ALL)
    assert proposal.next_action == "search_arxiv"


@pytest.mark.parametrize(
    "done",
    [
        [search("search_duckduckgo", Outcome.EMPTY)],
        [search("search_duckduckgo", Outcome.OK)],
        [
            search("search_duckduckgo", Outcome.BLOCKED),
            search("search_google", Outcome.OK, query="heron grey"),
        ],
        [
            search("search_duckduckgo", Outcome.BLOCKED, 2),
            fill(Action, step=3, action="crawl_url", query_or_url="u"),
        ],
        [
            fill(
                Action, step=3, action="crawl_url", query_or_url="https://a.example/", outcome=Outcome.BLOCKED
            )
        ],
        [],
    ],
)
def test_nothing_takes_over_from_what_was_answered_or_is_past(done: list[Action]) -> None:
    assert take_over_searches(done, ALL) == []


def test_a_failed_engine_rests_as_long_as_it_asked_for_else_by_its_failure() -> None:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}"
    limited = result("google", outcome=Outcome.RATE_LIMITED, retry_after_s=7200)
    cooling = cool_down({"brave": "2026-01-01T00:00:00Z"}, limited)
    assert set(cooling) == {"brave", "google"} and cooling["google"] > now
    rests = [cool_down({}, result("google", outcome=outcome)) for outcome in (Outcome.BLOCKED, Outcome.ERROR)]
    assert cooling["google"] > rests[0]["google"] > rests[1]["google"] > now
    assert cool_down(cooling, result("brave", outcome=Outcome.EMPTY)) == cooling


def test_a_paper_is_one_result_by_its_doi_and_keeps_all_that_is_known() -> None:
    known = Publication(doi="10.5555/x", journal="Waders", pdf_url="https://open.example/x.pdf")
    merged = merge_results(
        [
            [hit("https://doi.org/10.5555/x", "crossref", publication=Publication(doi="10.5555/x"))],
            [hit("https://publisher.example/x", snippet="words")],
            [hit("https://publisher.example/x", "openalex", publication=known)],
        ],
        10,
    )
    (only,) = merged
    assert only.url == "https://doi.org/10.5555/x" and only.snippet == "words"
    assert only.publication == known
