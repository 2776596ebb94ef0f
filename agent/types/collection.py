"""The records of `collect`: the intent, the tree of visited pages, the articles and threads that were found.

A date is an ISO 8601 day ("2026-11-12") or time ("2026-11-12T09:14"), "" when a page does not state it.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, Literal

from pydantic import Field, model_validator

from agent.types.record import Actor, FormerRecord, Outcome, Record

PageAction = Literal["EXTRACT_CONTENT", "EXTRACT_LINKS", "NAVIGATE_TO", "STOP"]
CrawlLimit = Literal["", "depth", "links", "scope", "doubt", "words", "time"]
"""What limits the crawl: depth, links of a list, allowed domains, doubt, a person's words, the time range."""
PageType = Literal["article", "forum_thread", "forum_listing", "news_listing", "company_profile", "other"]


class CollectIntent(FormerRecord):
    """What a prompt asks for."""

    topic: str = ""
    """Empty: whatever the start pages contain."""
    target_section: str = ""
    """"forum", "news", another word from the prompt, or "" for no preference."""
    since: str = ""
    """The first day that counts (ISO 8601); "" for any time."""
    until: str = ""
    """The last day that counts; "" for today."""
    max_articles: int = 10
    author: str = ""
    """Whose articles or messages are wanted; "" for anybody's."""
    newest: bool = False
    """Whether the newest ones are wanted."""
    leave_out: list[str] = Field(default_factory=list)
    """What the person does not want, in their words."""
    leave_out_sites: list[str] = Field(default_factory=list)
    """Canonical addresses and hosts that are never fetched."""
    today: str = ""
    """The day the request was read; "" before that."""

    @model_validator(mode="before")
    @classmethod
    def read_time_range(cls, data: Any) -> Any:
        """The data; earlier versions stored the first day as a number of days before `today`."""
        if isinstance(data, dict) and (days := data.get("time_range_days")) and data.get("today"):
            since = date.fromisoformat(data["today"][:10]) - timedelta(days=days)
            return {**data, "since": since.isoformat()}
        return data

    @property
    def period(self) -> str:
        """The days that are asked for ("2024-01-01 to 2024-12-31", "since 2024-03-01"); "" for any time."""
        if self.since and self.until:
            return f"{self.since} to {self.until}"
        return f"since {self.since}" if self.since else f"until {self.until}" if self.until else ""

    def is_too_old(self, day: str) -> bool:
        """Whether a date is before the time range; an unknown date never is."""
        return bool(day and self.since and day[: len(self.since)] < self.since[: len(day)])

    def covers(self, day: str) -> bool:
        """Whether a date is in the time range; an unknown date is."""
        is_too_new = bool(day and self.until and day[: len(self.until)] > self.until[: len(day)])
        return not (is_too_new or self.is_too_old(day))


class PageFeatures(Record):
    """What code measures of a page's structure."""

    words: int = 0
    posts: int = 0
    """Posts with a user, a date and a text."""
    links: int = 0
    """Content links."""
    dated_links: int = 0
    """Content links next to a date."""
    alike_links: int = 0
    """The largest number of links in the same kind of place, without menus: the entries of a list."""
    link_share: float = 0.0
    """The share of the visible text that is linked."""
    article: bool = False
    """Whether the page's metadata says that it is an article."""
    sections: int = 0
    """Entries with a date and a text of their own: a changelog, release notes."""
    message: bool = False
    """Whether the page is one message of a mail archive, with its header."""


class LinkCandidate(Record):
    """A link of a page with the text around it, to be judged."""

    url: str
    text: str = ""
    context: str = ""
    date: str = ""
    place: str = ""
    """Where it stands: tags and class names of the elements around it."""
    content: bool = True
    """False in a menu, header or footer."""


class CrawlNode(FormerRecord):
    """A page of the navigation tree: where it was found, what was decided about it, how it ended."""

    id: str
    """The canonical address; it decides whether a page was visited."""
    url: str
    parent: str = ""
    anchor: str = ""
    depth: int = 0
    path: list[int] = Field(default_factory=list)
    """The parent's path and the rank there; pages are visited in the order of their paths."""
    relevance_score: float | None = None
    detected_date: str = ""
    continues: Literal["", "listing", "thread"] = ""
    """Set on the next page of a listing or thread; it has its parent's depth."""
    status: Literal["open", "visited", "dropped"] = "open"
    ended: str = ""
    """Why the crawl does not continue from here; "" while it does."""
    held: CrawlLimit = ""
    """The limit that stopped the crawl here."""
    page_id: str = ""
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
    item_id: str = ""


class Post(Record):
    """One post of a thread, verbatim. `start` and `end` are -1 when it is no single piece of the text."""

    n: int
    user: str
    date: str
    text: str
    role: Literal["post", "question", "answer"] = "post"
    page_id: str = ""
    start: int = -1
    end: int = -1


class CollectedItem(FormerRecord):
    """An article, a thread or a question with its answers."""

    id: str
    url: str
    kind: Literal["article", "thread", "question"]
    title: str
    content: str = ""
    """Its text when it is not the piece `start` to `end` of the stored page."""
    start: int = 0
    end: int = -1
    author: str = ""
    publish_date: str = ""
    last_date: str = ""
    """The date of the latest post, or the publish date of an article."""
    posts: list[Post] = Field(default_factory=list)
    page_ids: list[str]
    trail: list[str]
    """The host and the titles of the pages that led here, the start page first."""
    given: bool
    """Whether the person named its page."""
    extracted_by: Actor = "code"
    status: Literal["new", "kept", "dropped"] = "new"
    reason: str = ""
    trouble: str = ""
    """What could not be extracted from its page, and why."""
    also_at: list[str] = Field(default_factory=list)
    """Other addresses with the same text."""
    step: int

    def cut_text(self, page: str) -> str:
        """Its text: the extracted one, or its piece of the text of its page."""
        return self.content or page[self.start : self.end if self.end >= 0 else None]

    @property
    def metadata(self) -> dict[str, int | str]:
        """`post_count` of a thread, `author` of an article."""
        if self.kind == "article":
            return {"author": self.author} if self.author else {}
        return {"post_count": len(self.posts)}


NavEventName = Literal["nav:decision", "nav:extracting_content", "nav:content_added", "nav:stopped"]


class NavEvent(Record):
    """One line of the navigation log."""

    step: int
    name: NavEventName
    url: str
    text: str
