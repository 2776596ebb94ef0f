"""Answer now, or explore more of the site, and which of its addresses? Writes no answer; knows what was read,
not how.

The keyless side compares how well the best page read answers with how much the best unvisited address
promises."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.roles.role import Role
from agent.types import Record, Turn

ENOUGH_RELEVANCE = 0.5
"""A page that answers this well is enough."""
MIN_LINK_SCORE = 0.05
"""The least score of an address that is worth a visit."""
MIN_SHARE_OF_BEST = 0.4
"""Of a batch, those addresses are taken that score at least this share of the best one."""
SMALL_SITE_URLS = 15
"""Of a site with no more unvisited addresses than this, even those without a word of the question are read
before it is refused."""
MIN_USEFUL_SHARE = 0.7
"""A page is useful that bears at least this share of the best one's bearing."""


class SitePage(Record):
    """A visited page as the decision sees it: a window of its text, and how well it answers by rule
    (0..1)."""

    index: int
    url: str
    title: str = ""
    text: str = ""
    relevance: float = 0.0


class UnvisitedUrl(Record):
    """An address that could be explored: its link text, its score by rule (0..1), and the index of the page
    it stands on."""

    index: int
    url: str
    text: str = ""
    score: float = 0.0
    found_on: int = -1


class AgentDecision(BaseModel):
    """What to do next."""

    model_config = ConfigDict(extra="ignore")

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
    missing: list[str],
) -> AgentDecision:
    """Explore while no page answers well, or a word is missing that an answer can't do without, and an
    address promises more; else answer (or refuse, which is the writer's part)."""
    best = max((page.relevance for page in pages), default=0.0)
    useful = [page.index for page in pages if page.relevance and page.relevance >= MIN_USEFUL_SHARE * best]
    if best >= ENOUGH_RELEVANCE and not missing:
        top = next(page for page in pages if page.relevance == best)
        return AgentDecision(
            decision="answer",
            reasoning=f"“{top.title or top.url}” covers what is asked.",
            useful_visited_indices=useful,
        )
    promising = _choose_promising(unvisited, max_urls)
    if not promising or iteration >= max_iterations:
        why = (
            "No address that is left promises more."
            if not promising
            else f"All {max_iterations} explorations are used."
        )
        return AgentDecision(decision="answer", reasoning=why, useful_visited_indices=useful)
    unsaid = ", ".join(f"“{word}”" for word in missing[:3])
    lacking = (
        f"What was read leaves out {unsaid}" if missing else "What was read does not cover the question yet"
    )
    names = ", ".join(f"“{(address.text or address.url)[:60]}”" for address in promising[:3])
    return AgentDecision(
        decision="explore",
        reasoning=f"{lacking}; the words of {names} speak for them.",
        selected_url_indices=[address.index for address in promising],
        useful_visited_indices=useful,
    )


def _choose_promising(unvisited: list[UnvisitedUrl], max_urls: int) -> list[UnvisitedUrl]:
    ranked = sorted(unvisited, key=lambda address: -address.score)
    least = max(MIN_LINK_SCORE, MIN_SHARE_OF_BEST * ranked[0].score) if ranked else 1.0
    found = [address for address in ranked if address.score >= least]
    return (found or (ranked if len(ranked) <= SMALL_SITE_URLS else []))[:max_urls]


SITE_DECISION = Role(name="site_decision", reply=AgentDecision, fallback=fallback, tier="strong")
