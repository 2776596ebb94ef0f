"""From a page to an article, a thread or a question with its answers. Code takes what it can; a role is asked
only where it cannot."""

from __future__ import annotations

import hashlib

from agent.engine.context import RunContext
from agent.evidence.quote_match import find_quote
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.roles.collect.content import CONTENT, ContentPost, ContentReply
from agent.text.urls import host
from agent.types import Actor
from agent.types.collection import CollectedItem, CrawlNode, Post

WINDOW_CHARS = 15_000
"""Characters of a page that the content role is shown at a time; a longer page is shown window by window."""
OVERLAP_CHARS = 500
"""Characters that two windows have in common, so that a post on the border is whole in one of them."""
MAX_WINDOWS = 8
"""Windows of one page: what lies behind them is stored, but not taken apart, and the item says so."""
MIN_TEXT_WORDS = 25
"""Words below which a page's text is too little to be its article."""
MIN_WORDS_BESIDE_POSTS = 150
"""Words outside the posts from which a page that states an article is that article, with comments."""
MAX_TRAIL_TITLES = 6


def extract_item(state: CollectRun, tools: RunContext, branch: CrawlNode, sight: ParsedPage) -> CollectedItem:
    """The item a page holds. `nothing` of a thread is left out: every post that code sees is in it."""
    if state.settings.collect.use_smart_navigation and sight.posts and not _is_article(sight):
        return _build_thread(state, tools, branch, sight)
    unseen = branch.page_type == "forum_thread" and not sight.posts
    if state.settings.collect.use_smart_navigation and (unseen or sight.features.words < MIN_TEXT_WORDS):
        return _extract_with_model(state, tools, branch, sight)
    return _build_article(state, tools, branch, sight)


def append_thread_page(item: CollectedItem, branch: CrawlNode, sight: ParsedPage) -> CollectedItem:
    """The thread with the posts of its next page."""
    known = {(post.user, post.date, post.text) for post in item.posts}
    more = [post for post in sight.posts if (post.user, post.date, post.text) not in known]
    posts = [
        *item.posts,
        *(post.model_copy(update={"n": len(item.posts) + n}) for n, post in enumerate(more, start=1)),
    ]
    last = max([item.last_date, *(post.date for post in more)])
    return item.model_copy(
        update={"posts": posts, "page_ids": [*item.page_ids, branch.page_id], "last_date": last}
    )


def item_text(item: CollectedItem, tools: RunContext) -> str:
    """An item's whole text, for comparing and searching."""
    if item.posts and item.kind != "article":
        return "\n\n".join(post.text for post in item.posts)
    return item.content or (
        tools.page(item.page_ids[0]).text[item.start : item.end if item.end >= 0 else None]
        if item.page_ids
        else ""
    )


def _is_article(sight: ParsedPage) -> bool:
    """An article with comments below it: it states that it is one, or says much more than they do."""
    said = sum(len(post.text.split()) for post in sight.posts)
    beside = sight.features.words - said
    return beside >= MIN_WORDS_BESIDE_POSTS and (sight.features.article or beside > 3 * said)


def _build_thread(
    state: CollectRun, tools: RunContext, branch: CrawlNode, sight: ParsedPage
) -> CollectedItem:
    asked = any(post.role != "post" for post in sight.posts)
    dates = [post.date for post in sight.posts if post.date]
    return _new_item(state, tools, branch, sight).model_copy(
        update={
            "kind": "question" if asked else "thread",
            "posts": sight.posts,
            "author": sight.posts[0].user,
            "publish_date": dates[0] if dates else "",
            "last_date": max(dates, default="") or branch.detected_date,
        }
    )


def _build_article(
    state: CollectRun, tools: RunContext, branch: CrawlNode, sight: ParsedPage
) -> CollectedItem:
    """The page's text, up to the first comment when there are comments: those become its posts."""
    day = sight.page.published_at or branch.detected_date
    smart = state.settings.collect.use_smart_navigation
    first = min((post.start for post in sight.posts if post.start > 0), default=-1) if smart else -1
    return _new_item(state, tools, branch, sight).model_copy(
        update={
            "author": sight.page.author,
            "publish_date": day,
            "last_date": day,
            "posts": sight.posts if smart else [],
            "end": first,
        }
    )


def _extract_with_model(
    state: CollectRun, tools: RunContext, branch: CrawlNode, sight: ParsedPage
) -> CollectedItem:
    """What the content role makes of a page. Posts and text that do not stand on the page word for word are
    kept, but never quoted."""
    page = sight.page
    posts: list[Post] = []
    replies: list[ContentReply] = []
    trouble = ""
    for start in _window_starts(page.text):
        judgement = tools.judge(
            CONTENT,
            topic=state.own.effective_intent(state).topic,
            url=page.final_url or page.url,
            page_type=branch.page_type,
            title=page.title,
            author=page.author,
            published_at=page.published_at,
            text=page.text[start : start + WINDOW_CHARS],
        )
        if judgement.by != "model":
            trouble = f"From character {start:,} on the model did not answer: {judgement.fallback_reason}"
            break
        replies.append(judgement.value)
        posts = _merge_posts(
            posts,
            [_locate_post(post, sight, branch) for post in judgement.value.posts if post.text.strip()],
            page.text,
        )
    if not replies:
        return _build_article(state, tools, branch, sight)
    shown = MAX_WINDOWS * (WINDOW_CHARS - OVERLAP_CHARS) + OVERLAP_CHARS
    if not trouble and len(page.text) > shown:
        trouble = f"Its first {shown:,} characters were taken apart, {len(page.text) - shown:,} were not."
    numbered = [post.model_copy(update={"n": n}) for n, post in enumerate(posts, start=1)]
    return _build_from_replies(state, tools, branch, sight, replies, numbered).model_copy(
        update={"trouble": trouble}
    )


def _window_starts(text: str) -> range:
    """Where each window of a text begins."""
    return range(
        0,
        min(max(1, len(text) - OVERLAP_CHARS), MAX_WINDOWS * (WINDOW_CHARS - OVERLAP_CHARS)),
        WINDOW_CHARS - OVERLAP_CHARS,
    )


def _build_from_replies(
    state: CollectRun,
    tools: RunContext,
    branch: CrawlNode,
    sight: ParsedPage,
    replies: list[ContentReply],
    posts: list[Post],
) -> CollectedItem:
    """The item of the replies about a page's windows: what is told once by the first that tells it, the text
    by all."""
    page = sight.page
    said = [reply.content.strip() for reply in replies if reply.content.strip()]
    span = find_quote(said[0], page.text) if len(said) == 1 else None
    told = next((reply.publish_date for reply in replies if reply.publish_date), "") or page.published_at
    day = told or (posts[0].date if posts else "") or branch.detected_date
    author = next((reply.metadata.author for reply in replies if reply.metadata.author), "") or page.author
    by: Actor = "model"
    return _new_item(state, tools, branch, sight).model_copy(
        update={
            "kind": "thread" if posts else "article",
            "title": replies[0].title.strip() or page.title,
            "author": author,
            "publish_date": day,
            "last_date": max([day, *(post.date for post in posts)]),
            "extracted_by": by,
            "posts": posts,
            "content": "" if span or posts else "\n\n".join(said),
            "start": span.start if span else 0,
            "end": span.end if span else -1,
        }
    )


def _merge_posts(posts: list[Post], more: list[Post], text: str) -> list[Post]:
    """The posts of the windows so far with those of the next: one that was cut at the border becomes whole,
    none stands twice."""
    joined = list(posts)
    for post in more:
        whole = _join_halves(joined[-1], post, text) if joined else None
        if whole is not None:
            joined[-1] = whole
        elif not any((old.user, old.text) == (post.user, post.text) for old in joined[-20:]):
            joined.append(post)
    return joined


def _join_halves(last: Post, post: Post, text: str) -> Post | None:
    """The one post that two are the halves of, None when they are two. A text that ends within a word has no
    place of its own yet."""
    if 0 <= post.start < last.end and post.end > last.start:
        start, end = min(last.start, post.start), max(last.end, post.end)
        return last.model_copy(update={"text": text[start:end], "start": start, "end": end})
    if post.user == last.user and last.start < 0 and post.text.startswith(last.text):
        return post
    return last if post.user in ("", last.user) and post.start < 0 and last.text.endswith(post.text) else None


def _locate_post(post: ContentPost, sight: ParsedPage, branch: CrawlNode) -> Post:
    span = find_quote(post.text, sight.page.text)
    text = sight.page.text[span.start : span.end] if span else post.text.strip()
    return Post(
        n=0,
        user=post.user.strip(),
        date=(post.date or "")[:25],
        text=text,
        page_id=branch.page_id,
        start=span.start if span else -1,
        end=span.end if span else -1,
    )


def _new_item(state: CollectRun, tools: RunContext, branch: CrawlNode, sight: ParsedPage) -> CollectedItem:
    name = "i" + hashlib.sha256(branch.id.encode()).hexdigest()[:9]
    return CollectedItem(
        id=name,
        url=sight.page.final_url or branch.url,
        kind="article",
        title=sight.page.title,
        page_ids=[branch.page_id],
        trail=_title_trail(state, branch),
        given=branch.depth == 0 and not branch.parent,
        step=tools.step,
    )


def _title_trail(state: CollectRun, branch: CrawlNode) -> list[str]:
    """The site and the titles of the pages that led here, the start page first."""
    titles: list[str] = []
    above = state.own.tree.get(branch.parent)
    while above is not None and len(titles) < MAX_TRAIL_TITLES:
        titles.insert(0, above.title)
        above = state.own.tree.get(above.parent)
    return [host(branch.url), *(title for title in titles if title)]
