"""The `collect` flow: from start pages to articles and threads, one decision a page, and a digest of them.
Step by step, the run shows the path ahead and waits whenever new pages were opened."""

from __future__ import annotations

from agent.answering import fact_view
from agent.engine.loop import Flow
from agent.engine.state import Change
from agent.flows.collect.state import CollectState
from agent.flows.collect.steps import crawl, decide, gather, intent, judge, links, relevance, report
from agent.types import Edge, Status
from agent.types.collection import CollectIntent


def describe_step(name: str, change: Change) -> str:
    """What was decided at a page and why, or how its fetch failed; "" when there is nothing to report."""
    if name == "intent" and change.get("intent"):
        intent = CollectIntent.model_validate(change["intent"])
        told = [f"wanted: {intent.topic or 'what the start pages hold'}", intent.target_section]
        told += [intent.period, f"without: {'; '.join(intent.leave_out)}" if intent.leave_out else ""]
        return ", ".join(filter(None, told))
    nodes = {node["url"]: node for node in change.get("tree", [])}
    lines = []
    for event in change.get("events", []):
        node = nodes.get(event["url"], {})
        is_decision = event["name"] == "nav:decision" and node.get("action")
        decided = f" {node['action']} ({node['confidence']:.2f})" if is_decision else ""
        lines.append(f"{event['name']}{decided} {event['url']} — {event['text']}")
    return "\n       ".join(lines)


COLLECT = Flow(
    name="collect",
    first_step="intent",
    own_state=CollectState,
    steps={step.__name__: step for step in (intent, decide, crawl, judge, links, gather, relevance, report)},
    rest_statuses={"approve": Status.WAITING, "review": Status.REVIEW, "done": Status.DONE},
    write_up_step="report",
    reentry_step="intent",
    describe_step=describe_step,
    find_pause_request=fact_view.pause_for_new_conflicts,
    edges=(
        Edge(start="intent", end="decide"),
        Edge(start="intent", end="report", label="no start page"),
        Edge(start="decide", end="intent", label="a note came"),
        Edge(start="decide", end="crawl", label="next page", rest="approve"),
        Edge(start="decide", end="relevance", label="enough, or no page left"),
        Edge(start="decide", end="report", label="all judged"),
        Edge(start="crawl", end="judge"),
        Edge(start="crawl", end="decide", label="not readable"),
        Edge(start="judge", end="gather", label="EXTRACT_CONTENT, or the plain way"),
        Edge(start="judge", end="links", label="EXTRACT_LINKS"),
        Edge(start="judge", end="decide", label="NAVIGATE_TO, STOP"),
        Edge(start="links", end="decide"),
        Edge(start="gather", end="decide"),
        Edge(start="relevance", end="decide"),
        Edge(start="report", end="review"),
        Edge(start="review", end="intent", label="sent back"),
        Edge(start="review", end="done", label="accepted"),
    ),
)
