"""What a collecting run knows: the intent, the tree of pages, what was found. Its steps change it; see
agent.engine.state for how."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated

from pydantic import Field

from agent.engine.state import append, upsert
from agent.flows.shared import fact_view
from agent.flows.shared.run_state import RunState
from agent.types import Actor
from agent.types.collection import CollectedItem, CollectIntent, CrawlNode, NavEvent


class CollectState(RunState):
    """The state of a collecting run."""

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

    @property
    def effective_intent(self) -> CollectIntent:
        """The intent; before it is known, the limits alone."""
        return self.intent or CollectIntent(max_articles=self.settings.collect.max_articles)

    @property
    def frontier(self) -> list[CrawlNode]:
        """The pages to be visited, the next one first: depth first, in the order of their ranks; what was
        skipped left out."""
        seen = fact_view.visited_urls(self) | {
            refusal.what for refusal in self.refusals if refusal.why.startswith("skipped")
        }
        depth = self.settings.collect.max_depth
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

    @property
    def is_full(self) -> bool:
        """Are as many gathered as were asked for?"""
        return len(self.kept_items) + len(self.unjudged_items) >= self.effective_intent.max_articles

    @property
    def since(self) -> str:
        """The first day of the time range (ISO 8601), "" for any time."""
        days = self.effective_intent.time_range_days
        return (
            (date.fromisoformat(self.today[:10]) - timedelta(days=days)).isoformat()
            if days and self.today
            else ""
        )

    def is_too_old(self, day: str) -> bool:
        """Is a date known to lie before the time range? An unknown one never is."""
        return bool(day and self.since and day[: len(self.since)] < self.since[: len(day)])
