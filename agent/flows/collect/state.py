"""What a collecting run knows: the intent, the tree of pages, what was found. Its steps change it; see
agent.engine.state for how."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated, Any

from pydantic import Field

from agent.engine.run_state import FlowState, RunState
from agent.engine.state import append, upsert
from agent.flows.shared import fact_view
from agent.types import Action, Actor, PageRef
from agent.types.collection import CollectedItem, CollectIntent, CrawlNode, NavEvent


class CollectState(FlowState):
    """The record of a collecting run."""

    intent: CollectIntent | None = None
    intent_by: Actor = "keyless"
    intent_trouble: str = ""
    heard: int = 0
    """How many of the person's notes the intent has taken in."""
    today: str = ""
    """The day the time range counts from."""
    tree: Annotated[dict[str, CrawlNode], upsert] = Field(default_factory=dict)
    items: Annotated[dict[str, CollectedItem], upsert] = Field(default_factory=dict)
    events: Annotated[list[NavEvent], append] = Field(default_factory=list)
    here: str = ""
    """The page that is being looked at: its branch's id."""
    shown: list[str] = Field(default_factory=list)
    """The pages of the path that a person has seen in a preview."""

    def effective_intent(self, run: RunState[Any]) -> CollectIntent:
        """The intent; before it is known, the limits alone."""
        return self.intent or CollectIntent(max_articles=run.settings.collect.max_articles)

    def frontier(self, run: RunState[Any]) -> list[CrawlNode]:
        """The pages to be visited, the next one first: depth first, in the order of their ranks; what was
        skipped left out."""
        seen = fact_view.visited_urls(run) | {
            refusal.what for refusal in run.refusals if refusal.why.startswith("skipped")
        }
        depth = run.settings.collect.max_depth
        waiting = [
            branch
            for branch in self.tree.values()
            if branch.status == "open" and branch.depth < depth and not {branch.id, branch.url} & seen
        ]
        return sorted(waiting, key=lambda branch: branch.path)

    @property
    def kept_items(self) -> list[CollectedItem]:
        """What was gathered and found relevant, in the order it was found."""
        return [item for item in self.items.values() if item.status == "kept"]

    @property
    def unjudged_items(self) -> list[CollectedItem]:
        """What was gathered and not judged yet."""
        return [item for item in self.items.values() if item.status == "new"]

    def is_full(self, run: RunState[Any]) -> bool:
        """Are as many gathered as were asked for?"""
        return len(self.kept_items) + len(self.unjudged_items) >= self.effective_intent(run).max_articles

    def since(self, run: RunState[Any]) -> str:
        """The first day of the time range (ISO 8601), "" for any time."""
        days = self.effective_intent(run).time_range_days
        return (
            (date.fromisoformat(self.today[:10]) - timedelta(days=days)).isoformat()
            if days and self.today
            else ""
        )

    def is_too_old(self, run: RunState[Any], day: str) -> bool:
        """Is a date known to lie before the time range? An unknown one never is."""
        since = self.since(run)
        return bool(day and since and day[: len(since)] < since[: len(day)])

    def count_pages(self, actions: list[Action]) -> int:
        """Every page that was asked for counts, read or not."""
        return len(actions)

    def extra_sources(self, run: RunState[Any]) -> list[PageRef]:
        """All that was kept."""
        return [
            PageRef(url=item.url, title=item.title, page_id=item.page_ids[0] if item.page_ids else "")
            for item in self.kept_items
        ]


CollectRun = RunState[CollectState]
