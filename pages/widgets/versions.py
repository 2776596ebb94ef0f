"""Two versions of a page side by side: what differs is marked, what is the same folded, and each quote's fate told. Text only."""

from __future__ import annotations

from collections.abc import Sequence

from agent.store.pages import Version
from agent.text.differing import Part, Piece
from agent.types import GIVEN, Fact
from agent.versions import Compared
from agent.wording import counted
from pages.widgets import chips, safe, words

AROUND = 2
"""Unchanged lines that stay in sight beside a change."""
SHOWN = 300
"""Stretches that are drawn: a page that differs in more is told to do so."""
FATES = {"changed": "reworded", "removed": "gone", "added": "new"}


def named(version: Version) -> str:
    """A version in a few words."""
    came = GIVEN[version.origin] or ("read" if not version.imported else "as a bundle tells it")
    return f"{words.when(version.fetched_at)}, {came}, {version.characters:,} characters"


def listed(found: Sequence[Version], shown: str, run_id: str, beside: str = "") -> str:
    """The versions as an HTML list, each with the ways to open it and to lay it beside the one that is shown."""
    items = []
    for version in found:
        if version.page_id == shown:
            items.append(f"<li><b>{safe.html(named(version))}</b> (shown here)</li>")
            continue
        opened = f'<a href="{safe.stored(run_id, version.page_id)}" target="_self">open</a>'
        compared = "<b>side by side below</b>" if version.page_id == beside else _beside(shown, version.page_id, run_id)
        items.append(f"<li>{safe.html(named(version))} · {opened} · {compared}</li>")
    return f'<div class="ts"><ul class="versions">{"".join(items)}</ul></div>'


def _beside(shown: str, other: str, run_id: str) -> str:
    return f'<a href="{safe.stored(run_id, shown)}&amp;with={safe.html(other)}" target="_self">compare</a>'


def drawn(told: Compared, old: str, new: str) -> str:
    """The comparison as HTML; `old` and `new` are what the two versions are called."""
    counts = told.counts
    if not counts["removed"] + counts["added"] + counts["changed"]:
        return '<div class="ts"><p>The two texts are the same, line for line.</p></div>'
    summary = ", ".join(f"{counted(counts[kind], 'line')} {name}" for kind, name in FATES.items() if counts[kind])
    rows = "".join(_row(part, first=n == 0, last=n == len(told.parts) - 1) for n, part in enumerate(told.parts[:SHOWN]))
    more = len(told.parts) - SHOWN
    rest = f'<p class="small soft">{more:,} further stretches are not drawn.</p>' if more > 0 else ""
    head = f"<tr><th>{safe.html(old)}</th><th>{safe.html(new)}</th></tr>"
    return f'<div class="ts"><p class="small soft">{summary}.</p><div class="scroll"><table class="versus">{head}{rows}</table></div>{rest}</div>'


def _row(part: Part, *, first: bool, last: bool) -> str:
    if part.kind == "same":
        return f'<tr><td colspan="2" class="soft">{_folded(part.old[0][0].split(chr(10)), first, last)}</td></tr>'
    return f"<tr><td>{_pieces(part.old, 'del')}</td><td>{_pieces(part.new, 'ins')}</td></tr>"


def _folded(lines: list[str], first: bool, last: bool) -> str:
    """Unchanged lines: those next to a change, the others behind a line that opens."""
    before, after = 0 if first else AROUND, 0 if last else AROUND
    if len(lines) <= before + after + 1:
        return "<br>".join(map(safe.html, lines))
    tail = lines[len(lines) - after :] if after else []
    hidden = lines[before : len(lines) - after]
    folded = f"<details><summary>{counted(len(hidden), 'line')} the same</summary>{'<br>'.join(map(safe.html, hidden))}</details>"
    return "<br>".join([*map(safe.html, lines[:before])]) + folded + "<br>".join(map(safe.html, tail))


def _pieces(pieces: Sequence[Piece], mark: str) -> str:
    return "".join(f"<{mark}>{safe.html(text)}</{mark}>" if only else safe.html(text) for text, only in pieces).replace("\n", "<br>")


def fates(told: Compared) -> str:
    """What becomes of the quotes of a run in the other version, as HTML; "" when there are none."""
    if not told.standing and not told.lost:
        return ""
    rows = [_fate(fact, "is not there", "bad") for fact in told.lost] + [_fate(fact, "stands there, too", "good") for fact in told.standing]
    return f'<div class="ts"><h2 class="ts-section">The quotes in the other version</h2><ul class="fates">{"".join(rows)}</ul></div>'


def _fate(fact: Fact, word: str, tone: str) -> str:
    return f'<li class="told">{chips.one(word, tone)}<span>“{safe.html(safe.shorten(fact.quote, 220))}”</span></li>'
