"""What a conversation is about: everything, or what some runs read, what carries a tag, chosen documents;
with the demo's sources or without."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent.library.ingest import DEMO_TAG
from agent.text.plurals import format_count
from agent.types import LibraryScope, Settings
from pages.widgets.forms import form_page
from pages.widgets.shell import client, escape, ui

DEMO, MODEL, DOCUMENTS = "demo", "model", "source_ids"
LISTS = (DOCUMENTS, "tags", "run_ids")
"""The fields of a scope."""
COUNT_KEY = "chat-scopes"
"""In the session: how many conversations were entered."""
MAX_CHOICES = 500
"""Documents and runs that can be chosen."""
READING_FLOWS = ("research", "site", "collect")


def key_of(name: str) -> str:
    """The widget of a field or choice. Each conversation has its own: what the browser still holds of another
    one is not what was chosen for this."""
    return f"chat-{st.session_state.get(COUNT_KEY, 0)}-{name}"


def restore(settings: Settings) -> bool:
    """Fill the widgets in from a conversation's settings, when they are drawn for the first time (or after a
    visit elsewhere).

    True when they were: the screen is being entered."""
    entering = key_of(DOCUMENTS) not in st.session_state
    chosen = {field: getattr(settings.scope, field) for field in LISTS}
    for name, value in {**chosen, DEMO: settings.world == "demo", MODEL: settings.model}.items():
        st.session_state.setdefault(key_of(name), value)
    return entering


def reset() -> None:
    """Let the widgets be filled in anew: another conversation is shown. Only before they are drawn."""
    st.session_state[COUNT_KEY] = st.session_state.get(COUNT_KEY, 0) + 1


def draw(settings: Settings) -> None:
    """The fold beside the box: what is talked about, and by which model."""
    chosen = read_scope()
    with st.container(key="chat-scope"):
        has_demo = bool(st.session_state.get(key_of(DEMO))) or DEMO_TAG not in client.library().tags()
        about = escape.md(describe(chosen, demo=has_demo), 70)
        with st.expander(
            f"About: {about}", icon=":material/filter_alt:", key="chat-scope-open", type="compact"
        ):
            _draw_fields(settings)
            if not chosen.is_unlimited:
                ui.button(
                    "Talk about everything", "chat-scope-clear", clear_scope, icon="close", type="tertiary"
                )
        st.caption(f"{_describe_model()} {escape.md(client.workbench().explain_other_model(settings))}")


def _draw_fields(settings: Settings) -> None:
    shelf = client.library()
    titles = {one.source_id: one.title or one.source_id for one in shelf.sources(limit=MAX_CHOICES)}
    read = client.workbench().runs(limit=MAX_CHOICES)
    runs = {run.id: run.question for run in read if run.settings.flow in READING_FLOWS}
    with st.grid(3, min_column_width=220, gap="small"):
        _draw_list("Documents and pages", "source_ids", titles, "all")
        _draw_list("With a tag", "tags", {tag: tag for tag in sorted(shelf.tags())})
        _draw_list("Read by a run", "run_ids", runs)
    st.caption("With nothing chosen, everything counts; otherwise whatever any of the three names.")
    st.toggle("With the demo’s invented sources", key=key_of(DEMO))
    form_page.choose_model(key_of(MODEL).removesuffix("-model"), settings)


def _draw_list(label: str, field: str, names: Mapping[str, str], empty: str = "any") -> None:
    """A list to choose several from; what is chosen stays a choice although it is not named."""
    key = key_of(field)
    names = {name: name for name in st.session_state.get(key) or []} | dict(names)
    told: Any = {"placeholder": empty, "key": key}
    st.multiselect(label, list(names), format_func=lambda name: escape.shorten(names[name], 80), **told)


def _describe_model() -> str:
    active = client.workbench().active_configuration()
    model = active.model if st.session_state.get(key_of(MODEL), "auto") != "keyless" else ""
    demo = " · with the demo’s invented sources" if st.session_state.get(key_of(DEMO)) else ""
    why = f" ({trouble.rstrip('.')})" if (trouble := client.explain_missing_model()) else ""
    return escape.md(f"{f'with {model}' if model else f'without a model: quoted sentences{why}'}{demo}")


def read_scope() -> LibraryScope:
    """What is chosen now."""
    return LibraryScope(**{field: st.session_state.get(key_of(field)) or [] for field in LISTS})


def build_settings(before: Settings) -> Settings:
    """The settings of a turn: those of the turn before with what is chosen now."""
    model = st.session_state.get(key_of(MODEL)) or "auto"
    world = "demo" if st.session_state.get(key_of(DEMO)) else "live"
    return before.model_copy(update={"flow": "chat", "scope": read_scope(), "world": world, "model": model})


def add_documents(source_ids: list[str]) -> None:
    """Talk about these, too; when everything was talked about, about these alone. Only in a callback."""
    before = st.session_state.get(key_of(DOCUMENTS)) or []
    st.session_state[key_of(DOCUMENTS)] = list(dict.fromkeys([*before, *source_ids]))


def clear_scope() -> None:
    """Talk about everything again."""
    st.session_state.update({key_of(field): [] for field in LISTS})


def describe(chosen: LibraryScope, *, demo: bool = True) -> str:
    """A scope in a few words; without `demo`, everything is all but the demo's sources."""
    if chosen.is_unlimited:
        return "everything in the library" + ("" if demo else " but the invented demo pages")
    known = client.library().library_index
    found = [(name, known.get(name)) for name in chosen.source_ids[:2]]
    parts = [(entry.source.title if entry else "") or name for name, entry in found]
    more, runs = len(chosen.source_ids) - len(parts), len(chosen.run_ids)
    parts += [f"{more} more"] if more > 0 else []
    parts += [f"#{tag}" for tag in chosen.tags]
    return ", ".join([*parts, *([f"what {format_count(runs, 'run')} read"] if runs else [])])
