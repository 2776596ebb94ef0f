"""Two runs side by side on the screen: what they share is told once, what differs stands beside its counterpart. Reads, changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from agent.comparing import Comparison, Figure, Lists, Side
from agent.types import Conflict, Fact, PageRef, Settings, Status
from pages.widgets import chips, headline, safe, screens, words

CSS = Path(__file__).parent / "compare.css"
CHANGED = {"added": "only in 2", "removed": "only in 1", "reworded": "reworded", "resourced": "other sources", "same": "the same"}
SHOWN, MOST = 8, 200
"""Entries of a list that are seen at once, and those a click brings."""
FIGURES = {
    "confidence": "Confidence", "steps": "Searches and pages", "pages": "Pages read", "facts": "Facts", "conflicts": "Conflicts",
    "calls": "Model calls", "tokens": "Tokens", "cost": "Cost", "seconds": "Working time",
}  # fmt: skip
SETTINGS = {
    "flow": "Way of asking", "mode": "How it goes on", "until": "Run", "model": "Model", "fast_model": "Fast model", "world": "World",
    "threshold": "Review from", "max_steps": "At most searches and pages", "max_pages": "At most pages", "max_calls": "At most model calls",
    "max_tokens": "At most tokens", "max_cost_usd": "At most dollars", "max_seconds": "At most seconds", "at_cap": "At a limit",
}  # fmt: skip
"""The settings by plain names; another is told by its own."""


def draw(found: Comparison) -> None:
    """The whole screen."""
    st.html(CSS)
    st.set_page_config(page_title=f"Compare: {safe.shorten(found.one.question, 40)} · Touchstone")
    with st.container(horizontal=True, key="compare-ways"):
        for n, side in ((1, found.one), (2, found.two)):
            label = f"Open run {n}"
            st.page_link(screens.of(side.flow), label=label, icon=":material/arrow_forward:", query_params={"run": side.run})
        both = {"run": found.two.run, "with": found.one.run}
        st.page_link("pages/compare.py", label="Swap", icon=":material/swap_horiz:", query_params=both)
    if found.one.world == found.two.world == "demo":
        headline.band(Settings(world="demo"))
    st.html(f'<div class="ts"><h1 class="ts-question">{_title(found)}</h1><p class="small soft">{shared(found)}</p></div>')
    for html in (sides(found), figures(found.figures), settings(found), answer(found), facts(found), sources(found), conflicts(found.conflicts)):
        if html:
            st.html(html)


def shared(found: Comparison) -> str:
    """How far they are the same run, as a sentence."""
    if not found.shared:
        return "They have no step in common: each began with its question."
    return f"Steps 0 to {found.shared - 1} are the very same; they parted after that."


def sides(found: Comparison) -> str:
    """Both runs with how they stand and what they answer."""
    return f'<div class="ts pair">{_side(1, found.one, found.two)}{_side(2, found.two, found.one)}</div>'


def _title(found: Comparison) -> str:
    same = found.one.question == found.two.question
    return safe.html(found.one.question) if same else "Two runs, two questions"


def _side(n: int, side: Side, other: Side) -> str:
    status = Status(side.status)
    marks = [(words.STATUS[status], words.STATUS_TONE[status])]
    marks += [(words.VERDICT[side.verdict], words.VERDICT_TONE[side.verdict])] if side.verdict in words.VERDICT else []
    marks += [(f"forked at step {side.forked_at}", "")] if side.forked_from else []
    asked = f"<h2>{safe.html(side.question)}</h2>" if side.question != other.question else ""
    notes = "".join(f'<p class="small"><b>Note:</b> {safe.html(note)}</p>' for note in side.notes)
    said = f'<div class="answer">{safe.html(side.answer)}</div>' if side.answer else '<p class="soft">There is no answer yet.</p>'
    when = f'<p class="small soft">Run {safe.html(side.run)}, {words.when(side.created_at)}</p>'
    return f'<div><div class="chips"><span class="n">{n}</span>{chips.row(marks)}</div>{asked}{when}{notes}{said}</div>'


def figures(given: Sequence[Figure]) -> str:
    """The figures as a table, those that differ in bold."""
    rows = ""
    for figure in given:
        if not figure.one and not figure.two and figure.name in ("calls", "tokens", "cost", "conflicts"):
            continue
        one, two = (_figure(figure, value) for value in (figure.one, figure.two))
        both = f"<br><small>{_figure(figure, figure.shared)} of each in the steps they share</small>" if figure.shared else ""
        rows += f'<tr class="{"differs" if one != two else ""}"><td>{FIGURES[figure.name]}{both}</td><td>{one}</td><td>{two}</td></tr>'
    return f'<div class="ts scroll"><table class="compared"><tr><th></th><th>1</th><th>2</th></tr>{rows}</table></div>'


def _figure(figure: Figure, value: float | None) -> str:
    if figure.name == "cost":
        return words.money(value)
    if value is None:
        return "unknown"
    if figure.name == "confidence":
        return words.percent(value)
    return words.duration(value) if figure.name == "seconds" else f"{value:,.0f}"


def settings(found: Comparison) -> str:
    """The settings that differ, "" when none does."""
    rows = "".join(
        f"<tr><td>{safe.html(SETTINGS.get(name, name))}</td><td>{_value(one)}</td><td>{_value(two)}</td></tr>"
        for name, (one, two) in found.settings.items()
    )
    return f'{_section("Settings that differ")}<div class="ts scroll"><table class="compared">{_head()}{rows}</table></div>' if rows else ""


def _value(value: Any) -> str:
    shown = ", ".join(map(str, value)) if isinstance(value, list) else words.UNTIL.get(str(value), str(value))
    return safe.html(safe.shorten(shown, 160)) or "–"


def answer(found: Comparison) -> str:
    """The two answers sentence by sentence, each beside the one it goes with."""
    if not found.answer:
        return ""
    rows = "".join(_cell(1, said.kind, said.one, said.sources_one) + _cell(2, said.kind, said.two, said.sources_two) for said in found.answer)
    count = {kind: sum(said.kind == kind for said in found.answer) for kind in CHANGED}
    told = chips.row((f"{number} {CHANGED[kind]}", "") for kind, number in count.items() if number)
    return f'{_section("The answers, sentence by sentence")}<div class="ts"><div class="chips">{told}</div><div class="said">{rows}</div></div>'


def _cell(n: int, kind: str, text: str, stands_on: Iterable[str]) -> str:
    if not text:
        return f'<div class="none small" data-n="{n}">not in this answer</div>'
    hosts = ", ".join(dict.fromkeys(safe.host(url) for url in stands_on))
    by = f'<div class="small soft">{safe.html(hosts)}</div>' if hosts else ""
    return f'<div class="{kind}" data-n="{n}">{safe.html(text)}{by}</div>'


def facts(found: Comparison) -> str:
    """Facts that one alone has, and those of both that stand otherwise in one."""
    lists = _columns(found.facts, [_fact(fact) for fact in found.facts.one], [_fact(fact) for fact in found.facts.two])
    other = "".join(
        f"<tr><td>{safe.html(safe.shorten(one.statement, 240))}</td><td>{_stands(one)}</td><td>{_stands(two)}</td></tr>"
        for one, two in found.decided[:MOST]
    )
    unlike = f'<p class="small"><b>In both, but not alike</b></p><div class="scroll"><table class="compared">{_head()}{other}</table></div>'
    table = unlike if other else ""
    return f'{_section("Facts")}<div class="ts">{lists}{table}</div>'


def _fact(fact: Fact) -> str:
    by = f' <span class="small soft">{safe.html(safe.host(fact.url))}</span>' if fact.url else ""
    return f"{safe.html(safe.shorten(fact.statement, 240))}{by}"


def _stands(fact: Fact) -> str:
    marks = [(fact.decision, "good" if fact.decision == "pinned" else "bad")] if fact.decision != "none" else []
    marks += [("disputed", "warn")] if fact.disputed else []
    marks += [("not verified", "warn")] if not fact.verified else []
    return chips.row(marks or [("accepted", "")])


def sources(found: Comparison) -> str:
    """Pages that one alone has read, with those its answer stands on marked."""
    one, two = ([_page(page, set(cited)) for page in pages] for pages, cited in zip((found.sources.one, found.sources.two), found.cited, strict=True))
    return f'{_section("Pages read")}<div class="ts">{_columns(found.sources, one, two)}</div>'


def _page(page: PageRef, cited: set[str]) -> str:
    mark = f" {chips.one('cited', 'good')}" if {page.url, page.final_url} & cited else ""
    return f'{safe.link(page.url, page.title or "")} <span class="small soft">{safe.html(safe.host(page.url))}</span>{mark}'


def conflicts(lists: Lists) -> str:
    """Conflicts that one alone has, and those of both that are settled in one; "" when there are none."""
    if not (lists.one or lists.two or lists.both):
        return ""
    settled = "".join(
        f"<tr><td>{_clash(one)}</td><td>{_settled(one)}</td><td>{_settled(two)}</td></tr>"
        for one, two in lists.both if (one.status, one.chosen) != (two.status, two.chosen)
    )  # fmt: skip
    table = f'<div class="scroll"><table class="compared">{_head()}{settled}</table></div>' if settled else ""
    told = _columns(lists, [f"{_clash(c)}: {_settled(c)}" for c in lists.one], [f"{_clash(c)}: {_settled(c)}" for c in lists.two])
    return f'{_section("Conflicts")}<div class="ts">{told}{table}</div>'


def _clash(conflict: Conflict) -> str:
    values = " or ".join(value.text for value in conflict.values)
    return safe.html(safe.shorten(" · ".join(filter(None, (conflict.subject, conflict.attribute, values))), 240))


def _settled(conflict: Conflict) -> str:
    return chips.one("open", "bad") if conflict.status == "open" else chips.one(f"settled: {safe.shorten(conflict.chosen, 60)}", "good")


def _columns(lists: Lists, one: list[str], two: list[str]) -> str:
    """Two lists beside each other, and how many entries are in both."""
    both = f'<p class="small soft">{len(lists.both):,} in both.</p>'
    if not one and not two:
        return f'<p class="small soft">{"The same in both" if lists.both else "None in either"} ({len(lists.both):,}).</p>'
    return f'<div class="pair">{_list(1, one)}{_list(2, two)}</div>{both}'


def _list(n: int, entries: list[str]) -> str:
    shown = "".join(f"<li>{entry}</li>" for entry in entries[:SHOWN])
    more = "".join(f"<li>{entry}</li>" for entry in entries[SHOWN:MOST])
    beyond = f'<p class="small soft">and {len(entries) - MOST:,} more</p>' if len(entries) > MOST else ""
    rest = f"<details><summary class='small'>Show {len(entries) - SHOWN:,} more</summary><ul>{more}</ul>{beyond}</details>" if more else ""
    listed = f"<ul>{shown}</ul>{rest}" if entries else '<p class="small soft">nothing</p>'
    return f'<div><div><span class="n">{n}</span><b>Only here</b> <span class="soft">({len(entries):,})</span></div>{listed}</div>'


def _section(title: str) -> str:
    return f'<div class="ts"><h2 class="ts-section">{title}</h2></div>'


def _head() -> str:
    return "<tr><th></th><th>1</th><th>2</th></tr>"
