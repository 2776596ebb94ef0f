"""A step of `chat` in a line for a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agent.engine.state import Change
from agent.text.plurals import format_count


def describe_step(name: str, change: Change) -> str:
    """The line, "" when the step has nothing worth reporting."""
    if name == "router" and change.get("route_decision"):
        return f"{change['route_decision']} — {change.get('route_reasoning', '')}"
    if change.get("rewrites"):
        rewrite = change["rewrites"][-1]
        words = describe_rewrite(rewrite)
        return f"{words}{' (by rule: ' + rewrite['trouble'] + ')' if rewrite.get('trouble') else ''}"
    if name == "retrieve" and "retrieved_docs" not in change:
        return "no further search"
    if name == "retrieve":
        method = str(change.get("searched_by", "")).partition(".")[0]
        return f"{format_count(len(change.get('retrieved_docs', [])), 'passage')}. {method}."
    if name == "grade":
        scores = change.get("doc_relevance_scores", [])
        return f"{sum(score >= 0.5 for score in scores)} of {len(scores)} relevant"
    if name == "validate" and change.get("groundings"):
        verdict = change["groundings"][-1]
        return f"{'grounded' if verdict['grounded'] else 'not grounded'}: {verdict['reason']}"
    return ""


def describe_rewrite(rewrite: Mapping[str, Any]) -> str:
    """What a stored rewriting did: a turn made whole, other words for a search, or neither."""
    is_retry, repeats = bool(rewrite.get("why")), bool(rewrite.get("repeats"))
    if repeats:
        return "no other words were found" if is_retry else "it stays as it was typed"
    return f"{'in other words' if is_retry else 'made whole'}: {rewrite['query']}"
