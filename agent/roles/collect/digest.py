"""Writes the digest of what was gathered: sentences that cite facts, item by item. Writes no address."""

from __future__ import annotations

from pydantic import Field

from agent.roles.research.report import ReportSentence
from agent.roles.role import Role, RoleReply
from agent.text.plurals import format_count
from agent.types import Answer, Fact, PageRef, Record
from agent.types.collection import CollectIntent

MAX_SENTENCES = 12
MAX_ITEMS_FOR_TWO = 6
"""Up to this many items, each gives two sentences."""


class DigestItem(Record):
    """An item as it is shown to the writer: its facts are the sentences that may be cited."""

    title: str
    kind: str
    date: str = ""
    facts: list[Fact] = Field(default_factory=list)


class DigestReply(RoleReply):
    """The digest as parts."""

    answer: list[ReportSentence] = Field(
        default_factory=list, description="empty when nothing that was gathered answers the request"
    )
    certainty: str = ""
    missing: str = ""
    journey: str = ""


def fallback(
    *,
    prompt: str,
    notes: list[str],
    intent: CollectIntent,
    items: list[DigestItem],
    confidence: float,
    failures: list[PageRef],
    why_stopped: str,
    former: Answer | None,
) -> DigestReply:
    """The best quoted sentences of each item, in the order given."""
    each = 2 if len(items) <= MAX_ITEMS_FOR_TWO else 1
    chosen = [fact for item in items for fact in item.facts[:each]][:MAX_SENTENCES]
    posts = sum(item.kind != "article" for item in items)
    counts = [format_count(n, word) for n, word in ((len(items) - posts, "article"), (posts, "thread")) if n]
    journey = f"{' and '.join(counts)} gathered" if counts else "Nothing was gathered"
    journey += f"; {format_count(len(failures), 'page')} could not be read." if failures else "."
    journey += f" It stopped because: {why_stopped}" if why_stopped else ""
    opinions = "These are the writers' own words; what people post is their opinion."
    return DigestReply(
        answer=[ReportSentence(text=fact.statement, fact_ids=[fact.id]) for fact in chosen],
        certainty=opinions if posts else "These are the pages' own words." if items else "",
        journey=journey,
    )


DIGEST = Role(name="digest", reply=DigestReply, fallback=fallback, tier="strong")
