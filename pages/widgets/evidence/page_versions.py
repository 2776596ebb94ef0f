"""Two versions of a page side by side: differences marked, the same folded, each quote's fate told."""

from __future__ import annotations

from collections.abc import Sequence

from agent.actions.sources import VersionDiff
from agent.store.pages import PageVersion
from agent.text.diff import DiffPart, DiffPiece
from agent.text.plurals import format_count
from agent.types import PAGE_ORIGIN_LABELS, Fact
from pages.widgets.shell import badges, escape, labels

CONTEXT_LINES = 2
"""Unchanged lines that stay in sight beside a change."""
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
    return f'<div class="ts"><ul class="versions">{"".join(items)}</ul></div>'


def render_comparison(told: VersionDiff, old: str, new: str) -> str:
    """The comparison as HTML; `old` and `new` are what the two versions are called."""
    counts = told.line_counts
    if not counts["removed"] + counts["added"] + counts["changed"]:
        return '<div class="ts"><p>The two texts are the same, line for line.</p></div>'
    summary = ", ".join(
        f"{format_count(counts[kind], 'line')} {name}" for kind, name in CHANGE_LABELS.items() if counts[kind]
    )
    rows = "".join(
        _render_row(part, first=n == 0, last=n == len(told.parts) - 1)
        for n, part in enumerate(told.parts[:MAX_PARTS])
    )
    more = len(told.parts) - MAX_PARTS
    rest = f'<p class="small soft">{more:,} further stretches are not drawn.</p>' if more > 0 else ""
    head = f"<tr><th>{escape.html(old)}</th><th>{escape.html(new)}</th></tr>"
    return (
        f'<div class="ts"><p class="small soft">{summary}.</p><div class="scroll"><table '
        f'class="versus">{head}{rows}</table></div>{rest}</div>'
    )


def _render_row(part: DiffPart, *, first: bool, last: bool) -> str:
    if part.kind == "same":
        return (
            '<tr><td colspan="2" class="soft">'
            f"{_render_folded(part.old[0][0].split(chr(10)), first, last)}</td></tr>"
        )
    return f"<tr><td>{_render_pieces(part.old, 'del')}</td><td>{_render_pieces(part.new, 'ins')}</td></tr>"


def _render_folded(lines: list[str], first: bool, last: bool) -> str:
    """Unchanged lines: those next to a change, the others behind a line that opens."""
    before, after = 0 if first else CONTEXT_LINES, 0 if last else CONTEXT_LINES
    if len(lines) <= before + after + 1:
        return "<br>".join(map(escape.html, lines))
    tail = lines[len(lines) - after :] if after else []
    hidden = lines[before : len(lines) - after]
    folded = (
        f"<details><summary>{format_count(len(hidden), 'line')} the same</summary>"
        f"{'<br>'.join(map(escape.html, hidden))}</details>"
    )
    return "<br>".join([*map(escape.html, lines[:before])]) + folded + "<br>".join(map(escape.html, tail))


def _render_pieces(pieces: Sequence[DiffPiece], mark: str) -> str:
    return "".join(
        f"<{mark}>{escape.html(text)}</{mark}>" if only else escape.html(text) for text, only in pieces
    ).replace("\n", "<br>")


def render_quote_outcomes(told: VersionDiff) -> str:
    """What becomes of the quotes of a run in the other version, as HTML; "" when there are none."""
    if not told.kept_facts and not told.lost_facts:
        return ""
    rows = [_render_quote_outcome(fact, "is not there", "bad") for fact in told.lost_facts] + [
        _render_quote_outcome(fact, "stands there, too", "good") for fact in told.kept_facts
    ]
    return (
        '<div class="ts"><h2 class="ts-section">The quotes in the other version</h2><ul '
        f'class="fates">{"".join(rows)}</ul></div>'
    )


def _render_quote_outcome(fact: Fact, word: str, tone: str) -> str:
    return (
        f'<li class="told">{badges.render(word, tone)}<span>'
        f"“{escape.html(escape.shorten(fact.quote, 220))}”</span></li>"
    )
