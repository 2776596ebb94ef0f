"""Decides whether the pages read are enough to answer, or which addresses of the site to read next. Writes no
answer."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.roles.role import Role, RoleReply
from agent.types import Record, Turn

ENOUGH_RELEVANCE = 0.5
"""A page of this relevance is enough."""
MIN_LINK_SCORE, MIN_SHARE_OF_BEST = 0.05, 0.5
"""The least score of an address that is read, and its least share of the best one's."""
SMALL_SITE_URLS = 15
"""A site with no more unread addresses than this is read whole before a question is refused."""
MIN_USEFUL_SHARE = 0.7
"""A page is useful with at least this share of the best one's relevance."""


class SitePage(Record):
    """A visited page: a window of its text, and how well it answers by rule (0..1)."""

    index: int
    url: str
    title: str = ""
    text: str = ""
    relevance: float = 0.0


class UnvisitedUrl(Record):
    """An address that could be explored: its link text, its score by rule (0..1), and the index of the page
    it is on."""

    index: int
    url: str
    text: str = ""
    score: float = 0.0
    found_on: int = -1


class AgentDecision(RoleReply):
    """What to do next."""

    decision: Literal["answer", "explore"]
    reasoning: str = Field(default="", description="one or two sentences: why, and what is still missing")
    selected_url_indices: list[int] = Field(
        default_factory=list, description="with explore: unvisited addresses, the most promising first"
    )
    useful_visited_indices: list[int] = Field(
        default_factory=list, description="indices of the visited pages that help to answer"
    )
    standalone_question: str = Field(
        default="", description="the question with what the conversation adds; empty when it stands alone"
    )


def fallback(
    *,
    question: str,
    history: list[Turn],
    instruction: str,
    notes: list[str],
    pages: list[SitePage],
    graph: dict[int, list[int]],
    unvisited: list[UnvisitedUrl],
    iteration: int,
    max_iterations: int,
    max_urls: int,
) -> AgentDecision:
    """Explore while no page is relevant enough and an address shares words with the question; else answer."""
    best = max(pages, key=lambda page: page.relevance, default=None)
    relevance = best.relevance if best else 0.0
    useful = [
        page.index for page in pages if page.relevance and page.relevance >= MIN_USEFUL_SHARE * relevance
    ]
    promising = _choose_promising(unvisited, max_urls)
    if best and relevance >= ENOUGH_RELEVANCE:
        reason = f"“{best.title or best.url}” fits what is asked."
    elif not promising:
        reason = "No unread address shares words with the question."
    elif iteration >= max_iterations:
        reason = f"All {max_iterations} explorations are used."
    else:
        names = ", ".join(f"“{(address.text or address.url)[:60]}”" for address in promising[:3])
        return AgentDecision(
            decision="explore",
            reasoning=f"What was read does not fit well enough yet; {names} share words with the question.",
            selected_url_indices=[address.index for address in promising],
            useful_visited_indices=useful,
        )
    return AgentDecision(decision="answer", reasoning=reason, useful_visited_indices=useful)


def _choose_promising(unvisited: list[UnvisitedUrl], most: int) -> list[UnvisitedUrl]:
    ranked = sorted(unvisited, key=lambda address: -address.score)
    least = max(MIN_LINK_SCORE, MIN_SHARE_OF_BEST * ranked[0].score) if ranked else 1.0
    found = [address for address in ranked if address.score >= least]
    return (found or (ranked if len(ranked) <= SMALL_SITE_URLS else []))[:most]


SITE_DECISION = Role(name="site_decision", reply=AgentDecision, fallback=fallback, tier="strong")
