"""The sources of a run, grouped by site: each page with its cited mark, date and facts; how far a site is
trusted, in words; and the way to leave one out, after a look at what goes with it."""

from __future__ import annotations

import streamlit as st

from agent.actions import acts
from agent.actions.sources import SourceDomain, StrikeImpact, group_by_domain, preview_strike
from agent.evidence.sources import trust_label
from agent.text.plurals import format_count
from agent.types import PageRef
from agent.workbench import RunSnapshot
from pages.widgets.evidence import fact_card, facts
from pages.widgets.shell import client, empty_state, escape, pagination, ui, view_cache

PAGE_SIZE = 12
"""Sites on a page."""
MAX_PAGES, MAX_COPIES = 5, 3
"""Pages of a site that are listed, those that are cited first, and sites named that have the same text."""
NOT_CITED = 10_000
MAX_SENTENCES = 4
"""Sentences named before a source is left out."""


def draw(view: RunSnapshot) -> None:
    """The sites, those that are cited first."""
    found = view_cache.get_or_compute(view, "domains", lambda: sort_cited_first(view))
    if not found:
        text = "Each page that is read appears here under its site, with its trust and the reasons."
        empty_state.draw("No sources yet", text)
        return
    turned = f"research-domains-{view.run.id}"
    for domain in pagination.take_page(found, PAGE_SIZE, turned):
        with st.container(key=f"source-{domain.name}", gap=None):
            st.html(render_site(domain, view))
            if acts.is_possible("strike_source", view):
                _draw_exclude(view, domain)
    pagination.draw(len(found), PAGE_SIZE, turned, "sites")


def number_pages(view: RunSnapshot) -> dict[str, int]:
    """By page the number under which the newest answer cites it."""
    answer = view.state.answers[-1] if view.state.answers else None
    return {source.page_id: source.n for source in answer.sources if source.page_id} if answer else {}


def sort_cited_first(view: RunSnapshot) -> list[SourceDomain]:
    """The sites of a run, those that its answer cites first."""
    cited = number_pages(view)
    return sorted(
        group_by_domain(view.state),
        key=lambda site: min((cited.get(page.page_id, NOT_CITED) for page in site.pages), default=NOT_CITED),
    )


def list_works(view: RunSnapshot) -> dict[str, list[PageRef]]:
    """The pages that were read by work: one work at several addresses, by its DOI, is one source. The page
    that is cited, or has the most facts, comes first."""
    cited, works = number_pages(view), dict[str, list[PageRef]]()
    pages = [page for page in view.state.pages.values() if page.page_id]
    for page in sorted(pages, key=lambda page: (cited.get(page.page_id, NOT_CITED), -page.facts)):
        doi = page.publication.doi if page.publication else ""
        works.setdefault(doi or page.url, []).append(page)
    return works


def render_site(domain: SourceDomain, view: RunSnapshot) -> str:
    """A site and its pages as HTML."""
    struck = ' class="struck"' if domain.name in view.state.strikes else ""
    works = view_cache.get_or_compute(view, "works", lambda: list_works(view))
    urls = {page.url for page in domain.pages}
    rows = [_render_page(pages, view) for pages in works.values() if pages[0].url in urls]
    for pages in works.values():  # only a second address of a work stands here
        if pages[0].url not in urls and any(page.url in urls for page in pages):
            rows.append(f'<li class="soft small">the same work as “{escape.html(pages[0].title)}”</li>')
    if (others := len(rows) - MAX_PAGES) > 0:
        rows[MAX_PAGES:] = [f'<li class="soft small">and {others} more, in the graph of the pages</li>']
    trust = f'<span class="small soft">{_describe(domain)}</span>'
    head = f"<p><b{struck}>{escape.html(domain.name)}</b><br>{trust}</p>"
    return f'<div class="ts site">{head}<ul>{"".join(rows)}</ul></div>'


def _describe(domain: SourceDomain) -> str:
    """How far a site is trusted and why, in words, as HTML."""
    *first, last = domain.reasons or [""]
    why = f" – has {' and '.join(filter(None, [', '.join(first), last]))}" if last else ""
    others = domain.copies[:MAX_COPIES] + ["…"] * (len(domain.copies) > MAX_COPIES)
    copies = f"; same text as {', '.join(others)}" if others else ""
    return escape.html(f"Trust: {trust_label(domain.trust)}{why}{copies}")


def _render_page(pages: list[PageRef], view: RunSnapshot) -> str:
    """A work by its first page, with its other addresses."""
    page, number = pages[0], number_pages(view).get(pages[0].page_id)
    mark = f'<b class="n" title="Cited as {number}">{number}</b>' if number else '<b class="n"></b>'
    found = [fact for fact in view.state.facts.values() if fact.page_id == page.page_id]
    count = format_count(len(found), "fact") if found else "no facts" * bool(view.state.facts)
    dates = (fact.published_at[:10] for fact in found)
    also = [escape.host(other.url) for other in pages[1:]]
    given = "you gave it" if page.origin != "fetched" else ""
    about = (next(filter(None, dates), ""), count, given, f"also at {', '.join(also)}" if also else "")
    told = f'<span class="small soft">{escape.html(" · ".join(filter(None, about)))}</span>'
    title = escape.html(escape.shorten(page.title or escape.shorten_url(page.url), 90))
    link = f'<a href="{escape.stored_page_url(view.run.id, page.page_id)}" target="_blank">{title}</a>'
    return f"<li>{mark}<span>{link} {told}</span></li>"


def draw_page(view: RunSnapshot, page: PageRef) -> None:
    """What was kept of one page: each quote in the words around it, with what may be done with it."""
    number = number_pages(view).get(page.page_id, 0)
    title = escape.render_link(page.url, page.title or escape.shorten_url(page.url))
    told = f'<br><span class="small soft">{escape.html(escape.host(page.url))}</span>'
    st.html(f'<div class="ts"><p><b>{title}</b>{told}</p></div>')
    own = [fact for fact in view.state.facts.values() if fact.page_id == page.page_id]
    if not own:
        empty_state.draw("Nothing was kept of it", "No statement in it was found to matter to the question.")
        way = {"run": view.run.id, "id": page.page_id, "see": st.query_params["see"]}
        ui.link("pages/page.py", "See the page", "", way)
    for fact in own:
        key = f"page-fact-{fact.id}"
        with st.container(border=True, key=key, gap="small"):
            fact_card.draw(view, fact, key, number=number, is_editable=True)


def _draw_exclude(view: RunSnapshot, domain: SourceDomain) -> None:
    """Leave a site out, after a look at what goes with it; or take it in again."""
    name, key = domain.name, f"source-out-{domain.name}"
    with st.container(key=f"source-act-{name}"):
        if name in view.state.strikes:
            ui.act(view, "restore_source", key, "Use again", given={"source": name}, type="tertiary")
            return
        with ui.popover("Exclude", key, "link_off", type="tertiary") as opened:
            if opened.open:  # what falls is worked out over all facts: only when somebody looks
                names = {name: f"all of {name}"}
                names |= {page.url: escape.shorten(page.title or page.url, 60) for page in domain.pages}
                chosen = ui.select("What?", names, f"{key}-what") if len(domain.pages) > 1 else name
                fall = preview_strike(view.state, chosen)
                st.html(render_strike_impact(fall))
                label = f"Exclude it with {format_count(len(fall.facts), 'fact')}"
                done = f"{chosen} is excluded. {facts.describe_consequence(view)}".strip()
                more = {"source": chosen, "done": done, "then": lambda _: ui.close_popover(key)}
                act = (client.act, view.run.id, "strike_source")
                ui.button(label, f"{key}-do", *act, kwargs=more, type="primary")


def render_strike_impact(fall: StrikeImpact) -> str:
    """What leaving out a source takes with it, as HTML."""
    lost, weak = fall.sentences, len(fall.weakened)
    told = f"<p><b>{format_count(len(fall.facts), 'fact')}</b> will be excluded, later ones of it, too.</p>"
    told += f"<p>The answer loses {format_count(len(lost), 'sentence') if lost else 'no sentence'}"
    told += f", and {format_count(weak, 'sentence')} one of its sources" if weak else ""
    items = "".join(
        f"<li>{escape.html(escape.shorten(said.text, 160))}</li>" for said in lost[:MAX_SENTENCES]
    )
    more = f"<li>and {len(lost) - MAX_SENTENCES} more</li>" if len(lost) > MAX_SENTENCES else ""
    return f'<div class="ts small" role="status">{told}.</p><ul>{items}{more}</ul></div>'
