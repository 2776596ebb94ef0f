"""The nouns of collecting: what is wanted, the tree of pages walked, and the articles and threads found. They
hold data and know nothing.

A date is an ISO 8601 day ("2026-11-12") or moment ("2026-11-12T09:14"), "" when a page does not tell it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.types.facts import Actor
from agent.types.record import Outcome, Record

PageAction = Literal["EXTRACT_CONTENT", "EXTRACT_LINKS", "NAVIGATE_TO", "STOP"]
CrawlLimit = Literal["", "depth", "links", "scope", "doubt", "words"]
"""A limit of the walk: the depth, the links of one list, the allowed domains, a doubtful decision, the
person's own words."""
PageType = Literal["article", "forum_thread", "forum_listing", "news_listing", "company_profile", "other"]


class CollectIntent(Record):
    """What a prompt asks for. An empty `topic` means whatever the start pages hold; `time_range_days` None
    means any time."""

    topic: str = ""
    target_section: str = ""
    """"forum", "news", another word of the person's, or "" for no preference."""
    time_range_days: int | None = None
    max_articles: int = 10
    leave_out: list[str] = Field(default_factory=list)
    """What the person does not want, in their words; addresses they rule out are no part of it: those are
    never asked for."""


class PageFeatures(Record):
    """What code sees of a page's build, before anybody judges it."""

    words: int = 0
    posts: int = 0
    """Posts with a user, a date and a text."""
    dated_links: int = 0
    """Links of the content that stand beside a date."""
    alike_links: int = 0
    """The largest number of links that stand in the same kind of place: the entries of a list, a menu left
    out."""
    link_share: float = 0.0
    """The share of the visible text that is linked."""
    article: bool = False
    """Does the page state that it is an article?"""


class LinkCandidate(Record):
    """A link of a page as it is offered to a judgement, with what stands around it."""

    url: str
    text: str = ""
    context: str = ""
    date: str = ""
    content: bool = True
    """False for what stands in a menu, header or footer."""


class CrawlNode(Record):
    """A page of the navigation tree: where it was found, what was decided there, and how it ended."""

    id: str
    """The address in its canonical spelling: what counts as visited."""
    url: str
    parent: str = ""
    anchor: str = ""
    depth: int = 0
    path: list[int] = Field(default_factory=list)
    """Its place in the walk: the parent's path and its rank there. Pages are visited in the order of their
    paths."""
    relevance_score: float | None = None
    detected_date: str = ""
    continues: Literal["", "listing", "thread"] = ""
    """The next page of its parent, at the parent's depth."""
    status: Literal["open", "visited", "dropped"] = "open"
    ended: str = ""
    """Why the walk does not go on from here, in words; "" while it does."""
    held: CrawlLimit = ""
    """The limit that kept the walk from something here."""
    page_id: str = ""
    sha256: str = ""
    title: str = ""
    outcome: Outcome | None = None
    detail: str = ""
    step: int = 0
    action: PageAction | None = None
    page_type: PageType = "other"
    reasoning: str = ""
    confidence: float = 0.0
    target_url: str = ""
    by: Actor = "code"
    trouble: str = ""
    same_as: str = ""
    """The page with the very same text whose decision was used again."""
    item_id: str = ""


class Post(Record):
    """One post of a thread, word for word. `start` and `end` are offsets in the stored page's text, -1 when
    it is not one piece of it."""

    n: int
    user: str = ""
    date: str = ""
    text: str = ""
    role: Literal["post", "question", "answer"] = "post"
    page_id: str = ""
    start: int = -1
    end: int = -1


class CollectedItem(Record):
    """An article, a thread or a question with its answers."""

    id: str
    url: str
    kind: Literal["article", "thread", "question"]
    title: str = ""
    content: str = ""
    """The text, when it is not simply the stored page's: `start` and `end` give the piece of that."""
    start: int = 0
    end: int = -1
    author: str = ""
    publish_date: str = ""
    last_date: str = ""
    """The date of the latest post; the publish date of an article."""
    posts: list[Post] = Field(default_factory=list)
    page_ids: list[str] = Field(default_factory=list)
    trail: list[str] = Field(default_factory=list)
    """The titles of the pages that led here, the start page first."""
    given: bool = False
    """Its page was named by the person."""
    extracted_by: Actor = "code"
    status: Literal["new", "kept", "dropped"] = "new"
    reason: str = ""
    judged_by: Actor = "code"
    trouble: str = ""
    """What of its page could not be extracted, and why."""
    also_at: list[str] = Field(default_factory=list)
    """Where the same text stands as well."""
    step: int = 0

    @property
    def metadata(self) -> dict[str, int | str]:
        """`post_count` of a thread, `author` of an article."""
        if self.kind == "article":
            return {"author": self.author} if self.author else {}
        return {"post_count": len(self.posts)}


NavEventName = Literal["nav:decision", "nav:extracting_content", "nav:content_added", "nav:stopped"]


class NavEvent(Record):
    """One line of the navigation's log."""

    step: int
    name: NavEventName
    url: str
    text: str = ""
