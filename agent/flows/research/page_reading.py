"""Which passages of which pages the analyzer reads: chosen by what a page was opened for, under a token
budget, in as few calls as it allows; and which stored pages have more to read for an open part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent.engine.context import RunContext
from agent.flows.research.policy import has_unread_text
from agent.flows.research.state import SEARCH_PREFIX, Observation, ResearchRun
from agent.flows.shared import fact_view
from agent.llm.model import estimate_tokens
from agent.retrieval.link_scoring import lead_id, rank_links
from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import rank_passages
from agent.roles.research.analyzer import PageReading
from agent.text.urls import canonicalize
from agent.types import Lead, Link, Page, PageRef, Passage, Refusal
from agent.web.prompt_injection import find_injected_links

MAX_PASSAGES = 10
"""Passages of a page that are read without a model."""
READING_TOKENS = 6_000
"""Tokens of page text in one call: four pages of 1,500 tokens. Ten actions with eight pages stay below 25,000
(DECISIONS.md, "Research")."""
MIN_PAGE_TOKENS = 800
"""Tokens of a page below which a round is read in several calls instead: about four paragraphs."""
MAX_LINKS = 24
"""Links that a call lists, over all its pages."""
MAX_UNREAD_LEADS = 3
MIN_UNREAD_SCORE = 0.35
"""The least score of a passage that was not shown, from which its page is offered again (as for a person's
note: `agent.roles.research.analyzer.MIN_NOTE_SCORE`)."""


@dataclass
class OpenPage:
    """A page that is read now: what was chosen of it, and what its record will say."""

    ref: PageRef
    page_id: str
    page: Page
    """Without the links of passages that give orders to machines."""
    part: str = ""
    queries: list[str] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    """All its passages."""
    reading: PageReading = field(default_factory=lambda: PageReading(url=""))

    @property
    def shown(self) -> list[tuple[int, int]]:
        """The stretches of its text that a model was shown, those chosen now included."""
        return join_spans([*self.ref.shown, *((p.start, p.end) for p in self.reading.passages)])

    def has_passage(self, passage_id: str) -> bool:
        """Whether this passage was shown of it."""
        return any(passage.id == passage_id for passage in self.reading.passages)

    def find_heading(self, quote: str) -> str:
        """The headings above a quote; "" where no passage that was shown holds it."""
        return next((p.heading for p in self.reading.passages if quote in p.text), "")


def open_page(state: ResearchRun, tools: RunContext, item: Observation) -> OpenPage:
    """A stored page of the run with what it is read for."""
    stored = tools.page(item.page_id)
    injected = find_injected_links(stored.text, stored.links)
    page = stored.replace(links=[link for link in stored.links if link not in injected]) if injected else stored
    why = "Blocked: suspected prompt injection"
    ref = state.pages[item.source]
    part = next((part.question for part in state.plan if part.id == item.part), "")
    query = ref.found_on.removeprefix(SEARCH_PREFIX) if ref.found_on.startswith(SEARCH_PREFIX) else ""
    return OpenPage(
        ref=ref.replace(length=len(page.text)),
        page_id=item.page_id,
        page=page,
        part=item.part,
        queries=list(dict.fromkeys(filter(None, [part, query, find_topic(state)]))),
        refused=[Refusal(what=link.url[:300], why=why) for link in injected],
        passages=split_passages(page, item.page_id),
    )


def find_topic(state: ResearchRun) -> str:
    """The question and the public notes: what links are weighed by."""
    return " ".join([state.question, *fact_view.public_note_texts(state)])


def choose_passages(
    state: ResearchRun, tools: RunContext, pages: Sequence[OpenPage]
) -> Iterator[list[OpenPage]]:
    """The pages in groups of one call each, with the passages and links that it shows."""
    most = max(1, READING_TOKENS // MIN_PAGE_TOKENS)
    for at in range(0, len(pages), most):
        group = list(pages[at : at + most])
        for page in group:
            chosen = _choose(state, page, READING_TOKENS // len(group), has_model=bool(tools.client))
            page.reading = PageReading(
                url=page.page.final_url or page.page.url,
                title=page.page.title,
                part=page.part,
                passages=chosen,
                links=_choose_links(state, page.page, MAX_LINKS // len(group)),
                unread=len(page.passages) - len(chosen),
            )
        yield group


def _choose(state: ResearchRun, page: OpenPage, tokens: int, *, has_model: bool) -> list[Passage]:
    """The passages of a page that were not shown, in its order, as far as the tokens reach: the best of each
    query in turn. Without a model the best for the whole question, best first."""
    notes = fact_view.note_texts(state)
    if not has_model:
        return rank_passages(" ".join([state.question, *notes]), page.passages, MAX_PASSAGES)
    unread = [passage for passage in page.passages if not _is_shown(page.ref, passage)]
    ranked = [rank_passages(query, unread, len(unread)) for query in [*page.queries, *notes[-1:]]]
    chosen: dict[str, Passage] = {}
    for passage in (row[n] for n in range(len(unread)) for row in ranked):
        cost = estimate_tokens(passage.text)
        if passage.id not in chosen and cost <= tokens:
            chosen[passage.id] = passage
            tokens -= cost
    return sorted(chosen.values(), key=lambda passage: passage.start)


def _choose_links(state: ResearchRun, page: Page, most: int) -> list[Link]:
    visited = fact_view.visited_urls(state)
    unread = [link for link in page.links if canonicalize(link.url) not in visited]
    return rank_links(find_topic(state), unread, page.text, limit=most)


def find_unread_pages(state: ResearchRun, tools: RunContext) -> list[Lead]:
    """The pages of the run whose passages were not all shown and may help an open part, best first, with the
    reason."""
    answered = set((state.own.report or {}).get("answered_parts", []))
    refs = [ref for ref in state.pages.values() if ref.page_id and has_unread_text(ref)]
    passages: list[Passage] = []
    owner: dict[str, PageRef] = {}
    for ref in refs:
        for passage in split_passages(tools.page(ref.page_id), ref.page_id):
            if not _is_shown(ref, passage):
                passages.append(passage)
                owner[passage.id] = ref
    found: dict[str, Lead] = {}
    for part in state.plan:
        for best in rank_passages(part.question, passages, 1) if part.id not in answered else ():
            ref = owner[best.id]
            if best.score >= MIN_UNREAD_SCORE and ref.url not in found:
                found[ref.url] = Lead(
                    id=lead_id("url", ref.url),
                    kind="url",
                    value=ref.url,
                    text=ref.title,
                    why=f"part {part.id}: {best.text[:160]}",
                    score=best.score,
                )
    return sorted(found.values(), key=lambda lead: -lead.score)[:MAX_UNREAD_LEADS]


def _is_shown(ref: PageRef, passage: Passage) -> bool:
    return any(start <= passage.start and passage.end <= end for start, end in ref.shown)


def join_spans(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in rising order, those that touch or overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
