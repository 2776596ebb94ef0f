"""A stored page as it was read, its kept quotes marked. Text only: nothing is executed or loaded."""

from __future__ import annotations

import re
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
"""Characters shown before and after a quote."""
CELL_JOINT = " | "
"""Joins the cells of a table's row in a page's text."""


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


def render_quote(text: str, fact: Fact) -> str:
    """A quote among the words around it, a table's row below the heads of its columns; where its page's text
    is not known, alone."""
    start, end = fact.start, fact.end
    heads, cells = (line.split(CELL_JOINT) for line in (fact.heading.rpartition(" › ")[2], fact.quote))
    if len(heads) == len(cells) > 1:
        rows = [[f"<mark>{escape.html(cell)}</mark>" for cell in cells]]
        return markup.table([*map(escape.html, heads)], rows)
    if not 0 <= start < end <= len(text):
        return f'<div class="quote">{escape.html(fact.quote)}</div>'
    before = max(text.rfind("\n", 0, start), text.rfind(". ", 0, max(0, start - 2)) + 1)
    before = max(before + 1, start - CONTEXT_CHARS, 0)
    ends = [at for at in (text.find("\n", end), text.find(". ", end) + 1) if at > 0]
    after = min([*ends, end + CONTEXT_CHARS, len(text)])
    return f'<div class="quote">{render_marked(text, [fact], start=before, end=after)}</div>'


def parse_passage(text: str, start: str, end: str) -> Fact | None:
    """The stretch between two offsets (from an address) as a mark; None when they do not fit the text."""
    if not re.fullmatch(r"\d{1,12}-\d{1,12}", f"{start}-{end}", re.ASCII):
        return None
    a, b = int(start), int(end)
    return Fact(id="passage", statement="", quote=text[a:b], start=a, end=b) if a < b <= len(text) else None


def render_metadata(page: Page, ref: PageRef | None = None, step: int = 0) -> str:
    """Where the page came from, how and when, as an HTML list of terms; `ref` tells what the run knows of
    it, `step` at which step of its journey it was read (0: none)."""
    address, found = page.final_url or page.url, ""
    if ref and ref.found_on:
        found = "your own words" if ref.found_on == "person" else ref.found_on
        found = escape.render_link(found) if "://" in found[:9] else escape.html(found)
    terms = [
        ("Address", escape.render_link(address, escape.shorten_url(address, 110))),
        ("Asked for", escape.html(page.url) if page.final_url and page.final_url != page.url else ""),
        ("Sent on from", "<br>".join(escape.html(escape.shorten_url(url, 110)) for url in page.redirects)),
        ("Answered", f"status {page.status}" if page.status else ""),
        ("Type", escape.html(page.content_type)),
        ("Given" if page.origin != "fetched" else "Read", labels.format_time(page.fetched_at)),
        ("By", PAGE_ORIGIN_LABELS[page.origin]),
        ("Found on", " ".join(filter(None, (found, f"(step {step})" if step else "")))),
        ("Published", escape.html(page.published_at[:10])),
        ("Author", escape.html(page.author)),
        ("Language", escape.html(LANGUAGES.get(normalize_language(page.language), page.language))),
        ("Text", f"{len(page.text):,} characters" if page.text else ""),
        ("SHA-256", f"<code>{escape.html(page.sha256)}</code>"),
    ]
    return markup.terms(terms)


def render_kept_facts(facts: Sequence[Fact], run_id: str, chosen: str) -> str:
    """The facts that were kept from the page, in its order, each with the way to its quote, as HTML."""
    items = []
    for fact in sorted(facts, key=lambda fact: (fact.start, fact.id)):
        here = ' class="chosen"' if fact.id == chosen else ""
        state = "" if fact.verified else " (its quote was not found)"
        url = escape.stored_page_url(run_id, fact.page_id, fact.id)
        items.append(
            f'<li{here}><a href="{url}" target="_self">{escape.html(fact.statement)}</a>{state}</li>'
        )
    return f'<ul class="kept">{"".join(items)}</ul>'


def choose_file_name(page: Page) -> tuple[str, str]:
    """The name and the type a body is downloaded with: markup and text as plain text, so that no browser runs
    it; the rest as mere bytes."""
    url = page.final_url or page.url
    name = PurePosixPath(urlsplit(url).path).name or escape.host(url)
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)[:80].strip("-.") or "page"
    is_text = mime.parse_media_type(page.content_type).startswith("text/")
    if is_text or any(kind in page.content_type for kind in ("xml", "json")):
        return f"{plain}.txt", "text/plain"
    return plain, "application/octet-stream"
