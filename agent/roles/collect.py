"""Roles of the collect flow, in their order: INTENT reads the request, PAGE_DECISION says what to do with a
page, LINK_RANKING orders what a list leads to, CONTENT reads a page, RELEVANCE judges what was gathered,
DIGEST sums it up."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply, Share, WriterReply, optional_list, optional_text
from agent.roles.site import DraftSentence
from agent.types import Passage, Record
from agent.types.collection import PageAction, PageType


class IntentReply(RoleReply):
    """What is wanted. `topic` "": the pages themselves (“this article”); `since` null: any time."""

    topic: str = optional_text("the subject in a few words, without the section, the time and the number")
    target_section: str = optional_text(
        "forum, news, or another section the request names; empty for no preference"
    )
    since: str | None = Field(
        default=None, description="YYYY-MM-DD, the first day that counts; null for any time"
    )
    until: str | None = Field(
        default=None, description="YYYY-MM-DD, the last day that counts; null when it is today"
    )
    max_articles: int | None = Field(
        default=None, description="how many are asked for; null when the request names no number"
    )
    author: str = optional_text("whose articles or messages alone they want; else empty")
    newest: bool = Field(default=False, description="whether they want the newest ones")
    leave_out: list[str] = optional_list("what they do not want, each in their own words")
    leave_out_sites: list[str] = optional_list(
        "addresses and hosts from which they want nothing, as they wrote them"
    )


INTENT = Role(name="intent", reply=IntentReply, on_failure="rest", tier="fast")
"""Reads what a collecting request asks for: the topic, the section of a site, from when to when, how many,
and what to leave out. Knows no page."""


class PageDecision(RoleReply):
    """One decision about one page. `target_url` only with NAVIGATE_TO, copied from the page's links."""

    action: PageAction
    reasoning: str = ""
    confidence: Share
    page_type: PageType = "other"
    target_url: str = ""


PAGE_DECISION = Role(name="page_decision", reply=PageDecision, on_failure="rest", cut=("text", "links"))
"""Decides what to do with a page that was just read: take its content, follow its links, go on to one
section, or stop. Fetches nothing."""


class RankedLink(RoleReply):
    """One link worth following; `detected_date` is what the listing says beside it."""

    url: str = Field(description="copied from the links")
    anchor_text: str = ""
    relevance_score: Share
    detected_date: str | None = Field(
        default=None, description="YYYY-MM-DD as seen beside the link, else null"
    )


class LinkRanking(RoleReply):
    """The links to follow, the most relevant first."""

    links: list[RankedLink] = Field(default_factory=list)


LINK_RANKING = Role(name="link_ranking", reply=LinkRanking, cut=("links",))
"""Ranks the links of a listing that are worth following, with the date beside each. Follows none itself."""


class ContentPost(RoleReply):
    """One post as it stands on the page."""

    user: str = ""
    date: str | None = None
    text: str


class ContentMetadata(RoleReply):
    """How many posts a thread has, who wrote an article."""

    post_count: int | None = None
    author: str | None = None


class ContentReply(RoleReply):
    """What was extracted; `posts` is empty for an article."""

    title: str = ""
    content: str = optional_text("the main text in the page's own words, readable, without menus")
    publish_date: str | None = Field(default=None, description="YYYY-MM-DD, null when the page tells none")
    metadata: ContentMetadata = Field(default_factory=ContentMetadata)
    posts: list[ContentPost] = Field(default_factory=list)


CONTENT = Role(name="content", reply=ContentReply, cut=("text",))
"""The content of a page whose build code could not make out: title, text, date, and posts when people talk.
Keeps to the page's words."""


class ItemPreview(Record):
    """An item as it is shown to be judged."""

    id: str
    title: str
    author: str = ""
    writers: list[str] = Field(default_factory=list)
    """Who wrote its posts."""
    date: str = ""
    passages: list[Passage] = Field(default_factory=list)
    """Its beginning, and what fits the request best."""
    trail: list[str] = Field(default_factory=list)
    """The host and the titles of the pages that led to it."""


class ItemVerdict(RoleReply):
    """The verdict on one item."""

    id: str
    is_relevant: bool
    reason: str = ""


class RelevanceReply(RoleReply):
    """One verdict for each item."""

    items: list[ItemVerdict] = Field(default_factory=list)


RELEVANCE = Role(name="relevance", reply=RelevanceReply, tier="fast")
"""Judges which of the gathered articles and threads the person wants, in batches, with reasons."""


class DigestItem(Record):
    """An item as it is shown to the writer."""

    title: str
    kind: str
    url: str = ""
    date: str = ""
    passages: list[Passage] = Field(default_factory=list)
    writers: dict[str, str] = Field(default_factory=dict)
    """Who wrote a passage that is a post, by the passage's id."""
    left_out: int = 0
    """Passages and posts of the item that are not shown."""


class DigestReply(WriterReply):
    """The digest, sentence by sentence."""

    answer: list[DraftSentence] = optional_list("empty when nothing that was gathered answers the request")


DIGEST = Role(name="digest", reply=DigestReply, on_failure="rest")
"""Writes the digest of what was gathered: sentences, the words they rest on, who said them."""
