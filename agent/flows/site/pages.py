"""The read pages of a site as one index: its best passages for a question, and what a prompt shows of them.
Nothing is fetched here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from agent.answering import fact_view
from agent.answering.pages import content_passages, drop_menus, mark_read
from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.site.links import shorten_url
from agent.flows.site.state import BY_INDEX, SiteRun, UrlIndex
from agent.retrieval.answer import PassageAnswer, find_answer
from agent.retrieval.scorer import CountedPassages, fuse_rankings, list_clauses
from agent.roles.site import SitePage
from agent.text.dialogue_acts import is_unresolved_reference
from agent.types import Page, PageRef, Passage

GOOD_SCORE = 0.8
"""The score of a passage (see agent.retrieval.scorer) from which the pages read are enough. Over eight
documentation sites such a stop reads 88 of 100 pages and loses one of the 29 answers that stand in the ten
best passages of 100; 0.75 reads 81 and 0.6 reads 70, with one and two right pages less."""
MAX_PASSAGES = 60
"""Passages of all pages read that an answer is chosen from."""
MAX_PROMPT_CHARS = 60_000
"""Characters of page text that one prompt holds at most, over all pages."""
MAX_PAGES_WITHOUT_TEXT, MAX_OPENING_PASSAGES = 10, 3
"""Pages that are shown, and passages of each, when no passage of any fits the question."""


def search_site(
    state: SiteRun, tools: RunContext, more: Collection[str] = (), *, notes: Sequence[str]
) -> CountedPassages:
    """The best passages of all pages read, and of the stored pages `more`, best first: without menus, pages
    that a person struck, and the words of struck facts. Of several texts that are searched,
    a passage has its best score. `notes`: those that are searched for."""
    ids = list(dict.fromkeys([*state.own.url_content(state).values(), *more]))
    texts = list_search_texts(state, notes)
    searched = dict.fromkeys([*list_clauses(texts[0]), *texts])
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


class Findings(NamedTuple):
    """What the index has for a question: its best passages, best first, and the answer they make by rule."""

    passages: list[Passage]
    answer: PassageAnswer

    @property
    def is_good(self) -> bool:
        """Whether it is good enough to stop reading: the passages of all leads fit."""
        fit = {passage.id for passage in self.passages if passage.score >= GOOD_SCORE}
        return all(part.lead and part.lead.passage_id in fit for part in self.answer.parts)

    @property
    def leads(self) -> set[str]:
        """The pages that the leads are quoted from."""
        return {part.lead.page_id for part in self.answer.parts if part.lead}


def look_up(state: SiteRun, tools: RunContext, more: Collection[str] = ()) -> Findings:
    """What the pages read, and the stored pages `more`, have for the question."""
    notes = fact_view.public_note_texts(state)  # it tells what is read next
    passages = search_site(state, tools, more, notes=notes)
    return Findings(passages, find_answer(list_search_texts(state, notes)[0], passages))


def list_search_texts(state: SiteRun, notes: Sequence[str]) -> list[str]:
    """What was typed last: a note, or the question, with the conversation when it names nothing. A question
    that names something may still continue the conversation: it is searched alone and with it."""
    if not is_unresolved_reference(next(reversed(notes), "")):
        return list(notes[-1:])
    texts = [" ".join([text, *notes]) for text in state.own.search_texts(state)]
    return texts[-1:] if is_unresolved_reference(texts[0]) else texts


def adopt_stored(
    state: SiteRun, tools: RunContext, stored: dict[str, str], hits: Sequence[Passage]
) -> Change:
    """The change that makes stored pages of the site (address and id) that hold one of these passages pages
    of the run."""
    index, found = UrlIndex(state.own), {hit.page_id for hit in hits}
    known = set(state.own.url_content(state).values())
    new = {url: page_id for url, page_id in stored.items() if page_id in found - known}
    refs: dict[int, PageRef] = {}
    for url, page_id in new.items():
        page, i = tools.page(page_id), index.add(url, found_on=BY_INDEX)
        if i not in state.own.visited_urls:
            ref = PageRef(url=url, page_id=page_id, final_url=page.final_url, title=page.title)
            refs[i] = mark_read(ref, page, facts=0, found_on="library", step=tools.step)
    visited: Change = {"visited_urls": list(refs), "reused": list(refs), "pages": list(refs.values())}
    return {**index.to_change(), **visited} if refs else {}


def list_pages(state: SiteRun, passages: Sequence[Passage], found: Findings) -> list[SitePage]:
    """The pages read for a decision, each with the text of its passages; those without any only when no page
    has some."""
    texts: dict[str, list[str]] = {}
    for passage in passages:
        texts.setdefault(passage.page_id, []).append(passage.text)
    content = state.own.url_content(state)
    shown = [i for i, page_id in content.items() if page_id in texts] or list(content)[
        :MAX_PAGES_WITHOUT_TEXT
    ]
    return [
        SitePage(
            index=i,
            url=shorten_url(state.own.all_discovered_urls[i], state.settings.site),
            title=state.pages[state.own.all_discovered_urls[i]].title,
            text="\n".join(texts.get(content[i], [])),
            relevance=state.own.bearings.get(i, 0.0),
            is_enough=found.is_good and content[i] in found.leads,
        )
        for i in shown
    ]


def passages_for_prompt(
    state: SiteRun, tools: RunContext, found: list[Passage] | None = None
) -> list[Passage]:
    """The best passages of all pages read (`found`, where they are known), best first; for a model with their
    neighbours: the best pages first, each in its own order and within its window."""
    notes = fact_view.note_texts(state)
    hits = search_site(state, tools, notes=notes) if found is None else found
    if not hits:  # what the site is about, where no word of the question occurs
        for page_id in list(state.own.url_content(state).values())[:MAX_PAGES_WITHOUT_TEXT]:
            opening = content_passages(page := tools.page(page_id), page_id)[:MAX_OPENING_PASSAGES]
            hits = [*hits, *_remove_struck(state, page, opening)]
    if tools.client is None:
        return hits
    window, room = state.settings.site.content_max_chars, MAX_PROMPT_CHARS
    shown: dict[str, dict[int, Passage]] = {}
    pages: dict[str, list[Passage]] = {}
    for hit in hits:
        if hit.page_id not in pages:
            page = tools.page(hit.page_id)
            pages[hit.page_id] = _remove_struck(state, page, content_passages(page, hit.page_id))
        here, there = shown.setdefault(hit.page_id, {}), pages[hit.page_id]
        at = next((n for n, passage in enumerate(there) if passage.start == hit.start), None)
        for n in [at, at - 1, at + 1] if at is not None else []:
            size = len(there[n].text) if 0 <= n < len(there) and n not in here else 0
            if size and size <= min(room, window - sum(len(passage.text) for passage in here.values())):
                here[n], room = there[n], room - size
    return [here[n] for here in shown.values() for n in sorted(here)]


def _remove_struck(state: SiteRun, page: Page, passages: Sequence[Passage]) -> list[Passage]:
    """The passages of a page without the words of struck facts, and of facts that a person corrected beyond
    their quote; none of a struck page."""
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
