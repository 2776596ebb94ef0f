"""Two versions of a page side by side: differences marked, the same folded, each quote's fate told."""

from __future__ import annotations

from collections.abc import Sequence

from agent.actions import sources
from agent.store.pages import PageVersion
from agent.text.diff import DiffPart, DiffPiece
from agent.text.plurals import format_count
from agent.types import PAGE_ORIGIN_LABELS, Fact, Page
from pages.widgets.shell import escape, labels

FOLDED_LINES = 5
"""Unchanged lines from which on they are folded."""
MAX_PARTS = 300
"""Stretches that are drawn: a page that differs in more is told to do so."""
CHANGE_LABELS = {"changed": "reworded", "removed": "gone", "added": "new"}


def describe_version(version: PageVersion) -> str:
    """A version in a few words."""
    came = PAGE_ORIGIN_LABELS[version.origin] or ("read" if not version.imported else "as a bundle tells it")
    return f"{labels.format_time(version.fetched_at)}, {came}, {version.characters:,} characters"


def render_versions(found: Sequence[PageVersion], shown: str, run_id: str, beside: str = "") -> str:
    """The versions as an HTML list, each with links to open it and to compare it with the one shown."""
    items = []
    for version in found:
        if version.page_id == shown:
            items.append(f"<li><b>{escape.html(describe_version(version))}</b> (shown here)</li>")
            continue
        opened = f'<a href="{escape.stored_page_url(run_id, version.page_id)}" target="_self">open</a>'
        way = f"{escape.stored_page_url(run_id, shown)}&amp;with={escape.html(version.page_id)}"
        compared = f'<a href="{way}" target="_self">compare</a>'
        compared = "<b>side by side below</b>" if version.page_id == beside else compared
        items.append(f"<li>{escape.html(describe_version(version))} · {opened} · {compared}</li>")
    return f'<ul class="versions">{"".join(items)}</ul>'


def render_comparison(page: Page, other: Page, kept: Sequence[Fact]) -> str:
    """A page and another version of it, the earlier one on the left, and which `kept` quotes only one has."""
    old, new = sorted((page, other), key=lambda one: one.fetched_at)
    told = sources.compare_versions(old, new, kept)
    counts = told.line_counts
    if not counts["removed"] + counts["added"] + counts["changed"]:
        return '<div class="ts"><p>The two texts are the same, line for line.</p></div>'
    summary = ", ".join(
        f"{format_count(counts[kind], 'line')} {name}" for kind, name in CHANGE_LABELS.items() if counts[kind]
    )
    lost = "".join(f"<li>“{escape.html(escape.shorten(fact.quote, 220))}”</li>" for fact in told.lost_facts)
    lost = f'<p class="warned">Quotes that are not in the other version:</p><ul>{lost}</ul>' if lost else ""
    names = (
        f"{'This version' if one is page else 'The other'}: {labels.format_time(one.fetched_at)}"
        for one in (old, new)
    )
    head = "".join(f"<th>{name}</th>" for name in names)
    rows = "".join(map(_render_row, told.parts[:MAX_PARTS]))
    more = len(told.parts) - MAX_PARTS
    rest = f'<p class="small soft">{more:,} further stretches are not drawn.</p>' if more > 0 else ""
    table = f'<div class="scroll"><table class="versus"><tr>{head}</tr>{rows}</table></div>'
    return f'<div class="ts">{lost}<p class="small soft">{summary}.</p>{table}{rest}</div>'


def _render_row(part: DiffPart) -> str:
    """A stretch that differs, side by side; one that does not, folded where it is long."""
    if part.kind != "same":
        sides = (_render_pieces(part.old, "del"), _render_pieces(part.new, "ins"))
        return f"<tr><td>{sides[0]}</td><td>{sides[1]}</td></tr>"
    lines = part.old[0][0].split("\n")
    told = "<br>".join(map(escape.html, lines))
    if len(lines) > FOLDED_LINES:
        told = f"<details><summary>{format_count(len(lines), 'line')} the same</summary>{told}</details>"
    return f'<tr><td colspan="2" class="soft">{told}</td></tr>'


def _render_pieces(pieces: Sequence[DiffPiece], mark: str) -> str:
    return "".join(
        f"<{mark}>{escape.html(text)}</{mark}>" if only else escape.html(text) for text, only in pieces
    ).replace("\n", "<br>")
