"""The table of facts to read: each row opens to its quote and source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import streamlit as st

from agent.answering.fact_view import FactFilter, filter_facts, main_fact_status
from agent.types import PAGE_ORIGIN_LABELS, Fact
from pages.widgets.shell import empty_state, escape, labels, markup, pagination

PAGE_SIZE = 40
"""Rows of a page: the cost of a poll must not grow with the run."""
FIND_KEY = "research-facts-find"
NO_GROUPS: Mapping[str, str] = MappingProxyType({})
STRUCK_CLASS = ' class="struck"'


def draw(facts: Sequence[Fact], run_id: str) -> None:
    """The facts, newest first, read-only; words to find, and page after page when there are many."""
    if not facts:
        empty_state.draw(
            "No facts so far",
            "Each page that is read adds relevant statements, each with its exact quote.",
        )
        return
    find = (
        st.text_input(
            "Find in the facts", key=FIND_KEY, type="search", live="300ms", placeholder="words, a site …"
        )
        if len(facts) > 8
        else ""
    )
    draw_page(filter_facts(facts, FactFilter(find)), run_id)


def draw_page(
    fitting: Sequence[Fact], run_id: str, *, editable: bool = False, groups: Mapping[str, str] = NO_GROUPS
) -> None:
    """One page of these facts as a table; `groups` names the group of each, by its id."""
    shown = take_page(fitting, f"facts-page-{run_id}")
    if not shown:
        empty_state.draw("No fact fits", "Use other words, or take a filter away.")
        return
    st.caption(
        "Open a row to see the verbatim quote. “Checked” means: found, word for word, in the stored page."
    )
    st.html(render_table(shown, run_id, editable=editable, groups=groups))
    draw_pagination(fitting, f"facts-page-{run_id}")


def take_page(fitting: Sequence[Fact], key: str) -> Sequence[Fact]:
    """The facts of the open page: only those are drawn."""
    return pagination.take_page(fitting, PAGE_SIZE, key)


def draw_pagination(fitting: Sequence[Fact], key: str) -> None:
    """The way to the other pages, where there is more than one."""
    pagination.draw(len(fitting), PAGE_SIZE, key, "facts")


def render_table(
    facts: Sequence[Fact], run_id: str, *, editable: bool = False, groups: Mapping[str, str] = NO_GROUPS
) -> str:
    """The facts as an HTML table, with the name of each group above its first."""
    rows, last = "", ""
    for fact in facts:
        if (group := groups.get(fact.id, "")) != last:
            rows += f'<tr class="group"><td colspan="3">{escape.html(group)}</td></tr>'
        rows, last = rows + _render_row(fact, run_id, editable=editable), group
    return (
        '<div class="ts facts"><table><tr><th>Statement</th><th>Site</th><th>'
        f"Quote</th></tr>{rows}</table></div>"
    )


def _render_row(fact: Fact, run_id: str, *, editable: bool) -> str:
    where = escape.html("you" if fact.is_own_knowledge else fact.origin.replace("_", " "))
    where = escape.render_link(fact.url, escape.host(fact.url)) if fact.url else where
    return (
        f"<tr><td><details><summary{STRUCK_CLASS if fact.decision == 'struck' else ''}>"
        f"{escape.html(fact.statement)}</summary>{render_evidence(fact, run_id)}"
        f"{markup.edit_fact_link(run_id, fact.id) if editable else ''}</details></td><td>{where}"
        f"</td><td>{render_status(fact)}</td></tr>"
    )


def render_evidence(fact: Fact, run_id: str) -> str:
    """What a fact stands on: its quote and place, and what it said before a correction or refusal."""
    quote = "" if fact.is_own_knowledge else f'<div class="quote">{escape.html(fact.quote)}</div>'
    former = f"Before your correction: <del>{escape.html(fact.former)}</del>" if fact.former else ""
    if fact.refused_statement:
        former = (
            f"The model wrote, and its quote says otherwise: <del>{escape.html(fact.refused_statement)}</del>"
        )
    lacking = fact.former and not fact.verified and not fact.is_own_knowledge
    warning = "The quote does not support this statement, so it is not backed by a page." if lacking else ""
    told = markup.paragraph(warning, "small warned") + markup.paragraph(_describe_flag(fact), "small warned")
    origin = markup.paragraph(_render_origin(fact, run_id))
    return f"{quote}{markup.paragraph(former, css='small')}{told}{origin}"


def _describe_flag(fact: Fact) -> str:
    """The order to machines that a fact belongs to, as a warning."""
    if not fact.flagged:
        return ""
    use = "" if fact.decision == "pinned" else " It supports nothing unless you choose “Always use”."
    return f"The page gives an order to machines here: <q>{escape.html(fact.flagged)}</q>{use}"


def render_status(fact: Fact) -> str:
    """How a fact stands, as a chip."""
    tone = (
        "" if fact.decision == "struck" or fact.is_own_knowledge else "good" if fact.can_support else "warn"
    )
    return f'<span class="chip {tone}">{escape.html(describe_status(fact))}</span>'


def describe_status(fact: Fact) -> str:
    """The status of a fact in a word or two."""
    status = main_fact_status(fact)
    return labels.FACT_STATUS.get(status, status)


def _render_origin(fact: Fact, run_id: str) -> str:
    parts = [
        "A person's own knowledge, on no page" if fact.is_own_knowledge else escape.html(fact.title),
        PAGE_ORIGIN_LABELS[fact.given],
        f"published {escape.html(fact.published_at[:10])}" if fact.published_at else "",
        f"read {labels.format_time(fact.fetched_at)}" if fact.fetched_at else "",
        markup.stored_page_link(run_id, fact.page_id, fact.id, before=""),
        f"excluded with {escape.html(fact.struck_with)}" if fact.struck_with else "",
    ]
    return " · ".join(part for part in parts if part)
