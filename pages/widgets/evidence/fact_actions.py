"""What can be done with the whole ledger: undo an edit, add a fact, strike a source after a preview."""

from __future__ import annotations

import streamlit as st

from agent.actions import undo_edits
from agent.actions.sources import StrikeImpact, preview_strike
from agent.answering import fact_view
from agent.errors import UsageError
from agent.text.plurals import format_count
from agent.text.urls import site
from agent.types import Fact, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import client, escape, ui

FROM_PAGE, OWN_KNOWLEDGE = "From a page", "My own knowledge"
REWRITE_NOTICE = "The answer is updated."
ADD_POPOVER, STRIKE_POPOVER = "ledger-add", "ledger-strike-source"
MAX_SENTENCES = 4
"""Sentences named before a source is struck."""


def draw(view: RunSnapshot) -> None:
    """The row of buttons above the facts, and the sources that are struck."""
    with st.container(horizontal=True, vertical_alignment="center", key="ledger-doors"):
        adding = ui.popover("Add a fact", ADD_POPOVER, "add_notes")
        if adding.open:
            with adding:
                _draw_add_form(view)
        if any(fact.url for fact in view.state.facts.values()):
            striking = ui.popover("Exclude a source", STRIKE_POPOVER, "link_off")
            if striking.open:  # what falls is worked out over all facts: only when somebody looks
                with striking:
                    _draw_strike_form(view)
        if edit := undo_edits.find_undoable(view):
            built = undo_edits.list_built_on(view, edit.step)
            steps, said = (
                format_count(len(built.steps), "step"),
                format_count(len(built.sentences), "sentence"),
            )
            tip = f"Built on it since: {steps}, {said} of the answer." if built.steps else None
            name = f"Undo: {_format_edit(edit.text)}"
            ui.act(view, "undo", "ledger-undo", name, icon="undo", help=tip, given={"step": edit.step})
        if edit := undo_edits.find_redoable(view):
            name = f"Redo: {_format_edit(edit.text)}"
            ui.act(view, "redo", "ledger-redo", name, icon="redo", given={"step": edit.step})
    _draw_struck_sources(view)


def _draw_struck_sources(view: RunSnapshot) -> None:
    """The sources that are struck, each with the way back."""
    for source in view.state.strikes:
        told = (
            f'<div class="ts small"><span class="struck">{escape.html(escape.shorten(source, 70))}'
            "</span> is excluded as a source.</div>"
        )
        with st.container(horizontal=True, vertical_alignment="center", key=f"ledger-struck-{source}"):
            st.html(told, width="content")
            label = escape.md(f"Restore {escape.shorten(source, 40)}")
            given = {"source": source}
            ui.act(view, "restore_source", f"ledger-restore-{source}", label, given=given, type="tertiary")


def describe_consequence(view: RunSnapshot) -> str:
    """What an edit leads to just now, for the notice."""
    return REWRITE_NOTICE if view.run.status in (Status.REVIEW, Status.DONE) else ""


def _format_edit(text: str) -> str:
    return escape.md(escape.shorten(text, 60))


def _draw_add_form(view: RunSnapshot) -> None:
    run_id = view.run.id
    st.text_area("The fact, in a sentence", key=f"ledger-new-statement-{run_id}", height=80)
    kind = st.radio(
        "Where is it from?", [FROM_PAGE, OWN_KNOWLEDGE], key=f"ledger-new-kind-{run_id}", horizontal=True
    )
    if kind == FROM_PAGE:
        st.text_input("Address of the page", key=f"ledger-new-url-{run_id}", placeholder="https://…")
        st.text_area(
            "Exact quote",
            key=f"ledger-new-quote-{run_id}",
            height=80,
            help="Checked against the stored page.",
        )
    else:
        st.caption(
            "It may be used in the answer, marked as your own knowledge. It never counts as backed by a page."
        )
    ui.button("Add it", "ledger-new-add", _add_fact, view, type="primary")


def _add_fact(view: RunSnapshot) -> None:
    run_id, at = view.run.id, st.session_state
    own = at.get(f"ledger-new-kind-{run_id}") == OWN_KNOWLEDGE
    statement = at.get(f"ledger-new-statement-{run_id}") or ""
    url, quote = ("" if own else at.get(f"ledger-new-{part}-{run_id}") or "" for part in ("url", "quote"))

    def add() -> int | str:
        if not own and not (url.strip() and quote.strip()):
            raise UsageError(
                "name the page's address and the words as they stand there, or say that you know it yourself"
            )
        return client.workbench().act(run_id, "add", statement=statement, url=url, quote=quote)

    def clear(_: int) -> None:
        for part in ("statement", "url", "quote"):
            at.pop(f"ledger-new-{part}-{run_id}", None)
        ui.close_popover(ADD_POPOVER)

    client.submit(add, done=f"Added. {describe_consequence(view)}".strip(), then=clear)


def _draw_strike_form(view: RunSnapshot) -> None:
    """Choose a site or a page; what falls is told before the button that does it."""
    names = list_sources(fact_view.all_facts(view.state))
    if not names:
        st.caption("All sources are excluded.")
        return
    chosen = st.selectbox(
        "Which source?",
        list(names),
        format_func=lambda name: names[name],
        key=f"ledger-source-to-strike-{view.run.id}",
    )
    if not chosen:
        return
    fall = preview_strike(view.state, chosen)
    st.html(render_strike_impact(fall))
    label = f"Exclude it with {format_count(len(fall.facts), 'fact')}"
    ui.button(label, "ledger-source-strike", _strike_source, view, chosen, type="primary")


def _strike_source(view: RunSnapshot, source: str) -> None:
    done = f"{source} is excluded. {describe_consequence(view)}".strip()
    done_with = {"done": done, "then": lambda _: ui.close_popover(STRIKE_POPOVER)}
    client.act(view.run.id, "strike_source", source=source, **done_with)


def list_sources(known: list[Fact]) -> dict[str, str]:
    """The sources that can be struck, with their labels: each site, then the pages of sites with several."""
    left = [fact for fact in known if fact.url and fact.decision != "struck"]
    pages: dict[str, dict[str, list[Fact]]] = {}
    for fact in left:
        pages.setdefault(site(fact.url), {}).setdefault(fact.url, []).append(fact)
    sites = {
        name: f"{name}: {format_count(sum(map(len, of.values())), 'fact')}"
        for name, of in sorted(pages.items())
    }
    single = {
        url: (
            f"only “{escape.shorten(found[0].title or escape.shorten_url(url), 50)}” of {name}"
            f": {format_count(len(found), 'fact')}"
        )
        for name, of in sorted(pages.items())
        if len(of) > 1
        for url, found in of.items()
    }
    return sites | single


def render_strike_impact(fall: StrikeImpact) -> str:
    """What striking a source takes with it, as HTML."""
    told = (
        f"<p><b>{format_count(len(fall.facts), 'fact')}</b> of {escape.html(fall.source)} will be excluded, "
        "and so will anything read there later.</p>"
    )
    if fall.sentences:
        more = (
            f"<p>and {len(fall.sentences) - MAX_SENTENCES} more</p>"
            if len(fall.sentences) > MAX_SENTENCES
            else ""
        )
        items = "".join(
            f"<li>{escape.html(escape.shorten(sentence.text, 160))}</li>"
            for sentence in fall.sentences[:MAX_SENTENCES]
        )
        told += (
            f"<p>The answer loses {format_count(len(fall.sentences), 'sentence')}:</p><ul>{items}</ul>{more}"
        )
    else:
        told += "<p>The answer loses no sentence.</p>"
    weak = len(fall.weakened)
    if weak:
        told += (
            f"<p>{format_count(weak, 'sentence')} of it {'loses' if weak == 1 else 'lose'} "
            "one source, but not the last.</p>"
        )
    return f'<div class="ts small" role="status">{told}</div>'
