"""The `site` flow: answer a question from chosen websites, reading as few pages as possible."""

from __future__ import annotations

from agent.answering import fact_view
from agent.engine.loop import Flow
from agent.engine.state import Change
from agent.flows.site.state import SiteState
from agent.flows.site.steps import crawl, decide, draft, recall, reconsider, survey
from agent.types import Edge, Status

MAX_SHOWN = 5
"""Pages of a wave that its line names."""


def describe_step(name: str, change: Change) -> str:
    """The line, "" when the step has nothing worth reporting."""
    if name == "recall" and change.get("visited_urls"):
        return f"{len(change['visited_urls'])} pages known from the conversation"
    if name == "survey":
        count = sum(sitemap["addresses"] for sitemap in change.get("sitemaps", []))
        return f"{count} addresses in the site's maps"
    if name == "crawl":
        refs = change.get("pages", [])
        more = f"; {len(refs) - MAX_SHOWN} more" if len(refs) > MAX_SHOWN else ""
        return "; ".join(f"{ref['outcome']}: {ref['url']}" for ref in refs[:MAX_SHOWN]) + more
    if name == "decide" and change.get("choices"):
        choice = change["choices"][-1]
        return f"{choice['decision']} — {choice['reasoning']}"
    return ""


SITE = Flow(
    name="site",
    first_step="recall",
    own_state=SiteState,
    steps={step.__name__: step for step in (recall, survey, crawl, decide, reconsider, draft)},
    rest_statuses={"review": Status.REVIEW, "done": Status.DONE},
    write_up_step="draft",
    reentry_step="reconsider",
    describe_step=describe_step,
    find_pause_request=fact_view.pause_for_new_conflicts,
    edges=(
        Edge(start="recall", end="survey", label="pages to read"),
        Edge(start="recall", end="decide", label="all known"),
        Edge(start="survey", end="crawl"),
        Edge(start="crawl", end="decide"),
        Edge(start="decide", end="crawl", label="explore"),
        Edge(start="decide", end="draft", label="answer"),
        Edge(start="draft", end="review"),
        Edge(start="review", end="reconsider", label="sent back"),
        Edge(start="reconsider", end="decide"),
        Edge(start="review", end="draft", label="facts edited"),
        Edge(start="review", end="done", label="accepted"),
    ),
)
