"""A step of `chat` or `chat_simple` in a line for a person."""

from __future__ import annotations

from agent.engine.state import Change
from agent.text.plurals import format_count


def describe_step(name: str, change: Change) -> str:
    """The line, "" when the step has nothing worth reporting."""
    if name in ("router", "classify") and change.get("route_decision"):
        return f"{change['route_decision']} — {change.get('route_reasoning', '')}"
    if change.get("rewrites"):
        rewrite = change["rewrites"][-1]
        words = "made whole" if name == "rewrite" else f"in other words: {rewrite['query']}"
        return f"{words}{' (by rule: ' + rewrite['trouble'] + ')' if rewrite.get('trouble') else ''}"
    if name == "retrieve":
        method = str(change.get("searched_by", "")).partition(".")[0]
        return f"{format_count(len(change.get('retrieved_docs', [])), 'passage')}. {method}."
    if name in ("grade", "rerank"):
        scores = change.get("doc_relevance_scores", [])
        return f"{sum(score >= 0.5 for score in scores)} of {len(scores)} relevant"
    if name == "validate" and change.get("groundings"):
        verdict = change["groundings"][-1]
        return f"{'grounded' if verdict['grounded'] else 'not grounded'}: {verdict['reason']}"
    return ""
