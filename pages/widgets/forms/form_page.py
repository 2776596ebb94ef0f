"""What the first screens of all flows share: head, fields and button, options, examples, latest runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from agent.llm import recorded
from agent.llm.recorded import LABEL, RECORDED
from agent.text.plurals import format_count
from agent.types import Run, Settings
from agent.workbench import WORLD_LABELS, RunSnapshot
from pages.widgets.forms import source_filter_form
from pages.widgets.shell import client, drafts, empty_state, escape, labels, markup, polling, routes, ui

MAX_RECENT = 5
SHORTCUT = "Ctrl+Enter"
RecentLink = tuple[str, dict[str, str], str, str]
"""Screen, query, text and remark of a link."""
Example = Mapping[str, Any]


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


@dataclass(frozen=True)
class RunForm(Form):
    """The first screen of a flow that is started with settings."""

    button: tuple[str, str] = ("Start", "")
    """Label and icon of the start."""
    modes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Until where a run goes by itself: the word on the switch, and what it means."""
    searches: bool = False
    """Whether search engines can be chosen."""
    sent: tuple[str, ...] = ()
    """The drafts that are sent with a start."""
    draw_fields: Callable[[], object] = lambda: None
    """Draws what is above the button."""
    draw_options: Callable[[Settings], Mapping[str, Any]] = lambda settings: {}
    """Draws what can be chosen in this flow alone, and returns it as changes of the settings."""
    draw_last: Callable[[Settings], object] = lambda settings: None
    """Draws what stands at the end of the options."""
    draw_below: Callable[[], object] = lambda: None
    """Draws what stands above the examples."""
    describe: Callable[[Settings], Sequence[str]] = lambda settings: ()
    """What is chosen, for the line below the button."""
    start: Callable[[Settings, Example | None], str] = lambda settings, example: ""
    """Starts a run of what stands in the fields, or of an example; returns its id."""


def draw_screen(draw_first: Callable[[], None], draw_one: Callable[[str], None], name: str = "run") -> None:
    """The screen of what `name` in the address calls; without it the first screen."""
    if shown := st.query_params.get(name, ""):
        draw_one(shown)
    else:
        draw_first()


def draw(form: RunForm) -> None:
    """The whole screen."""
    draw_head(form)
    with st.container(key=f"{form.flow}-ask"):
        form.draw_fields()
        settings = _draw_settings(form)
    form.draw_below()
    draw_examples(form, _start_example, form, settings)
    draw_recent(form, link_runs(*([] if form.flow == "research" else [form.flow])))


def draw_head(form: Form) -> None:
    """The title with what the flow does, the notice of the last action, and what to do where there is no
    network or no model."""
    st.html(f'<div class="ts ts-hero"><h1>{form.title}</h1><p>{form.text}</p></div>')
    client.show_notice(form.flow)
    is_live = st.session_state.get(f"{form.flow}-world", "live") == "live"
    with st.container():  # also when it is empty: what comes and goes draws all below it anew
        if form.reads_web and is_live and not client.is_online():
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


def _draw_settings(form: RunForm) -> Settings:
    """The button with the mode, the line that sums up, and the folded options; returns the settings a run
    starts with."""
    flow, (label, icon) = form.flow, form.button
    with st.container(horizontal=True, vertical_alignment="center"):
        slot = st.container(width="content")
        names = {mode: name for mode, (name, _) in form.modes.items()}
        kept: Any = {"persist_state": "session"}
        until: Any = ui.switch("Mode", names, f"{flow}-mode", **kept) if names else "review"
    line = st.container()
    with draw_options(flow):
        mode: Any = "step" if until == "step" else "auto"
        plain = Settings(flow=flow, at_cap="ask", until=until, mode=mode, **choose_place(flow))
        settings = plain.replace(**form.draw_options(plain))
        settings = settings.replace(**source_filter_form.draw(flow, searches=form.searches))
        form.draw_last(settings)
    with slot:
        ui.button(
            label, f"{flow}-start", _start_typed, form, settings, icon=icon, type="primary", shortcut=SHORTCUT
        )
    with line:
        means = form.modes[until][1] if form.modes else ""
        draw_summary(settings, *form.describe(settings), means, source_filter_form.summarize(settings))
    return settings


def draw_options(flow: str, label: str = "Options") -> Any:
    """The fold that holds what is seldom chosen."""
    return st.expander(label, icon=":material/tune:", key=f"{flow}-options", type="compact")


def choose_place(flow: str) -> dict[str, str]:
    """What to search in and which model: these settings."""
    with st.grid(2, min_column_width=220, gap="small"):
        world = ui.select("Search in", WORLD_LABELS, f"{flow}-world", persist_state="session")
        return {"world": world, "model": choose_model(flow)}


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
    if settings.model == "auto" and settings.mode != "step" and not name:
        model += f", examples by a {LABEL}"
    world = WORLD_LABELS.get(settings.world, settings.world)
    st.caption(escape.md(" · ".join([world, model, *filter(None, parts)])))


def start_run(
    start: Callable[..., str], *args: Any, sent: Iterable[str] = (), parameter: str = "run"
) -> None:
    """Start something and show it: its id into the address, the `sent` drafts cleared. Only in a callback."""

    def show(new_id: str) -> None:
        st.query_params.from_dict({parameter: new_id})
        drafts.clear(*sent)

    client.submit(start, *args, then=show)


def _start_typed(form: RunForm, settings: Settings) -> None:
    start_run(form.start, settings, None, sent=form.sent)


def _start_example(example: Example, form: RunForm, settings: Settings) -> None:
    """Start what was chosen with what the example needs; at a limit it answers: that at once was promised."""
    fitting = {"world": "demo", "at_cap": "report", **example.get("settings", {})}
    start_run(form.start, Settings.model_validate(settings.model_dump() | fitting), example)


def list_examples(flow: str) -> list[dict[str, Any]]:
    """The examples of a flow in the demo."""
    return [example for example in recorded.list_examples() if example["flow"] == flow]


def draw_examples(form: Form, start: Callable[..., None], *args: Any) -> None:
    """A button with a quiet second line for each example, which `start` gets with `args`."""
    examples = list_examples(form.flow)
    if not examples:
        return
    ui.heading(form.examples_title, markup.paragraph(form.intro, "soft small"))
    width = 260 if form.columns == 3 else 230
    with (
        st.container(key=f"{form.flow}-examples"),
        st.grid(form.columns, min_column_width=width, gap="small"),
    ):
        for n, example in enumerate(examples):
            label = f"{escape.md(example['question'])}  \n:gray[{escape.md(example['remark'])}]"
            ui.button(label, f"{form.flow}-example-{n}", start, example, *args, width="stretch", wrap=True)


def link_runs(*flows: str) -> list[RecentLink]:
    """The way to the latest runs of these flows (none named: all), of a conversation to its newest turn."""
    found = client.workbench().store.ledger.list(flows=flows, first_turns=True, limit=MAX_RECENT)
    return list(map(link_run, found))


def link_run(run: Run) -> RecentLink:
    """The way to a run, or to the newest turn of its conversation."""
    turns = client.workbench().thread(run.id) or [run.id]
    told = format_count(len(turns), "question") if len(turns) > 1 else labels.mark_status(run)[0]
    remark = f"{told}, {labels.format_age(run.updated_at)}"
    return routes.page_for_flow(run.settings.flow), {"run": turns[-1]}, run.question, remark


def draw_recent(form: Form, links: Sequence[RecentLink]) -> None:
    """The latest runs as links."""
    ui.heading(form.recent_title)
    if not links:
        empty_state.draw(*form.nothing_recent)
        return
    with st.container(gap="xxsmall", key=f"{form.flow}-recent"):
        for page, query, text, remark in links:
            ui.link(page, f"{escape.md(text, 110)}  :gray[{escape.md(remark)}]", "chevron_right", query)
