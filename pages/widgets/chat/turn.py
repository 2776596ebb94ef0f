"""One turn of a conversation: the question, the answer with its quotes a click away, or what can be done."""

from __future__ import annotations

import streamlit as st

from agent.actions.follow_up import complete_question
from agent.errors import NotFound
from agent.flows.chat.state import ChatRun, PassageGrade, PassageRef
from agent.roles.chat import MIN_RELEVANT_SCORE
from agent.types import Settings, Status
from agent.workbench import RunSnapshot
from pages.widgets.chat import message_box, places_map
from pages.widgets.run import answer_pane, controls, export_menu, status_line
from pages.widgets.run.timeline import build_cards
from pages.widgets.shell import badges, client, drafts, escape, markup, ui


def draw(view: RunSnapshot, state: ChatRun, *, asks_back: bool = False) -> None:
    """The turn; with `asks_back` the form of its question below it."""
    draw_question(view, state)
    if not state.answers:
        return
    given, own = state.answers[-1], state.own
    with st.container(border=True, key=f"chat-answer-{view.run.id}"):
        if own.located and own.located.rows:
            places_map.draw(own.located, view.run.id)
            with st.expander("Source rows", icon=":material/format_quote:", key=f"chat-rows-{view.run.id}"):
                answer_pane.draw(given, view)
        else:
            answer_pane.draw(given, view)
            told = status_line.describe_answer(given)[1] if given.sentences else ""
            st.html(f'<div class="ts">{markup.paragraph(told)}</div>')
        asked = [given, *own.groundings[-1:], *own.rewrites[-1:], *own.speakers.values()]
        if why := next((one.trouble for one in asked if one.trouble), ""):
            told = f"The model failed at a step: {escape.html(why)}"
            st.html(f'<div class="ts"><p class="small warned">{told}</p></div>')
        if asks_back:
            draw_clarification(view, state)


def draw_question(view: RunSnapshot, state: ChatRun) -> None:
    """The question, what it was read as, and what was asked back and answered on the way."""
    said = [("user", view.run.question)]
    for given, response in zip(state.answers, state.own.responses, strict=False):
        said += [("bot", given.certainty), ("user", response)]
    bubbles = "".join(_render_bubble(side, text) for side, text in said)
    read = f"Read as: {escape.html(state.standalone_question)}" if state.standalone_question else ""
    st.html(f'<div class="ts">{bubbles}{markup.paragraph(read, "small soft read-as")}</div>')


def draw_next_steps(view: RunSnapshot, state: ChatRun) -> None:
    """What can be done with the newest answer: research what is missing, take the report along."""
    given = state.answers[-1] if state.answers else None
    if given is None or given.is_small_talk or view.run.status is Status.RUNNING:
        return
    is_open = given.verdict in ("partial", "no_evidence") or bool(given.missing)
    offers_research = is_open and given.reason != "needs_clarification"
    with st.container(horizontal=True, vertical_alignment="center", key="chat-onwards"):
        more = {"icon": "travel_explore", "help": "Ask the web, step by step"}
        if offers_research and ui.button("Open as research", "chat-research", **more):
            _start_research(view, state)
        if given.sentences:
            controls.draw_review(view)
        else:
            export_menu.draw(view)


def _start_research(view: RunSnapshot, state: ChatRun) -> None:
    """Start a research run with the question, in words that the person wrote, and go there."""
    started: list[str] = []
    own = Settings(world=view.run.settings.world, model=view.run.settings.model)
    question = complete_typed_question(state)
    client.submit(
        client.workbench().start, question if "?" in question else f"{question}?", own, then=started.append
    )
    if started:
        st.switch_page("pages/research.py", query_params={"run": started[0]})
    st.rerun()


def complete_typed_question(state: ChatRun) -> str:
    """The question with what the one before it is about; `asked`, of a model, tells what the library says."""
    return complete_question(state.history[-1].user, state.question) if state.history else state.question


def _render_bubble(side: str, text: str) -> str:
    who = "You" if side == "user" else "Touchstone"
    said = f'<div class="who">{who}</div><div class="said">{escape.html(text)}</div>'
    return f'<div class="bubble {side}">{said}</div>'


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


def draw_clarification(view: RunSnapshot, state: ChatRun) -> None:
    """The form. A run that waits takes the answer itself; one that ended takes it as the next turn."""
    typed, choices = f"clarify:{view.run.id}", state.own.choices
    with st.container(key="chat-clarify"):
        for n, choice in enumerate(choices):
            ui.button(escape.md(choice), f"chat-pick-{n}", _answer, view, choice, typed, icon="reply")
        controls.draw_recorded_act(view)
        drafts.text_area("Or in your own words" if choices else "Your answer", typed, height=68)
        ui.button("Answer", "chat-clarify-send", _answer, view, "", typed, icon="reply", type="primary")


def _answer(view: RunSnapshot, picked: str, typed: str) -> None:
    run_id, text = view.run.id, picked or drafts.read(typed).strip()
    if not text:
        client.set_notice("warning", "Pick an answer, or say it in your own words.")
        return
    if view.run.status is Status.WAITING:
        client.act(run_id, "respond", view.head, text=text, then=lambda _: drafts.clear(typed))
    else:
        message_box.send_message(text, view.run.settings, run_id, typed)
