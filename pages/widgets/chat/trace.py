"""How a turn is being answered, and the passages it found with their grades."""

from __future__ import annotations

from agent.errors import NotFound
from agent.flows.chat.state import ChatRun, PassageGrade, PassageRef
from agent.roles.chat import MIN_RELEVANT_SCORE
from agent.workbench import RunSnapshot
from pages.widgets.run.timeline import build_cards
from pages.widgets.shell import badges, client, escape, markup


def render_progress(view: RunSnapshot) -> str:
    """What has been done so far and what is being done now, as HTML."""
    done = "".join(f"<li>{escape.html(card.title)}</li>" for card in build_cards(view)[1:])
    now = f'<li class="now"><span class="pulse" aria-hidden="true"></span> {escape.html(view.activity)}</li>'
    return f'<div class="ts" role="status" aria-live="polite"><ol class="progress">{done}{now}</ol></div>'


def render_grades(state: ChatRun, run_id: str) -> str:
    """The passages found, each with its grade and the reason for it, best first."""
    if not state.own.retrieved_docs:
        why = "Nothing was searched for this turn." if not state.own.queries else "Nothing was found."
        return f'<div class="ts empty"><b>No passages</b>{why}</div>'
    graded = len(state.own.doc_relevance_scores) == len(state.own.retrieved_docs)
    scores = state.own.doc_relevance_scores if graded else [0.0] * len(state.own.retrieved_docs)
    rows = []
    for doc, score in sorted(zip(state.own.retrieved_docs, scores, strict=True), key=lambda row: -row[1]):
        reason = state.own.grades.get(doc.id, PassageGrade()).reason if graded else ""
        grade = ("relevant", "good") if score >= MIN_RELEVANT_SCORE else ("not relevant", "")
        chip = badges.render(*grade) if graded else ""
        title = f"{doc.title or doc.source_id}{f' › {doc.heading}' if doc.heading and not doc.rows else ''}"
        opens = (
            f'<a href="{escape.passage_url(doc.page_id, doc.start, doc.end, run_id)}" target="_blank">'
            f"{escape.html(escape.shorten(title, 110))}</a>"
        )
        opens += f'<br><span class="soft small">{escape.html(escape.shorten(_read_passage(doc), 120))}</span>'
        rows.append([opens, chip, f'<span class="soft">{escape.html(reason)}</span>'])
    by = markup.paragraph(escape.html(state.own.searched_by.partition(". ")[0]))
    return f'<div class="ts">{by}{markup.table(["Passage", "Grade", "Why"], rows)}</div>'


def _read_passage(doc: PassageRef) -> str:
    """A passage's own words, without the heading it begins with."""
    try:
        text = client.workbench().page(doc.page_id).text[doc.start : doc.end]
    except NotFound:
        return ""
    return text.removeprefix(doc.heading.rsplit(" › ", 1)[-1]).strip()
