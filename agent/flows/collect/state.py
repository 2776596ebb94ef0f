"""The record of a `collect` run: the intent, the tree of pages, what was found, and the navigation log. Each
event is part of the record, and goes to the standard log."""

from __future__ import annotations

import logging
from typing import Annotated, Any, ClassVar

from pydantic import Field

from agent.answering import fact_view
from agent.answering.view import AnsweringState
from agent.engine.context import RunContext
from agent.engine.run_state import RunState
from agent.engine.state import append, upsert
from agent.text.plurals import format_count
from agent.types import PageRef
from agent.types.collection import CollectedItem, CollectIntent, CrawlNode, NavEvent, NavEventName

log = logging.getLogger("agent.nav")
LOGGED_FIELDS = {"url", "depth", "action", "confidence", "page_type", "target_url", "by", "outcome"}
"""What the log tells of a page: without the words of page or model."""


class CollectState(AnsweringState):
    """What a `collect` run keeps beside the shared part."""

    asks_one_publisher: ClassVar[bool] = True

    intent: CollectIntent = Field(default_factory=CollectIntent)
    heard: int = 0
    """How many of the person's notes the intent includes."""
    tree: Annotated[dict[str, CrawlNode], upsert] = Field(default_factory=dict)
    items: Annotated[dict[str, CollectedItem], upsert] = Field(default_factory=dict)
    events: Annotated[list[NavEvent], append] = Field(default_factory=list)
    here: str = ""
    """The id of the current page's node."""
    shown: list[str] = Field(default_factory=list)
    """The nodes of the path that a person has seen in a preview."""

    def frontier(self, run: RunState[Any]) -> list[CrawlNode]:
        """The open nodes without skipped ones, in the order of their paths (depth first)."""
        seen = fact_view.visited_urls(run) | run.skipped
        waiting = [
            node
            for node in self.tree.values()
            if node.status == "open"
            and node.depth < run.settings.collect.max_depth
            and not {node.id, node.url} & seen
        ]
        return sorted(waiting, key=lambda node: node.path)

    @property
    def node(self) -> CrawlNode:
        """The current page's node."""
        return self.tree[self.here]

    @property
    def kept_items(self) -> list[CollectedItem]:
        """The items found relevant, in the order they were found."""
        return [item for item in self.items.values() if item.status == "kept"]

    @property
    def unjudged_items(self) -> list[CollectedItem]:
        """The items whose relevance was not judged yet."""
        return [item for item in self.items.values() if item.status == "new"]

    @property
    def timely_items(self) -> list[CollectedItem]:
        """The kept items without their posts outside the time range; each says how many those are."""
        found = []
        for item in self.kept_items:
            posts = [post for post in item.posts if self.intent.covers(post.date)]
            left = format_count(len(item.posts) - len(posts), "post")
            told = f"Left out, as outside the time asked for: {left}." if len(posts) < len(item.posts) else ""
            trouble = " ".join(filter(None, [item.trouble, told]))
            found.append(item.replace(posts=posts, trouble=trouble))
        return found

    @property
    def is_full(self) -> bool:
        """Whether as many items were gathered as were asked for."""
        return len(self.kept_items) + len(self.unjudged_items) >= self.intent.max_articles

    def relevance_question(self, run: RunState[Any]) -> str:
        """The topic, else the prompt."""
        return self.intent.topic or run.question

    def extra_sources(self, run: RunState[Any]) -> list[PageRef]:
        """The pages of the kept items."""
        return [
            PageRef(url=item.url, title=item.title, page_id=item.page_ids[0] if item.page_ids else "")
            for item in self.kept_items
        ]


CollectRun = RunState[CollectState]


def log_event(
    tools: RunContext, name: NavEventName, node: CrawlNode, text: str, *, refused: bool = False
) -> NavEvent:
    """The event at a page, also in the log: a warning when its decision is `refused`."""
    where = {"event": name, "run": tools.lease.run_id, "step": tools.step, "refused": refused}
    extra = {**where, **node.model_dump(mode="json", include=LOGGED_FIELDS)}
    log.log(logging.WARNING if refused else logging.INFO, "%s %s", name, node.url, extra=extra)
    return NavEvent(step=tools.step, name=name, url=node.url, text=text)
