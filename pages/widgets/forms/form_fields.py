"""What the first screens ask alike: where to read, who thinks; and how they list their examples and latest
runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from agent.types import Run, Settings
from pages.widgets.shell import client, empty_state, escape, routes, ui


def choose_world(label: str, flow: str, **more: Any) -> str:
    """Where to read."""
    worlds = client.workbench().worlds()
    return (
        st.selectbox(
            label,
            list(worlds),
            format_func=lambda name: worlds[name],
            key=f"{flow}-world",
            filter_mode=None,
            **more,
        )
        or "live"
    )


def choose_model(flow: str, **more: Any) -> str:
    """Who thinks: the configured model, or nobody."""
    active = client.workbench().active_configuration()
    names = {"auto": f"Model: {active.model}", "keyless": "No model (rules and quotes only)"}
    offered = list(names) if active.model else ["keyless"]
    told = {"help": None if active.model else escape.md(active.model_detail), **more}
    return (
        st.selectbox(
            "Model",
            offered,
            format_func=names.__getitem__,
            key=f"{flow}-model",
            filter_mode=None,
            **told,
        )
        or "auto"
    )


def draw_summary(settings: Settings, *parts: str) -> None:
    """One line beneath the box: the world, who thinks, and what else is chosen."""
    bench = client.workbench()
    name = settings.model if settings.model not in ("auto", "keyless") else bench.active_configuration().model
    spoken = "without a model" if settings.model == "keyless" or not name else f"with {name}"
    st.caption(
        escape.md(
            " · ".join([bench.worlds().get(settings.world, settings.world), spoken, *filter(None, parts)])
        )
    )


def draw_examples(
    flow: str, intro: str, offered: Sequence[str], take: Callable[..., None], args: Sequence[tuple[Any, ...]]
) -> None:
    """Buttons that start something in the demo world, with their labels (Markdown) and the arguments for
    `take`."""
    st.html(
        f'<div class="ts"><h2 class="ts-section">Try it in the demo world</h2><p class="soft small">{intro}</p></div>'
    )
    with st.container(key=f"{flow}-examples"), st.grid(3, min_column_width=260, gap="small"):
        for number, (label, given) in enumerate(zip(offered, args, strict=True)):
            ui.button(label, f"{flow}-example-{number}", take, *given, width="stretch", wrap=True)


@st.cache_data(ttl=20, show_spinner=False)
def is_online() -> bool:
    """Is there a network? Asked at most every 20 seconds."""
    return client.workbench().is_online()


def draw_offline_note(settings: Settings) -> None:
    """A line below the examples when the web was chosen and there is none."""
    if settings.world == "live" and not is_online():
        st.caption("There seems to be no network now: the examples need none.")


def draw_recent(flow: str, title: str, runs: Mapping[str, tuple[Run, str]], nothing: tuple[str, str]) -> None:
    """The latest runs as links, each by the run it opens, with a remark; `nothing`: what to say and what to
    do when there are none."""
    st.html(f'<div class="ts"><h2 class="ts-section">{title}</h2></div>')
    if not runs:
        empty_state.draw(*nothing)
        return
    with st.container(gap="xxsmall", key=f"{flow}-recent"):
        for run_id, (run, remark) in runs.items():
            label = f"{escape.md(run.question, 110)}  :gray[{escape.md(remark)}]"
            ui.link(routes.page_for_flow(run.settings.flow), label, "chevron_right", {"run": run_id})
