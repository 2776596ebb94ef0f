"""What a collecting run knows: the intent, the tree of pages, what was found. Its steps change it; see agent.state for how."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated

from pydantic import Field

from agent.flows import moves
from agent.flows.state import Research
from agent.state import append, upsert
from agent.types import Speaker
from agent.types.collected import Branch, Intent, Item, NavEvent


class Collect(Research):
    """The state of a collecting run."""

    intent: Intent | None = None
    intent_by: Speaker = "keyless"
    intent_trouble: str = ""
    heard: int = 0
    """How many of the person's notes the intent has taken in."""
    today: str = ""
    """The day the time range counts from."""
    tree: Annotated[dict[str, Branch], upsert] = Field(default_factory=dict)
    items: Annotated[dict[str, Item], upsert] = Field(default_factory=dict)
    events: Annotated[list[NavEvent], append] = Field(default_factory=list)
    here: str = ""
    """The page that is being looked at: its branch's id."""
    shown: list[str] = Field(default_factory=list)
    """The pages of the path that a person has seen in a preview."""

    @property
    def wanted(self) -> Intent:
        """The intent; before it is known, the limits alone."""
        return self.intent or Intent(max_articles=self.settings.collect.max_articles)

    @property
    def frontier(self) -> list[Branch]:
        """The pages to be visited, the next one first: depth first, in the order of their ranks; what was skipped left out."""
        seen = moves.visited(self) | {refusal.what for refusal in self.refusals if refusal.why.startswith("skipped")}
        depth = self.settings.collect.max_depth
        waiting = [branch for branch in self.tree.values() if branch.status == "open" and branch.depth < depth and not {branch.id, branch.url} & seen]
        return sorted(waiting, key=lambda branch: branch.path)

    @property
    def kept(self) -> list[Item]:
        """What was gathered and found relevant, in the order it was found."""
        return [item for item in self.items.values() if item.status == "kept"]

    @property
    def unjudged(self) -> list[Item]:
        """What was gathered and not judged yet."""
        return [item for item in self.items.values() if item.status == "new"]

    @property
    def full(self) -> bool:
        """Are as many gathered as were asked for?"""
        return len(self.kept) + len(self.unjudged) >= self.wanted.max_articles

    @property
    def since(self) -> str:
        """The first day of the time range (ISO 8601), "" for any time."""
        days = self.wanted.time_range_days
        return (date.fromisoformat(self.today[:10]) - timedelta(days=days)).isoformat() if days and self.today else ""

    def too_old(self, day: str) -> bool:
        """Is a date known to lie before the time range? An unknown one never is."""
        return bool(day and self.since and day[: len(self.since)] < self.since[: len(day)])
