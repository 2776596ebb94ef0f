"""A stored page as it was read, its kept quotes marked. Text only: nothing is executed or loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from agent.types import LANGUAGES, PAGE_ORIGIN_LABELS, Fact, Page, PageRef
from agent.types.source_filter import normalize_language
from agent.web import mime
from pages.widgets.shell import escape, labels, markup

WINDOW_CHARS = 40_000
"""Characters of a text that are drawn at once: a page of a megabyte must stay usable."""
CONTEXT_CHARS = 220
"""Characters shown before and after a quote when it is shown in its context."""


def find_quote_spans(text: str, facts: Sequence[Fact]) -> list[tuple[int, int, str]]:
    """Where the stretches of the facts' quotes are: (start, end, fact id), in order, without overlaps."""
    found: list[tuple[int, int, str]] = []
    places = [(start, -end, fact.id) for fact in facts for start, end in fact.places]
    for start, end, fact_id in sorted(places):
        if -end <= len(text) and (not found or start >= found[-1][1]):
            found.append((start, -end, fact_id))
    return found


def render_marked(
    text: str, facts: Sequence[Fact], *, chosen: str = "", start: int = 0, end: int | None = None
) -> str:
    """The text from `start` to `end` as HTML, every quote inside it marked, that of the chosen fact most."""
    end = len(text) if end is None else end
    parts, at = [], start
    for a, b, fact_id in find_quote_spans(text, facts):
        a, b = max(a, start), min(b, end)
        if a >= b:
            continue
        css = ' class="chosen"' if fact_id == chosen else ""
        parts += [escape.html(text[at:a]), f"<mark{css}>{escape.html(text[a:b])}</mark>"]
        at = b
    return "".join(parts) + escape.html(text[at:end])


def render_quote_in_context(text: str, fact: Fact, facts: Sequence[Fact]) -> str:
    """A fact and its quote among the words around it, as HTML."""
    if not 0 <= fact.start < fact.end <= len(text):
        return (
            f'<p><b>{escape.html(fact.statement)}</b></p><p class="small soft">Its quote '
            "was not found in the stored text.</p>"
        )
    start = text.rfind(" ", 0, max(0, fact.start - CONTEXT_CHARS)) + 1
    end = text.find(" ", fact.end + CONTEXT_CHARS) if fact.end + CONTEXT_CHARS < len(text) else -1
    end = len(text) if end < 0 else end
    before, after = "… " if start else "", " …" if end < len(text) else ""
    around = render_marked(text, facts, chosen=fact.id, start=start, end=end)
    return (
        f'<p><b>{escape.html(fact.statement)}</b></p><div class="quote small '
        f'paper">{before}{around}{after}</div>'
    )


def render_quote_alone(text: str, fact: Fact) -> str:
    """A quote, marked among the words around it where its page's text is known, as HTML."""
    if not 0 <= fact.start < fact.end <= len(text):
        return f'<div class="quote">{escape.html(fact.quote)}</div>'
    start = (
        max(text.rfind("\n", 0, fact.start), text.rfind(". ", 0, fact.start) + 1, fact.start - CONTEXT_CHARS)
        + 1
    )
    ends = [at for at in (text.find("\n", fact.end), text.find(". ", fact.end) + 1) if at > 0]
    end = min([*ends, fact.end + CONTEXT_CHARS, len(text)])
    marked = render_marked(text, [fact], chosen=fact.id, start=max(start, 0), end=end)
    return f'<div class="quote">{marked}</div>'


def parse_passage(text: str, start: str, end: str) -> Fact | None:
    """The stretch between two offsets (from an address) as a mark; None when they do not fit the text."""
    if not (start.isascii() and start.isdigit() and end.isascii() and end.isdigit()):
        return None
    a, b = int(start[:12]), int(end[:12])
    return Fact(id="passage", statement="", quote=text[a:b], start=a, end=b) if a < b <= len(text) else None


def render_metadata(page: Page, ref: PageRef | None = None, step: int = 0) -> str:
    """Where the page came from, how and when, as an HTML list of terms; `ref` tells what the run knows of
    it, `step` at which step of its journey it was read (0: none)."""
    given = PAGE_ORIGIN_LABELS[page.origin]
    way = [escape.html(escape.shorten_url(url, 110)) for url in page.redirects]
    name, address = escape.html(page.sha256), page.final_url or page.url
    digest = f'<details class="hash"><summary>{name[:16]}…</summary><code>{name}</code></details>'
    terms = [
        ("Address", escape.render_link(address, escape.shorten_url(address, 110))),
        ("Asked for", escape.html(page.url) if page.final_url and page.final_url != page.url else ""),
        ("Sent on from", "<br>".join(way)),
        ("Answered", f"status {page.status}" if page.status else ""),
        ("Type", escape.html(page.content_type)),
        ("Given" if given else "Read", labels.format_time(page.fetched_at)),
        ("By", given),
        ("Found on", _render_found_on(ref, step) if ref else ""),
        ("Published", escape.html(page.published_at[:10])),
        ("Author", escape.html(page.author)),
        ("Language", escape.html(LANGUAGES.get(normalize_language(page.language), page.language))),
        ("Text", f"{len(page.text):,} characters, SHA-256 {digest}" if page.text else ""),
    ]
    return markup.terms(terms)


def _render_found_on(ref: PageRef, step: int) -> str:
    where = {"person": "your own words", "": ""}.get(ref.found_on)
    found = (
        escape.html(where)
        if where is not None
        else escape.html(ref.found_on)
        if ref.found_on.startswith("search")
        else escape.render_link(ref.found_on)
    )
    read = f"step {step}" if step else ""
    return f"{found} ({read})" if found and read else found or read


def split_windows(text: str) -> list[tuple[int, int]]:
    """A long text in windows of at most WINDOW characters, cut between paragraphs or words if possible."""
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + WINDOW_CHARS)
        if end < len(text):
            cut = max(text.rfind("\n\n", start + WINDOW_CHARS // 2, end), -1)
            cut = (
                cut
                if cut > 0
                else max(
                    text.rfind("\n", start + WINDOW_CHARS // 2, end),
                    text.rfind(" ", start + WINDOW_CHARS // 2, end),
                )
            )
            end = cut if cut > 0 else end
        found.append((start, end))
        start = end
    return found or [(0, 0)]


def find_window(found: Sequence[tuple[int, int]], at: int) -> int:
    """The window that holds an offset, from 1; the first for an offset that lies nowhere."""
    return next((n for n, (start, end) in enumerate(found, 1) if start <= at < end), 1)


def render_kept_facts(
    facts: Sequence[Fact], run_id: str, chosen: str, found: Sequence[tuple[int, int]]
) -> str:
    """The facts that were kept from the page, in its order, each with the way to its quote, as HTML."""
    items = []
    for fact in sorted(facts, key=lambda fact: (fact.start, fact.id)):
        here = ' class="chosen"' if fact.id == chosen else ""
        state = "" if fact.verified else " (its quote was not found)"
        part = (
            f' <span class="soft">part {find_window(found, fact.start)}</span>'
            if len(found) > 1 and fact.start >= 0
            else ""
        )
        link = (
            f'<a href="{escape.stored_page_url(run_id, fact.page_id, fact.id)}" '
            f'target="_self">{escape.html(fact.statement)}</a>'
        )
        items.append(f"<li{here}>{link}{part}{state}</li>")
    return f'<ul class="kept">{"".join(items)}</ul>'


def render_links(page: Page, most: int) -> str:
    """The page's links, as an HTML list; those beyond `most` are counted."""
    items = "".join(
        "<li>"
        + escape.render_link(link.url, escape.shorten(link.text, 120) or escape.shorten_url(link.url))
        + "</li>"
        for link in page.links[:most]
    )
    more = len(page.links) - most
    return (
        f'<div class="ts"><ul class="links">{items}</ul>'
        f"{f'<p class=soft>and {more:,} more</p>' if more > 0 else ''}</div>"
    )


def choose_file_name(page: Page) -> tuple[str, str]:
    """The name and the type a body is downloaded with: markup and text as plain text, so that no browser runs
    it; the rest as mere bytes."""
    name = PurePosixPath(urlsplit(page.final_url or page.url).path).name or escape.host(
        page.final_url or page.url
    )
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:80].strip("-.") or "page"
    if (
        mime.parse_media_type(page.content_type).startswith("text/")
        or "xml" in page.content_type
        or "json" in page.content_type
    ):
        return f"{plain}.txt", "text/plain"
    return plain, "application/octet-stream"
