"""What was gathered, readable: articles, threads with every post; and what was left out, with why."""

from __future__ import annotations

from collections.abc import Sequence

from agent.export.collected import format_post_date
from agent.flows.collect.state import CollectRun
from agent.text.plurals import format_count
from agent.text.urls import canonicalize
from agent.types.collection import CollectedItem, Post
from pages.widgets.shell import badges, escape, markup

KIND_LABELS = {"article": "article", "thread": "thread", "question": "question"}


def render_items(items: Sequence[CollectedItem], run_id: str) -> str:
    """The kept items as HTML, each folded; the only one is open."""
    return (
        '<div class="ts found">'
        f"{''.join(_render_item(item, run_id, open=len(items) == 1) for item in items)}</div>"
    )


def list_left_out(state: CollectRun) -> list[tuple[str, str, str, str]]:
    """The items and the entries of listings that were left out: address, title, kind and reason."""
    items = [item for item in state.own.items.values() if item.status == "dropped"]
    known = {canonicalize(item.url) for item in items}
    nodes = [node for node in state.own.tree.values() if node.status == "dropped" and node.id not in known]
    return [
        *((item.url, item.title, KIND_LABELS[item.kind], item.reason) for item in items),
        *((node.url, node.anchor, "entry", node.ended) for node in nodes),
    ]


def render_left_out(left_out: Sequence[tuple[str, str, str, str]]) -> str:
    """What `list_left_out` found, as an HTML table."""
    rows = [
        [escape.render_link(url, title or escape.shorten_url(url)), kind, escape.html(why)]
        for url, title, kind, why in left_out
    ]
    return f'<div class="ts">{markup.table(["What", "Kind", "Why it was left out"], rows)}</div>'


def _render_item(item: CollectedItem, run_id: str, *, open: bool) -> str:
    told = [(KIND_LABELS[item.kind], "")]
    told += [(format_count(len(item.posts), "post"), "")] if item.posts else []
    told += [(item.publish_date[:10] or "date unknown", "" if item.publish_date else "warn")]
    told += [(f"by {item.author}", "")] if item.author and item.kind == "article" else []
    told += [("extracted by the model", "")] if item.extracted_by == "model" else []
    stored = markup.stored_page_link(run_id, item.page_ids[0]) if item.page_ids else ""
    also = "".join(f"<div>Also at {escape.render_link(url)}</div>" for url in item.also_at)
    also += f"<div>{escape.html(item.trouble)}</div>" if item.trouble else ""
    text = f'<div class="said">{escape.html(item.content)}</div>' if item.content else ""
    return (
        f"<details{' open' if open else ''}><summary><b>"
        f"{escape.html(item.title or escape.shorten_url(item.url))}</b> "
        f'<span class="chips">{badges.render_row(told)}</span></summary><p class="small soft">'
        f"{escape.render_link(item.url)}{stored}</p>"
        f'<p class="small soft">Kept because: {escape.html(item.reason)}</p>{text}'
        f"{''.join(map(_render_post, item.posts))}"
        f'<div class="small soft">{also}</div></details>'
    )


def _render_post(post: Post) -> str:
    role = {"question": " asked", "answer": " answered"}.get(post.role, "")
    unsure = (
        ""
        if post.start >= 0
        else ' <span class="chip warn">not word for word on the page: never quoted</span>'
    )
    return (
        f'<div class="post"><div class="who"><b>{escape.html(post.user or "unknown")}</b>{role} '
        f'<span class="soft">{escape.html(format_post_date(post) or "date unknown")}</span>{unsure}'
        f'</div><div class="said">{escape.html(post.text)}</div></div>'
    )
