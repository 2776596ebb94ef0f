"""Says in a line what a source of the library is about, for whoever chooses from the index. Knows a
document's beginning, not its place."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.extractive_summary import MAX_DESCRIPTION_CHARS, describe_page
from agent.roles.role import Role, RoleReply
from agent.types import Heading, Outcome, Page

BEGINNING_CHARS = 12_000
"""Characters of a document that are shown."""


class DescribeReply(RoleReply):
    """What the source is about."""

    description: str = Field(
        description=f"one or two plain sentences, at most {MAX_DESCRIPTION_CHARS} characters"
    )


def fallback(*, title: str, headings: list[str], beginning: str) -> DescribeReply:
    """Title, first sentence, headings."""
    listed = [Heading(start=0, level=2, text=heading) for heading in headings]
    page = Page(url="", final_url="", outcome=Outcome.OK, title=title, text=beginning, headings=listed)
    return DescribeReply(description=describe_page(page))


DESCRIBE = Role(name="describe", reply=DescribeReply, fallback=fallback, tier="fast")
