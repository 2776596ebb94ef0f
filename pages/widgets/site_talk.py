"""A conversation with a site on the screen: its turns, the newest one followed while it works, what was read for it, a box to ask on."""

from __future__ import annotations

import streamlit as st

from agent.errors import NotFound
from agent.flows.site_state import Site
from agent.types import Answer, Status
from agent.wording import counted
from agent.workbench import View
from pages.widgets import (
    answer,
    calls,
    chips,
    controls,
    door,
    drafts,
    fact_card,
    flowpath,
    following,
    forkbox,
    halted,
    headline,
    ledger,
    pagemap,
    safe,
    screens,
    site_read,
    sources,
    unread,
    words,
)

TABS = ("Decisions", "Pages read", "Map of the site", "Facts", "Could not read", "The way it took", "Model calls")
ASK, DRAFT = "site-follow-up", "site:follow-up"
REST = {
    Status.REVIEW: "Check the quotes, accept the answer, or ask on.",
    Status.PAUSED: "It rests where it stood. Resume when you like.",
    Status.STOPPED: "Nothing is lost: go on, or have the answer written from what was found.",
    Status.DONE: "You accepted this answer.",
}


def draw(run_id: str) -> None:
    """The conversation that a run belongs to; its newest turn is drawn again every second as long as it works."""
    bench = door.workbench()
    try:
        view = bench.view(run_id)
    except NotFound:
        _missing(headline.unknown(run_id))
        return
    if not isinstance(view.state, Site):
        _missing("This run did not ask a site")
        place = screens.of(view.run.settings.flow)
        st.page_link(place, label="Open it where it belongs", query_params={"run": run_id}, icon=":material/arrow_forward:")
        return
    drafts.keep()
    turns = bench.thread(run_id) or [run_id]
    newest = bench.view(turns[-1])
    _heading(newest)
    for earlier in turns[:-1]:
        _turn(bench.view(earlier))
    following.follow(_live, newest)
    _ask_on(newest)


def _heading(view: View) -> None:
    settings = view.run.settings
    st.page_link("pages/site.py", label="Ask another site", icon=":material/add:", query_params={})
    headline.band(settings)
    sites = ", ".join(dict.fromkeys(safe.host(url) for url in settings.start_urls))
    inside = ", ".join(settings.allowed_domains) or "every domain"
    told = f" · {safe.html(settings.instruction)}" if settings.instruction else ""
    st.html(
        f'<div class="ts"><h1 class="ts-question">{safe.html(sites)}</h1><p class="small soft">Reads inside {safe.html(inside)}{told}</p>'
        f"{sources.line(settings, allowed=False)}</div>"
    )


def _turn(view: View) -> None:
    """An earlier turn: the question and what was answered, its quotes a click away."""
    with st.container(border=True, key=f"site-turn-{view.run.id}"):
        st.html(asked(view))
        if view.state.answers:
            st.html(said(view.state.answers[-1], view))
        else:
            st.html(f'<div class="ts soft">{safe.html(words.STATUS[view.run.status])}: there is no answer to this one.</div>')


def _live(run_id: str, moving: bool) -> None:
    view = door.workbench().view(run_id)
    state = view.state
    if moving is not (view.run.status is Status.RUNNING):
        st.rerun()  # it came to rest (or woke up): the timer is set anew, or not at all
    if not isinstance(state, Site):
        return
    with st.container(border=True, key="site-newest"):
        st.html(asked(view))
        forkbox.origin(view)
        st.html(now(view))
        door.show_notice("site-talk")
        controls.draw(view)
        halted.draw(view)
        fact_card.draw(view)
        if state.answers:
            st.html(said(state.answers[-1], view, newest=True))
            answer.since(state.answers)
            if not state.answers[-1].courtesy:
                controls.review(view)
        if not moving:
            forkbox.menu(view)
    opened = st.tabs(TABS, key="site-tab", on_change="rerun")
    for name, tab in zip(TABS, opened, strict=True):
        if tab.open:
            with tab:
                _inside(name, view, state)


def _inside(name: str, view: View, state: Site) -> None:
    if name == "Decisions":
        st.html(site_read.decisions(state, view.run.id))
    elif name == "Pages read":
        st.html(site_read.pages(state, view.run.id))
    elif name == "Map of the site":
        pagemap.draw(state, view.run.id)
    elif name == "Facts":
        ledger.draw(view)
    elif name == "Could not read":
        unread.draw(view)
    elif name == "The way it took":
        flowpath.tab(view)
    else:
        calls.draw(view.run.id)


def asked(view: View) -> str:
    """The question of a turn as HTML, with what it was read as when the conversation added to it."""
    state = view.state
    note = f'<p class="small soft">Read as: {safe.html(state.read_as)}</p>' if state.read_as else ""
    return f'<div class="ts"><h2 class="ts-section turn">{safe.html(view.run.question)}</h2>{note}</div>'


def said(given: Answer, view: View, *, newest: bool = False) -> str:
    """An answer as its card, that of the newest turn with a way to its facts; a refusal in its own polite words."""
    if given.sentences:
        return answer.card(given, view.state.facts, view.run.id, editable=newest)
    if given.courtesy:
        return f'<div class="ts"><div class="answer">{safe.html(given.certainty)}</div></div>'
    kind = words.REFUSAL.get(given.reason, words.VERDICT[given.verdict])
    missing = "".join(f'<p class="small soft">{safe.html(text)}</p>' for text in (given.remark, given.because, given.journey) if text)
    return f'<div class="ts"><div class="chips">{chips.one(kind, "mute")}</div><div class="answer">{safe.html(given.certainty)}</div>{missing}</div>'


def now(view: View) -> str:
    """How the newest turn stands, as HTML."""
    state = view.state
    known = len(state.all_discovered_urls) - len(state.visited_urls) if isinstance(state, Site) else 0
    read = chips.one(counted(state.pages_read, "page") + " read") + (chips.one(f"{known:,} addresses not read") if known else "")
    polite = bool(state.answers) and state.answers[-1].courtesy
    rest = {**halted.rest(view, REST), **({Status.DONE: "Ask on when you like."} if polite else {})}
    return f'<div class="ts">{headline.standing(view, rest, read)}</div>'


def _ask_on(view: View) -> None:
    """The box for a further question; it waits while an answer is on its way."""
    busy = view.run.status in (Status.RUNNING, Status.PAUSED)
    with st.container(key="site-ask-on"):
        drafts.area("Ask on", ASK, DRAFT, placeholder="e.g. And for international orders?", height=80)
        st.button(
            "Ask", type="primary", icon=":material/forum:", key="site-follow", on_click=_follow, args=(view.run.id,), disabled=busy,
            help="The answer before is still on its way" if busy else None,
        )  # fmt: skip


def _follow(run_id: str) -> None:
    def opened(new: str) -> None:
        st.query_params["run"] = new
        drafts.sent(ASK, DRAFT)

    door.tell(door.workbench().follow_up, run_id, st.session_state.get(ASK) or "", then=opened)


def _missing(told: str) -> None:
    headline.missing("conversation", told, "pages/site.py", "Ask a site")
