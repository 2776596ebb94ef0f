"""What changed from one answer to the next, and why."""

from __future__ import annotations

from agent.answering.conflict_sentences import RULING_PREFIX
from agent.evidence import citation_check
from agent.text.plurals import format_count
from agent.types import Answer
from pages.widgets.shell import badges, escape, labels

CHANGE_LABELS = {"added": "New", "removed": "Gone", "reworded": "Reworded", "resourced": "Other sources"}


def render(old: Answer, new: Answer) -> str:
    """The difference between two answers as an HTML list."""
    found = citation_check.diff_answers(old, new)
    items = []
    for kind, was, now in ((change.kind, change.old, change.new) for change in found):
        if kind != "same" and not (now and now.text.startswith(RULING_PREFIX)):  # a ruling is told above
            before = f"<del>{escape.html(was.text)}</del> " if was and kind in ("removed", "reworded") else ""
            after = escape.html(now.text) if now else ""
            items.append(f'<li class="{kind}">{badges.render(CHANGE_LABELS[kind])} {before}{after}</li>')
    same = sum(change.kind == "same" for change in found)
    kept = f'<p class="small soft">{format_count(same, "sentence")} unchanged.</p>' if same else ""
    was, now = (
        labels.mark_verdict(one.verdict)[0]
        + ("" if one.confidence is None else f", {one.certainty.partition(' (')[0].lower()}")
        for one in (old, new)
    )
    verdict = f"<p>Before: {escape.html(was)}. Now: {escape.html(now)}.</p>" if was != now else ""
    nothing = "" if items else "<p>The answer says the same.</p>"
    why = f'<p class="small">Updated {escape.html(new.because)}.</p>' if new.because else ""
    return f'<div class="ts">{why}{verdict}{nothing}<ul class="changes">{"".join(items)}</ul>{kept}</div>'
