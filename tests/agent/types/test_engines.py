"""The registry of engines: what may be proposed, which takes over, and what the plan is told."""

from __future__ import annotations

from agent.types import describe_action, describe_actions, rank_general, rank_substitutes
from tests.tables import by_table


@by_table
def test_an_action_says_what_it_really_searched(action: str, world: str, words: str) -> None:
    assert describe_action(action, world) == words


def test_an_engine_of_its_own_kind_takes_over_first() -> None:
    available = ["wikipedia", "crossref", "europepmc", "google", "duckduckgo"]
    assert rank_substitutes("duckduckgo", available) == ["google", "wikipedia"]
    assert rank_substitutes("openalex", available) == ["crossref", "europepmc", "duckduckgo", "google"]
    assert rank_substitutes("wikipedia", ["arxiv"]) == []


def test_a_catalogue_of_papers_is_asked_any_question_only_where_nothing_else_was_chosen() -> None:
    assert rank_general(["search_arxiv", "search_wikipedia", "search_duckduckgo"]) == [
        "search_duckduckgo",
        "search_wikipedia",
    ]
    assert rank_general(["search_arxiv", "crawl_url"]) == ["search_arxiv"]
    assert rank_general(["search_arxiv"], done=["search_duckduckgo", "crawl_url"]) == []


def test_the_plan_is_told_what_an_engine_suits() -> None:
    assert describe_actions(["arxiv"]) == [
        "`search_arxiv`: preprints: physics, mathematics, computing (scholarly)."
    ]
