"""The first screen: the question box, what to use, examples that need no network, the latest runs."""

from __future__ import annotations

from typing import Any

import streamlit as st

from agent.actions.budget import describe_budgets
from agent.types import Settings
from pages.widgets.forms import budget_fields, form_page
from pages.widgets.research import first_minute
from pages.widgets.shell import client, drafts, labels, ui

QUESTION = "question"


def draw() -> None:
    """The whole screen."""
    st.query_params.clear()  # a link from a run to this screen leaves the run in the address (Streamlit 1.67)
    form_page.draw(FORM)


def _draw_question() -> None:
    hint = "e.g. Who runs the company that makes …, and since when?"
    drafts.text_area("Your question", QUESTION, placeholder=hint, height=110, cuts=False)


def _draw_options(settings: Settings) -> dict[str, Any]:
    has_model, shown = client.has_model(settings.model), {"persist_state": "session"}
    told = labels.describe_lengths(has_model=has_model)
    lengths = {length: f"{name}: {about}" for length, (name, about) in told.items()}
    report = ui.select("Length of the answer", lengths, "research-report", index=1, **shown)
    st.caption(
        "Your question or a later note may ask for another form: with a model in any words (“a table”, "
        "“600 words”), without one by “brief”, “in one sentence” or “full report”."
    )
    st.caption("Limits: the run pauses and asks you when it reaches one")
    caps = budget_fields.draw_fields("research", settings, model=has_model, **shown)
    look: Any = {"format": "%d %%", "key": "research-threshold", **shown}
    look["help"] = (
        "A part that rests on one source below this earns one further round, where a page or search for it "
        "was named. Then the answer is written."
    )
    threshold = st.slider("Stop at confidence", 50, 100, round(settings.threshold * 100), **look)
    return {"threshold": threshold / 100, "report": report, **caps}


def _describe(settings: Settings) -> list[str]:
    length = labels.describe_lengths(has_model=True)[settings.report][0].lower()
    return [length, _describe_estimate(settings.model_dump_json(), client.owner_key()).rstrip(".")]


@st.cache_data(ttl=20, show_spinner=False)
def _describe_estimate(settings: str, owner: str) -> str:
    """What a run of these settings (as JSON) is likely to need, as a sentence, from the owner's runs before
    it."""
    return describe_budgets(client.workbench(), Settings.model_validate_json(settings))


def _start(settings: Settings, example: form_page.Example | None) -> str:
    return client.workbench().start(example["question"] if example else drafts.read(QUESTION), settings)


FORM = form_page.RunForm(
    flow="research",
    title="Research you can check.",
    text="Ask a question. Touchstone searches and reads the web one visible step "
    "at a time, and ties every claim "
    "it keeps to a verbatim quote in a stored page. You steer, accept or send back.",
    intro="A small bundled web of invented sites: no key, no network, an answer in seconds. "
    "Where no model is set up, recorded replies of a strong model answer.",
    recent_title="Your latest runs",
    nothing_recent=("No runs yet", "Type a question above, or try an example: all you start is kept here."),
    button=("Research", "search"),
    modes={
        "review": ("Automatic", ""),
        "step": ("Step by step", "You approve each step."),
        "conflict": ("Pause on conflicts", "Pauses whenever sources disagree."),
        "budget": (labels.UNTIL["budget"], "Continues past the target confidence until a limit is reached."),
    },
    searches=True,
    sent=(QUESTION,),
    draw_fields=_draw_question,
    draw_below=first_minute.draw_example,
    draw_options=_draw_options,
    describe=_describe,
    start=_start,
)
