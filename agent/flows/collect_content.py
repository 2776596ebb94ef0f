"""From a page to an article, a thread or a question with its answers. Code takes what it can; a role is asked only where it cannot."""

from __future__ import annotations

import hashlib

from agent.evidence.quotes import locate
from agent.flows.collect_page import Sight
from agent.flows.collect_state import Collect
from agent.roles.content import CONTENT, ContentPost, ContentReply
from agent.toolbox import Tools
from agent.types import Speaker
from agent.types.collected import Branch, Item, Post
from agent.urls import host

WINDOW = 15_000
"""Characters of a page that the content role is shown at a time; a longer page is shown window by window."""
OVERLAP = 500
"""Characters that two windows have in common, so that a post on the border is whole in one of them."""
WINDOWS = 8
"""Windows of one page: what lies behind them is stored, but not taken apart, and the item says so."""
BARE = 25
"""Words below which a page's text is too little to be its article."""
BESIDE = 150
"""Words outside the posts from which a page that states an article is that article, with comments."""
TRAIL = 6


def take(state: Collect, tools: Tools, branch: Branch, sight: Sight) -> Item:
    """The item a page holds. `nothing` of a thread is left out: every post that code sees is in it."""
    if state.settings.collect.use_smart_navigation and sight.posts and not _is_article(sight):
        return _thread(state, tools, branch, sight)
    unseen = branch.page_type == "forum_thread" and not sight.posts
    if state.settings.collect.use_smart_navigation and (unseen or sight.signs.words < BARE):
        return _asked(state, tools, branch, sight)
    return _article(state, tools, branch, sight)


def carried_on(item: Item, branch: Branch, sight: Sight) -> Item:
    """The thread with the posts of its next page."""
    known = {(post.user, post.date, post.text) for post in item.posts}
    more = [post for post in sight.posts if (post.user, post.date, post.text) not in known]
    posts = [*item.posts, *(post.model_copy(update={"n": len(item.posts) + n}) for n, post in enumerate(more, start=1))]
    last = max([item.last_date, *(post.date for post in more)])
    return item.model_copy(update={"posts": posts, "page_ids": [*item.page_ids, branch.page_id], "last_date": last})


def text_of(item: Item, tools: Tools) -> str:
    """An item's whole text, for comparing and searching."""
    if item.posts and item.kind != "article":
        return "\n\n".join(post.text for post in item.posts)
    return item.content or (tools.page(item.page_ids[0]).text[item.start : item.end if item.end >= 0 else None] if item.page_ids else "")


def _is_article(sight: Sight) -> bool:
    """An article with comments below it: it states that it is one, or says much more than they do."""
    said = sum(len(post.text.split()) for post in sight.posts)
    beside = sight.signs.words - said
    return beside >= BESIDE and (sight.signs.article or beside > 3 * said)


def _thread(state: Collect, tools: Tools, branch: Branch, sight: Sight) -> Item:
    asked = any(post.role != "post" for post in sight.posts)
    dates = [post.date for post in sight.posts if post.date]
    return _item(state, tools, branch, sight).model_copy(
        update={
            "kind": "question" if asked else "thread", "posts": sight.posts, "author": sight.posts[0].user, "publish_date": dates[0] if dates else "",
            "last_date": max(dates, default="") or branch.detected_date,
        }
    )  # fmt: skip


def _article(state: Collect, tools: Tools, branch: Branch, sight: Sight) -> Item:
    """The page's text, up to the first comment when there are comments: those become its posts."""
    day = sight.page.published_at or branch.detected_date
    smart = state.settings.collect.use_smart_navigation
    first = min((post.start for post in sight.posts if post.start > 0), default=-1) if smart else -1
    return _item(state, tools, branch, sight).model_copy(
        update={"author": sight.page.author, "publish_date": day, "last_date": day, "posts": sight.posts if smart else [], "end": first}
    )


def _asked(state: Collect, tools: Tools, branch: Branch, sight: Sight) -> Item:
    """What the content role makes of a page. Posts and text that do not stand on the page word for word are kept, but never quoted."""
    page = sight.page
    posts: list[Post] = []
    replies: list[ContentReply] = []
    trouble = ""
    for start in _windows(page.text):
        judgement = tools.judge(
            CONTENT, topic=state.wanted.topic, url=page.final_url or page.url, page_type=branch.page_type, title=page.title, author=page.author,
            published_at=page.published_at, text=page.text[start : start + WINDOW],
        )  # fmt: skip
        if judgement.by != "model":
            trouble = f"From character {start:,} on the model did not answer: {judgement.trouble}"
            break
        replies.append(judgement.value)
        posts = _joined(posts, [_found(post, sight, branch) for post in judgement.value.posts if post.text.strip()], page.text)
    if not replies:
        return _article(state, tools, branch, sight)
    shown = WINDOWS * (WINDOW - OVERLAP) + OVERLAP
    if not trouble and len(page.text) > shown:
        trouble = f"Its first {shown:,} characters were taken apart, {len(page.text) - shown:,} were not."
    numbered = [post.model_copy(update={"n": n}) for n, post in enumerate(posts, start=1)]
    return _written(state, tools, branch, sight, replies, numbered).model_copy(update={"trouble": trouble})


def _windows(text: str) -> range:
    """Where each window of a text begins."""
    return range(0, min(max(1, len(text) - OVERLAP), WINDOWS * (WINDOW - OVERLAP)), WINDOW - OVERLAP)


def _written(state: Collect, tools: Tools, branch: Branch, sight: Sight, replies: list[ContentReply], posts: list[Post]) -> Item:
    """The item of the replies about a page's windows: what is told once by the first that tells it, the text by all."""
    page = sight.page
    said = [reply.content.strip() for reply in replies if reply.content.strip()]
    span = locate(said[0], page.text) if len(said) == 1 else None
    told = next((reply.publish_date for reply in replies if reply.publish_date), "") or page.published_at
    day = told or (posts[0].date if posts else "") or branch.detected_date
    author = next((reply.metadata.author for reply in replies if reply.metadata.author), "") or page.author
    by: Speaker = "model"
    return _item(state, tools, branch, sight).model_copy(
        update={
            "kind": "thread" if posts else "article", "title": replies[0].title.strip() or page.title, "author": author, "publish_date": day,
            "last_date": max([day, *(post.date for post in posts)]), "extracted_by": by, "posts": posts,
            "content": "" if span or posts else "\n\n".join(said),
            "start": span.start if span else 0, "end": span.end if span else -1,
        }
    )  # fmt: skip


def _joined(posts: list[Post], more: list[Post], text: str) -> list[Post]:
    """The posts of the windows so far with those of the next: one that was cut at the border becomes whole, none stands twice."""
    joined = list(posts)
    for post in more:
        whole = _whole(joined[-1], post, text) if joined else None
        if whole is not None:
            joined[-1] = whole
        elif not any((old.user, old.text) == (post.user, post.text) for old in joined[-20:]):
            joined.append(post)
    return joined


def _whole(last: Post, post: Post, text: str) -> Post | None:
    """The one post that two are the halves of, None when they are two. A text that ends within a word has no place of its own yet."""
    if 0 <= post.start < last.end and post.end > last.start:
        start, end = min(last.start, post.start), max(last.end, post.end)
        return last.model_copy(update={"text": text[start:end], "start": start, "end": end})
    if post.user == last.user and last.start < 0 and post.text.startswith(last.text):
        return post
    return last if post.user in ("", last.user) and post.start < 0 and last.text.endswith(post.text) else None


def _found(post: ContentPost, sight: Sight, branch: Branch) -> Post:
    span = locate(post.text, sight.page.text)
    text = sight.page.text[span.start : span.end] if span else post.text.strip()
    return Post(
        n=0, user=post.user.strip(), date=(post.date or "")[:25], text=text, page_id=branch.page_id,
        start=span.start if span else -1, end=span.end if span else -1,
    )  # fmt: skip


def _item(state: Collect, tools: Tools, branch: Branch, sight: Sight) -> Item:
    name = "i" + hashlib.sha256(branch.id.encode()).hexdigest()[:9]
    return Item(
        id=name, url=sight.page.final_url or branch.url, kind="article", title=sight.page.title, page_ids=[branch.page_id],
        trail=_trail(state, branch), given=branch.depth == 0 and not branch.parent, step=tools.step,
    )  # fmt: skip


def _trail(state: Collect, branch: Branch) -> list[str]:
    """The site and the titles of the pages that led here, the start page first."""
    titles: list[str] = []
    above = state.tree.get(branch.parent)
    while above is not None and len(titles) < TRAIL:
        titles.insert(0, above.title)
        above = state.tree.get(above.parent)
    return [host(branch.url), *(title for title in titles if title)]
