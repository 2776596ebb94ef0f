"""The read pages of a site as one index: its best passages, and what a prompt shows of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import zip_longest

from agent.answering import fact_view
from agent.answering.pages import content_passages, drop_menus
from agent.engine.context import RunContext
from agent.flows.site.links import shorten_url
from agent.flows.site.state import SiteRun
from agent.retrieval.scorer import CountedPassages, fuse_rankings
from agent.roles.site import SitePage
from agent.types import Page, Passage

GOOD_SCORE = 0.8
"""The score of a passage (see agent.retrieval.scorer) from which the pages read are enough. Over eight
documentation sites such a stop reads 88 of 100 pages and loses one of the 29 answers that stand in the ten
best passages of 100; 0.75 reads 81 and 0.6 reads 70, with one and two right pages less."""
MAX_PASSAGES, MAX_PAGE_PASSAGES = 60, 12
"""Passages of all pages read that an answer is chosen from, and those of one that was chosen."""
DECISION_CHARS, DRAFT_CHARS = 6_000, 12_000
"""Characters of page text in a decision and in a draft: a question takes about 15,000 tokens."""
HITS_SHARE = 0.7
"""The part of a page's room that its passages found may take; the rest is for their neighbours."""
OTHER_PAGES = 5
"""A page that was not chosen gets this part of a prompt's room at most."""
MAX_OPENED_PAGES, MAX_OPENING_PASSAGES = 5, 3
"""Pages opened where none has a word of the question, and passages shown of a chosen one where none fits."""


def search_site(
    state: SiteRun, tools: RunContext, more: Collection[str] = (), *, notes: Sequence[str]
) -> CountedPassages:
    """The best passages of all pages read, and of the stored pages `more`, for the question and `notes`: no
    menus, struck pages, or words of struck facts."""
    ids = list(dict.fromkeys([*state.own.url_content(state).values(), *more]))
    searched = dict.fromkeys([*notes[-1:], *state.own.search_texts(state)])
    found = [tools.library.search_pages(text, ids, 2 * MAX_PASSAGES) for text in searched]
    best: dict[str, Passage] = {}
    for hit in (hit for ranking in found for hit in ranking):
        best[hit.id] = max(hit, best.get(hit.id, hit), key=lambda one: one.score)
    order = fuse_rankings([[hit.id for hit in ranking] for ranking in found])
    hits = [best[name] for name, _ in order] if len(found) > 1 else list(found[0])
    kept: dict[str, Passage] = {}
    for page_id in dict.fromkeys(hit.page_id for hit in hits):
        here = [hit for hit in hits if hit.page_id == page_id]
        page = tools.page(page_id)
        kept |= {hit.id: hit for hit in _remove_struck(state, page, drop_menus(here, page))}
    shown = [kept[hit.id] for hit in hits if hit.id in kept][:MAX_PASSAGES]
    return CountedPassages(shown, found[-1].counts)


def is_good(passages: Sequence[Passage]) -> bool:
    """Whether one of them fits well enough to stop reading."""
    return any(passage.score >= GOOD_SCORE for passage in passages)


def list_pages(state: SiteRun, passages: Sequence[Passage]) -> list[SitePage]:
    """All pages read, for a decision: those with passages, with their texts, then the others."""
    texts: dict[str, list[str]] = {}
    for passage in passages:
        texts.setdefault(passage.page_id, []).append(passage.text)
    content, order = state.own.url_content(state), list(texts)
    return [
        SitePage(
            index=i,
            url=shorten_url(state.own.all_discovered_urls[i], state.settings.site),
            title=state.pages[state.own.all_discovered_urls[i]].title,
            text="\n".join(texts.get(page_id, [])),
        )
        for i, page_id in sorted(
            content.items(), key=lambda item: order.index(item[1]) if item[1] in texts else len(order)
        )
    ]


def choose_passages(
    state: SiteRun, tools: RunContext, hits: Sequence[Passage], first: Sequence[int], room: int
) -> list[Passage]:
    """What a prompt shows of the passages found: those of the pages `first` (their openings, where no word
    fits), then the others, each page in its order, with neighbours and within its window."""
    content = state.own.url_content(state)
    opened = list(content)[:MAX_OPENED_PAGES] if not hits else []  # what the site is about
    named = list(dict.fromkeys(content[i] for i in first or opened if i in content))
    texts, ranked = state.own.search_texts(state), list[Passage]()
    for name in named:
        found = [tools.library.search_pages(text, [name], MAX_PAGE_PASSAGES) for text in texts]
        turns = [hit for row in zip_longest(*found) for hit in row if hit and hit.score]
        opening = content_passages(tools.page(name), name)[:MAX_OPENING_PASSAGES]
        ranked += turns or opening  # the best of each text, then the second best
    most = state.settings.site.content_max_chars
    own, other = min(most, room // max(2, min(3, len(named)))), min(most, room // OTHER_PAGES)
    shown: dict[str, dict[int, Passage]] = {}
    pages: dict[str, list[Passage]] = {}
    ranked += [hit for hit in hits if hit.page_id not in named]
    for hit, beside in [*((hit, 0) for hit in ranked), *((hit, n) for hit in ranked for n in (-1, 1))]:
        if hit.page_id not in pages:
            page = tools.page(hit.page_id)
            pages[hit.page_id] = _remove_struck(state, page, content_passages(page, hit.page_id))
        here, there = shown.setdefault(hit.page_id, {}), pages[hit.page_id]
        window = own if hit.page_id in named else other
        window = window if beside else int(window * HITS_SHARE)
        at = next((n for n, passage in enumerate(there) if passage.start == hit.start), None)
        n = -1 if at is None else at + beside
        size = len(there[n].text) if 0 <= n < len(there) and n not in here else 0
        if size and size <= min(room, window - sum(len(passage.text) for passage in here.values())):
            here[n], room = there[n], room - size
    return [here[n] for here in shown.values() for n in sorted(here)]


def _remove_struck(state: SiteRun, page: Page, passages: Sequence[Passage]) -> list[Passage]:
    """The passages of a page that was not struck, without the words of struck and rewritten facts."""
    here, left = page.final_url or page.url, list(passages)
    if fact_view.find_struck_source(state, here):
        return []
    removed = {
        fact.quote
        for fact in state.facts.values()
        if fact.url == here
        and fact.quote
        and (
            (fact.decision == "struck" and not fact.struck_with)
            or (fact.decision == "none" and fact.rests_on_person)
        )
    }
    for quote in sorted(removed, key=len, reverse=True):
        left = [
            passage.replace(text=passage.text.replace(quote, "")) if quote in passage.text else passage
            for passage in left
        ]
    return [passage for passage in left if passage.text.strip()]
