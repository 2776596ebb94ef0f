"""A step of `site` in a line for a person."""

from __future__ import annotations

from agent.engine.state import Change

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
        fallback = f" (by rule: {choice['trouble']})" if choice.get("trouble") else ""
        return f"{choice['decision']} — {choice['reasoning']}{fallback}"
    return ""
