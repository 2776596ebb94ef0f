"""The pages of a run: read (from an open copy where closed), stored, marked, and their passages to show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from agent.engine.context import RunContext
from agent.engine.run_state import Own, RunState
from agent.engine.state import fold
from agent.evidence.sources import assess_trust
from agent.library.ingest import DEMO_TAG
from agent.retrieval.passages import split_passages
from agent.retrieval.shown_passages import add_spans
from agent.text.urls import canonicalize, find_doi, host
from agent.types import Action, Outcome, Page, PageRef, Passage, Proposal, Publication, SearchResult
from agent.web.search_results import find_pause
from agent.web.unpaywall import OpenCopy

ANSWERED = (Outcome.OK, Outcome.EMPTY)
"""The outcomes of a search that its engine answered."""
START_PAGE_REASON = "You chose this start page."
"""Why a page is read that a person named as a start."""
MENU_LINK_SHARE = 0.8
"""The share of link texts among its lines from which a passage is a menu."""
MIN_TITLE_WORDS = 4
"""A table cell with at least so many words that is also a link text counts as the title of another page."""
MAX_SOURCES = 100_000
"""Sources of the demo world that are hidden at most."""


def cool_down(cooling: Mapping[str, str], result: SearchResult) -> dict[str, str]:
    """The engines that are left alone, and until when (ISO 8601), after this result."""
    if not (pause := find_pause(result)):
        return dict(cooling)
    until = datetime.now(UTC) + timedelta(seconds=pause)
    return {**cooling, result.engine: until.isoformat(timespec="milliseconds").replace("+00:00", "Z")}


def read_open_copy(tools: RunContext, page: Page, found: Publication | None = None) -> Page:
    """The page with what is known of its work; `found` is what the engine said that named it. Where the page
    is closed (a paywall, a login, a site closed to programs) and its DOI is known, an open copy of it.
    Without one the page says why."""
    known = (page.publication or Publication()).complete(found)
    page = page.replace(publication=known if any(value for _, value in known) else None)
    known = known.replace(doi=known.doi or find_doi(page.url) or find_doi(page.final_url))
    if page.outcome is not Outcome.BLOCKED:
        return page

    def list_copies() -> Iterator[OpenCopy]:  # what the engine named, then what Unpaywall knows
        if known.pdf_url:
            yield OpenCopy(known.pdf_url, known.licence)
        if known.doi:
            yield tools.find_open_copy(known.doi)

    failed = ""
    for copy in list_copies():
        read = tools.fetch(copy.url) if copy.url else None
        if read and read.outcome is Outcome.OK:
            where = f"Closed at its own address; read from the open copy at {host(read.final_url)}."
            work = known.replace(pdf_url=copy.url, licence=copy.licence or known.licence)
            return read.replace(url=page.url, detail=where, publication=work.complete(read.publication))
        failed = f"Its open copy could not be read: {read.detail}" if read else copy.detail
    return page.replace(detail=f"{page.detail} {failed}".strip())


def store_fetched(tools: RunContext, url: str, page: Page, found_on: str) -> PageRef:
    """Store a page that was fetched for `url`; the reference says what happened otherwise."""
    page_id = tools.store_fetched([(url, page)])[0] if page.outcome is Outcome.OK else ""
    ref = refer_to_stored(page, page_id, found_on, tools.step, url=url, final_url=page.final_url)
    return ref.replace(outcome=page.outcome, detail=page.detail, publication=page.publication)


def offer_again(pages: Iterable[PageRef]) -> list[PageRef]:
    """The pages that a model was shown something of, to be read again in whole for a new question."""
    return [
        ref.replace(shown=[(0, 0)], shown_before=add_spans(ref.shown_before, ref.shown))
        for ref in pages
        if ref.shown
    ]


def mark_read(ref: PageRef, page: Page, *, facts: int, **more: object) -> PageRef:
    """The reference of an analyzed page: how many facts it gave, how far its signs are trusted."""
    signs = assess_trust(page)
    read = {"facts": facts, "trust": signs.value, "trust_why": list(signs.reasons), "waiting": False}
    return ref.replace(**read, **more)


def build_action(proposal: Proposal, step: int, outcome: Outcome, detail: str, **more: object) -> Action:
    """A proposal that was carried out, as an action of the run."""
    shared = proposal.model_dump(include={"query_or_url", "part", "reasoning", "by", "rung", "about"})
    ended = {"outcome": outcome, "detail": detail, "hits": 0, "new_facts": 0, "page_id": "", **more}
    return Action.model_validate({**shared, "action": proposal.next_action, "step": step, **ended})


def build_crawl(ref: PageRef, why: str) -> Action:
    """The fetch of a page that code chose, as an action of the run."""
    proposal = Proposal(next_action="crawl_url", query_or_url=ref.url, reasoning=why, by="code")
    return build_action(proposal, ref.step, ref.outcome, ref.detail, page_id=ref.page_id)


def refer_to_stored(page: Page, page_id: str, found_on: str, step: int, **more: object) -> PageRef:
    """The reference of a page in the store."""
    url = page.final_url or page.url
    ref = PageRef(url=url, final_url=url, page_id=page_id, title=page.title, found_on=found_on, step=step)
    return ref.replace(**more)


def fold_earlier_turns(
    state: RunState, tools: RunContext, own_state: type[Own], *, is_answered: bool = False
) -> Iterator[RunState[Own]]:
    """The earlier turns of the conversation that are runs (`is_answered`: with an answer), newest first."""
    for turn in reversed(state.history):
        if turn.run_id and (turn.answered or not is_answered):
            yield fold(RunState(own=own_state()), tools.store.ledger.steps(turn.run_id))


def find_hidden_sources(state: RunState, tools: RunContext) -> set[str]:
    """The ids of the invented sources of the demo world, unless the run asks for them."""
    scope = state.settings.scope
    if state.settings.world == DEMO_TAG or DEMO_TAG in scope.tags or scope.source_ids:
        return set()
    return {source.source_id for source in tools.library.sources(tag=DEMO_TAG, limit=MAX_SOURCES)}


def content_passages(page: Page, page_id: str) -> list[Passage]:
    """The passages of a page without lists of links."""
    return drop_menus(split_passages(page, page_id), page)


def drop_menus(passages: Sequence[Passage], page: Page) -> list[Passage]:
    """The passages of a page that are no lists of links: of lines that are a link, or a table's row with the
    title of another page beside its date and the like.

    A heading that links to another page is left out of its passage: the text below is only a teaser."""
    named = [(" ".join(link.text.split()), link.url) for link in page.links]
    here, texts = canonicalize(page.final_url), {text for text, _ in named} | {page.title}
    away, kept = {text for text, url in named if canonicalize(url) != here}, list[Passage]()
    for passage in passages:
        lines = [" ".join(line.split()) for line in passage.text.split("\n") if line.strip()]
        lines = [line for line in lines if not (passage.rows and line == passage.label)]
        cells = [[cell.strip() for cell in line.split("|")] for line in lines]
        titles = [any(c in texts and len(c.split()) >= MIN_TITLE_WORDS for c in row) for row in cells]
        links = sum(line in texts or titled for line, titled in zip(lines, titles, strict=True))
        if not lines or links < MENU_LINK_SHARE * len(lines):
            is_away = passage.heading.split(" › ")[-1] in away
            kept.append(passage.replace(heading="") if is_away else passage)
    return kept
