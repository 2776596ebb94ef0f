"""A step of `check_text` in a line for a person."""

from __future__ import annotations

from collections import Counter

from agent.engine.state import Change
from agent.text.plurals import format_count
from agent.types.checked_text import summarize_marks


def describe_step(name: str, change: Change) -> str:
    """What the step did; "" when there is nothing to report."""
    match name:
        case "read" if change.get("text_page"):
            kinds = Counter(one["kind"] for one in change["sentences"])
            cited = {c["url"] for one in change["sentences"] for c in one["citations"] if c["url"]}
            return f"{format_count(kinds['claim'], 'claim')}, {format_count(len(cited), 'source')} cited"
        case "read":
            return f"not readable: {change.get('why_stopped', '')}"
        case "sort":
            return f"{format_count(len(change.get('sentences', [])), 'sentence')} without a fact"
        case "fetch":
            read = [ref for ref in change["pages"] if ref["page_id"]]
            return f"{len(read)} of {format_count(len(change['pages']), 'source')} read"
        case "search":
            found = sum(bool(one["found"]) for one in change["sentences"])
            return f"pages found for {found} of {format_count(len(change['sentences']), 'claim')}"
        case "check":
            return summarize_marks(mark["mark"] for mark in change["marks"])
        case "result":
            return str(change["answers"][0]["certainty"]) if change.get("answers") else ""
    return ""
