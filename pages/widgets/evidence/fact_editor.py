"""The editable ledger: facts with filters, read row by row or edited in a table, and every edit's undo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from agent.actions import acts
from agent.answering import fact_view
from agent.answering.fact_view import FACT_STATUSES, FactFilter, filter_facts, find_part
from agent.text.plurals import format_count
from agent.text.question_analysis import format_question
from agent.text.urls import site
from agent.types import Action, Answer, Fact, PlanPart
from agent.types.facts import number_step
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_actions, fact_grid, fact_table
from pages.widgets.shell import empty_state, labels, ui, view_cache

READ_MODE, EDIT_MODE = "Read", "Edit in the table"
MIN_FACTS_FOR_FILTER = 8
"""Facts from which on the filters are drawn."""


def draw(view: RunSnapshot) -> None:
    """A run's facts and what may be done with them; read-only where its flow does not write from facts."""
    known = view_cache.get_or_compute(view, "facts-listed", lambda: fact_view.all_facts(view.state))
    if not acts.is_possible("mark", view):
        fact_table.draw(known, view.run.id)
        return
    fact_actions.draw(view)
    if not known:
        empty_state.draw(
            "No facts so far",
            "Each page that is read adds relevant statements, each with its exact quote.",
        )
        return
    key = f"ledger-way-{view.run.id}"
    way = st.segmented_control(
        "How to show the facts",
        [READ_MODE, EDIT_MODE],
        default=READ_MODE,
        required=True,
        key=key,
        label_visibility="collapsed",
    )
    sift = (
        _draw_filter(view, known) if way == EDIT_MODE or len(known) > MIN_FACTS_FOR_FILTER else FactFilter()
    )  # above a table that is edited nothing may come in later
    everything = view_cache.get_or_compute(
        view, "facts", lambda: sort_cited_first(filter_facts(known, FactFilter()), view.state.answer)
    )
    fitting = (
        everything if sift == FactFilter() else sort_cited_first(filter_facts(known, sift), view.state.answer)
    )
    if way == EDIT_MODE:
        fact_grid.draw(view, fitting, sift)
    else:
        groups = view_cache.get_or_compute(view, "fact-parts", lambda: group_parts(view.state.plan, known))
        fact_table.draw_page(sort_by_group(fitting, groups), view.run.id, editable=True, groups=groups)


def sort_cited_first(found: list[Fact], answer: Answer | None) -> list[Fact]:
    """The facts that the answer cites before the others; as they stand otherwise."""
    cited = {i for sentence in answer.sentences for i in sentence.fact_ids} if answer else set()
    return sorted(found, key=lambda fact: fact.id not in cited)


def group_parts(plan: Sequence[PlanPart], known: Sequence[Fact]) -> dict[str, str]:
    """The part of the plan that each fact bears on, by the fact's id, in the order of the parts, those that
    bear on none last; empty where the question has one part."""
    names = {part.id: format_question(part.question) for part in plan} | {"": "Other facts"}
    found = [(find_part(plan, fact), fact.id) for fact in known] if len(plan) > 1 else []
    return {id: name for part, name in names.items() for bears_on, id in found if bears_on == part}


def sort_by_group(found: Sequence[Fact], groups: Mapping[str, str]) -> list[Fact]:
    """The facts group by group; as they stand within a group."""
    order = {name: n for n, name in enumerate(dict.fromkeys(groups.values()))}
    return sorted(found, key=lambda fact: order.get(groups.get(fact.id, ""), 0))


def _draw_filter(view: RunSnapshot, known: Sequence[Fact]) -> FactFilter:
    """The filters, in one row."""
    run_id = view.run.id
    sites = view_cache.get_or_compute(
        view, "sites", lambda: sorted({site(fact.url) for fact in known if fact.url})
    )
    steps = view_cache.get_or_compute(view, "fact-steps", lambda: group_steps(view.state.actions, known))
    find = st.text_input(
        "Find in the facts",
        key=fact_table.FIND_KEY,
        type="search",
        live="300ms",
        placeholder="words, a site …",
    )
    left, middle, right = st.columns(3)
    with left:
        names = {"": "All sources"} | {name: name for name in sites}
        source = ui.select("Source", names, f"ledger-source-{run_id}", filter_mode="fuzzy")
    with middle:
        numbers = {-1: "All steps"} | {n: f"Step {n}" if n else "Before step 1" for n in steps}
        step = ui.select("Step", numbers, f"ledger-step-{run_id}", filter_mode="fuzzy")
    with right:
        words = {name: labels.FACT_STATUS.get(name, name).capitalize() for name in FACT_STATUSES}
        status = ui.select(
            "Status", {"": "Any status"} | words, f"ledger-status-{run_id}", filter_mode="fuzzy"
        )
    sift = FactFilter(find or "", source, steps.get(step, frozenset()), status)
    if sift != FactFilter():
        st.caption(f"{format_count(len(filter_facts(known, sift)), 'fact')} of {len(known):,} fit")
    return sift


def group_steps(actions: Sequence[Action], known: Sequence[Fact]) -> dict[int, frozenset[int]]:
    """The steps of the journey that found facts, newest first, each with its facts' steps of the ledger."""
    found: dict[int, set[int]] = {}
    for fact in known:
        found.setdefault(number_step(actions, fact.step), set()).add(fact.step)
    return {number: frozenset(found[number]) for number in sorted(found, reverse=True)}
