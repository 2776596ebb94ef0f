"""Research without a model: search, open the best hits, show passages. Nothing is judged."""

from __future__ import annotations

from collections.abc import Sequence

from agent.answering import fact_view
from agent.flows.research import policy
from agent.flows.research.opened_pages import OpenPage
from agent.flows.research.state import ResearchRun
from agent.retrieval.answer import find_best_lines
from agent.retrieval.link_scoring import make_first_query
from agent.roles.research import AnalyzerReply, ExtractedFact
from agent.text.urls import find_urls
from agent.types import Proposal

MAX_PAGES_READ = 8
"""Pages that are read for a question or a note."""
MAX_QUOTES = 6
"""Quotes that are kept of a page for each thing that is asked."""


def list_asked(state: ResearchRun) -> list[str]:
    """The newest note that is not private, the question, and the parts of a plan that somebody wrote."""
    parts = [part.question for part in state.plan_parts]
    return list(dict.fromkeys([*fact_view.public_note_texts(state)[-1:], state.full_question, *parts]))


def propose_round(state: ResearchRun, actions: Sequence[str]) -> list[Proposal]:
    """What is done next: the addresses that were named, a search for each thing that is asked, then the best
    unread page; the hand-over when enough is read or nothing is left."""
    given = [state.full_question, *fact_view.public_note_texts(state)]
    named = [
        Proposal(next_action="crawl_url", query_or_url=url, reasoning="You named this address.")
        for text in given
        for url in find_urls(text)
    ]
    searches = [
        proposal
        for text in list_asked(state)
        for proposal in policy.propose_search(
            state, actions, make_first_query(text), reasoning="This was not searched for yet."
        )
    ]
    read = sum(action.action == "crawl_url" for action in state.actions_this_round)
    is_enough = read >= MAX_PAGES_READ and state.settings.stop_point != "budget"
    pages = [
        Proposal(
            next_action="crawl_url", query_or_url=lead.value, reasoning=f"The best page left: {lead.why}"
        )
        for lead in policy.open_leads(state)
        if not is_enough and lead.kind == "url"
    ]
    for proposals in (named, searches, pages):
        if allowed := [one for one in proposals if not policy.check_proposal(state, one, list(actions))]:
            return allowed[:1] if proposals is pages else allowed
    why = f"{read} pages are read: enough without a model." if is_enough else "No page is left to read."
    return [Proposal(next_action="send_to_hitl", query_or_url="", reasoning=why)]


def quote_pages(state: ResearchRun, pages: Sequence[OpenPage]) -> AnalyzerReply:
    """Of each page the lines that fit best what is asked."""
    found: dict[tuple[str, str], ExtractedFact] = {}
    for page in pages:
        for text in list_asked(state):
            for quote in find_best_lines(text, page.reading.passages, MAX_QUOTES):
                if not page.has_quote(quote.quote):
                    continue
                fact = ExtractedFact(
                    statement=quote.statement,
                    quote=quote.quote,
                    passage_id=quote.passage_id,
                    subject=quote.subject,
                )
                found.setdefault((page.page_id, quote.quote), fact)
    return AnalyzerReply(facts=list(found.values()))
