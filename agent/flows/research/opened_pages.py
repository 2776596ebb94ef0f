"""Which passages of which pages the analyzer reads: chosen by what a page was opened for, under a token
budget, in as few calls as it allows; and which stored pages have more to read for an open part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agent.answering import fact_view
from agent.answering.draft import has_page_quote
from agent.answering.revision import current_reading, list_wishes
from agent.engine.context import RunContext
from agent.flows.research.policy import has_unread_text, list_answered_parts
from agent.flows.research.state import SEARCH_PREFIX, Observation, ResearchRun
from agent.retrieval import shown_passages
from agent.retrieval.answer import find_best_lines
from agent.retrieval.link_scoring import lead_id, rank_links
from agent.retrieval.passages import split_passages
from agent.retrieval.scorer import rank_passages
from agent.roles.research import ANALYZER, ShownPage
from agent.text.urls import canonicalize, is_excluded
from agent.types import Lead, Page, PageRef, Passage, Refusal
from agent.web.prompt_injection import find_injected_links

MAX_PASSAGES = 10
"""Passages of a page that are read without a model."""
PAGE_TOKENS = 1_000
"""Tokens of a page in a call, on the average: as much as the whole page shows."""
READING_TOKENS = 8_000
"""Tokens of page text in one call: a round of four pages, and room for those that a person supplies."""
READING_SHARE = 0.5
"""The part of a small model's room that pages get; the rest is for what is known, their links and tags."""
MAX_LINKS = 24
"""Links that a call lists, over all its pages; fewer where the page text has less than READING_TOKENS."""
MAX_UNREAD_LEADS = 5
"""Pages read in part that a decision is offered."""


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
    reading: ShownPage = field(default_factory=lambda: ShownPage(url=""))
    _quotes: dict[str, bool] = field(default_factory=dict)

    def has_quote(self, quote: str) -> bool:
        """Whether its text holds this quote, in whatever spelling; looked for once."""
        if quote not in self._quotes:
            self._quotes[quote] = has_page_quote(self.page, quote)
        return self._quotes[quote]


def open_page(state: ResearchRun, tools: RunContext, item: Observation) -> OpenPage:
    """A stored page of the run with what it is read for."""
    stored = tools.page(item.page_id)
    injected = find_injected_links(stored.text, stored.links)
    kept = [link for link in stored.links if link not in injected]
    page = stored.replace(links=kept) if injected else stored
    why = "Blocked: suspected prompt injection"
    ref = state.pages[item.source]
    part = next((part.question for part in state.plan if part.id == item.part), "")
    answered = list_answered_parts(state)
    others = [one.question for one in state.plan if one.id not in answered]
    query = ref.found_on.removeprefix(SEARCH_PREFIX) if ref.found_on.startswith(SEARCH_PREFIX) else ""
    general = [] if ref.shown and others else [query, find_topic(state)]  # its rest is for what is open
    return OpenPage(
        ref=ref.replace(length=len(page.text)),
        page_id=item.page_id,
        page=page,
        part=item.part,
        queries=list(dict.fromkeys(filter(None, [part, *general, *others]))),
        refused=[Refusal(what=link.url, why=why) for link in injected],
        passages=split_passages(page, item.page_id),
    )


def find_topic(state: ResearchRun) -> str:
    """The question and the public notes: what links are weighed by."""
    return " ".join([state.full_question, *fact_view.public_note_texts(state)])


def choose_readings(
    state: ResearchRun, tools: RunContext, pages: Sequence[OpenPage]
) -> Iterator[list[OpenPage]]:
    """The pages in groups of one call each, with the passages and links that it shows: of each page the best
    by what it is read for. Without a model: the best for the whole question, best first."""
    budget = min(READING_TOKENS, int(tools.find_room(ANALYZER) * READING_SHARE))
    links, most = max(1, MAX_LINKS * budget // READING_TOKENS), max(1, budget // PAGE_TOKENS)
    notes = [*fact_view.note_texts(state), *list_wishes(state)[:1]]
    asked, visited = " ".join([state.full_question, *notes]), fact_view.visited_urls(state)
    reading = current_reading(state)
    wishes = reading.searches if reading else []
    for at in range(0, len(pages), most):
        group = list(pages[at : at + most])
        if tools.client:
            queries = [*wishes, *(query for page in group for query in [*page.queries, *notes[-1:]])]
            chosen = shown_passages.choose_passages(
                list(dict.fromkeys(queries)),
                {page.page_id: page.page for page in group},
                tokens=min(PAGE_TOKENS, budget),
                shown={page.page_id: page.ref.shown for page in group},
                first={page.page_id: (wishes or page.queries)[0] for page in group if wishes or page.queries},
                before={page.page_id: page.ref.shown_before for page in group},
            )
        else:
            chosen = {page.page_id: rank_passages(asked, page.passages, MAX_PASSAGES) for page in group}
        for page in group:
            passages, text = chosen[page.page_id], page.page.text
            unread = shown_passages.split_unread(page.passages, page.ref.shown, ())[0]
            new = [link for link in page.page.links if canonicalize(link.url) not in visited]
            page.reading = ShownPage(
                url=page.page.final_url or page.page.url,
                title=page.page.title,
                part=page.part,
                passages=shown_passages.join_adjacent(passages, text) if tools.client else passages,
                links=rank_links(find_topic(state), new, text, limit=max(1, links // len(group))),
                unread=len(unread) - len(passages),
            )
        yield group


def find_unread_pages(state: ResearchRun, tools: RunContext) -> list[Lead]:
    """The pages of the run whose passages were not all shown and may help an open part or the newest notes,
    best first, with the reason."""
    answered = list_answered_parts(state)
    excluded = fact_view.excluded_sites(state)
    refs = [
        ref
        for ref in state.pages.values()
        if ref.page_id and has_unread_text(ref) and not is_excluded(ref.url, excluded)
    ]
    passages: list[Passage] = []
    owner: dict[str, PageRef] = {}
    reread = set[str]()
    for ref in refs:
        own = split_passages(tools.page(ref.page_id), ref.page_id)
        new, old = shown_passages.split_unread(own, ref.shown, ref.shown_before)
        passages += new or old
        owner |= {passage.id: ref for passage in new or old}
        reread |= {ref.url} if old and not new else set()
    asked = {f"part {part.id}": part.question for part in state.plan if part.id not in answered}
    if (reading := current_reading(state)) and reading.needs_research:
        asked["note"] = reading.understood or " ".join(fact_view.note_texts(state)[-1:])
    found: dict[str, Lead] = {}
    for name, question in asked.items():
        for best in rank_passages(question, passages, len(passages)):
            ref = owner[best.id]
            if best.score > (found[ref.url].score if ref.url in found else 0.0):
                line = next((q.quote for q in find_best_lines(question, [best], 1)), best.text)
                found[ref.url] = Lead(
                    id=lead_id("url", ref.url),
                    kind="url",
                    value=ref.url,
                    text=ref.title,
                    why=f"{name}{', shown before it' * (ref.url in reread)}: {line[:100]}",
                    score=best.score,
                    prior=0.0,
                    found_on="",
                    step=0,
                )
    return sorted(found.values(), key=lambda lead: -lead.score)[:MAX_UNREAD_LEADS]
