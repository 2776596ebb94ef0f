"""A checked text as HTML: it reads like the document, and each claim has a sign, a colour and, where somebody
should look, a word; it opens to the quote, the source and the reason. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from agent.types import MARK_LABELS, MARK_SIGNS, ClaimMark, Fact, MarkedSentence
from pages.widgets.shell import escape, markup

TONES: dict[ClaimMark, str] = {
    "supported": "good",
    "contradicted": "bad",
    "not_supported": "bad",
    "unavailable": "warn",
    "no_source": "warn",
    "not_checked": "mute",
    "no_claim": "",
}
DIFFERS = "differs from its source"
MAX_HEADING_LEVEL = 4
QUOTED_BY = {"supported": "The source says", "contradicted": "The source says"}


def render(
    paragraphs: Sequence[Sequence[MarkedSentence]], run_id: str, *, only_problems: bool = False
) -> str:
    """Paragraphs of the text; with `only_problems` the claims that somebody should look at, one a line."""
    if only_problems:
        found = [one for paragraph in paragraphs for one in paragraph if one.is_problem]
        lines = "".join(f"<li>{_render_sentence(one, run_id)}</li>" for one in found)
        return f'<div class="ts answer marked"><ul class="problems">{lines}</ul></div>' if found else ""
    body = "".join(_render_paragraph(some, run_id) for some in paragraphs)
    return f'<div class="ts answer marked">{body}</div>'


def _render_paragraph(paragraph: Sequence[MarkedSentence], run_id: str) -> str:
    first = paragraph[0].sentence
    if first.kind == "heading":
        level = min(MAX_HEADING_LEVEL, first.level + 1) if first.level else MAX_HEADING_LEVEL
        return f"<h{level}>{escape.html(first.text)}</h{level}>"
    css = "reference" if first.kind == "reference" else "code" if first.kind == "code" else "para"
    return f'<div class="{css}">{" ".join(_render_sentence(one, run_id) for one in paragraph)}</div>'


def _render_sentence(one: MarkedSentence, run_id: str) -> str:
    text = escape.html(one.sentence.text)
    if one.sentence.kind != "claim" and not one.overruled:
        return text
    if one.mark is None:
        return f'<span class="pending" title="Not checked yet">{text}</span>'
    label, sign = (DIFFERS, "≠") if one.differs else (one.label, MARK_SIGNS[one.mark])
    shown = f"{sign} {label}" if one.is_problem else sign
    who = "" if one.overruled.startswith("by program ") else "by you"
    person = f' <span class="by">set {who or "by a program"}</span>' if one.overruled else ""
    tone = "warn" if one.differs else TONES[one.mark]
    tip = escape.html(escape.shorten(f"{one.label}. {one.reason or one.closest}", 200))
    see = markup.see(f"{run_id}.{one.sentence.id}")
    return (
        f'<span class="sentence {tone}" {see} title="{tip}">{text}</span>&#8288;'
        f'<button type="button" class="mark {tone}" {see} aria-label="{label}">{shown}</button>'
        f"{person}"
    )


def render_evidence(one: MarkedSentence) -> str:
    """What stands behind a mark: who set it, and why."""
    number = f"sentence {one.sentence.id.removeprefix('s')}"
    parts = [f"<p><b>{one.label.capitalize()}</b> <span class='soft small'>{escape.html(number)}</span></p>"]
    if one.overruled:
        own = f"(the check: {MARK_LABELS[one.automatic] if one.automatic else 'nothing yet'})"
        by = "" if one.overruled.startswith("by program ") else "by you: "
        parts.append(f"<p>Set {by}{escape.html(one.overruled)} <span class='soft'>{own}</span></p>")
    parts += [markup.paragraph(escape.html(f"{one.reason.rstrip('.')}."), "")] if one.reason else []
    if one.closest and one.facts:
        intro = QUOTED_BY.get(one.automatic or "", "Closest in the source")
        parts.append(f'<p class="small soft">{intro}:</p>')
    links = [escape.render_link(cited.url) for cited in one.sentence.citations if cited.url]
    if links and not one.facts:
        parts.append(f'<p class="small soft">Cites: {", ".join(links)}</p>')
    return "".join(parts)


def find_closest(one: MarkedSentence) -> Fact | None:
    """The closest words of the source, in their place; None for none."""
    if not (one.closest and one.facts):
        return None
    fact = one.facts[0]
    start = fact.start + max(0, fact.quote.find(one.closest))
    place = {"start": start, "end": start + len(one.closest)} if fact.start >= 0 else {}
    return fact.replace(id="closest", quote=one.closest, spans=[], **place)
