"""What a page holds as articles, threads and questions, which of them are kept (by time range, copies and
relevance), and their passages. A role is asked only where code cannot tell."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

from rapidfuzz.distance import Indel

from agent.answering.pages import content_passages
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence.quote_match import find_stretch
from agent.export.collected import format_post_date
from agent.flows.collect.frontier import EXCLUDED_BY_PERSON, explain_untimely, is_excluded
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun, log_event
from agent.retrieval.scorer import rank_passages
from agent.roles.collect import CONTENT, RELEVANCE, ContentReply, ItemPreview, ItemVerdict
from agent.text.language import detect_language
from agent.text.tokens import tokenize
from agent.text.urls import host
from agent.types import Passage
from agent.types.collection import CollectedItem, CrawlNode, Post
from agent.web.extract.dated_sections import LinkedText

MIN_COPY_SIMILARITY, MIN_COPY_WORDS = 0.7, 60
"""The likeness of two texts' words in their order (rapidfuzz `Indel`, 0 to 1) from which one is a copy: a new
headline, a line added or a short ending cut leave it one, a quoted piece and another report of the same event
do not (below .5 in the demo world). A text of fewer words (a release note) is a copy of its equal only."""
WINDOW_CHARS = 15_000
"""Characters of a page in one prompt; a longer page is shown window by window, each to the end of a line."""
MAX_WINDOWS = 8
"""Windows of one page; the rest is stored but not extracted, and the item says so."""
MIN_TEXT_WORDS = 25
"""A page with fewer words is not taken as an article."""
MIN_WORDS_BESIDE_POSTS = 150
"""Words outside the posts from which a page can be an article with comments."""
MAX_SECTION_ITEMS = 60
"""Entries of one changelog that are judged; more would not fit a prompt."""
PREVIEW_CHARS = 800
"""Characters of an item by which its relevance is judged: its beginning, and what fits the request best."""


def extract_items(
    state: CollectRun, tools: RunContext, node: CrawlNode, parsed: ParsedPage
) -> list[CollectedItem]:
    """What a page holds: the entries of a changelog that are in the time range (the newest where none is), or
    one item. An entry of a list is one item unless a time is asked for."""
    own, intent, page, titles = state.own, state.own.intent, parsed.page, list[str]()
    above = parent = own.tree.get(node.parent)
    while above is not None:
        titles.insert(0, above.title)
        above = own.tree.get(above.parent)
    item = CollectedItem(
        id="i" + hashlib.sha256(node.id.encode()).hexdigest()[:9],
        url=page.final_url or node.url,
        kind="article",
        title=page.title,
        page_ids=[node.page_id],
        trail=[host(node.url), *filter(None, titles)],
        given=node.depth == 0 and not node.parent,
        step=tools.step,
    )
    if not state.settings.collect.use_smart_navigation:
        return [_as_article(item, node, parsed, [])]
    is_entry = parent is not None and parent.action == "EXTRACT_LINKS"
    is_whole = is_entry and not (intent.since or intent.until or intent.newest)
    if is_whole or not parsed.sections:
        return [_extract_item(state, tools, item, node, parsed)]
    timely = [entry for entry in parsed.sections if intent.covers(entry.date)]
    if intent.newest:
        timely.sort(key=lambda entry: entry.date, reverse=True)
    return [
        item.replace(
            id="i" + hashlib.sha256(f"{node.id}#{entry.start}".encode()).hexdigest()[:9],
            url=f"{item.url.partition('#')[0]}#:~:text={quote(entry.title[:60])}",
            title=entry.title[:300],
            start=entry.start,
            end=entry.end,
            publish_date=entry.date,
            last_date=entry.date,
            trail=[*item.trail, *filter(None, [page.title])],
            given=False,
        )
        for entry in (timely or [max(parsed.sections, key=lambda entry: entry.date)])[:MAX_SECTION_ITEMS]
    ]


def _extract_item(
    state: CollectRun, tools: RunContext, item: CollectedItem, node: CrawlNode, parsed: ParsedPage
) -> CollectedItem:
    """The item of a page with every post that code finds. A page with posts is an article when its metadata
    says so, or when it is much longer than they are."""
    posts, words = parsed.posts, parsed.features.words
    in_posts = sum(len(post.text.split()) for post in posts)
    beside = words - in_posts
    is_article = beside >= MIN_WORDS_BESIDE_POSTS and (parsed.features.article or beside > 3 * in_posts)
    if posts and not is_article:
        dates = [post.date for post in posts if post.date]
        return item.replace(
            kind="question" if any(post.role != "post" for post in posts) else "thread",
            posts=posts,
            author=posts[0].user,
            publish_date=dates[0] if dates else "",
            last_date=max(dates, default="") or node.detected_date,
        )
    if (node.page_type == "forum_thread" and not posts) or words < MIN_TEXT_WORDS:
        return _extract_with_model(state, tools, item, node, parsed)
    return _as_article(item, node, parsed, posts)


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
    """The item that the content role extracts, window by window: all texts and posts, other fields from the
    first reply with them. What is not verbatim on the page is never quoted."""
    if not tools.has_model:
        return _as_article(item, node, parsed, parsed.posts)
    page, shown, trouble = parsed.page, 0, ""
    posts, replies = list[Post](), list[ContentReply]()
    while not replies or (shown < len(page.text) and len(replies) < MAX_WINDOWS):
        window = page.text[shown : shown + WINDOW_CHARS]
        if shown + WINDOW_CHARS < len(page.text):
            window = window[: window.rfind("\n", WINDOW_CHARS // 2) + 1] or window
        judgement = tools.judge(
            CONTENT,
            topic=state.own.intent.topic,
            url=page.final_url or page.url,
            page_type=node.page_type,
            title=page.title,
            author=page.author,
            published_at=page.published_at,
            text=window,
        )
        if judgement.by != "model":
            trouble = f"From character {shown:,} on the model did not answer: {judgement.failure}"
            break
        shown += len(window)
        replies.append(judgement.value)
        for said in judgement.value.posts:
            if not said.text.strip():
                continue
            post = Post(
                n=len(posts) + 1,
                user=said.user.strip(),
                date=(said.date or "")[:25],
                text=said.text.strip(),
                page_id=node.page_id,
            )
            if span := find_stretch(said.text, page.text):
                words = page.text[span.start : span.end]
                post = post.replace(text=words, start=span.start, end=span.end)
            posts.append(post)
    if not replies:
        return _as_article(item, node, parsed, parsed.posts)
    if not trouble and len(page.text) > shown:
        trouble = f"Its first {shown:,} characters were extracted, {len(page.text) - shown:,} were not."
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
        trouble=trouble,
    )


def filter_items(state: CollectRun, tools: RunContext) -> Change:
    """The change of judging all items that were not judged yet. Of those found relevant as many are kept as
    were asked for; one page may have many."""
    own, texts = state.own, dict[str, str]()
    for item in [*own.kept_items, *own.unjudged_items]:
        if item.posts and item.kind != "article":
            texts[item.id] = "\n\n".join(post.text for post in item.posts)
        else:
            end = item.end if item.end >= 0 else None
            page = tools.page(item.page_ids[0]).text if item.page_ids and not item.content else ""
            texts[item.id] = item.content or page[item.start : end]
    timely = [_drop_if_excluded(state, item, texts[item.id]) for item in own.unjudged_items]
    unique, originals = _drop_copies(own.kept_items, timely, texts)
    judged = _judge_relevance(state, tools, unique, texts)
    wanted = own.intent.max_articles
    kept = [item.id for item in judged if item.status == "kept"]
    surplus = kept[max(0, wanted - len(own.kept_items)) :]
    too_many = {"status": "dropped", "reason": f"{wanted} were asked for, and others came first."}
    settled = [item.replace(**too_many) if item.id in surplus else item for item in judged]
    events, nodes = [], {node.item_id: node for node in reversed(own.tree.values())}
    for item in settled:
        node = nodes.get(item.id) or CrawlNode(id=item.url, url=item.url)
        if item.status == "kept":
            posts = len(item.posts)
            added = log_event(
                tools, "nav:content_added", node, item.title, kind=item.kind, item=item.id, posts=posts
            )
            events.append(added)
        else:
            events.append(log_event(tools, "nav:stopped", node, item.reason))
    return {"items": [*originals, *settled], "events": events}


def _drop_if_excluded(state: CollectRun, item: CollectedItem, text: str) -> CollectedItem:
    """The item, dropped when a person excluded its address, or when its date or language is filtered out.

    An unknown date passes, and a thread with a post in time."""
    day, source_filter, intent = item.last_date[:10], state.settings.source_filter, state.own.intent
    if is_excluded(intent, item.url):
        why = EXCLUDED_BY_PERSON
    elif not any(map(intent.covers, [day, *(post.date for post in item.posts if post.date)])):
        why = explain_untimely(intent, day)
    else:
        language = detect_language(text) if source_filter.language else ""
        why = source_filter.date_problem(day) or source_filter.language_problem(language)
    return item.replace(status="dropped", reason=why) if why else item


def _drop_copies(
    kept: Sequence[CollectedItem], items: Sequence[CollectedItem], texts: dict[str, str]
) -> tuple[list[CollectedItem], list[CollectedItem]]:
    """The items with copies of earlier ones dropped, and those of `kept` that now list further addresses. A
    reply is no copy of what it quotes."""
    originals, settled = {item.id: item for item in kept}, dict[str, CollectedItem]()
    words: dict[str, list[str]] = {}
    for item in [*kept, *items]:
        if item.id not in originals:
            settled[item.id] = item
        if item.id not in originals and item.status != "new":
            continue
        text = texts[item.id]
        own_words = (text[start:end] for start, end in LinkedText([]).find_own_words(text))
        said = tokenize("\n".join(own_words) or text)
        least = MIN_COPY_SIMILARITY if len(said) >= MIN_COPY_WORDS else 1.0
        likeness = (
            (name, Indel.normalized_similarity(said, other, score_cutoff=least))
            for name, other in words.items()
            if item.id not in originals
        )
        first = next((name for name, share in likeness if share), None)
        if first is None:
            words[item.id] = said
            continue
        known = settled if first in settled else originals
        known[first] = known[first].replace(also_at=list(dict.fromkeys([*known[first].also_at, item.url])))
        why = f"The same text as “{known[first].title}”, which was found first."
        settled[item.id] = item.replace(status="dropped", reason=why)
    return list(settled.values()), [originals[item.id] for item in kept if originals[item.id] is not item]


def _judge_relevance(
    state: CollectRun, tools: RunContext, items: Sequence[CollectedItem], texts: dict[str, str]
) -> list[CollectedItem]:
    """The items, the new ones with their relevance, judged in one call; a page the person named is always
    kept."""
    intent, passages_of = state.own.intent, dict[str, list[Passage]]()

    def show(item: CollectedItem) -> ItemPreview:
        every, writers = split_item(item, tools, passages_of)
        text = texts[item.id]
        whole = Passage(id="", page_id="", url=item.url, start=0, end=len(text), text=text)
        return ItemPreview(
            id=item.id,
            title=item.title,
            author=item.author,
            writers=list(dict.fromkeys(writers.values())),
            date=item.last_date[:10],
            passages=fit_item(f"{intent.topic} {intent.author}", every or [whole], PREVIEW_CHARS),
            trail=item.trail,
        )

    unknown = [item for item in items if item.status == "new" and not item.given]
    said, trouble = dict[str, ItemVerdict](), "Without a model nobody judges whether it is wanted."
    if unknown and tools.has_model:
        shown = [show(item) for item in unknown]
        judgement = tools.judge(RELEVANCE, intent=intent, today=intent.today, items=shown)
        said = {one.id: one for one in judgement.value.items}
        trouble = f"Nobody judged whether it is wanted. {judgement.failure}".strip()
    judged = []
    for item in items:
        if item.status == "new" and item.given:
            item = item.replace(status="kept", reason="You named this page.")
        elif item.status == "new" and (verdict := said.get(item.id)):
            status = "kept" if verdict.is_relevant else "dropped"
            item = item.replace(status=status, reason=verdict.reason)
        elif item.status == "new":
            item = item.replace(status="kept", reason=trouble)
        judged.append(item)
    return judged


def split_item(
    item: CollectedItem, tools: RunContext, passages_of: dict[str, list[Passage]]
) -> tuple[list[Passage], dict[str, str]]:
    """The passages of an item, and who wrote those that are posts, by the passage's id. They are without
    navigation, what they quote from others, and patches. `passages_of` holds those of pages that were split:
    a changelog has many items."""
    pages = {page_id: tools.page(page_id) for page_id in item.page_ids}
    found, writers, own_words = list[Passage](), dict[str, str](), list[Passage]()
    if item.kind == "article" and item.page_ids:
        page_id = item.page_ids[0]
        if page_id not in passages_of:
            passages_of[page_id] = content_passages(pages[page_id], page_id)
        end = item.end if item.end >= 0 else len(pages[page_id].text)
        for passage in passages_of[page_id]:
            if passage.start < end and passage.end > item.start:
                part = _cut(passage, item.start - passage.start, end - passage.start)
                name = passage.id if part == passage else f"{passage.id}@{part.start}"
                day = passage.published_at or item.publish_date
                found += [part.replace(id=name, published_at=day)] if part.text.strip() else []
    for post in item.posts:
        if post.start >= 0 and post.page_id in pages:
            page, about = pages[post.page_id], (post.user, format_post_date(post), f"{post.role} {post.n}")
            passage = Passage(
                id=f"{post.page_id}:post{post.n}",
                page_id=post.page_id,
                url=page.final_url or page.url,
                heading=", ".join(filter(None, about)),
                published_at=post.date,
                start=post.start,
                end=post.end,
                text=page.text[post.start : post.end],
            )
            found.append(passage)
            writers[passage.id] = post.user or "someone"
    linked = {page_id: LinkedText(page.links) for page_id, page in pages.items()}
    for passage in found:
        parts = linked[passage.page_id].find_own_words(passage.text)
        if sum(end - start for start, end in parts) >= len(passage.text.strip()):
            parts = [(0, len(passage.text))]
        for n, (start, end) in enumerate(parts):
            part = _cut(passage, start, end)
            own_words.append(part.replace(id=f"{passage.id}.{n}") if n else part)
            if passage.id in writers:
                writers[own_words[-1].id] = writers[passage.id]
    return own_words, writers


def _cut(passage: Passage, start: int, end: int) -> Passage:
    """The part of a passage between two offsets of its text."""
    start, end = max(0, start), min(end, len(passage.text))
    return passage.replace(text=passage.text[start:end], start=passage.start + start, end=passage.start + end)


def fit_item(topic: str, passages: Sequence[Passage], room: int) -> list[Passage]:
    """The passages that fit, in their order: all of them, or the first one, then the best for the topic, then
    the earliest; the last that is taken is cut."""
    if sum(len(passage.text) for passage in passages) <= room:
        return list(passages)
    ranked = rank_passages(topic, passages, len(passages)) if topic else []
    kept: dict[str, Passage] = {}
    for passage in [*passages[:1], *ranked, *passages]:
        if room > 0 and passage.id not in kept:
            kept[passage.id] = _cut(passage, 0, room)
            room -= len(passage.text)
    return [kept[passage.id] for passage in passages if passage.id in kept]
