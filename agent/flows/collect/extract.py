"""Turns a page into an article, a thread or a question; a role is asked only where code cannot."""

from __future__ import annotations

import hashlib
from urllib.parse import quote

from agent.engine.context import RunContext
from agent.evidence.quote_match import find_stretch
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun
from agent.roles.collect_items import CONTENT, ContentPost, ContentReply
from agent.text.urls import host
from agent.types.collection import CollectedItem, CrawlNode, Post

WINDOW_CHARS = 15_000
"""Characters of a page in one prompt; a longer page is shown window by window."""
OVERLAP_CHARS = 500
"""Characters that two windows share, so that a post on the border is complete in one of them."""
MAX_WINDOWS = 8
"""Windows of one page; the rest is stored but not extracted, and the item says so."""
MIN_TEXT_WORDS = 25
"""A page with fewer words is not taken as an article."""
MIN_WORDS_BESIDE_POSTS = 150
"""Words outside the posts from which a page can be an article with comments."""
MAX_TRAIL_TITLES = 6
MAX_SECTION_ITEMS = 60
"""Entries of one changelog that are judged; more would not fit a prompt."""
RECENT_POSTS = 20
"""Posts of earlier windows that a post is compared with."""


def extract_items(
    state: CollectRun, tools: RunContext, node: CrawlNode, parsed: ParsedPage
) -> list[CollectedItem]:
    """What a page holds: the entries of a changelog that are in the time range (the newest where none is), or
    one item. An entry of a list is one item unless a time is asked for."""
    own, intent = state.own, state.own.effective_intent(state)
    is_entry = node.parent in own.tree and own.tree[node.parent].action == "EXTRACT_LINKS"
    is_whole = is_entry and not (own.since(state) or intent.until or intent.newest)
    if is_whole or not parsed.sections or not state.settings.collect.use_smart_navigation:
        return [_extract_item(state, tools, node, parsed)]
    base = _new_item(state, tools, node, parsed)
    timely = [entry for entry in parsed.sections if own.is_in_range(state, entry.date)]
    if intent.newest:
        timely.sort(key=lambda entry: entry.date, reverse=True)
    newest = max(parsed.sections, key=lambda entry: entry.date)
    trail = [*base.trail, *filter(None, [parsed.page.title])]
    return [
        base.replace(
            id="i" + hashlib.sha256(f"{node.id}#{entry.start}".encode()).hexdigest()[:9],
            url=f"{base.url.partition('#')[0]}#:~:text={quote(entry.title[:60])}",
            title=entry.title[:300],
            start=entry.start,
            end=entry.end,
            publish_date=entry.date,
            last_date=entry.date,
            trail=trail,
            given=False,
        )
        for entry in (timely or [newest])[:MAX_SECTION_ITEMS]
    ]


def _extract_item(state: CollectRun, tools: RunContext, node: CrawlNode, parsed: ParsedPage) -> CollectedItem:
    """The item of a page; it contains every post that code finds."""
    item, is_smart = _new_item(state, tools, node, parsed), state.settings.collect.use_smart_navigation
    if not is_smart:
        return _as_article(item, node, parsed, [])
    if parsed.posts and not _is_article(parsed):
        return _as_thread(item, node, parsed)
    no_posts_found = node.page_type == "forum_thread" and not parsed.posts
    if no_posts_found or parsed.features.words < MIN_TEXT_WORDS:
        return _extract_with_model(state, tools, item, node, parsed)
    return _as_article(item, node, parsed, parsed.posts)


def append_thread_page(item: CollectedItem, node: CrawlNode, parsed: ParsedPage) -> CollectedItem:
    """The thread with the posts of its next page."""
    known = {(post.user, post.date, post.text) for post in item.posts}
    more = [post for post in parsed.posts if (post.user, post.date, post.text) not in known]
    numbered = [post.replace(n=n) for n, post in enumerate(more, start=len(item.posts) + 1)]
    return item.replace(
        posts=[*item.posts, *numbered],
        page_ids=[*item.page_ids, node.page_id],
        last_date=max([item.last_date, *(post.date for post in more)]),
    )


def item_text(item: CollectedItem, tools: RunContext) -> str:
    """The whole text of an item, for comparing and searching."""
    if item.posts and item.kind != "article":
        return "\n\n".join(post.text for post in item.posts)
    if item.content or not item.page_ids:
        return item.content
    return tools.page(item.page_ids[0]).text[item.start : item.end if item.end >= 0 else None]


def _is_article(parsed: ParsedPage) -> bool:
    """Whether a page with posts is an article: its metadata says so, or it is much longer than its posts."""
    in_posts = sum(len(post.text.split()) for post in parsed.posts)
    beside = parsed.features.words - in_posts
    return beside >= MIN_WORDS_BESIDE_POSTS and (parsed.features.article or beside > 3 * in_posts)


def _as_thread(item: CollectedItem, node: CrawlNode, parsed: ParsedPage) -> CollectedItem:
    dates = [post.date for post in parsed.posts if post.date]
    return item.replace(
        kind="question" if any(post.role != "post" for post in parsed.posts) else "thread",
        posts=parsed.posts,
        author=parsed.posts[0].user,
        publish_date=dates[0] if dates else "",
        last_date=max(dates, default="") or node.detected_date,
    )


def _as_article(
    item: CollectedItem, node: CrawlNode, parsed: ParsedPage, comments: list[Post]
) -> CollectedItem:
    """The text of the page up to the first comment."""
    day = parsed.page.published_at or node.detected_date or parsed.own_date
    return item.replace(
        author=parsed.page.author,
        publish_date=day,
        last_date=day,
        posts=comments,
        end=min((post.start for post in comments if post.start > 0), default=-1),
    )


def _extract_with_model(
    state: CollectRun, tools: RunContext, item: CollectedItem, node: CrawlNode, parsed: ParsedPage
) -> CollectedItem:
    """The item that the content role extracts. What is not verbatim on the page is never quoted."""
    page = parsed.page
    posts: list[Post] = []
    replies: list[ContentReply] = []
    trouble = ""
    step = WINDOW_CHARS - OVERLAP_CHARS
    for start in range(0, min(max(1, len(page.text) - OVERLAP_CHARS), MAX_WINDOWS * step), step):
        judgement = tools.judge(
            CONTENT,
            topic=state.own.effective_intent(state).topic,
            url=page.final_url or page.url,
            page_type=node.page_type,
            title=page.title,
            author=page.author,
            published_at=page.published_at,
            text=page.text[start : start + WINDOW_CHARS],
        )
        if judgement.by != "model":
            trouble = f"From character {start:,} on the model did not answer: {judgement.fallback_reason}"
            break
        replies.append(judgement.value)
        for post in filter(lambda post: post.text.strip(), judgement.value.posts):
            _add_post(posts, _locate_post(post, parsed, node), page.text)
    if not replies:
        return _as_article(item, node, parsed, parsed.posts)
    shown = MAX_WINDOWS * step + OVERLAP_CHARS
    if not trouble and len(page.text) > shown:
        trouble = f"Its first {shown:,} characters were extracted, {len(page.text) - shown:,} were not."
    numbered = [post.replace(n=n) for n, post in enumerate(posts, start=1)]
    return _from_replies(item, node, parsed, replies, numbered).replace(trouble=trouble)


def _from_replies(
    item: CollectedItem, node: CrawlNode, parsed: ParsedPage, replies: list[ContentReply], posts: list[Post]
) -> CollectedItem:
    """The item of the replies about a page's windows: all texts, other fields from the first with them."""
    page = parsed.page
    texts = [text for reply in replies if (text := reply.content.strip())]
    span = find_stretch(texts[0], page.text) if len(texts) == 1 else None
    stated = next((reply.publish_date for reply in replies if reply.publish_date), "") or page.published_at
    day = stated or (posts[0].date if posts else "") or node.detected_date
    return item.replace(
        kind="thread" if posts else "article",
        title=replies[0].title.strip() or page.title,
        author=next((reply.metadata.author for reply in replies if reply.metadata.author), "") or page.author,
        publish_date=day,
        last_date=max([day, *(post.date for post in posts)]),
        extracted_by="model",
        posts=posts,
        content="" if span or posts else "\n\n".join(texts),
        start=span.start if span else 0,
        end=span.end if span else -1,
    )


def _add_post(posts: list[Post], post: Post, text: str) -> None:
    """Append a post of the next window unless it is known; join the halves of one cut at the border."""
    whole = _join_halves(posts[-1], post, text) if posts else None
    if whole is not None:
        posts[-1] = whole
    elif (post.user, post.text) not in {(old.user, old.text) for old in posts[-RECENT_POSTS:]}:
        posts.append(post)


def _join_halves(last: Post, post: Post, text: str) -> Post | None:
    """The post that two overlapping windows contain parts of; None when they are two posts."""
    if 0 <= post.start < last.end and post.end > last.start:
        start, end = min(last.start, post.start), max(last.end, post.end)
        return last.replace(text=text[start:end], start=start, end=end)
    if post.user == last.user and last.start < 0 and post.text.startswith(last.text):
        return post
    return last if post.user in ("", last.user) and post.start < 0 and last.text.endswith(post.text) else None


def _locate_post(post: ContentPost, parsed: ParsedPage, node: CrawlNode) -> Post:
    span = find_stretch(post.text, parsed.page.text)
    return Post(
        n=0,
        user=post.user.strip(),
        date=(post.date or "")[:25],
        text=parsed.page.text[span.start : span.end] if span else post.text.strip(),
        page_id=node.page_id,
        start=span.start if span else -1,
        end=span.end if span else -1,
    )


def _new_item(state: CollectRun, tools: RunContext, node: CrawlNode, parsed: ParsedPage) -> CollectedItem:
    titles: list[str] = []
    above = state.own.tree.get(node.parent)
    while above is not None and len(titles) < MAX_TRAIL_TITLES:
        titles.insert(0, above.title)
        above = state.own.tree.get(above.parent)
    return CollectedItem(
        id="i" + hashlib.sha256(node.id.encode()).hexdigest()[:9],
        url=parsed.page.final_url or node.url,
        kind="article",
        title=parsed.page.title,
        page_ids=[node.page_id],
        trail=[host(node.url), *filter(None, titles)],
        given=node.depth == 0 and not node.parent,
        step=tools.step,
    )
