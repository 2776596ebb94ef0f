"""What was gathered, readable: articles with their text, threads with every post; and what was left out, with the reason."""

from __future__ import annotations

from collections.abc import Sequence

from agent.export.collected import when
from agent.types.collected import Item, Post
from agent.wording import counted
from pages.widgets import chips, safe

KIND = {"article": "article", "thread": "thread", "question": "question"}


def gathered(items: Sequence[Item], run_id: str) -> str:
    """The kept items as HTML, each folded; the only one is open."""
    return f'<div class="ts found">{"".join(_item(item, run_id, open=len(items) == 1) for item in items)}</div>'


def dropped(items: Sequence[Item]) -> str:
    """The items that were left out, as an HTML table."""
    rows = "".join(
        f"<tr><td>{safe.link(item.url, item.title or safe.address(item.url))}</td><td>{KIND[item.kind]}</td><td>{safe.html(item.reason)}</td></tr>"
        for item in items
    )
    return f'<div class="ts scroll"><table><tr><th>What</th><th>Kind</th><th>Why it was left out</th></tr>{rows}</table></div>'


def _item(item: Item, run_id: str, *, open: bool) -> str:
    told = [(KIND[item.kind], "")]
    told += [(counted(len(item.posts), "post"), "")] if item.posts else []
    told += [(item.publish_date[:10] or "date unknown", "" if item.publish_date else "warn")]
    told += [(f"by {item.author}", "")] if item.author and item.kind == "article" else []
    told += [("extracted by the model", "")] if item.extracted_by == "model" else []
    stored = f' · <a href="{safe.stored(run_id, item.page_ids[0])}" target="_blank">stored page</a>' if item.page_ids else ""
    also = "".join(f"<div>Also at {safe.link(url)}</div>" for url in item.also_at)
    also += f"<div>{safe.html(item.trouble)}</div>" if item.trouble else ""
    text = f'<div class="said">{safe.html(item.content)}</div>' if item.content else ""
    return (
        f"<details{' open' if open else ''}><summary><b>{safe.html(item.title or safe.address(item.url))}</b> "
        f'<span class="chips">{chips.row(told)}</span></summary><p class="small soft">{safe.link(item.url)}{stored}</p>'
        f'<p class="small soft">Kept because: {safe.html(item.reason)}</p>{text}{"".join(map(_post, item.posts))}'
        f'<div class="small soft">{also}</div></details>'
    )


def _post(post: Post) -> str:
    role = {"question": " asked", "answer": " answered"}.get(post.role, "")
    unsure = "" if post.start >= 0 else ' <span class="chip warn">not word for word on the page: never quoted</span>'
    return (
        f'<div class="post"><div class="who"><b>{safe.html(post.user or "unknown")}</b>{role} '
        f'<span class="soft">{safe.html(when(post) or "date unknown")}</span>{unsure}</div><div class="said">{safe.html(post.text)}</div></div>'
    )
