"""The first screen: one line that says what this is, the question box, what to use, and examples that need no
network."""

from __future__ import annotations

import json

import streamlit as st

from agent.actions.budget import estimate_budgets
from agent.config import ROOT
from agent.types import Settings, StopPoint
from pages.widgets.forms import budget_fields, form_fields, source_filter_form
from pages.widgets.shell import client, drafts, escape, labels, ui

QUESTION_KEY, QUESTION_DRAFT = "research-question", "question"
MAX_EXAMPLES = 6
MODES = {
    "auto": ("Automatic", ""),
    "step": ("Step by step", "You approve each step."),
    "conflict": ("Pause on conflicts", "Pauses whenever sources disagree."),
    "budget": ("Use full budget", "Continues past the target confidence until a limit is reached."),
}
"""How far a run goes by itself: the word on the switch, and what it means."""
UNTIL_BY_MODE: dict[str, StopPoint] = {"step": "step", "conflict": "conflict", "budget": "budget"}


def draw() -> None:
    """The whole screen."""
    st.query_params.clear()  # a link from a run to this screen leaves the run in the browser's address (Streamlit 1.67)
    st.html(
        '<div class="ts ts-hero"><h1>Research you can check.</h1><p>Ask a question. Touchstone searches and reads the web one visible '
        "step at a time, and ties every claim it keeps to a verbatim quote in a stored page. You steer, accept or send back.</p></div>"
    )
    offline = st.empty()
    client.show_notice("ask")
    drafts.install_script()
    with st.container(key="research-ask"):
        drafts.text_area(
            "Your question",
            QUESTION_KEY,
            QUESTION_DRAFT,
            placeholder="e.g. Who runs the company that makes …, and since when?",
            height=110,
        )
        settings = _draw_settings()
    _draw_examples(settings)
    _draw_recent()
    if settings.world == "live" and not form_fields.is_online():
        with offline.container(border=True, key="research-offline"):
            _draw_offline()


def _draw_settings() -> Settings:
    """The row beneath the box; returns what a run would be started with."""
    with st.container(horizontal=True, vertical_alignment="center"):
        start = st.container(width="content")
        mode = st.segmented_control(
            "Run until",
            list(MODES),
            default="auto",
            required=True,
            key="research-mode",
            persist_state="session",
            label_visibility="collapsed",
            format_func=lambda mode: MODES[mode][0],
        )
        with st.popover("Options", icon=":material/tune:", key="research-options"):
            settings = _draw_options(mode or "auto")
        settings = settings.model_copy(update=source_filter_form.draw("research", searches=True))
    with start:
        ui.button(
            "Research",
            "research-start",
            _start_typed,
            settings,
            icon="search",
            type="primary",
            shortcut="Ctrl+Enter",
        )
    estimated = f"{_describe_estimate(settings.model_dump_json())}. {MODES[mode or 'auto'][1]}"
    form_fields.draw_summary(settings, source_filter_form.summarize(settings), estimated)
    return settings


def _draw_options(mode: str) -> Settings:
    plain = Settings()
    world = form_fields.choose_world("Search in", "research", persist_state="session")
    model = form_fields.choose_model("research", persist_state="session")
    st.caption("Limits: at each one the run pauses and asks you")
    caps = budget_fields.draw_fields("research", plain, model=model != "keyless", persist_state="session")
    sure = st.slider(
        "Stop at confidence",
        50,
        100,
        round(plain.threshold * 100),
        format="%d %%",
        key="research-threshold",
        persist_state="session",
    )
    return Settings(
        mode="step" if mode == "step" else "auto",
        until=UNTIL_BY_MODE.get(mode, "review"),
        at_cap="ask",
        world=world,
        model=model,
        threshold=sure / 100,
        **caps,
    )


@st.cache_data(ttl=20, show_spinner=False)
def _describe_estimate(settings: str) -> str:
    """What a run of these settings (as JSON) is likely to need, as a sentence; the runs before it are looked
    at now and then."""
    return estimate_budgets(client.workbench(), Settings.model_validate_json(settings)).description


def _start_typed(settings: Settings) -> None:
    _start_run(st.session_state.get(QUESTION_KEY, ""), settings, typed=True)


def _start_example(question: str, settings: Settings) -> None:
    _start_run(
        question, settings.model_copy(update={"world": "demo", "at_cap": "report"}), typed=False
    )  # an answer in seconds was promised


def _start_run(question: str, settings: Settings, *, typed: bool) -> None:
    def opened(run_id: str) -> None:
        st.query_params["run"] = run_id
        if typed:
            drafts.clear(QUESTION_KEY, QUESTION_DRAFT)

    client.submit(client.workbench().start, question, settings, then=opened)


@st.cache_data(show_spinner=False)
def load_demo_questions() -> list[str]:
    """The first questions of the bundled world, those of different kinds first."""
    path = ROOT / "demo" / "questions.jsonl"
    if not path.is_file():
        return []
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    first_of_kind = {row.get("type", ""): row for row in reversed(rows)}
    ordered = sorted(first_of_kind.values(), key=rows.index) + [
        row for row in rows if row not in first_of_kind.values()
    ]
    return [row["question"] for row in ordered]


def _draw_examples(settings: Settings) -> None:
    questions = load_demo_questions()[:MAX_EXAMPLES]
    if not questions:
        return
    intro = "A small bundled web of invented sites: no key, no network, an answer in seconds."
    form_fields.draw_examples(
        "research",
        intro,
        list(map(escape.md, questions)),
        _start_example,
        [(question, settings) for question in questions],
    )


def _draw_recent() -> None:
    runs = {
        run.id: (run, f"{labels.describe_status(run)}, {labels.format_age(run.updated_at)}")
        for run in client.workbench().runs()[:5]
    }
    nothing = (
        "No runs yet",
        "Type a question above, or take one of the examples. Everything you start is kept here.",
    )
    form_fields.draw_recent("research", "Your latest runs", runs, nothing)


def _draw_offline() -> None:
    st.html(
        '<div class="ts"><b>There seems to be no network.</b> A question about the live web cannot be answered now. The demo world needs none; '
        "its sites are invented, and its runs say so.</div>"
    )
    if "demo" in client.workbench().worlds():
        ui.button("Ask the demo world instead", "research-use-demo", _use_demo, icon="cottage")


def _use_demo() -> None:
    st.session_state["research-world"] = "demo"
