"""The first screen: the question box, what to use, examples that need no network, the latest runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from agent.actions.budget import describe_budgets
from agent.types import Settings, StopPoint
from pages.widgets.forms import budget_fields, form_page
from pages.widgets.shell import client, drafts, labels, ui

FORM = form_page.Form(
    flow="research",
    title="Research you can check.",
    text="Ask a question. Touchstone searches and reads the web one visible step "
    "at a time, and ties every claim "
    "it keeps to a verbatim quote in a stored page. You steer, accept or send back.",
    intro="A small bundled web of invented sites: no key, no network, an answer in seconds. "
    "Where no model is set up, recorded replies of a strong model answer.",
    recent_title="Your latest runs",
    nothing_recent=(
        "No runs yet",
        "Type a question above, or try an example. Everything you start is kept here.",
    ),
)
QUESTION = "question"
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
    st.query_params.clear()  # a link from a run to this screen leaves the run in the address (Streamlit 1.67)
    form_page.draw_head(FORM)
    owner = client.owner_key()
    with st.container(key="research-ask"):
        hint = "e.g. Who runs the company that makes …, and since when?"
        drafts.text_area("Your question", QUESTION, placeholder=hint, height=110)
        settings = form_page.draw_settings(
            FORM,
            ("Research", "search"),
            _start_typed,
            _draw_options,
            lambda settings, mode: [
                labels.REPORT_LENGTHS[settings.report][0].lower(),
                f"{_describe_estimate(settings.model_dump_json(), owner)}. {MODES[mode][1]}".strip(),
            ],
            modes={mode: name for mode, (name, _) in MODES.items()},
            shortcut="Ctrl+Enter",
            searches=True,
        )
    examples = [
        (form_page.label_example(example), (example, settings))
        for example in form_page.list_examples("research")
    ]
    form_page.draw_examples(FORM, examples, _start_example)
    form_page.draw_recent(
        FORM,
        [
            form_page.link_run(run, f"{labels.describe_status(run)}, {labels.format_age(run.updated_at)}")
            for run in form_page.find_recent()
        ],
    )


def _draw_options(mode: str) -> Settings:
    plain = Settings()
    world, model = form_page.choose_world("research"), form_page.choose_model("research")
    told = labels.describe_lengths(has_model=client.has_model(model))
    lengths = {length: f"{name}: {about}" for length, (name, about) in told.items()}
    shown = {"index": 1, "persist_state": "session"}
    report = ui.select("Length of the answer", lengths, "research-report", **shown)
    st.caption(
        "Your question or a later note may ask for another form: with a model in any words (“a table”, "
        "“600 words”), without one by “brief”, “in one sentence” or “full report”."
    )
    st.caption("Limits: the run pauses and asks you when it reaches one")
    caps = budget_fields.draw_fields(
        "research", plain, model=client.has_model(model), persist_state="session"
    )
    threshold = st.slider(
        "Stop at confidence",
        50,
        100,
        round(plain.threshold * 100),
        format="%d %%",
        key="research-threshold",
        help="A part that rests on one source below this earns one further round, where a page or search for "
        "it was named. Then the answer is written.",
        persist_state="session",
    )
    return Settings(
        mode="step" if mode == "step" else "auto",
        until=UNTIL_BY_MODE.get(mode, "review"),
        at_cap="ask",
        world=world,
        model=model,
        threshold=threshold / 100,
        report=report,
        **caps,
    )


@st.cache_data(ttl=20, show_spinner=False)
def _describe_estimate(settings: str, owner: str) -> str:
    """What a run of these settings (as JSON) is likely to need, as a sentence, from the owner's runs before
    it."""
    return describe_budgets(client.workbench(), Settings.model_validate_json(settings))


def _start_typed(settings: Settings) -> None:
    form_page.start_run(client.workbench().start, drafts.read(QUESTION), settings, sent=[QUESTION])


def _start_example(example: Mapping[str, Any], settings: Settings) -> None:
    """Run an example to its report at once: an answer in seconds was promised."""
    settings = form_page.fit_settings(example, settings.model_copy(update={"at_cap": "report"}))
    form_page.start_run(client.workbench().start, example["question"], settings)
