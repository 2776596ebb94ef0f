"""The graph of a run: its searches and pages one below the other, joined by arcs where an address was found
or linked. A cited page has its number, the way to it is drawn stronger; a click opens its evidence."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

from agent.engine.run_state import RunState
from agent.text.plurals import format_count
from agent.types import Outcome, PageRef
from agent.workbench import RunSnapshot
from pages.widgets.evidence import sources
from pages.widgets.run import answer_pane
from pages.widgets.shell import empty_state, escape, labels, markup, view_cache

QUESTION = "question"
MAX_PAGES = 100
"""Pages on one graph: those that are cited or have the most facts."""
ROW, GUTTER = 40, 96
"""Height of a row and width of the arcs, in pixels."""


def draw(view: RunSnapshot) -> None:
    """The graph, or that nothing was looked for yet."""
    if not view.state.actions and not view.state.pages:
        empty_state.draw("No pages yet", "Searches and pages appear here, each by where it was found.")
        return
    html = view_cache.get_or_compute(view, "graph", lambda: render(view))
    answer_pane.draw_html(html, f"graph-{view.run.id}")


def render(view: RunSnapshot) -> str:
    """The graph as HTML: a drawing of the arcs beside a list."""
    state, cited = view.state, sources.number_pages(view)
    kept = Counter(fact.page_id for fact in state.facts.values())
    ranked = sorted(
        state.pages.values(), key=lambda page: (page.page_id not in cited, -kept[page.page_id], page.step)
    )
    pages = {page.url: page for page in ranked[:MAX_PAGES]}
    parents = _list_parents(state, pages)
    order = {name: row for row, name in enumerate(_sort_by_origin(parents))}
    ways = {name for name in parents if name in pages and pages[name].page_id in cited}
    for name in reversed(order):  # each comes below what it was found on
        ways |= {parents[name]} if name in ways else set()
    found = [(parent, name, "way" if name in ways else "") for name, parent in parents.items() if parent]
    found.sort(key=lambda arc: arc[2])
    links = [(page.url, link, "link") for page in pages.values() for link in page.links if link in pages]
    known = {(one, other) for one, other, _ in found}
    arcs = "".join(
        _draw_arc(order[one], order[other], len(order), css)
        for one, other, css in [*(arc for arc in links if arc[:2] not in known), *found]
    )
    points = "".join(_draw_point(row, name, pages.get(name), kept, cited) for name, row in order.items())
    rows = "".join(f"<li>{_render_row(name, view, pages.get(name), kept, cited)}</li>" for name in order)
    left = len(ranked) - len(pages)
    more = f'<p class="small soft">and {format_count(left, "page")} with fewer facts</p>' if left else ""
    size = f'width="{GUTTER}" height="{ROW * len(order)}"'
    return (
        f'<div class="graph"><svg {size} aria-hidden="true">{arcs}{points}</svg><ol>{rows}</ol>{more}</div>'
    )


def _list_parents(state: RunState, pages: dict[str, PageRef]) -> dict[str, str]:
    """What each search and page was found on, in the order they came; the question was found on nothing."""
    looks = [(a.step, f"search: {a.query_or_url}", QUESTION) for a in state.actions if a.is_search]
    looks += [(page.step, page.url, page.found_on) for page in pages.values()]
    parents = {QUESTION: ""}
    for _, name, found_on in sorted(looks, key=lambda look: look[0]):
        parents.setdefault(name, found_on if found_on in parents and found_on != name else QUESTION)
    return parents


def _sort_by_origin(parents: dict[str, str]) -> list[str]:
    """Each below what it was found on."""
    children, order, waiting = defaultdict[str, list[str]](list), list[str](), [QUESTION]
    for name, parent in parents.items():
        children[parent].append(name)
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(children[order[-1]])
    return order


def _draw_arc(one: int, other: int, rows: int, css: str) -> str:
    x, (y, z) = GUTTER - 12, (int((row + 0.5) * ROW) for row in (one, other))
    left = round(x - 14 - (x - 18) * math.sqrt(abs(one - other) / rows) * 1.2)
    return f'<path class="{css}" d="M{x} {y}C{left} {y} {left} {z} {x} {z}"/>'


def _draw_point(row: int, name: str, page: PageRef | None, kept: Counter[str], cited: dict[str, int]) -> str:
    """A circle by its facts; a search is a square, what could not be read a cross."""
    x, y = GUTTER - 12, int((row + 0.5) * ROW)
    if page is None:
        turn = f' transform="rotate(45 {x} {y})"' if name == QUESTION else ""
        return f'<rect class="look" x="{x - 5}" y="{y - 5}" width="10" height="10"{turn}/>'
    if page.outcome is not Outcome.OK:
        return f'<path class="failed" d="M{x - 4} {y - 4}l8 8m0 -8l-8 8"/>'
    count = kept[page.page_id]
    css = "cited" if page.page_id in cited else "kept" if count else ""
    return f'<circle class="{css}" cx="{x}" cy="{y}" r="{4 + min(6.0, 1.5 * math.sqrt(count)):.1f}"/>'


def _render_row(
    name: str, view: RunSnapshot, page: PageRef | None, kept: Counter[str], cited: dict[str, int]
) -> str:
    """The name of a search or page, and below it what came of it."""
    if page is None:
        done = [a for a in view.state.actions if f"search: {a.query_or_url}" == name]
        hits = [format_count(a.hits, "result") if a.hits else labels.OUTCOME[a.outcome] for a in done]
        title = f"“{name.removeprefix('search: ')}”" if done else view.state.question
        told = f"Search, {hits[0]}" if done else "Question"
        return f'<b class="soft">{escape.html(title)}</b><small>{told}</small>'
    count = kept[page.page_id]
    came = format_count(count, "fact") * bool(count)
    came = came if page.outcome is Outcome.OK else labels.OUTCOME[page.outcome]
    told = " · ".join(filter(None, (came, escape.shorten_url(page.url))))
    number = f'<b class="n">{cited[page.page_id]}</b> ' if page.page_id in cited else ""
    title = escape.html(page.title or escape.shorten_url(page.url))
    inside = f'{number}<span title="{title}">{title}</span>'
    see = f'<button type="button" {markup.see(f"{view.run.id}.p-{page.page_id}")}>{inside}</button>'
    return f"{see if page.page_id else inside}<small>{escape.html(told)}</small>"
