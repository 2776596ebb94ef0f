"""What stands in the place of the answer while there is none: the parts of the question filling with what was
found for each, what is read, the sentences that are checked already, and how long it usually takes."""

from __future__ import annotations

from operator import attrgetter
from statistics import median

import streamlit as st

from agent.answering.fact_view import facts_after_notes, find_part
from agent.answering.view import PartView, view_plan
from agent.store.model_calls import list_finished_runs
from agent.text.question_analysis import format_question
from agent.types import Fact, Status
from agent.workbench import RunSnapshot
from pages.widgets.shell import badges, client, escape, labels, view_cache

SHOWN_FACTS, SHOWN_PAGES = 2, 4
MIN_RUNS = 3
"""Finished runs of a kind from which on an expected time is told."""


def draw(view: RunSnapshot) -> None:
    """What is checked of the answer, the parts, the pages, the time."""
    if view.run.status is Status.RUNNING:
        if checked := client.workbench().worker.list_checked(view.run.id):
            told = " ".join(map(escape.html, checked))
            st.html(f'<div class="ts answer"><p>{told}</p><p class="soft small">Checked so far.</p></div>')
        usual = find_usual_seconds(view.run.settings.flow, view.run.settings.world, client.owner_key())
        if usual > view.usage.seconds:
            took = labels.format_duration(view.usage.seconds)
            st.caption(f"{took} of usually {labels.format_duration(usual)}.")
    st.html(view_cache.get_or_compute(view, "waiting", lambda: render(view)))


def describe_activity(view: RunSnapshot) -> str:
    """What it is doing, the pages by their titles; "" at rest."""
    pending = view.state.pending
    if not view.activity or view.next != "act" or not pending:
        return view.activity
    leads = getattr(view.state.own, "leads", {}).values()
    titles = {lead.value: lead.text.partition(". ")[0] for lead in leads}
    asked, read = list[str](), list[str]()
    for action in pending.actions:
        what = action.query_or_url
        if action.next_action.startswith("search"):
            asked.append(f"“{what}”")
        else:
            read.append(escape.shorten(titles.get(what) or escape.shorten_url(what), 60))
    told = [f"searching for {', '.join(asked)}"] if asked else []
    return "; ".join([*told, *([f"reading {', '.join(read)}"] if read else [])])


def render(view: RunSnapshot) -> str:
    """The parts with the newest facts of each, and the pages that were read last, as HTML."""
    active = [fact for fact in facts_after_notes(view.state).values() if fact.is_active]
    parts = "".join(
        _render_part(part, [fact for fact in active if find_part(view.state.plan, fact) == part.part.id])
        for part in view_plan(view.state)
    )
    read = [page for page in view.state.pages.values() if page.page_id][-SHOWN_PAGES:]
    pages = "".join(
        f"<li>{escape.html(escape.shorten(page.title or escape.shorten_url(page.url), 80))} "
        f'<span class="soft small">{escape.html(escape.host(page.final_url or page.url))}</span></li>'
        for page in reversed(read)
    )
    listed = f'<h2 class="ts-section">Read so far</h2><ul class="read">{pages}</ul>' if pages else ""
    return f'<div class="ts waiting"><h2 class="ts-section">Looking for</h2><ol>{parts}</ol>{listed}</div>'


def _render_part(view: PartView, facts: list[Fact]) -> str:
    part = view.part
    chip = badges.render(*labels.PART_STATUS[part.status])
    found = "".join(
        f"<li>{escape.html(escape.shorten(fact.statement, 160))}</li>"
        for fact in sorted(facts, key=attrgetter("relevance"), reverse=True)[:SHOWN_FACTS]
    )
    more = len(facts) - SHOWN_FACTS
    found += f'<li class="soft">and {more} more</li>' if more > 0 else ""
    return f"<li>{escape.html(format_question(part.question))} {chip}<ul>{found}</ul></li>"


@st.cache_data(ttl=60, show_spinner=False)
def find_usual_seconds(flow: str, world: str, owner: str) -> float:
    """The median working time of the owner's finished runs of a flow in a world, in seconds; 0 for few."""
    finished = list_finished_runs(client.workbench().store.engine)
    took = [one.usage.seconds for one in finished if (one.settings.flow, one.settings.world) == (flow, world)]
    return median(took) if len(took) >= MIN_RUNS else 0.0
