"""What a conversation is about: everything, or what some runs read, what carries a tag, chosen documents;
with the demo's sources or without."""

from __future__ import annotations

import streamlit as st

from agent.text.plurals import format_count
from agent.types import LibraryScope, Settings
from pages.widgets.forms import form_page
from pages.widgets.shell import client, escape, ui

RUNS_KEY, TAGS_KEY, DOCUMENTS_KEY, DEMO_KEY, MODEL_KEY = (
    "chat-runs",
    "chat-tags",
    "chat-documents",
    "chat-demo",
    "chat-model",
)
DEMO_TAG = "demo"
MAX_CHOICES = 500
"""Documents and runs that can be chosen."""


def restore(settings: Settings) -> bool:
    """Fill the widgets in from a conversation's settings, when they are drawn for the first time (or after a
    visit elsewhere).

    True when they were: the screen is being entered."""
    entering = DOCUMENTS_KEY not in st.session_state
    scope = settings.scope
    given = {
        RUNS_KEY: scope.run_ids,
        TAGS_KEY: scope.tags,
        DOCUMENTS_KEY: scope.source_ids,
        DEMO_KEY: settings.world == "demo",
        MODEL_KEY: settings.model,
    }
    for key, value in given.items():
        if key not in st.session_state:
            st.session_state[key] = value
    return entering


def reset() -> None:
    """Let the widgets be filled in anew: another conversation is shown. Only before they are drawn."""
    for key in (RUNS_KEY, TAGS_KEY, DOCUMENTS_KEY, DEMO_KEY, MODEL_KEY):
        st.session_state.pop(key, None)


def draw(settings: Settings) -> None:
    """The line under the box: what is talked about, and a popover to change it."""
    chosen = read_scope()
    with st.container(horizontal=True, vertical_alignment="center", key="chat-scope"):
        with st.popover(
            f"About: {escape.md(describe(chosen, demo=_has_demo_sources()), 70)}",
            icon=":material/filter_alt:",
            key="chat-scope-open",
        ):
            _draw_fields(settings)
        if not chosen.is_unlimited:
            ui.button("Talk about everything", "chat-scope-clear", clear_scope, icon="close", type="tertiary")
        st.caption(f"{_describe_model()} {escape.md(client.workbench().explain_other_model(settings))}")


def _draw_fields(settings: Settings) -> None:
    shelf, bench = client.library(), client.workbench()
    tags = shelf.tags()
    titles = {
        source.source_id: source.title or source.source_id for source in shelf.sources(limit=MAX_CHOICES)
    }
    for source_id in st.session_state.get(DOCUMENTS_KEY) or []:
        titles.setdefault(source_id, source_id)
    runs = {
        run.id: run.question
        for run in bench.runs(limit=MAX_CHOICES)
        if run.settings.flow in ("research", "site", "collect")
    }
    for run_id in st.session_state.get(RUNS_KEY) or []:
        runs.setdefault(run_id, run_id)
    known = {*tags, *(st.session_state.get(TAGS_KEY) or [])}
    st.multiselect(
        "Documents and pages",
        list(titles),
        key=DOCUMENTS_KEY,
        format_func=lambda name: escape.shorten(titles[name], 80),
        placeholder="all",
    )
    st.multiselect("With a tag", sorted(known), key=TAGS_KEY, placeholder="any")
    st.multiselect(
        "Read by a run",
        list(runs),
        key=RUNS_KEY,
        format_func=lambda name: escape.shorten(runs[name], 80),
        placeholder="any",
    )
    st.toggle("With the demo’s invented sources", key=DEMO_KEY)
    form_page.choose_model("chat", settings)
    st.caption(
        "The conversation covers what any of the first three fields names, or everything when all are empty."
    )


def _describe_model() -> str:
    active = client.workbench().active_configuration()
    model = active.model if st.session_state.get(MODEL_KEY, "auto") != "keyless" else ""
    demo = " · with the demo’s invented sources" if st.session_state.get(DEMO_KEY) else ""
    why = f" ({trouble.rstrip('.')})" if (trouble := client.explain_missing_model()) else ""
    return escape.md(f"{f'with {model}' if model else f'without a model: quoted sentences{why}'}{demo}")


def read_scope() -> LibraryScope:
    """What is chosen now."""
    state = st.session_state
    return LibraryScope(
        run_ids=state.get(RUNS_KEY) or [],
        tags=state.get(TAGS_KEY) or [],
        source_ids=state.get(DOCUMENTS_KEY) or [],
    )


def build_settings(before: Settings) -> Settings:
    """The settings of a turn: those of the turn before with what is chosen now."""
    model = st.session_state.get(MODEL_KEY) or "auto"
    world = "demo" if st.session_state.get(DEMO_KEY) else "live"
    return before.model_copy(update={"flow": "chat", "scope": read_scope(), "world": world, "model": model})


def add_documents(source_ids: list[str]) -> None:
    """Talk about these, too; when everything was talked about, about these alone. Only in a callback."""
    st.session_state[DOCUMENTS_KEY] = list(
        dict.fromkeys([*(st.session_state.get(DOCUMENTS_KEY) or []), *source_ids])
    )


def clear_scope() -> None:
    """Talk about everything again."""
    st.session_state.update({RUNS_KEY: [], TAGS_KEY: [], DOCUMENTS_KEY: []})


def _has_demo_sources() -> bool:
    """Does what is chosen take in the demo's sources, as far as there are any?"""
    return bool(st.session_state.get(DEMO_KEY)) or DEMO_TAG not in client.library().tags()


def describe(chosen: LibraryScope, *, demo: bool = True) -> str:
    """A scope in a few words; without `demo`, everything is all but the demo's sources."""
    if chosen.is_unlimited:
        return "everything in the library" + ("" if demo else " but the invented demo pages")
    known = client.library().library_index
    found = [(name, known.get(name)) for name in chosen.source_ids[:2]]
    titles = [(entry.source.title if entry else "") or name for name, entry in found]
    more = len(chosen.source_ids) - len(titles)
    parts = [*titles, *([f"{more} more"] if more > 0 else []), *(f"#{tag}" for tag in chosen.tags)]
    return ", ".join(
        [*parts, *([f"what {format_count(len(chosen.run_ids), 'run')} read"] if chosen.run_ids else [])]
    )
