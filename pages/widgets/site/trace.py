"""What a `site` run read and decided, as HTML: an entry a batch with its reason, and the pages' ratings."""

from __future__ import annotations

from agent.flows.site.state import BY_INDEX, BY_PERSON, BY_SITEMAP, SiteRun
from agent.text.plurals import format_count
from agent.types import Action, Outcome, PageRef
from pages.widgets.shell import badges, escape, labels, markup

MAX_PAGES = 60
"""Pages that are listed."""


def render_decisions(state: SiteRun, run_id: str) -> str:
    """The batches and decisions in the order they were made."""
    parts = [_render_sitemaps(state)] if state.own.sitemaps else []
    batches: dict[int, list[Action]] = {}
    for action in state.actions:
        batches.setdefault(action.step, []).append(action)
    events = [(step, _render_batch(state, run_id, actions)) for step, actions in batches.items()]
    events += [(choice.step, _render_choice(state, n)) for n, choice in enumerate(state.own.choices)]
    parts += [html for _, html in sorted(events, key=lambda event: event[0])]
    if not parts:
        return (
            '<div class="ts empty"><b>Nothing decided yet</b>Each batch of pages and the '
            "decision after it appear here.</div>"
        )
    return f'<div class="ts">{"".join(parts)}</div>'


def _render_sitemaps(state: SiteRun) -> str:
    found = sum(sitemap.addresses for sitemap in state.own.sitemaps.values())
    read = [sitemap for sitemap in state.own.sitemaps.values() if sitemap.outcome is Outcome.OK]
    told = (
        f"{format_count(len(read), 'map')} of the site list{'s' if len(read) == 1 else ''} "
        f"{format_count(found, 'address', 'addresses')}"
    )
    return f'<p class="soft">{escape.html(told if read else "The site has no map of its pages.")}</p>'


def _render_batch(state: SiteRun, run_id: str, actions: list[Action]) -> str:
    items = "".join(
        f"<li>{_render_page(state.pages[action.query_or_url], run_id)}</li>"
        for action in actions
        if action.query_or_url in state.pages
    )
    return f"<p><b>Read {format_count(len(actions), 'page')}</b></p><ul>{items}</ul>"


def _render_choice(state: SiteRun, n: int) -> str:
    choice = state.own.choices[n]
    head = (
        "Answer"
        if choice.decision == "answer"
        else "Explore " + format_count(len(choice.selected), "address", "addresses")
    )
    marks = badges.render(labels.name_actor(choice.by, state.settings.model)) + (
        badges.render("a limit was reached", "warn") if choice.forced else ""
    )
    trouble = (
        f'<p class="small soft">The model failed: {escape.html(choice.trouble)}</p>' if choice.trouble else ""
    )
    return (
        f'<p><b>{head}</b> {marks}<br><span class="soft">{escape.html(choice.reasoning)}</span></p>{trouble}'
    )


def _render_page(ref: PageRef, run_id: str) -> str:
    opens = markup.stored_page_link(run_id, ref.page_id)
    failed = "" if ref.outcome is Outcome.OK else " " + badges.render(labels.OUTCOME[ref.outcome], "bad")
    return f"{escape.render_link(ref.url, ref.title or escape.shorten_url(ref.url))}{failed}{opens}"


def render_pages(state: SiteRun, run_id: str) -> str:
    """The pages read, those that were used first."""
    index = {url: i for i, url in enumerate(state.own.all_discovered_urls)}
    refs = [ref for ref in state.pages.values() if ref.page_id]
    useful = {i: n for n, i in enumerate(state.own.useful_visited_indices)}
    refs.sort(key=lambda ref: useful.get(index.get(ref.url, -1), len(useful)))
    if not refs:
        return (
            '<div class="ts empty"><b>No page read yet</b>Pages appear here with the facts they gave.</div>'
        )
    named = {BY_PERSON: "you named it", BY_SITEMAP: "the site's map", BY_INDEX: "the library"}
    rows = []
    for ref in refs[:MAX_PAGES]:
        i = index.get(ref.url, -1)
        used = badges.render("used", "good") if i in useful else ""
        earlier = "from the library" if i in state.own.reused else "from the conversation"
        kept = "" if i in state.own.fetched else badges.render(earlier)
        page = f"{_render_page(ref, run_id)} {used}{kept}"
        on = state.own.url_found_on.get(i, BY_PERSON)
        place = named.get(on) or escape.shorten_url(state.own.all_discovered_urls[on], 40)
        found_on = f'<span class="soft">{escape.html(place)}</span>'
        rows.append([page, str(ref.facts), found_on])
    more = f'<p class="small soft">{len(refs) - MAX_PAGES} more.</p>' if len(refs) > MAX_PAGES else ""
    table = markup.table(["Page", "Facts", "Found on"], rows)
    return f'<div class="ts">{table}{more}</div>'
