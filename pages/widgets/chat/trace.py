"""How a turn was answered: its steps as they come, the route, the passages with grades, the picture."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.errors import NotFound
from agent.flows.chat.state import ChatRun, PassageGrade, PassageRef
from agent.flows.chat.steps import describe_rewrite
from agent.roles.chat import MIN_RELEVANT_SCORE
from agent.text.plurals import format_count
from agent.types import Status, Step
from agent.workbench import RunSnapshot
from pages.widgets.run import run_page
from pages.widgets.shell import badges, client, escape, labels, markup

ROUTE_LABELS = {
    "DIRECT_ANSWER": "from what earlier answers stand on",
    "RETRIEVE": "searched the library",
    "REWRITE_THEN_RETRIEVE": "put in full, then searched",
    "ASK_CLARIFICATION": "asked back",
    "LOCATION_SEARCH": "looked for places",
}


def draw_folded(view: RunSnapshot, state: ChatRun) -> None:
    """A line that opens to the details; nothing in it is drawn before."""
    if view.run.status is Status.RUNNING or not state.own.route_decision:
        return
    label = (
        "How it was answered: "
        f"{escape.md(ROUTE_LABELS.get(state.own.route_decision, state.own.route_decision))}"
        f"{_describe_grades(state)}"
    )
    opened = st.expander(
        label, icon=":material/account_tree:", key=f"chat-how-{view.run.id}", on_change="rerun"
    )
    if opened.open:
        with opened:
            _draw_details(view, state)


def _describe_grades(state: ChatRun) -> str:
    if not state.own.doc_relevance_scores:
        return ""
    good = sum(score >= MIN_RELEVANT_SCORE for score in state.own.doc_relevance_scores)
    return f", {good} of {format_count(len(state.own.doc_relevance_scores), 'passage')} relevant"


def _draw_details(view: RunSnapshot, state: ChatRun) -> None:
    st.html(f'<div class="ts">{render_steps(view.steps, state)}</div>')
    run_page.draw_tabs(DETAILS, view, f"chat-tab-{view.run.id}")


def _draw_grades(view: RunSnapshot) -> None:
    st.html(render_grades(view.state, view.run.id))


def render_progress(view: RunSnapshot, state: ChatRun) -> str:
    """What has been done so far and what is being done now, as HTML."""
    now = f'<li class="now"><span class="pulse" aria-hidden="true"></span> {escape.html(view.activity)}</li>'
    return (
        '<div class="ts" role="status" aria-live="polite"><ol class="progress">'
        f"{_render_items(view.steps, state)}{now}</ol></div>"
    )


def render_steps(taken: list[Step], state: ChatRun) -> str:
    """The steps of a turn in words, as HTML."""
    return f'<ol class="progress">{_render_items(taken, state)}</ol>'


def _render_items(taken: list[Step], state: ChatRun) -> str:
    return "".join(f"<li>{line}</li>" for line in (_render_step(step, state) for step in taken) if line)


def _render_step(step: Step, state: ChatRun) -> str:
    """One step in words; "" for one that needs none."""
    change, name = step.change, step.name
    if name == "router":
        route = str(change.get("route_decision", ""))
        why = change.get("route_reasoning") or ROUTE_LABELS.get(route, "")
        return f"<b>{escape.html(route)}</b>: {escape.html(why)} {_render_actor_and_fallback(change, name)}"
    if name.startswith("rewrite"):
        made = (change.get("rewrites") or [{}])[-1]
        words = describe_rewrite({"query": "", **made})
        return f"{escape.html(words[:1].upper() + words[1:])} {_render_actor(made.get('by', ''))}"
    if name == "retrieve" and "retrieved_docs" not in change:
        return "Searched for nothing further"
    if name == "retrieve":
        asked = "”, “".join(escape.html(query) for query in change.get("queries") or [])
        return f"Searched for “{asked}”: {format_count(len(change.get('retrieved_docs') or []), 'passage')}"
    if name == "grade":
        scores = change.get("doc_relevance_scores") or []
        return (
            f"{sum(score >= MIN_RELEVANT_SCORE for score in scores)} of "
            f"{format_count(len(scores), 'passage')} relevant {_render_actor_and_fallback(change, name)}"
        )
    return _render_late_step(name, change)


def _render_late_step(name: str, change: dict[str, Any]) -> str:
    if name.startswith("generate"):
        draft = change.get("draft") or {}
        left_out = len(draft.get("left_out") or [])
        caveat = (
            f' <span class="soft">{escape.html(draft.get("caveat", ""))}</span>'
            if draft.get("caveat")
            else ""
        )
        return (
            f"Drafted {format_count(len(draft.get('sentences') or []), 'sentence')}"
            f"{f', left out {left_out}' if left_out else ''} {_render_actor(draft.get('by', ''))}{caveat}"
        )
    if name == "validate":
        checked = (change.get("groundings") or [{}])[-1]
        chip = (
            badges.render("grounded", "good")
            if checked.get("grounded")
            else badges.render("not grounded", "warn")
        )
        return (
            f"Checked: {chip} {escape.html(checked.get('reason', ''))} {_render_actor(checked.get('by', ''))}"
            if checked
            else ""
        )
    if name.startswith("clarify"):
        return "Asked you what is meant"
    if name == "respond":
        return f"You answered: “{escape.html((change.get('responses') or [''])[-1])}”"
    if name == "location":
        found = (change.get("located") or {}).get("rows") or []
        return f"Found {format_count(len(found), 'place')}"
    return ""


def _render_actor_and_fallback(change: dict[str, Any], name: str) -> str:
    spoken = (change.get("speakers") or {}).get(name) or {}
    trouble = (
        f' <span class="small warned">the model failed: {escape.html(spoken["trouble"])}</span>'
        if spoken.get("trouble")
        else ""
    )
    return _render_actor(spoken.get("by", "")) + trouble


def _render_actor(by: str) -> str:
    told = labels.ACTOR.get(by, "")
    return f'<span class="small soft">{told}</span>' if told else ""


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
        chip = (
            badges.render("relevant", "good")
            if score >= MIN_RELEVANT_SCORE
            else badges.render("not relevant")
            if graded
            else ""
        )
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


DETAILS = run_page.RunPage(
    path="pages/chat.py",
    flows=("chat",),
    noun="conversation",
    other_flow="",
    new_label="",
    tabs=("Workflow", "Passages and grades", "Facts", "Model calls"),
    own_tabs={"Passages and grades": _draw_grades},
)
