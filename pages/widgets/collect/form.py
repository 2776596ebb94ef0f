"""The first screen of Collect: what to gather, where to start, how; examples; the latest runs."""

from __future__ import annotations

from typing import Any

from agent import api
from agent.text.plurals import format_count
from agent.types import Settings
from pages.widgets.forms import form_page, limit_fields
from pages.widgets.shell import client, drafts

PROMPT, STARTS = "collect:prompt", "collect:starts"


def draw() -> None:
    """The whole screen."""
    form_page.draw(FORM)


def _draw_fields() -> None:
    hint = "e.g. What are members saying about … in the last month?"
    drafts.text_area("What to gather", PROMPT, placeholder=hint, height=90, cuts=False)
    drafts.text_area("Start pages, one per line", STARTS, placeholder="https://", height=68)


def _describe(settings: Settings) -> list[str]:
    limits = settings.collect
    simple = "" if limits.use_smart_navigation else "every link is followed, every page taken as an article"
    return [f"up to {format_count(limits.max_articles, 'item')}", simple]


def _draw_options(settings: Settings) -> dict[str, Any]:
    return {"collect": limit_fields.draw(settings.collect, "collect")}


def _start(settings: Settings, example: form_page.Example | None) -> str:
    typed = drafts.read(PROMPT), drafts.read(STARTS).split()
    prompt, starts = (example["question"], settings.start_urls) if example else typed
    return api.start_collect_run(client.workbench(), prompt, starts, settings)


FORM = form_page.RunForm(
    flow="collect",
    title="Gather from a site.",
    text="Enter a page to start from and say what you want. Touchstone decides at "
    "each page whether it is content, "
    "a list or a link to follow, keeps whole articles and every post of a thread, and "
    "shows why it went where it went.",
    intro="Invented sites, no network: a forum behind a stock page, a dated list of news, a single article.",
    recent_title="Your latest collections",
    nothing_recent=("Nothing yet", "Enter a start page above, or try an example."),
    button=("Collect", "inventory_2"),
    modes={
        "review": ("Automatic", ""),
        "step": ("Approve each path", "You approve each path before it is followed."),
    },
    sent=(PROMPT, STARTS),
    draw_fields=_draw_fields,
    draw_options=_draw_options,
    describe=_describe,
    start=_start,
)
