"""What the first screens of all flows share: head, settings row, examples in the demo world, latest runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from agent.llm import recorded
from agent.llm.recorded import LABEL, RECORDED
from agent.settings.config import ROOT
from agent.types import Run, Settings
from agent.workbench import WORLD_LABELS, RunSnapshot
from pages.widgets.forms import source_filter_form
from pages.widgets.shell import client, drafts, empty_state, escape, polling, routes, ui

MAX_EXAMPLES = 6
RecentLink = tuple[str, dict[str, str], str, str]
"""Screen, query, text and remark of a link."""


@dataclass(frozen=True)
class Form:
    """The first screen of a flow. All texts are HTML."""

    flow: str
    title: str
    text: str
    recent_title: str
    nothing_recent: tuple[str, str]
    """What to say, and what to do, when there are no latest runs."""
    intro: str = ""
    examples_title: str = "Try it in the demo world"
    reads_web: bool = True
    columns: int = 3
    """Columns of the examples, at most."""


def draw_head(form: Form) -> None:
    """The title with what the flow does, the notice of the last action, and what to do where there is no
    network or no model."""
    st.html(f'<div class="ts ts-hero"><h1>{form.title}</h1><p>{form.text}</p></div>')
    client.show_notice(form.flow)
    if (
        form.reads_web
        and st.session_state.get(f"{form.flow}-world", "live") == "live"
        and not client.is_online()
    ):
        _draw_offline(form)


def _draw_offline(form: Form) -> None:
    """That there is no network; to try again, and the demo world, which needs none."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"{form.flow}-offline"):
        told = (
            "<b>There is no network.</b> The web cannot be read now. The demo world, invented pages, is here."
        )
        st.html(f'<div class="ts">{told}</div>', width="stretch")
        demo = {f"{form.flow}-world": "demo"}
        ui.button("Use the demo", f"{form.flow}-use-demo", st.session_state.update, demo, icon="cottage")
        retry = (client.check_network, client.workbench())
        ui.button("Try again", f"{form.flow}-try-network", *retry, icon="refresh", type="tertiary")


def draw_settings(
    form: Form,
    button: tuple[str, str],
    start: Callable[[Settings], None],
    draw_options: Callable[[str], Settings],
    describe: Callable[[Settings, str], Sequence[str]],
    *,
    modes: Mapping[str, str] | None = None,
    shortcut: str | None = None,
    extra: Callable[[Settings], None] | None = None,
    **filters: bool,
) -> Settings:
    """The row below the fields (start, mode, options, sources) and the line that sums it up; returns the
    settings a run starts with. `button` is the label and icon of the start; `modes` and `filters` say
    what can be chosen; `extra` draws what comes last in the row."""
    flow = form.flow
    with st.container(horizontal=True, vertical_alignment="center"):
        slot = st.container(width="content")
        mode = _choose_mode(flow, modes) if modes else "auto"
        with st.popover("Options", icon=":material/tune:", key=f"{flow}-options"):
            settings = draw_options(mode)
        settings = settings.model_copy(update=source_filter_form.draw(flow, **filters))
        if extra:
            extra(settings)
    label, icon = button
    with slot:
        ui.button(label, f"{flow}-start", start, settings, icon=icon, type="primary", shortcut=shortcut)
    chosen = source_filter_form.summarize(settings, allowed=filters.get("allowed", True))
    draw_summary(settings, *describe(settings, mode), chosen)
    return settings


def _choose_mode(flow: str, modes: Mapping[str, str]) -> str:
    return (
        st.segmented_control(
            "Mode",
            list(modes),
            default="auto",
            required=True,
            key=f"{flow}-mode",
            persist_state="session",
            label_visibility="collapsed",
            format_func=modes.__getitem__,
        )
        or "auto"
    )


def choose_world(flow: str) -> str:
    """The data source to search."""
    return ui.select("Search in", WORLD_LABELS, f"{flow}-world", persist_state="session")


def choose_model(flow: str, given: Settings | None = None, **options: Any) -> str:
    """The configured model or none; at first the choice of the run with the settings `given`, which this
    grows out of, and a sentence where its model or server is another one now."""
    before = given.model if given else ""
    active = client.workbench().active_configuration()
    polling.wait_for_model(client.workbench())
    names = {"auto": f"Model: {active.model}" if active.model else "None set up (examples: recorded)"}
    if before == RECORDED:
        names = {RECORDED: LABEL.capitalize(), **names}
    names["keyless"] = "No model (passages only)"
    names |= {before: before} if active.model and before not in ("", *names) else {}
    chosen = st.session_state.get(f"{flow}-model")
    if chosen not in names and (chosen or before):
        st.session_state[f"{flow}-model"] = before if before in names else next(iter(names))
    hint = None if active.model else escape.md(active.model_detail)
    chosen = ui.select("Model", names, f"{flow}-model", help=hint, persist_state="session", **options)
    if given and (told := client.workbench().explain_other_model(given)):
        st.caption(escape.md(told))
    return chosen


def choose_next_model(view: RunSnapshot) -> Settings:
    """The settings of a further question: those of this run; its model is chosen again where it changed."""
    given = view.run.settings
    is_other = client.workbench().explain_other_model(given)
    return given.replace(model=choose_model(f"next-{view.run.id}", given)) if is_other else given


def draw_summary(settings: Settings, *parts: str) -> None:
    """One line below the fields: data source, model, and what else is chosen."""
    bench = client.workbench()
    name = settings.model if settings.model not in ("auto", "keyless") else bench.active_configuration().model
    model = "without a model" if settings.model == "keyless" or not name else f"with {name}"
    if settings.model == "auto" and not name:
        model += f", examples by a {LABEL}"
    world = WORLD_LABELS.get(settings.world, settings.world)
    st.caption(escape.md(" · ".join([world, model, *filter(None, parts)])))


def start_run(
    start: Callable[..., str], *args: Any, sent: Iterable[str] = (), parameter: str = "run"
) -> None:
    """Start something and show it: its id into the address, the `sent` drafts cleared. Only in a callback."""

    def show(new_id: str) -> None:
        st.query_params[parameter] = new_id
        drafts.clear(*sent)

    client.submit(start, *args, then=show)


def draw_examples(
    form: Form, examples: Sequence[tuple[str, tuple[Any, ...]]], start: Callable[..., None]
) -> None:
    """A button for each example, from its label (Markdown) and the arguments of `start`."""
    if not examples:
        return
    ui.heading(form.examples_title, f'<p class="soft small">{form.intro}</p>')
    width = 260 if form.columns == 3 else 230
    with (
        st.container(key=f"{form.flow}-examples"),
        st.grid(form.columns, min_column_width=width, gap="small"),
    ):
        for n, (label, args) in enumerate(examples):
            ui.button(label, f"{form.flow}-example-{n}", start, *args, width="stretch", wrap=True)


def list_examples(flow: str) -> list[dict[str, Any]]:
    """The examples of a flow in the demo."""
    return [example for example in recorded.list_examples() if example["flow"] == flow]


def label_example(example: Mapping[str, Any]) -> str:
    """The label of an example with a quiet second line."""
    return f"{escape.md(example['question'])}  \n:gray[{escape.md(example['remark'])}]"


def fit_settings(example: Mapping[str, Any], chosen: Settings) -> Settings:
    """What was chosen, with what the example needs."""
    return Settings.model_validate(chosen.model_dump() | {"world": "demo"} | example.get("settings", {}))


@st.cache_data(show_spinner=False)
def load_demo_questions() -> list[str]:
    """The first questions of the bundled world, those of different kinds first."""
    path = ROOT / "demo" / "questions.jsonl"
    if not path.is_file():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    rows = [row for row in rows if "items" not in row]  # those of collect
    first_of_kind = {row.get("type", ""): row for row in reversed(rows)}
    ordered = sorted(first_of_kind.values(), key=rows.index)
    ordered += [row for row in rows if row not in ordered]
    return [row["question"] for row in ordered[:MAX_EXAMPLES]]


def find_recent(*flows: str, limit: int = 5, first_turns: bool = False) -> list[Run]:
    """The latest runs of these flows (none named: all); with `first_turns` no later turn of a thread."""
    return client.workbench().store.ledger.list(flows=flows, first_turns=first_turns, limit=limit)


def link_run(run: Run, remark: str, newest: str = "") -> RecentLink:
    """The link to a run, or to the newest turn of its conversation."""
    return routes.page_for_flow(run.settings.flow), {"run": newest or run.id}, run.question, remark


def draw_recent(form: Form, links: Sequence[RecentLink]) -> None:
    """The latest runs as links."""
    ui.heading(form.recent_title)
    if not links:
        empty_state.draw(*form.nothing_recent)
        return
    with st.container(gap="xxsmall", key=f"{form.flow}-recent"):
        for page, query, text, remark in links:
            ui.link(page, f"{escape.md(text, 110)}  :gray[{escape.md(remark)}]", "chevron_right", query)
