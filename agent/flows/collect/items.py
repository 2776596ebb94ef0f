"""What a page holds as articles, threads and questions, which of them are kept (by time range, copies and
relevance), and their passages. A role is asked only where code cannot tell."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from rapidfuzz.distance import Indel

from agent.answering.pages import content_passages
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.evidence.quote_match import find_stretch
from agent.export.collected import format_post_date
from agent.flows.collect.frontier import explain_limit, find_limit
from agent.flows.collect.parsed_page import ParsedPage
from agent.flows.collect.state import CollectRun, log_event
from agent.retrieval.scorer import rank_passages
from agent.roles.collect import CONTENT, RELEVANCE, ContentReply, ItemPreview
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
        id=_make_id(node.id),
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
            id=_make_id(f"{node.id}#{entry.start}"),
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


def _make_id(name: str) -> str:
    return "i" + hashlib.sha256(name.encode()).hexdigest()[:9]


def _extract_item(
    state: CollectRun, tools: RunContext, item: CollectedItem, node: CrawlNode, parsed: ParsedPage
) -> CollectedItem:
    """The item of a page with its posts; an article by its metadata, or when it is much longer than they."""
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
    is_unclear = (node.page_type == "forum_thread" and not posts) or words < MIN_TEXT_WORDS
    asked = _extract_with_model(state, tools, item, node, parsed) if is_unclear and tools.has_model else None
    return asked or _as_article(item, node, parsed, posts)


def _as_article(
    item: CollectedItem, node: CrawlNode, parsed: ParsedPage, comments: list[Post]
) -> CollectedItem:
    """The text of the page up to the first comment."""
    day = parsed.page.published_at or node.detected_date or parsed.own_date
    end = min((post.start for post in comments if post.start > 0), default=-1)
    author = parsed.page.author
    return item.replace(author=author, publish_date=day, last_date=day, posts=comments, end=end)


def _extract_with_model(
    state: CollectRun, tools: RunContext, item: CollectedItem, node: CrawlNode, parsed: ParsedPage
) -> CollectedItem | None:
    """The item that the content role extracts, window by window: all texts and posts, other fields from the
    first reply with them; None without a reply. What is not verbatim on the page is never quoted."""
    page, shown, trouble = parsed.page, 0, ""
    replies = list[ContentReply]()
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
    if not replies:
        return None
    if not trouble and len(page.text) > shown:
        trouble = f"Its first {shown:,} characters were extracted, {len(page.text) - shown:,} were not."
    posts = list[Post]()
    for said in (post for reply in replies for post in reply.posts if post.text.strip()):
        span = find_stretch(said.text, page.text)
        posts.append(
            Post(
                n=len(posts) + 1,
                user=said.user.strip(),
                date=(said.date or "")[:25],
                text=page.text[span.start : span.end] if span else said.text.strip(),
                page_id=node.page_id,
                start=span.start if span else -1,
                end=span.end if span else -1,
            )
        )
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
    """The change of judging the new items; of the relevant ones as many are kept as were asked for."""
    own, texts = state.own, dict[str, str]()
    for item in [*own.kept_items, *own.unjudged_items]:
        texts[item.id] = item.content or "\n\n".join(post.text for post in item.posts)
        if item.page_ids and not item.content and (item.kind == "article" or not item.posts):
            texts[item.id] = item.cut_text(tools.page(item.page_ids[0]).text)
    found = {item.id: item for item in own.kept_items}
    for item in own.unjudged_items:
        why = _find_exclusion(state, item, texts[item.id])
        found[item.id] = item.replace(status="dropped" if why else "new", reason=why)
    found = _judge_relevance(state, tools, _drop_copies(found, texts), texts)
    events, nodes = [], {node.item_id: node for node in reversed(own.tree.values())}
    wanted = own.intent.max_articles
    room = max(0, wanted - len(own.kept_items))
    for item in (found[item.id] for item in own.unjudged_items):
        node = nodes.get(item.id) or CrawlNode(id=item.url, url=item.url)
        if item.status == "kept" and not room:
            item = item.replace(status="dropped", reason=f"{wanted} were asked for, and others came first.")
            found[item.id] = item
        if item.status == "kept":
            room -= 1
            events.append(log_event(tools, "nav:content_added", node, item.title))
        else:
            events.append(log_event(tools, "nav:stopped", node, item.reason))
    return {"items": [item for name, item in found.items() if item != own.items[name]], "events": events}


def _find_exclusion(state: CollectRun, item: CollectedItem, text: str) -> str:
    """Why address, date or language leave an item out; "" for none. No date, or a post in time, passes."""
    day, settings, intent = item.last_date[:10], state.settings, state.own.intent
    if find_limit(state, item.url) == "words":
        return explain_limit(intent, "words", day)
    if not any(map(intent.covers, [day, *(post.date for post in item.posts if post.date)])):
        return explain_limit(intent, "time", day)
    language = detect_language(text) if settings.language else ""
    return settings.date_problem(day) or settings.language_problem(language)


def _drop_copies(items: Mapping[str, CollectedItem], texts: Mapping[str, str]) -> dict[str, CollectedItem]:
    """The items with new copies dropped, in favour of the first; a reply is no copy of what it quotes."""
    found, words = dict(items), dict[str, list[str]]()
    for item in items.values():
        if item.status == "dropped":
            continue
        text = texts[item.id]
        own_words = (text[start:end] for start, end in LinkedText([]).find_own_words(text))
        said = tokenize("\n".join(own_words) or text)
        least = MIN_COPY_SIMILARITY if len(said) >= MIN_COPY_WORDS else 1.0
        first = next(
            (
                name
                for name, other in words.items()
                if item.status == "new" and Indel.normalized_similarity(said, other, score_cutoff=least)
            ),
            None,
        )
        if first is None:
            words[item.id] = said
            continue
        also_at = list(dict.fromkeys([*found[first].also_at, item.url]))
        found[first] = found[first].replace(also_at=also_at)
        why = f"The same text as “{found[first].title}”, which was found first."
        found[item.id] = item.replace(status="dropped", reason=why)
    return found


def _judge_relevance(
    state: CollectRun, tools: RunContext, items: Mapping[str, CollectedItem], texts: Mapping[str, str]
) -> dict[str, CollectedItem]:
    """The items, the new ones judged for relevance in one call; a page the person named is always kept."""
    intent, passages_of, shown = state.own.intent, dict[str, list[Passage]](), list[ItemPreview]()
    found, trouble = dict(items), "Without a model nobody judges whether it is wanted."
    new = [item for item in items.values() if item.status == "new"]
    for item in new:
        why = "You named this page." if item.given else trouble
        found[item.id] = item.replace(status="kept", reason=why)
    for item in (item for item in new if tools.has_model and not item.given):
        every, writers = split_item(item, tools, passages_of)
        text = texts[item.id]
        whole = Passage(id="", page_id="", url=item.url, start=0, end=len(text), text=text)
        shown.append(
            ItemPreview(
                id=item.id,
                title=item.title,
                author=item.author,
                writers=list(dict.fromkeys(writers.values())),
                date=item.last_date[:10],
                passages=fit_item(f"{intent.topic} {intent.author}", every or [whole], PREVIEW_CHARS),
                trail=item.trail,
            )
        )
    if shown:
        judgement = tools.judge(RELEVANCE, intent=intent, today=intent.today, items=shown)
        said = {one.id: one for one in judgement.value.items}
        trouble = f"Nobody judged whether it is wanted. {judgement.failure}".strip()
        for name in (one.id for one in shown):
            status = "kept" if name not in said or said[name].is_relevant else "dropped"
            found[name] = found[name].replace(
                status=status, reason=said[name].reason if name in said else trouble
            )
    return found


def split_item(
    item: CollectedItem, tools: RunContext, passages_of: dict[str, list[Passage]]
) -> tuple[list[Passage], dict[str, str]]:
    """The passages of an item, and by its id who wrote each that is a post, without navigation, what they
    quote from others, and patches. `passages_of` holds those of pages, which many items may share."""
    pages = {page_id: tools.page(page_id) for page_id in item.page_ids}
    found, own_words, writers = list[tuple[Passage, str]](), list[Passage](), dict[str, str]()
    if item.kind == "article" and item.page_ids:
        page_id = item.page_ids[0]
        if page_id not in passages_of:
            passages_of[page_id] = content_passages(pages[page_id], page_id)
        end = item.end if item.end >= 0 else len(pages[page_id].text)
        for passage in passages_of[page_id]:
            part = _cut(passage, item.start - passage.start, end - passage.start)
            day = passage.published_at or item.publish_date
            found += [(part.replace(published_at=day), "")] if part.text.strip() else []
    for post in item.posts:
        if post.start >= 0 and post.page_id in pages:
            page, about = pages[post.page_id], (post.user, format_post_date(post), f"{post.role} {post.n}")
            passage = Passage(
                id="",
                page_id=post.page_id,
                url=page.final_url or page.url,
                heading=", ".join(filter(None, about)),
                published_at=post.date,
                start=post.start,
                end=post.end,
                text=page.text[post.start : post.end],
            )
            found.append((passage, post.user or "someone"))
    linked = {page_id: LinkedText(page.links) for page_id, page in pages.items()}
    for passage, writer in found:
        parts = linked[passage.page_id].find_own_words(passage.text)
        if sum(end - start for start, end in parts) >= len(passage.text.strip()):
            parts = [(0, len(passage.text))]
        for start, end in parts:
            part = _cut(passage, start, end)
            own_words.append(part.replace(id=f"{part.page_id}:{part.start}"))
            if writer:
                writers[own_words[-1].id] = writer
    return own_words, writers


def _cut(passage: Passage, start: int, end: int) -> Passage:
    """The part of a passage between two offsets of its text."""
    start, end = max(0, start), max(0, min(end, len(passage.text)))
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
