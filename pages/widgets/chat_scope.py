"""What a conversation is about: everything, or what some runs read, what carries a tag, chosen documents; with the demo's sources or without."""

from __future__ import annotations

import streamlit as st

from agent.types import Scope, Settings
from agent.wording import counted
from pages.widgets import door, safe

RUNS, TAGS, DOCUMENTS, DEMO, MODEL = "chat-runs", "chat-tags", "chat-documents", "chat-demo", "chat-model"
DEMO_TAG = "demo"
LISTED = 500
"""Documents and runs that can be chosen."""


def recall(settings: Settings) -> bool:
    """Fill the widgets in from a conversation's settings, when they are drawn for the first time (or after a visit elsewhere).

    True when they were: the screen is being entered.
    """
    entering = DOCUMENTS not in st.session_state
    scope = settings.scope
    given = {RUNS: scope.run_ids, TAGS: scope.tags, DOCUMENTS: scope.source_ids, DEMO: settings.world == "demo", MODEL: settings.model}
    for key, value in given.items():
        if key not in st.session_state:
            st.session_state[key] = value
    return entering


def forget() -> None:
    """Let the widgets be filled in anew: another conversation is shown. Only before they are drawn."""
    for key in (RUNS, TAGS, DOCUMENTS, DEMO, MODEL):
        st.session_state.pop(key, None)


def choose(settings: Settings) -> None:
    """The line under the box: what is talked about, and a popover to change it."""
    chosen = scope()
    with st.container(horizontal=True, vertical_alignment="center", key="chat-scope"):
        with st.popover(f"About: {safe.md(told(chosen, demo=_demo()), 70)}", icon=":material/filter_alt:", key="chat-scope-open"):
            _choices(settings)
        if not chosen.everything:
            st.button("Talk about everything", key="chat-scope-clear", type="tertiary", icon=":material/close:", on_click=clear)
        st.caption(_by())


def _choices(settings: Settings) -> None:
    shelf, bench = door.holdings(), door.workbench()
    tags = shelf.tags()
    titles = {source.source_id: source.title or source.source_id for source in shelf.sources(limit=LISTED)}
    for source_id in st.session_state.get(DOCUMENTS) or []:
        titles.setdefault(source_id, source_id)
    runs = {run.id: run.question for run in bench.runs()[:LISTED] if run.settings.flow in ("research", "site", "collect")}
    for run_id in st.session_state.get(RUNS) or []:
        runs.setdefault(run_id, run_id)
    known = {*tags, *(st.session_state.get(TAGS) or [])}
    st.multiselect("Documents and pages", list(titles), key=DOCUMENTS, format_func=lambda name: safe.shorten(titles[name], 80), placeholder="all")
    st.multiselect("With a tag", sorted(known), key=TAGS, placeholder="any")
    st.multiselect("Read by a run", list(runs), key=RUNS, format_func=lambda name: safe.shorten(runs[name], 80), placeholder="any")
    st.toggle("With the demo’s invented sources", key=DEMO)
    model = bench.active().model
    names = list(dict.fromkeys(["auto", "keyless", settings.model])) if model else ["keyless"]
    if st.session_state.get(MODEL) not in names:
        st.session_state[MODEL] = names[0]
    st.selectbox("Who thinks", names, key=MODEL, format_func=lambda name: _speaker(name, model), filter_mode=None)
    st.caption("What any of the first three names is talked about; when none does, everything is.")


def _speaker(name: str, model: str) -> str:
    return {"auto": f"Model: {model}", "keyless": "No model (rules and quotes only)"}.get(name, name)


def _by() -> str:
    active = door.workbench().active()
    model = active.model if st.session_state.get(MODEL, "auto") != "keyless" else ""
    demo = " · with the demo’s invented sources" if st.session_state.get(DEMO) else ""
    why = f" ({trouble.rstrip('.')})" if (trouble := door.model_trouble()) else ""
    return safe.md(f"{f'with {model}' if model else f'without a model: quoted sentences{why}'}{demo}")


def scope() -> Scope:
    """What is chosen now."""
    state = st.session_state
    return Scope(run_ids=state.get(RUNS) or [], tags=state.get(TAGS) or [], source_ids=state.get(DOCUMENTS) or [])


def settings(before: Settings) -> Settings:
    """The settings of a turn: those of the turn before with what is chosen now."""
    model = st.session_state.get(MODEL) or "auto"
    world = "demo" if st.session_state.get(DEMO) else "live"
    return before.model_copy(update={"flow": "chat", "scope": scope(), "world": world, "model": model})


def add(source_ids: list[str]) -> None:
    """Talk about these, too; when everything was talked about, about these alone. Only in a callback."""
    st.session_state[DOCUMENTS] = list(dict.fromkeys([*(st.session_state.get(DOCUMENTS) or []), *source_ids]))


def clear() -> None:
    """Talk about everything again."""
    st.session_state.update({RUNS: [], TAGS: [], DOCUMENTS: []})


def _demo() -> bool:
    """Does what is chosen take in the demo's sources, as far as there are any?"""
    return bool(st.session_state.get(DEMO)) or DEMO_TAG not in door.holdings().tags()


def told(chosen: Scope, *, demo: bool = True) -> str:
    """A scope in a few words; without `demo`, everything is all but the demo's sources."""
    if chosen.everything:
        return "everything in the library" + ("" if demo else " but the invented demo pages")
    titles = [_title(source_id) for source_id in chosen.source_ids[:2]]
    more = len(chosen.source_ids) - len(titles)
    parts = [*titles, *([f"{more} more"] if more > 0 else []), *(f"#{tag}" for tag in chosen.tags)]
    return ", ".join([*parts, *([f"what {counted(len(chosen.run_ids), 'run')} read"] if chosen.run_ids else [])])


def _title(source_id: str) -> str:
    found = door.holdings().shelf.get(source_id)
    return found.source.title or source_id if found else source_id
