"""A step of `site` in a line for a person."""

from __future__ import annotations

from agent.engine.state import Change


def describe_step(name: str, change: Change) -> str:
    """The line, "" when the step has nothing worth reporting."""
    if name == "recall" and change.get("visited_urls"):
        return f"{len(change['visited_urls'])} pages known from the conversation"
    if name == "survey":
        count = sum(sitemap["addresses"] for sitemap in change.get("sitemaps", []))
        return f"{count} addresses in the site's maps"
    if name == "crawl":
        return "; ".join(f"{ref['outcome']}: {ref['url']}" for ref in change.get("pages", []))
    if name == "decide" and change.get("choices"):
        choice = change["choices"][-1]
        fallback = f" (by rule: {choice['trouble']})" if choice.get("trouble") else ""
        return f"{choice['decision']} — {choice['reasoning']}{fallback}"
    return ""
