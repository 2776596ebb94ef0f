"""The content of a page whose build code could not make out: title, text, date, and posts when people talk.
Keeps to the page's words."""

from __future__ import annotations

from pydantic import Field

from agent.roles.role import Role, RoleReply


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
    content: str = Field(
        default="", description="the main text in the page's own words, readable, without menus"
    )
    publish_date: str | None = Field(default=None, description="YYYY-MM-DD, null when the page tells none")
    metadata: ContentMetadata = Field(default_factory=ContentMetadata)
    posts: list[ContentPost] = Field(default_factory=list)


def fallback(
    *, topic: str, url: str, page_type: str, title: str, author: str, published_at: str, text: str
) -> ContentReply:
    """The page's text as it was read, with what the page states of itself."""
    return ContentReply(
        title=title,
        content=text,
        publish_date=published_at[:10] or None,
        metadata=ContentMetadata(author=author or None),
    )


CONTENT = Role(name="content", reply=ContentReply, fallback=fallback, tier="strong", cut=("text",))
