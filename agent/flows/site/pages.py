"""The read pages of a site: what a prompt may show of them, and what they say on the question. Nothing is
fetched here."""

from __future__ import annotations

from collections.abc import Sequence

from agent.engine.context import RunContext
from agent.engine.state import Change
from agent.flows.shared import fact_view
from agent.flows.shared.citations import build_fact_from_quote
from agent.flows.shared.confidence import assess_confidence
from agent.flows.shared.page_refs import mark_read
from agent.flows.shared.passages import content_passages, fit_passages
from agent.flows.shared.plan import assign_parts
from agent.flows.site.links import shorten_url
from agent.flows.site.state import SiteRun
from agent.retrieval.extractive_answer import find_best_quotes, score_relevance
from agent.retrieval.passages import infer_headings
from agent.retrieval.term_coverage import find_unseen_terms
from agent.roles.refusal_messages import is_unresolved_reference
from agent.roles.site.site_decision import SitePage
from agent.text.question_analysis import parse_question
from agent.types import Fact, Page, PageRef, Passage

MAX_PROMPT_CHARS = 60_000
"""Characters of page text that one prompt holds at most, over all pages."""


def has_question_word(question: str, page: Page) -> bool:
    """Whether a word of the question occurs on the page."""
    return len(find_unseen_terms(question, [page.title, page.text])) < len(parse_question(question).weights)


def list_pages(state: SiteRun, passages: Sequence[Passage]) -> list[SitePage]:
    """The visited pages for a decision, each with the text of its passages."""
    texts: dict[str, list[str]] = {}
    for passage in passages:
        texts.setdefault(passage.page_id, []).append(passage.text)
    pages = []
    for i, page_id in state.own.url_content(state).items():
        url = state.own.all_discovered_urls[i]
        pages.append(
            SitePage(
                index=i,
                url=shorten_url(url, state.settings.site),
                title=state.pages[url].title,
                text="\n".join(texts.get(page_id, [])),
                relevance=state.own.bearings.get(i, 0.0),
            )
        )
    return pages


def passages_for_prompt(state: SiteRun, tools: RunContext) -> list[Passage]:
    """The passages of the visited pages that fit the prompt: the best pages first, each page in its own order
    and within its window."""
    content, window = state.own.url_content(state), state.settings.site.content_max_chars
    useful, relevance = state.own.useful_visited_indices, state.own.bearings
    best = sorted(content, key=lambda i: (i not in useful, -relevance.get(i, 0.0), i))
    passages: list[Passage] = []
    room = max(MAX_PROMPT_CHARS, window)
    for i in best[: max(1, 2 * MAX_PROMPT_CHARS // max(1, window))]:
        page = infer_headings(tools.page(content[i]))
        struck = fact_view.find_struck_source(state, page.final_url or page.url)
        if room <= 0 or struck or tools.assess_trust(page, state.trusts).value <= 0:
            continue
        left = _passages_after_edits(state, page, content[i])
        shown = fit_passages(state.own.relevance_question(state), left, min(window, room))
        room -= sum(len(passage.text) for passage in shown)
        passages += shown
    return passages


def _newest_text(state: SiteRun) -> str:
    """What was typed last, a note or the question; with the conversation when it names nothing."""
    text = [state.asked or state.question, *fact_view.note_texts(state)][-1]
    return state.own.relevance_question(state) if is_unresolved_reference(text) else text


def read_pages(state: SiteRun, tools: RunContext, indices: Sequence[int]) -> Change:
    """What pages that were just visited or recalled say on the question: their relevance, facts with verified
    quotes, and the confidence."""
    question, content = state.own.relevance_question(state), state.own.url_content(state)
    newest = _newest_text(state)
    relevance, facts, refs = dict[int, float](), dict[str, Fact](), list[PageRef]()
    for i in indices:
        if i not in content:
            continue
        page = infer_headings(tools.page(content[i]))
        passages = _passages_after_edits(state, page, content[i])
        struck = fact_view.find_struck_source(state, page.final_url or page.url)
        relevance[i] = 0.0 if struck else score_relevance(newest, passages)
        quoted = [
            build_fact_from_quote(question, tools, page, quotation, by="keyless", here=state.trusts)
            for quotation in find_best_quotes(question, passages)
        ]
        new = fact_view.apply_person_marks(state, quoted)
        facts |= {fact.id: fact for fact in new if fact.id not in state.facts}
        ref = state.pages[state.own.all_discovered_urls[i]]
        refs.append(mark_read(ref, page, facts=sum(fact.verified for fact in new)))
    new = assign_parts(state.plan, facts.values())
    level = assess_confidence(state, tools.step, new)
    return {"bearings": relevance, "facts": new, "pages": refs, "confidence": [level]}


def _passages_after_edits(state: SiteRun, page: Page, page_id: str) -> list[Passage]:
    """The passages of a page without the words of struck facts, and of facts that a person corrected beyond
    their quote."""
    here, passages = page.final_url or page.url, content_passages(page, page_id)
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
        passages = [
            passage.replace(text=passage.text.replace(quote, "")) if quote in passage.text else passage
            for passage in passages
        ]
    return [passage for passage in passages if passage.text.strip()]
