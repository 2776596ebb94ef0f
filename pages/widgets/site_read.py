"""What a `site` run read and decided, as HTML: one entry a batch with the reason for it, and the pages with how well they answer."""

from __future__ import annotations

from agent.flows.site_state import BY_PERSON, BY_SITEMAP, Site
from agent.types import Action, Outcome, PageRef
from agent.wording import counted
from pages.widgets import chips, safe, words

LISTED = 60
"""Pages that are listed."""


def decisions(state: Site, run_id: str) -> str:
    """The batches and decisions in the order they were made."""
    parts = [_maps(state)] if state.sitemaps else []
    batches: dict[int, list[Action]] = {}
    for action in state.actions:
        batches.setdefault(action.step, []).append(action)
    events = [(step, _batch(state, run_id, actions)) for step, actions in batches.items()]
    events += [(choice.step, _choice(state, n)) for n, choice in enumerate(state.choices)]
    parts += [html for _, html in sorted(events, key=lambda event: event[0])]
    if not parts:
        return '<div class="ts empty"><b>Nothing decided yet</b>Each batch of pages and the decision after it appear here.</div>'
    return f'<div class="ts">{"".join(parts)}</div>'


def _maps(state: Site) -> str:
    found = sum(sitemap.addresses for sitemap in state.sitemaps.values())
    read = [sitemap for sitemap in state.sitemaps.values() if sitemap.outcome is Outcome.OK]
    told = f"{counted(len(read), 'map')} of the site list{'s' if len(read) == 1 else ''} {counted(found, 'address', 'addresses')}"
    return f'<p class="soft">{safe.html(told if read else "The site has no map of its pages.")}</p>'


def _batch(state: Site, run_id: str, actions: list[Action]) -> str:
    items = "".join(f"<li>{_page(state.pages[action.query_or_url], run_id)}</li>" for action in actions if action.query_or_url in state.pages)
    return f'<p><b>Read {counted(len(actions), "page")}</b></p><ul>{items}</ul>'


def _choice(state: Site, n: int) -> str:
    choice = state.choices[n]
    head = "Answer" if choice.decision == "answer" else "Explore " + counted(len(choice.selected), "address", "addresses")
    marks = chips.one(words.SPEAKER[choice.by]) + (chips.one("a limit was reached", "warn") if choice.forced else "")
    trouble = f'<p class="small soft">The model did not speak: {safe.html(choice.trouble)}</p>' if choice.trouble else ""
    return f'<p><b>{head}</b> {marks}<br><span class="soft">{safe.html(choice.reasoning)}</span></p>{trouble}'


def _page(ref: PageRef, run_id: str) -> str:
    opens = f' · <a href="{safe.stored(run_id, ref.page_id)}" target="_blank">stored page</a>' if ref.page_id else ""
    failed = "" if ref.outcome is Outcome.OK else " " + chips.one(words.OUTCOME[ref.outcome], "bad")
    return f"{safe.link(ref.url, ref.title or safe.address(ref.url))}{failed}{opens}"


def pages(state: Site, run_id: str) -> str:
    """The pages read, those that answer best first."""
    index = {url: i for i, url in enumerate(state.all_discovered_urls)}
    refs = [ref for ref in state.pages.values() if ref.page_id]
    refs.sort(key=lambda ref: -state.bearings.get(index.get(ref.url, -1), 0.0))
    if not refs:
        return '<div class="ts empty"><b>No page read yet</b>Pages appear here with how well they answer.</div>'
    rows = []
    for ref in refs[:LISTED]:
        i = index.get(ref.url, -1)
        useful = chips.one("used", "good") if i in state.useful_visited_indices else ""
        kept = "" if i in state.fetched else chips.one("from the conversation")
        rows.append(
            f"<tr><td>{_page(ref, run_id)} {useful}{kept}</td><td>{words.percent(state.bearings.get(i, 0.0))}</td>"
            f'<td>{ref.facts}</td><td class="soft">{safe.html(_found_on(state, i))}</td></tr>'
        )
    more = f'<p class="small soft">{len(refs) - LISTED} more.</p>' if len(refs) > LISTED else ""
    head = "<tr><th>Page</th><th>Bears on the question</th><th>Facts</th><th>Found on</th></tr>"
    return f'<div class="ts"><div class="scroll"><table>{head}{"".join(rows)}</table></div>{more}</div>'


def _found_on(state: Site, i: int) -> str:
    on = state.url_found_on.get(i, BY_PERSON)
    return "you named it" if on == BY_PERSON else "the site's map" if on == BY_SITEMAP else safe.address(state.all_discovered_urls[on], 40)
