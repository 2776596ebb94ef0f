"""How a turn was answered: the steps as they come, the route and who chose it, the passages with their grades, the picture of the way."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.errors import NotFound
from agent.flows.chat_state import Chat, Doc
from agent.roles.grade import RELEVANT
from agent.types import Status, Step
from agent.wording import counted
from agent.workbench import View
from pages.widgets import calls, chips, door, facts, flowpath, safe, words

TABS = ("The way it took", "Passages and grades", "Facts", "Model calls")
ROUTE = {
    "DIRECT_ANSWER": "from what earlier answers stand on",
    "RETRIEVE": "searched the library",
    "REWRITE_THEN_RETRIEVE": "put in full, then searched",
    "ASK_CLARIFICATION": "asked back",
    "LOCATION_SEARCH": "looked for places",
    "information": "searched the library",
    "location_search": "looked for places",
}


def fold(view: View, state: Chat) -> None:
    """A line that opens to the details; nothing in it is drawn before."""
    if view.run.status is Status.RUNNING or not state.route_decision:
        return
    label = f"How it was answered: {safe.md(ROUTE.get(state.route_decision, state.route_decision))}{_graded(state)}"
    opened = st.expander(label, icon=":material/account_tree:", key=f"chat-how-{view.run.id}", on_change="rerun")
    if opened.open:
        with opened:
            _inside(view, state)


def _graded(state: Chat) -> str:
    if not state.doc_relevance_scores:
        return ""
    good = sum(score >= RELEVANT for score in state.doc_relevance_scores)
    return f", {good} of {counted(len(state.doc_relevance_scores), 'passage')} relevant"


def _inside(view: View, state: Chat) -> None:
    st.html(f'<div class="ts">{steps(view.steps, state)}</div>')
    opened = st.tabs(TABS, key=f"chat-tab-{view.run.id}", on_change="rerun")
    for name, tab in zip(TABS, opened, strict=True):
        if not tab.open:
            continue
        with tab:
            if name == TABS[0]:
                flowpath.tab(view)
            elif name == TABS[1]:
                st.html(grades(state, view.run.id))
            elif name == "Facts":
                facts.draw(list(state.facts.values()), view.run.id)
            else:
                calls.draw(view.run.id)


def progress(view: View, state: Chat) -> str:
    """What has been done so far and what is being done now, as HTML."""
    now = f'<li class="now"><span class="pulse" aria-hidden="true"></span> {safe.html(view.activity)}</li>'
    return f'<div class="ts" role="status" aria-live="polite"><ol class="progress">{_lines(view.steps, state)}{now}</ol></div>'


def steps(taken: list[Step], state: Chat) -> str:
    """The steps of a turn in words, as HTML."""
    return f'<ol class="progress">{_lines(taken, state)}</ol>'


def _lines(taken: list[Step], state: Chat) -> str:
    return "".join(f"<li>{line}</li>" for line in (_line(step, state) for step in taken) if line)


def _line(step: Step, state: Chat) -> str:
    """One step in words; "" for one that needs none."""
    change, name = step.change, step.name
    if name in ("router", "classify"):
        route = str(change.get("route_decision", ""))
        why = change.get("route_reasoning") or ROUTE.get(route, "")
        return f"<b>{safe.html(route)}</b>: {safe.html(why)} {_by(change, name)}"
    if name.startswith("rewrite"):
        made = (change.get("rewrites") or [{}])[-1]
        return f"Put in other words: “{safe.html(made.get('query', ''))}” {_who(made.get('by', ''))}"
    if name == "retrieve":
        asked = "”, “".join(safe.html(query) for query in change.get("queries") or [])
        return f"Searched for “{asked}”: {counted(len(change.get('retrieved_docs') or []), 'passage')}"
    if name in ("grade", "rerank"):
        scores = change.get("doc_relevance_scores") or []
        return f"{sum(score >= RELEVANT for score in scores)} of {counted(len(scores), 'passage')} relevant {_by(change, name)}"
    return _rest_of(name, change)


def _rest_of(name: str, change: dict[str, Any]) -> str:
    if name.startswith("generate"):
        draft = change.get("draft") or {}
        caveat = f' <span class="soft">{safe.html(draft.get("caveat", ""))}</span>' if draft.get("caveat") else ""
        return f"Drafted {counted(len(draft.get('sentences') or []), 'sentence')} {_who(draft.get('by', ''))}{caveat}"
    if name == "validate":
        checked = (change.get("groundings") or [{}])[-1]
        chip = chips.one("grounded", "good") if checked.get("grounded") else chips.one("not grounded", "warn")
        return f"Checked: {chip} {safe.html(checked.get('reason', ''))} {_who(checked.get('by', ''))}" if checked else ""
    if name.startswith("clarify"):
        return "Asked you what is meant"
    if name == "respond":
        return f"You answered: “{safe.html((change.get('responses') or [''])[-1])}”"
    if name == "location":
        found = (change.get("located") or {}).get("rows") or []
        return f"Found {counted(len(found), 'place')}"
    return ""


def _by(change: dict[str, Any], name: str) -> str:
    spoken = (change.get("speakers") or {}).get(name) or {}
    trouble = f' <span class="small warned">the model did not speak: {safe.html(spoken["trouble"])}</span>' if spoken.get("trouble") else ""
    return _who(spoken.get("by", "")) + trouble


def _who(by: str) -> str:
    told = words.SPEAKER.get(by, "")
    return f'<span class="small soft">{told}</span>' if told else ""


def grades(state: Chat, run_id: str) -> str:
    """The passages found, each with its grade and the reason for it, best first."""
    if not state.retrieved_docs:
        why = "Nothing was searched for this turn." if not state.queries else "Nothing was found."
        return f'<div class="ts empty"><b>No passages</b>{why}</div>'
    graded = len(state.doc_relevance_scores) == len(state.retrieved_docs)
    scores = state.doc_relevance_scores if graded else [0.0] * len(state.retrieved_docs)
    reasons = state.doc_reasons if len(state.doc_reasons) == len(state.retrieved_docs) else [""] * len(state.retrieved_docs)
    rows = []
    for doc, score, reason in sorted(zip(state.retrieved_docs, scores, reasons, strict=True), key=lambda row: -row[1]):
        chip = chips.one("relevant", "good") if score >= RELEVANT else chips.one("not relevant") if graded else ""
        title = f"{doc.title or doc.source_id}{f' › {doc.heading}' if doc.heading and not doc.rows else ''}"
        opens = f'<a href="{safe.passage(doc.page_id, doc.start, doc.end, run_id)}" target="_blank">{safe.html(safe.shorten(title, 110))}</a>'
        opens += f'<br><span class="soft small">{safe.html(safe.shorten(_text(doc), 120))}</span>'
        rows.append(f'<tr><td>{opens}</td><td>{chip}</td><td class="soft">{safe.html(reason)}</td></tr>')
    by = f'<p class="small soft">{safe.html(state.searched_by)}</p>' if state.searched_by else ""
    head = "<tr><th>Passage</th><th>Grade</th><th>Why</th></tr>"
    return f'<div class="ts">{by}<div class="scroll"><table>{head}{"".join(rows)}</table></div></div>'


def _text(doc: Doc) -> str:
    """A passage's own words, without the heading it begins with."""
    try:
        text = door.workbench().page(doc.page_id).text[doc.start : doc.end]
    except NotFound:
        return ""
    return text.removeprefix(doc.heading.rsplit(" › ", 1)[-1]).strip()


def rests(view: View) -> str:
    """How a turn that did not end stands, as HTML."""
    chip = chips.one(words.stands(view.run), words.STATUS_TONE[view.run.status])
    told = view.run.error or "Nothing is lost: go on, or ask something else."
    return f'<div class="ts"><div class="ts-now" role="status">{chip}<span class="say soft">{safe.html(told)}</span></div></div>'
