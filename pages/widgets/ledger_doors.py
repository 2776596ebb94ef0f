"""What a person may do with the ledger as a whole: take back an edit, add a fact, strike a source after seeing what falls with it."""

from __future__ import annotations

import streamlit as st

from agent import editing
from agent.errors import UsageError
from agent.flows.edits import Falls
from agent.types import Fact, Status
from agent.urls import site
from agent.wording import counted
from agent.workbench import View
from pages.widgets import door, safe

PAGE, OWN = "It stands on a page", "I know it myself"
AGAIN = "The answer is written anew."
ADD, STRIKE = "ledger-add", "ledger-strike-source"
TOLD = 4
"""Sentences named before a source is struck."""


def draw(view: View) -> None:
    """The row of buttons above the facts, and the sources that are struck."""
    run_id, bench = view.run.id, door.workbench()
    with st.container(horizontal=True, vertical_alignment="center", key="ledger-doors"):
        adding = st.popover("Add a fact", icon=":material/add_notes:", key=key(ADD), on_change="rerun")
        if adding.open:
            with adding:
                _add(view)
        if any(fact.url for fact in view.state.facts.values()):
            striking = st.popover("Strike a source", icon=":material/link_off:", key=key(STRIKE), on_change="rerun")
            if striking.open:  # what falls is worked out over all facts: only when somebody looks
                with striking:
                    _strike(view)
        if edit := editing.undoable(view):
            st.button(f"Undo: {_said(edit.text)}", icon=":material/undo:", key="ledger-undo", on_click=door.tell, args=(editing.undo, bench, run_id))
        if edit := editing.redoable(view):
            st.button(f"Redo: {_said(edit.text)}", icon=":material/redo:", key="ledger-redo", on_click=door.tell, args=(editing.redo, bench, run_id))
    _sources(view)


def _sources(view: View) -> None:
    """The sources that are struck, each with the way back."""
    for source in view.state.struck_sources:
        told = f'<div class="ts small"><span class="struck">{safe.html(safe.shorten(source, 70))}</span> is struck as a source.</div>'
        args = (editing.restore_source, door.workbench(), view.run.id, source)
        with st.container(horizontal=True, vertical_alignment="center", key=f"ledger-struck-{source}"):
            st.html(told, width="content")
            label = safe.md(f"Restore {safe.shorten(source, 40)}")
            st.button(label, key=f"ledger-restore-{source}", type="tertiary", on_click=door.tell, args=args)


def follows(view: View) -> str:
    """What an edit leads to just now, for the notice."""
    return AGAIN if view.run.status in (Status.REVIEW, Status.DONE) else ""


def key(name: str) -> str:
    """The key of a popover: another one after each time something was done in it, so that it is closed then and stays so."""
    return f"{name}-{st.session_state.get(f'{name}-done', 0)}"


def close(name: str) -> None:
    """Close this popover: what was done in it is done."""
    st.session_state[f"{name}-done"] = st.session_state.get(f"{name}-done", 0) + 1


def _said(text: str) -> str:
    return safe.md(safe.shorten(text, 60))


def _add(view: View) -> None:
    run_id = view.run.id
    st.text_area("The fact, in a sentence", key=f"ledger-new-statement-{run_id}", height=80)
    kind = st.radio("Where is it from?", [PAGE, OWN], key=f"ledger-new-kind-{run_id}", horizontal=True)
    if kind == PAGE:
        st.text_input("Address of the page", key=f"ledger-new-url-{run_id}", placeholder="https://…")
        st.text_area("The words as they stand there", key=f"ledger-new-quote-{run_id}", height=80, help="They are looked up in the stored page.")
    else:
        st.caption("It may stand in the answer, marked as your own knowledge. It never counts as backed by a page.")
    st.button("Add it", type="primary", key="ledger-new-add", on_click=_added, args=(view,))


def _added(view: View) -> None:
    run_id, at = view.run.id, st.session_state
    own = at.get(f"ledger-new-kind-{run_id}") == OWN
    statement = at.get(f"ledger-new-statement-{run_id}") or ""
    url, quote = ("", "") if own else (at.get(f"ledger-new-url-{run_id}") or "", at.get(f"ledger-new-quote-{run_id}") or "")

    def add() -> int:
        if not own and not (url.strip() and quote.strip()):
            raise UsageError("name the page's address and the words as they stand there, or say that you know it yourself")
        return editing.add(door.workbench(), run_id, statement, url=url, quote=quote)

    def clear(_: int) -> None:
        for part in ("statement", "url", "quote"):
            at.pop(f"ledger-new-{part}-{run_id}", None)
        close(ADD)

    door.tell(add, done=f"Added. {follows(view)}".strip(), then=clear)


def _strike(view: View) -> None:
    """Choose a site or a page; what falls is told before the button that does it."""
    sources = choices(list(view.state.facts.values()))
    if not sources:
        st.caption("All sources are struck.")
        return
    chosen = st.selectbox("Which source?", list(sources), format_func=lambda name: sources[name], key=f"ledger-source-to-strike-{view.run.id}")
    if not chosen:
        return
    fall = editing.falls(view, chosen)
    st.html(falling(fall))
    label = f"Strike it with {counted(len(fall.facts), 'fact')}"
    st.button(label, type="primary", key="ledger-source-strike", on_click=_struck, args=(view, chosen))


def _struck(view: View, source: str) -> None:
    done = f"{source} is struck. {follows(view)}".strip()
    door.tell(editing.strike_source, door.workbench(), view.run.id, source, done=done, then=lambda _: close(STRIKE))


def choices(known: list[Fact]) -> dict[str, str]:
    """The sources that can be struck, with their labels: each site, then the pages of sites with several."""
    left = [fact for fact in known if fact.url and fact.decision != "struck"]
    pages: dict[str, dict[str, list[Fact]]] = {}
    for fact in left:
        pages.setdefault(site(fact.url), {}).setdefault(fact.url, []).append(fact)
    sites = {name: f"{name}: {counted(sum(map(len, of.values())), 'fact')}" for name, of in sorted(pages.items())}
    single = {
        url: f"only “{safe.shorten(found[0].title or safe.address(url), 50)}” of {name}: {counted(len(found), 'fact')}"
        for name, of in sorted(pages.items())
        if len(of) > 1
        for url, found in of.items()
    }
    return sites | single


def falling(fall: Falls) -> str:
    """What striking a source takes with it, as HTML."""
    told = f"<p><b>{counted(len(fall.facts), 'fact')}</b> of {safe.html(fall.source)} will be struck, and so will what is read there later.</p>"
    if fall.sentences:
        more = f"<p>and {len(fall.sentences) - TOLD} more</p>" if len(fall.sentences) > TOLD else ""
        items = "".join(f"<li>{safe.html(safe.shorten(sentence.text, 160))}</li>" for sentence in fall.sentences[:TOLD])
        told += f"<p>The answer loses {counted(len(fall.sentences), 'sentence')}:</p><ul>{items}</ul>{more}"
    else:
        told += "<p>No sentence of the answer falls.</p>"
    weak = len(fall.weakened)
    if weak:
        told += f"<p>{counted(weak, 'sentence')} of it {'loses' if weak == 1 else 'lose'} one source, but not the last.</p>"
    return f'<div class="ts small" role="status">{told}</div>'
