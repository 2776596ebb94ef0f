"""The fallback of the decision role: actions in a fixed order, the first that is possible is taken. Knows
what was found, not how it is fetched."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import Field

from agent.retrieval.link_scoring import lead_id, make_bridge_leads, make_first_query, score_leads
from agent.roles.role import RoleReply
from agent.text.negative_constraints import remove_exclusion_sentences
from agent.text.plurals import format_count
from agent.text.question_analysis import extract_keywords, parse_question, split_question
from agent.text.tokens import fold
from agent.text.urls import canonicalize, find_urls
from agent.types import (
    ENGINE_BY_ACTION,
    ENGINE_NAMES,
    SEARCH_ACTIONS,
    Action,
    Fact,
    Lead,
    NextAction,
    Outcome,
    Refusal,
    rank_general,
)

ANSWERED_OUTCOMES = (Outcome.OK, Outcome.EMPTY)
MAX_TRIES = 2
"""How often an engine is asked the same after a rate limit; after any other failure it is not asked again."""
MAX_PAGES_NAMED, MAX_PAGES_ONE, MAX_PAGES_SEVERAL = 2, 4, 8
"""Pages that are tried where the person named the first, for a question that one page may answer, and for one
that takes several (our own judgement: the page and its best link; a few sources; the same for a second
link)."""
MAX_FOLLOW_UP_SEARCHES = 2
"""Searches for found names after the first search, of a question that takes several pages."""


class Decision(RoleReply):
    """One action of a round. `query_or_url` is the query of a search, the address of a page, a question to
    the person, empty when the findings are handed over."""

    next_action: NextAction
    query_or_url: str = Field(
        default="",
        description="the query of a search; the id or address of a page; the question of ask; else empty",
    )
    part: str = Field(default="", description="id of the part of the question it is for, such as 1")
    reasoning: str = Field(default="", description="one sentence: why this action now")
    choices: list[str] = Field(default_factory=list, description="for ask: the likeliest reading first")


def hand_over(why: str) -> Decision:
    """The findings go to the person."""
    return Decision(next_action="send_to_hitl", reasoning=why)


@dataclass(frozen=True)
class DecisionContext:
    """The run so far, and the actions that are possible and not done yet."""

    question: str
    notes: Sequence[str]
    wishes: Sequence[str]
    """What the notes ask to look for, newest first."""
    history: Sequence[Action]
    facts: Sequence[Fact]
    open_leads: Sequence[Lead]
    available_actions: Sequence[str]
    threshold: float
    refusals: Sequence[Refusal] = ()

    @cached_property
    def is_multi_hop(self) -> bool:
        """Does the question look as if it takes several pages?"""
        return parse_question(self.question).is_multi_hop

    @cached_property
    def starts_at_page(self) -> bool:
        """Did the run start by reading a page that the person named?"""
        return bool(self.history) and self.history[0].action == "crawl_url"

    @cached_property
    def pages_read(self) -> int:
        """How many pages were read."""
        return sum(bool(action.page_id) for action in self.history)

    @cached_property
    def is_enough_read(self) -> bool:
        """Was something found, and as much tried as such a question gets? Never in a run that goes on until
        its budget is used."""
        if self.threshold > 1 or not self.facts:
            return False
        several = MAX_PAGES_SEVERAL if self.is_multi_hop else MAX_PAGES_ONE
        most = MAX_PAGES_NAMED if self.starts_at_page else several
        return sum(action.action == "crawl_url" for action in self.history) >= most

    @cached_property
    def searches(self) -> list[Action]:
        """The searches of the history."""
        return [action for action in self.history if action.action in SEARCH_ACTIONS]

    @cached_property
    def can_search_names(self) -> bool:
        """May another search for a found name be made?"""
        most = MAX_FOLLOW_UP_SEARCHES if self.is_multi_hop else 0
        return len({_normalize_target(action.query_or_url) for action in self.searches}) <= most

    @cached_property
    def leads(self) -> list[Lead]:
        """The leads that can be followed now, best first: pages, then searches for found names."""
        leads = list(self.open_leads)
        if self.can_search_names:
            leads += make_bridge_leads(self.question, self.facts, leads)
        return [
            lead
            for lead in score_leads(self.question, leads)
            if (self._can_crawl(lead.value) if lead.kind == "url" else self.search(lead.value, ""))
        ]

    def search(self, query: str, why: str) -> Decision | None:
        """A search that was not answered yet, by the first engine that has not failed at it."""
        query = " ".join(query.split())
        target = _normalize_target(query)
        engines = [
            engine
            for engine in rank_general(self.available_actions, [action.action for action in self.history])
            if self._failures[engine, target] < MAX_TRIES
        ]
        if not engines or not query or target in self._done:
            return None
        label = ENGINE_NAMES[ENGINE_BY_ACTION[engines[0]]]
        if engines[0] != SEARCH_ACTIONS[0]:
            why = f"{why} {label} is asked: the general search is not available now, or did not answer this."
        return Decision(next_action=engines[0], query_or_url=query, reasoning=why.strip())

    def crawl(self, url: str, why: str) -> Decision | None:
        """A page that was not read yet."""
        if not self._can_crawl(url):
            return None
        return Decision(next_action="crawl_url", query_or_url=url, reasoning=why)

    def _can_crawl(self, url: str) -> bool:
        return (
            "crawl_url" in self.available_actions and bool(url) and _normalize_target(url) not in self._done
        )

    def follow(self, lead: Lead, why: str) -> Decision | None:
        """Read a lead's page, or make its search."""
        return self.crawl(lead.value, why) if lead.kind == "url" else self.search(lead.value, why)

    @cached_property
    def _done(self) -> set[str]:
        """What was done or refused. A search that no engine answered is not done."""
        done = [
            action.query_or_url
            for action in self.history
            if action.action not in SEARCH_ACTIONS or action.outcome in ANSWERED_OUTCOMES
        ]
        return {_normalize_target(what) for what in (*done, *(refusal.what for refusal in self.refusals))}

    @cached_property
    def _failures(self) -> Counter[tuple[str, str]]:
        """How often each engine failed at each search, counted against `MAX_TRIES`."""
        failed: Counter[tuple[str, str]] = Counter()
        for action in self.searches:
            if action.outcome not in ANSWERED_OUTCOMES:
                tries = 1 if action.outcome == Outcome.RATE_LIMITED else MAX_TRIES
                failed[action.action, _normalize_target(action.query_or_url)] += tries
        return failed


def decide_by_rule(now: DecisionContext, rung: str = "") -> Decision:
    """The first possible action: a note's, the blockage's (`rung`), the first search, then the best lead
    until enough is read."""
    decision = next(filter(None, _list_decisions(now, rung)), None)
    return decision or hand_over(_explain_hand_over(now, rung))


def _list_decisions(now: DecisionContext, rung: str) -> Iterator[Decision | None]:
    """What may be done, in the order in which it is tried; None for what is not possible."""

    def search_parts() -> Iterator[Decision | None]:
        for part in split_question(now.question):
            yield now.search(
                part, f"No progress on the whole: one part of the question alone, “{part[:80]}”."
            )

    def follow_any_lead() -> Iterator[Decision | None]:
        """Leads however much was read."""
        for lead in (*now.leads, *make_bridge_leads(now.question, now.facts)):
            yield now.follow(lead, f"No progress: a lead not followed yet, {lead.text[:100]}.")

    for note in filter(None, map(remove_exclusion_sentences, reversed(now.notes))):
        for url in find_urls(note):
            yield now.crawl(url, "The person named this address in a note.")
    for wish in now.wishes:
        words = extract_keywords(wish)[:150]
        known = {fold(word).strip(".") for word in words.split()}
        about = [
            word for word in extract_keywords(now.question).split() if fold(word).strip(".") not in known
        ]
        query = f"{' '.join(about)[: 199 - len(words)]} {words}"
        yield now.search(query, f"The person's note comes first: “{wish[:120]}”.")
    if rung == "reframe":
        for lead in now.leads:
            if lead.kind == "query":  # a name in a good quote, with the words that are still missing
                together = "it is searched for together with what is still missing."
                yield now.search(lead.value, f"“{lead.text}” is {lead.why[:140]}; {together}")
        yield now.search(
            extract_keywords(now.question), "No progress: only the content words of the question."
        )
    if rung in ("reframe", "narrow"):
        yield from search_parts()
    if rung in ("reframe", "narrow", "lead"):
        yield from follow_any_lead()
    if rung:
        return
    for url in find_urls(now.question):
        yield now.crawl(url, "The question names this address.")
    if now.history:
        for action in now.searches:  # with another engine, or after the pause that was asked for
            if action.outcome not in ANSWERED_OUTCOMES:
                yield now.search(action.query_or_url, "This search was not answered yet.")
        last = now.history[-1]
        if last.is_search and last.hits and last.query_or_url != now.history[0].query_or_url:
            for lead in now.leads:
                if lead.found_on == f"search: {last.query_or_url}":
                    yield now.follow(lead, f"The best new result of that search: {lead.text[:120]}.")
        if not now.is_enough_read:
            left = format_count(len(now.leads), "open lead")
            for lead in now.leads:
                why = f"The most relevant of {left} (relevance {lead.score:.2f}; {lead.why[:120]}): "
                yield now.follow(lead, why + textwrap.shorten(lead.text, 120, placeholder=" …"))
    if not now.history or not (now.is_enough_read or now.starts_at_page):
        yield now.search(make_first_query(now.question), "The question itself was not searched for yet.")
    if not now.history:
        yield from follow_any_lead()
        yield from search_parts()


def _explain_hand_over(now: DecisionContext, rung: str) -> str:
    if rung:
        return "The search is stuck: every way to go on was tried, so the findings go to the person."
    if not now.history:
        return "No search engine is available and the question names no address to read."
    if all(action.outcome not in (Outcome.OK, Outcome.EMPTY) for action in now.history):
        return "Every search engine or page that was asked refused or failed."
    if not now.facts:
        return "Nothing found bears on the question."
    read = "1 page is read" if now.pages_read == 1 else f"{now.pages_read} pages are read"
    return f"{read}: {'enough for such a question' if now.is_enough_read else 'no lead is left'}."


def _normalize_target(what: str) -> str:
    return canonicalize(what) or lead_id("query", what)
