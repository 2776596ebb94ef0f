"""Decides whether the pages read are enough to answer, or which addresses to read next."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.roles.refusal_messages import is_unresolved_reference
from agent.roles.role import Role, RoleReply
from agent.types import Record, Turn

MIN_USEFUL_SHARE = 0.7
"""A page is useful with at least this share of the best one's relevance."""


class SitePage(Record):
    """A visited page: a window of its text, and the score of its best passage (0..1)."""

    index: int
    url: str
    title: str = ""
    text: str = ""
    relevance: float = 0.0
    is_enough: bool = False
    """Whether the answer by rule is led by it, and good."""


class UnvisitedUrl(Record):
    """An address that could be explored: its link text, and the index of the page it is on."""

    index: int
    url: str
    text: str = ""
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
    """Answer when the pages are enough; else explore the first addresses, best first, if any."""
    enough = next((page for page in pages if page.is_enough), None)
    relevance = max((page.relevance for page in pages), default=0.0)
    useful = [
        page.index for page in pages if page.relevance and page.relevance >= MIN_USEFUL_SHARE * relevance
    ]
    if enough:
        reason = f"“{enough.title or enough.url}” holds what is asked."
    elif not history and is_unresolved_reference(question):
        reason = "The question does not name what it is about."
    elif not unvisited:
        reason = "There is no further address to explore."
    elif iteration >= max_iterations:
        reason = f"All {max_iterations} explorations are used."
    else:
        chosen = unvisited[:max_urls]
        names = ", ".join(f"“{(address.text or address.url)[:60]}”" for address in chosen[:3])
        return AgentDecision(
            decision="explore",
            reasoning=f"No passage that was read fits well enough yet; next come {names}.",
            selected_url_indices=[address.index for address in chosen],
            useful_visited_indices=useful,
        )
    return AgentDecision(decision="answer", reasoning=reason, useful_visited_indices=useful)


SITE_DECISION = Role(
    name="site_decision",
    reply=AgentDecision,
    fallback=fallback,
    tier="strong",
    cut=("pages", "graph", "unvisited", "history"),
)
