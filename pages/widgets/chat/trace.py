"""How a turn was answered: its steps as they come, the route, the passages with grades, the picture."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from agent.flows.chat.flow import CHAT
from agent.flows.chat.state import ChatRun, PassageGrade, PassageRef
from agent.flows.chat.steps import find_judge
from agent.roles.chat import MIN_RELEVANT_SCORE
from agent.text.plurals import format_count
from agent.workbench import RunSnapshot
from pages.widgets.run import run_page
from pages.widgets.shell import badges, client, escape, labels, markup

ROUTE_LABELS = {
    "DIRECT_ANSWER": "from what earlier answers stand on",
    "RETRIEVE": "searched the library",
    "REWRITE_THEN_RETRIEVE": "put in full, then searched",
    "ASK_CLARIFICATION": "asked back",
    "LOCATION_SEARCH": "looked for places",
    "READ_DOCUMENT": "read one document from end to end",
}


def draw_activity(view: RunSnapshot) -> None:
    """How the newest turn was answered: its steps, and what its model was asked."""
    own, route = view.state.own, view.state.own.route_decision
    told = ROUTE_LABELS.get(route, route)
    if graded := len(own.doc_relevance_scores):
        told += f", {own.relevant_count} of {format_count(graded, 'passage')} relevant"
    st.html(f'<div class="ts"><p class="small soft">{escape.html(told)}</p>{_render_steps(view)}</div>')
    run_page.draw_activity(view)


def render_progress(view: RunSnapshot) -> str:
    """What has been done so far and what is being done now, as HTML."""
    now = f'<li class="now"><span class="pulse" aria-hidden="true"></span> {escape.html(view.activity)}</li>'
    return f'<div class="ts" role="status" aria-live="polite">{_render_steps(view, now)}</div>'


def _render_steps(view: RunSnapshot, now: str = "") -> str:
    """The steps of a turn in words with who judged, as HTML; `now` is the one that is being taken."""
    items = ""
    for step in view.steps:
        if told := CHAT.describe(step):
            by = find_judge(step.name, step.change).get("by", "")
            actor = labels.name_actor(by, view.run.settings.model)
            items += (
                f'<li>{escape.html(told[:1].upper() + told[1:])} <span class="small soft">{actor}</span></li>'
            )
    return f'<ol class="progress">{items}{now}</ol>'


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
    by = f'<p class="small soft">{escape.html(state.own.searched_by)}</p>' if state.own.searched_by else ""
    return f'<div class="ts">{by}{markup.table(["Passage", "Grade", "Why"], rows)}</div>'


def _read_passage(doc: PassageRef) -> str:
    """A passage's own words, without the heading it begins with."""
    try:
        text = client.workbench().page(doc.page_id).text[doc.start : doc.end]
    except NotFound:
        return ""
    return text.removeprefix(doc.heading.rsplit(" › ", 1)[-1]).strip()


def render_unfinished(view: RunSnapshot) -> str:
    """How a turn that did not end stands, as HTML."""
    chip = badges.render(labels.describe_status(view.run), labels.STATUS_TONE[view.run.status])
    told = view.run.error or "Nothing is lost: continue, or ask something else."
    return (
        f'<div class="ts"><div class="ts-now" role="status">{chip}<span class="say soft">'
        f"{escape.html(told)}</span></div></div>"
    )
