"""The sources of a run, grouped by site: each page with its cited mark, date and facts; how far a site is
trusted, in words; and the way to leave one out, after a look at what goes with it."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from agent.actions import acts
from agent.actions.sources import SourceDomain, StrikeImpact, group_by_domain, preview_strike
from agent.evidence.sources import trust_label
from agent.text.plurals import format_count
from agent.types import Fact, PageRef
from agent.workbench import RunSnapshot
from pages.widgets.evidence.facts import describe_consequence
from pages.widgets.shell import client, empty_state, escape, pagination, ui, view_cache

PAGE_SIZE = 12
"""Sites on a page."""
MAX_PAGES = 4
"""Pages of a site that are listed, those that are cited first."""
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
    cited, turned = number_pages(view), f"research-domains-{view.run.id}"
    for domain in pagination.take_page(found, PAGE_SIZE, turned):
        with st.container(horizontal=True, vertical_alignment="top", key=f"source-{domain.name}"):
            st.html(render_site(domain, view, cited), width="stretch")
            if acts.is_possible("strike_source", view):
                _draw_exclude(view, domain)
    pagination.draw(len(found), PAGE_SIZE, turned, "sites")


def number_pages(view: RunSnapshot) -> dict[str, int]:
    """By page the number under which the newest answer cites it."""
    answer = view.state.answers[-1] if view.state.answers else None
    return {source.page_id: source.n for source in answer.sources} if answer else {}


def sort_cited_first(view: RunSnapshot) -> list[SourceDomain]:
    """The sites of a run, those that its answer cites first."""
    cited = number_pages(view)
    return sorted(
        group_by_domain(view.state),
        key=lambda site: min((cited.get(page.page_id, NOT_CITED) for page in site.pages), default=NOT_CITED),
    )


def render_site(domain: SourceDomain, view: RunSnapshot, cited: Mapping[str, int]) -> str:
    """A site and its pages as HTML. One work at several addresses is one source."""
    why = "; ".join(domain.reasons) or "no signal for or against it"
    copies = f", same text as {', '.join(domain.copies)}" if domain.copies else ""
    struck = ' class="struck"' if domain.name in view.state.strikes else ""
    works = sorted(join_works(domain.pages), key=lambda page: cited.get(page.page_id, NOT_CITED))
    pages = "".join(_render_page(page, domain.facts, view.run.id, cited) for page in works[:MAX_PAGES])
    more = len(works) - MAX_PAGES
    pages += f'<li class="small soft">and {more} more</li>' if more > 0 else ""
    trust = escape.html(f"trust: {trust_label(domain.trust)} – {why}{copies}")
    head = f'<p><b{struck}>{escape.html(domain.name)}</b> <span class="small soft">{trust}</span></p>'
    return f'<div class="ts site">{head}<ul class="pages">{pages}</ul></div>'


def join_works(pages: list[PageRef]) -> list[PageRef]:
    """Each published work once, by its DOI; the page with the most facts stands for it."""
    works: dict[str, PageRef] = {}
    for page in sorted(pages, key=lambda page: -page.facts):
        doi = page.publication.doi if page.publication else ""
        works.setdefault(doi or page.url, page)
    return list(works.values())


def _render_page(page: PageRef, facts: list[Fact], run_id: str, cited: Mapping[str, int]) -> str:
    number = cited.get(page.page_id)
    mark = f'<b class="n" title="Cited as {number}">{number}</b> ' if number else ""
    own = [fact for fact in facts if fact.page_id == page.page_id]
    date = next((fact.published_at[:10] for fact in own if fact.published_at), "")
    title = escape.shorten(page.title or escape.shorten_url(page.url), 90)
    url = escape.stored_page_url(run_id, page.page_id)
    told = " · ".join(filter(None, (date, format_count(len(own), "fact") if own else "no facts")))
    link = f'<a href="{url}" target="_blank">{escape.html(title)}</a>'
    return f'<li>{mark}{link} <span class="small soft">{told}</span></li>'


def _draw_exclude(view: RunSnapshot, domain: SourceDomain) -> None:
    """Leave a site out, after a look at what goes with it; or take it in again."""
    name, key = domain.name, f"source-out-{domain.name}"
    if name in view.state.strikes:
        ui.act(view, "restore_source", key, "Use again", given={"source": name}, type="tertiary")
        return
    opened = ui.popover("Exclude", key, "link_off", type="tertiary")
    if opened.open:  # what falls is worked out over all facts: only when somebody looks
        with opened:
            names = {name: f"all of {name}"} | {
                page.url: escape.shorten(page.title or page.url, 60) for page in domain.pages
            }
            chosen = ui.select("What?", names, f"{key}-what") if len(domain.pages) > 1 else name
            fall = preview_strike(view.state, chosen)
            st.html(render_strike_impact(fall))
            label = f"Exclude it with {format_count(len(fall.facts), 'fact')}"
            ui.button(label, f"{key}-do", _strike, view, chosen, key, type="primary")


def _strike(view: RunSnapshot, source: str, popover: str) -> None:
    done = f"{source} is excluded. {describe_consequence(view)}".strip()
    then = lambda _: ui.close_popover(popover)  # noqa: E731
    client.act(view.run.id, "strike_source", source=source, done=done, then=then)


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
