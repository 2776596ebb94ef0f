"""A stored page as it was read, with the quotes that were kept from it marked. Text only: nothing of the page is executed or loaded."""

from __future__ import annotations

from collections.abc import Sequence

from agent.types import Fact, Page
from pages.widgets import safe, words

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


def kept(text: str, facts: Sequence[Fact], chosen: str = "") -> str:
    """What was kept from a page, as HTML: the chosen fact in its context first, then the statements of the others."""
    first = next((fact for fact in facts if fact.id == chosen), None)
    others = sorted((fact for fact in facts if fact is not first), key=lambda fact: fact.start)
    listed = "".join(f"<li>{safe.html(fact.statement)}</li>" for fact in others)
    return (in_context(text, first, facts) if first else "") + (f"<ul>{listed}</ul>" if listed else "")


def passage(text: str, start: str, end: str) -> Fact | None:
    """The stretch between two offsets (as an address gives them) as a mark; None when they do not fit the text."""
    if not (start.isascii() and start.isdigit() and end.isascii() and end.isdigit()):
        return None
    a, b = int(start[:12]), int(end[:12])
    return Fact(id="passage", statement="", quote=text[a:b], start=a, end=b) if a < b <= len(text) else None


def about(page: Page) -> str:
    """Where the page came from and when, as an HTML list of terms."""
    terms = [
        ("Address", safe.link(page.final_url or page.url, safe.address(page.final_url or page.url, 110))),
        ("Asked for", safe.html(page.url) if page.final_url and page.final_url != page.url else ""),
        ("Read", words.when(page.fetched_at)),
        ("Published", safe.html(page.published_at[:10])),
        ("Author", safe.html(page.author)),
        ("Text", f"{len(page.text):,} characters, SHA-256 {safe.html(page.sha256[:16])}…" if page.text else ""),
    ]
    return '<dl class="ts meta">' + "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in terms if value) + "</dl>"
