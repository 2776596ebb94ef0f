"""Two runs side by side on the screen: what they share once, what differs beside its counterpart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from agent.actions.run_diff import NO_ANSWER, ComparedFigure, ListDiff, RunComparison
from agent.engine.snapshots import RunSnapshot
from agent.types import Answer, Conflict, Fact, PageRef, Sentence, Settings
from pages.widgets.run import run_page
from pages.widgets.shell import badges, escape, labels, markup, routes, ui

CHANGE_LABELS = {
    "added": "only in 2",
    "removed": "only in 1",
    "reworded": "reworded",
    "resourced": "other sources",
    "same": "the same",
}
VISIBLE_ENTRIES, MAX_ENTRIES = 8, 200
"""Entries of a list that are seen at once, and those a click brings."""
STAT_LABELS = {
    "confidence": "Confidence",
    "steps": "Searches and pages",
    "pages": "Pages read",
    "facts": "Facts",
    "conflicts": "Conflicts",
    "calls": "Model calls",
    "tokens": "Tokens",
    "cost": "Cost",
    "seconds": "Working time",
}
SETTING_LABELS = {
    "flow": "Flow",
    "mode": "Mode",
    "until": "Run",
    "model": "Model",
    "fast_model": "Fast model",
    "world": "Data source",
    "threshold": "Review from",
    "max_steps": "At most searches and pages",
    "max_pages": "At most pages",
    "max_calls": "At most model calls",
    "max_tokens": "At most tokens",
    "max_cost_usd": "At most dollars",
    "max_seconds": "At most seconds",
    "at_cap": "At a limit",
}
"""The settings by plain names; another is told by its own."""


def draw(found: RunComparison) -> None:
    """The whole screen."""
    st.set_page_config(page_title=f"Compare: {escape.shorten(found.one.run.question, 40)} · Touchstone")
    with st.container(horizontal=True, key="compare-ways"):
        for n, run in ((1, found.one.run), (2, found.two.run)):
            label = f"Open run {n}"
            ui.link(routes.page_for_flow(run.settings.flow), label, "arrow_forward", {"run": run.id})
        both = {"run": found.two.run.id, "with": found.one.run.id}
        ui.link("pages/compare.py", "Swap", "swap_horiz", both)
    if found.one.run.settings.world == found.two.run.settings.world == "demo":
        run_page.draw_world_band(Settings(world="demo"))
    title = escape.html(found.one.run.question) if _is_one_question(found) else "Two runs, two questions"
    st.html(
        f'<div class="ts"><h1 class="ts-question">{title}</h1><p class="small soft">'
        f"{describe_shared_steps(found)}</p></div>"
    )
    for html in (
        render_runs(found),
        render_stats(found.figures),
        render_settings(found),
        render_answers(found),
        render_facts(found),
        render_pages(found),
        render_conflicts(found.conflicts),
    ):
        if html:
            st.html(html)


def describe_shared_steps(found: RunComparison) -> str:
    """How far they are the same run, as a sentence."""
    if not found.shared:
        return "They share no step."
    number = next((int(figure.shared or 0) for figure in found.figures if figure.name == "steps"), 0)
    first = (
        f"{'Step' if number == 1 else 'Steps'} 1{f' to {number}' * (number > 1)}"
        if number
        else "The question"
    )
    return f"{first} {'are' if number > 1 else 'is'} the same in both; they differ after that."


def render_runs(found: RunComparison) -> str:
    """Both runs with how they stand and what they answer."""
    return f'<div class="ts pair">{_render_run(1, found.one, found)}{_render_run(2, found.two, found)}</div>'


def _is_one_question(found: RunComparison) -> bool:
    return found.one.run.question == found.two.run.question


def _render_run(n: int, view: RunSnapshot, found: RunComparison) -> str:
    run, answer = view.run, view.state.answer
    marks = [(labels.STATUS[run.status], labels.STATUS_TONE[run.status])]
    if answer and answer.verdict in labels.VERDICT:
        marks.append((labels.VERDICT[answer.verdict], labels.VERDICT_TONE[answer.verdict]))
    marks += [("branched", "")] if run.forked_from else []
    asked = "" if _is_one_question(found) else f"<h2>{escape.html(run.question)}</h2>"
    notes = "".join(
        f'<p class="small"><b>Note:</b> {escape.html(note)}</p>' for note in found.list_notes(view)
    )
    text = (answer.text or answer.certainty) if answer else ""
    said = (
        f'<div class="answer">{escape.html(text)}</div>'
        if text
        else '<p class="soft">There is no answer yet.</p>'
    )
    when = f'<p class="small soft">Run {escape.html(run.id)}, {labels.format_time(run.created_at)}</p>'
    return (
        f'<div><div class="chips"><span class="n">{n}</span>{badges.render_row(marks)}'
        f"</div>{asked}{when}{notes}{said}</div>"
    )


def render_stats(given: Sequence[ComparedFigure]) -> str:
    """The figures as a table, those that differ in bold."""
    rows = []
    for figure in given:
        if not figure.one and not figure.two and figure.name in ("calls", "tokens", "cost", "conflicts"):
            continue
        one, two = (_format_stat(figure, value) for value in (figure.one, figure.two))
        shared = f"{_format_stat(figure, figure.shared)} of each in the steps they share"
        name = STAT_LABELS[figure.name] + (f"<br><small>{shared}</small>" if figure.shared else "")
        rows.append([name, *((one, two) if one == two else (f"<b>{one}</b>", f"<b>{two}</b>"))])
    return f'<div class="ts">{_render_table(rows)}</div>'


def _render_table(rows: Iterable[Sequence[str]]) -> str:
    return markup.table(["", "1", "2"], rows, "compared")


def _format_stat(figure: ComparedFigure, value: float | None) -> str:
    if figure.name == "cost":
        return labels.format_money(value)
    if figure.name == "confidence":
        return labels.format_percent(value)
    if value is None:
        return "unknown"
    return labels.format_duration(value) if figure.name == "seconds" else f"{value:,.0f}"


def render_settings(found: RunComparison) -> str:
    """The settings that differ, "" when none does."""
    rows = [
        [escape.html(SETTING_LABELS.get(name, name)), _format_setting(one), _format_setting(two)]
        for name, (one, two) in found.settings.items()
    ]
    return _render_section("Settings that differ", _render_table(rows)) if rows else ""


def _format_setting(value: Any) -> str:
    shown = (
        ", ".join(map(str, value)) if isinstance(value, list) else labels.UNTIL.get(str(value), str(value))
    )
    return escape.html(escape.shorten(shown, 160)) or "–"


def render_answers(found: RunComparison) -> str:
    """The two answers sentence by sentence, each beside the one it goes with."""
    if not found.answer:
        return ""
    one, two = found.one.state.answer or NO_ANSWER, found.two.state.answer or NO_ANSWER
    rows = "".join(
        _render_cell(1, said.kind, said.old, one) + _render_cell(2, said.kind, said.new, two)
        for said in found.answer
    )
    count = {kind: sum(said.kind == kind for said in found.answer) for kind in CHANGE_LABELS}
    chips = badges.render_row((f"{n} {CHANGE_LABELS[kind]}", "") for kind, n in count.items() if n)
    body = f'<div class="chips">{chips}</div><div class="paired">{rows}</div>'
    return _render_section("The answers, sentence by sentence", body)


def _render_cell(n: int, kind: str, sentence: Sentence | None, answer: Answer) -> str:
    if sentence is None:
        return f'<div class="none small" data-n="{n}">not in this answer</div>'
    cited = answer.citation_numbers(sentence)
    named = [source.url or source.title for source in answer.sources if source.n in cited]
    hosts = ", ".join(dict.fromkeys(map(escape.host, named)))
    by = f'<div class="small soft">{escape.html(hosts)}</div>' if hosts else ""
    return f'<div class="{kind}" data-n="{n}">{escape.html(sentence.text)}{by}</div>'


def render_facts(found: RunComparison) -> str:
    """Facts that one alone has, and those of both whose status differs."""
    lists = _render_columns(
        found.facts, *([_render_fact(fact) for fact in side] for side in (found.facts.one, found.facts.two))
    )
    other = [
        [escape.html(escape.shorten(one.statement, 240)), _render_fact_status(one), _render_fact_status(two)]
        for one, two in found.differing_facts[:MAX_ENTRIES]
    ]
    head = '<p class="small"><b>In both, with different status</b></p>'
    return _render_section("Facts", lists + (head + _render_table(other) if other else ""))


def _render_fact(fact: Fact) -> str:
    by = f' <span class="small soft">{escape.html(escape.host(fact.url))}</span>' if fact.url else ""
    return f"{escape.html(escape.shorten(fact.statement, 240))}{by}"


def _render_fact_status(fact: Fact) -> str:
    marks: list[tuple[str, str]] = []
    if fact.decision != "none":
        marks.append((labels.FACT_STATUS[fact.decision], "good" if fact.decision == "pinned" else "bad"))
    marks += [("disputed", "warn")] if fact.disputed else []
    marks += [(labels.FACT_STATUS["flagged"], "warn")] if fact.flagged else []
    marks += [("not verified", "warn")] if not fact.verified else []
    return badges.render_row(marks or [("accepted", "")])


def render_pages(found: RunComparison) -> str:
    """Pages that one alone has read, with those its answer stands on marked."""
    both = ((found.one.state.answer, found.sources.one), (found.two.state.answer, found.sources.two))
    one, two = (
        [_render_page(page, {source.url for source in answer.sources} if answer else set()) for page in pages]
        for answer, pages in both
    )
    return _render_section("Pages read", _render_columns(found.sources, one, two))


def _render_page(page: PageRef, cited: set[str]) -> str:
    mark = f" {badges.render('cited', 'good')}" if {page.url, page.final_url} & cited else ""
    return (
        f'{escape.render_link(page.url, page.title or "")} <span class="small soft">'
        f"{escape.html(escape.host(page.url))}</span>{mark}"
    )


def render_conflicts(lists: ListDiff[Conflict]) -> str:
    """Conflicts that one alone has, and those of both that are settled in one; "" when there are none."""
    if not (lists.one or lists.two or lists.both):
        return ""
    resolved = [
        [_render_conflict(one), _render_resolution(one), _render_resolution(two)]
        for one, two in lists.both
        if (one.status, one.chosen) != (two.status, two.chosen)
    ]
    one, two = (
        [f"{_render_conflict(c)}: {_render_resolution(c)}" for c in side] for side in (lists.one, lists.two)
    )
    return _render_section("Conflicts", _render_columns(lists, one, two) + _render_table(resolved))


def _render_conflict(conflict: Conflict) -> str:
    values = " or ".join(value.text for value in conflict.values)
    return escape.html(
        escape.shorten(" · ".join(filter(None, (conflict.subject, conflict.attribute, values))), 240)
    )


def _render_resolution(conflict: Conflict) -> str:
    return (
        badges.render("open", "bad")
        if conflict.status == "open"
        else badges.render(f"resolved: {escape.shorten(conflict.chosen, 60)}", "good")
    )


def _render_columns(lists: ListDiff[Any], one: list[str], two: list[str]) -> str:
    """Two lists beside each other, and how many entries are in both."""
    both = f'<p class="small soft">{len(lists.both):,} in both.</p>'
    if not one and not two:
        return (
            '<p class="small soft">'
            f"{'The same in both' if lists.both else 'None in either'} ({len(lists.both):,}).</p>"
        )
    return f'<div class="pair">{_render_list(1, one)}{_render_list(2, two)}</div>{both}'


def _render_list(n: int, entries: list[str]) -> str:
    shown = "".join(f"<li>{entry}</li>" for entry in entries[:VISIBLE_ENTRIES])
    more = "".join(f"<li>{entry}</li>" for entry in entries[VISIBLE_ENTRIES:MAX_ENTRIES])
    beyond = (
        f'<p class="small soft">and {len(entries) - MAX_ENTRIES:,} more</p>'
        if len(entries) > MAX_ENTRIES
        else ""
    )
    rest = f"<ul>{more}</ul>{beyond}"
    title = f"Show {len(entries) - VISIBLE_ENTRIES:,} more"
    folded = f'<details><summary class="small">{title}</summary>{rest}</details>' if more else ""
    listed = f"<ul>{shown}</ul>{folded}" if entries else '<p class="small soft">nothing</p>'
    head = f'<span class="n">{n}</span><b>Only here</b> <span class="soft">({len(entries):,})</span>'
    return f"<div><div>{head}</div>{listed}</div>"


def _render_section(title: str, body: str) -> str:
    return f'<div class="ts"><h2 class="ts-section">{title}</h2>{body}</div>'
