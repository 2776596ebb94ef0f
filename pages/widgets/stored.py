"""A stored page as it was read, with the quotes that were kept from it marked. Text only: nothing of the page is executed or loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from agent.tools import media
from agent.types import GIVEN, LANGUAGES, Fact, Page, PageRef
from agent.types.reach import spoken
from pages.widgets import safe, words

WINDOW = 40_000
"""Characters of a text that are drawn at once: a page of a megabyte must stay usable."""
AROUND = 220
"""Characters shown before and after a quote when it is shown in its context."""


def spans(text: str, facts: Sequence[Fact]) -> list[tuple[int, int, str]]:
    """Where the facts' quotes stand: (start, end, fact id), in order, without overlaps."""
    found: list[tuple[int, int, str]] = []
    for fact in sorted(facts, key=lambda fact: (fact.start, -fact.end)):
        if 0 <= fact.start < fact.end <= len(text) and (not found or fact.start >= found[-1][1]):
            found.append((fact.start, fact.end, fact.id))
    return found


def marked(text: str, facts: Sequence[Fact], *, chosen: str = "", start: int = 0, end: int | None = None) -> str:
    """The text from `start` to `end` as HTML, every quote inside it marked, that of the chosen fact most."""
    end = len(text) if end is None else end
    parts, at = [], start
    for a, b, fact_id in spans(text, facts):
        a, b = max(a, start), min(b, end)
        if a >= b:
            continue
        css = ' class="chosen"' if fact_id == chosen else ""
        parts += [safe.html(text[at:a]), f"<mark{css}>{safe.html(text[a:b])}</mark>"]
        at = b
    return "".join(parts) + safe.html(text[at:end])


def in_context(text: str, fact: Fact, facts: Sequence[Fact]) -> str:
    """A fact and its quote among the words around it, as HTML."""
    if not 0 <= fact.start < fact.end <= len(text):
        return f'<p><b>{safe.html(fact.statement)}</b></p><p class="small soft">Its quote was not found in the stored text.</p>'
    start = text.rfind(" ", 0, max(0, fact.start - AROUND)) + 1
    end = text.find(" ", fact.end + AROUND) if fact.end + AROUND < len(text) else -1
    end = len(text) if end < 0 else end
    before, after = "… " if start else "", " …" if end < len(text) else ""
    around = marked(text, facts, chosen=fact.id, start=start, end=end)
    return f'<p><b>{safe.html(fact.statement)}</b></p><div class="quote small paper">{before}{around}{after}</div>'


def passage(text: str, start: str, end: str) -> Fact | None:
    """The stretch between two offsets (as an address gives them) as a mark; None when they do not fit the text."""
    if not (start.isascii() and start.isdigit() and end.isascii() and end.isdigit()):
        return None
    a, b = int(start[:12]), int(end[:12])
    return Fact(id="passage", statement="", quote=text[a:b], start=a, end=b) if a < b <= len(text) else None


def about(page: Page, ref: PageRef | None = None) -> str:
    """Where the page came from, how and when, as an HTML list of terms; `ref` tells what the run knows of it."""
    given = GIVEN[page.origin]
    way = [safe.html(safe.address(url, 110)) for url in page.redirects]
    terms = [
        ("Address", safe.link(page.final_url or page.url, safe.address(page.final_url or page.url, 110))),
        ("Asked for", safe.html(page.url) if page.final_url and page.final_url != page.url else ""),
        ("Sent on from", "<br>".join(way)),
        ("Answered", f"status {page.status}" if page.status else ""),
        ("Type", safe.html(page.content_type)),
        ("Given" if given else "Read", words.when(page.fetched_at)),
        ("By", given),
        ("Found on", _found_on(ref) if ref else ""),
        ("Published", safe.html(page.published_at[:10])),
        ("Author", safe.html(page.author)),
        ("Language", safe.html(LANGUAGES.get(spoken(page.language), page.language))),
        ("Text", f"{len(page.text):,} characters, SHA-256 {_hash(page.sha256)}" if page.text else ""),
    ]
    return '<dl class="ts meta">' + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in terms if value) + "</dl>"


def _hash(sha256: str) -> str:
    return f'<details class="hash"><summary>{safe.html(sha256[:16])}…</summary><code>{safe.html(sha256)}</code></details>'


def _found_on(ref: PageRef) -> str:
    where = {"person": "your own words", "": ""}.get(ref.found_on)
    found = safe.html(where) if where is not None else safe.html(ref.found_on) if ref.found_on.startswith("search") else safe.link(ref.found_on)
    return f"{found} (step {ref.step})" if found else f"step {ref.step}"


def windows(text: str) -> list[tuple[int, int]]:
    """A long text in windows of at most WINDOW characters, cut between paragraphs or words where it can be."""
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + WINDOW)
        if end < len(text):
            cut = max(text.rfind("\n\n", start + WINDOW // 2, end), -1)
            cut = cut if cut > 0 else max(text.rfind("\n", start + WINDOW // 2, end), text.rfind(" ", start + WINDOW // 2, end))
            end = cut if cut > 0 else end
        found.append((start, end))
        start = end
    return found or [(0, 0)]


def window_of(found: Sequence[tuple[int, int]], at: int) -> int:
    """The window that holds an offset, from 1; the first for an offset that lies nowhere."""
    return next((n for n, (start, end) in enumerate(found, 1) if start <= at < end), 1)


def beside(facts: Sequence[Fact], run_id: str, chosen: str, found: Sequence[tuple[int, int]]) -> str:
    """The facts that were kept from the page, in its order, each with the way to its quote, as HTML."""
    items = []
    for fact in sorted(facts, key=lambda fact: (fact.start, fact.id)):
        here = " class=\"chosen\"" if fact.id == chosen else ""
        state = "" if fact.verified else " (its quote was not found)"
        part = f' <span class="soft">part {window_of(found, fact.start)}</span>' if len(found) > 1 and fact.start >= 0 else ""
        link = f'<a href="{safe.stored(run_id, fact.page_id, fact.id)}" target="_self">{safe.html(fact.statement)}</a>'
        items.append(f"<li{here}>{link}{part}{state}</li>")
    return f'<ul class="kept">{"".join(items)}</ul>'


def links(page: Page, most: int) -> str:
    """The page's links, as an HTML list; those beyond `most` are counted."""
    items = "".join(f"<li>{safe.link(link.url, safe.shorten(link.text, 120) or safe.address(link.url))}</li>" for link in page.links[:most])
    more = len(page.links) - most
    return f'<div class="ts"><ul class="links">{items}</ul>{f"<p class=soft>and {more:,} more</p>" if more > 0 else ""}</div>'


def file_of(page: Page) -> tuple[str, str]:
    """The name and the type a body is downloaded with: markup and text as plain text, so that no browser runs it; the rest as mere bytes."""
    name = PurePosixPath(urlsplit(page.final_url or page.url).path).name or safe.host(page.final_url or page.url)
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:80].strip("-.") or "page"
    if media.media_type(page.content_type).startswith("text/") or "xml" in page.content_type or "json" in page.content_type:
        return f"{plain}.txt", "text/plain"
    return plain, "application/octet-stream"
