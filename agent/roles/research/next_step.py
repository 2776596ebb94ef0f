"""Where a run stands and what could be done next: the keyless side of the decision. Knows what was found, not
how it is fetched.

Leads come already scored on one scale. The best is followed until the question is covered or none is
promising; for a question of several pages a name that was found is searched for together with what is still
open. The constants were swept over four question sets, through the whole loop: pages read against support
found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.retrieval.link_scoring import lead_id, make_bridge_leads, make_first_query
from agent.retrieval.term_coverage import Coverage, measure_coverage
from agent.text.negative_constraints import remove_exclusion_sentences
from agent.text.question_analysis import ParsedQuestion, extract_keywords, parse_question, split_question
from agent.text.urls import canonicalize, find_urls
from agent.types import Action, Fact, Lead, Outcome, Refusal

SEARCH_ACTIONS = ("search_duckduckgo", "search_google")
ANSWERED_OUTCOMES = (Outcome.OK, Outcome.EMPTY)
MAX_TRIES = 2
"""How often an engine is asked the same when it asked for a pause instead of answering; after any other
failure it is not asked again."""
MIN_LEAD_SCORE_OPEN, MIN_LEAD_SCORE_CLEAR, MIN_LEAD_SCORE_EARLY = 0.03, 0.15, 0.02
"""The least score of a lead that is followed: while the question is open, when its answer is clear, while few
pages are read."""
MIN_LEAD_SCORE_BEFORE_SEARCH = 0.1
"""Below this a search for a name that was found comes before the leads, as long as there are such searches
left."""
MIN_PAGES_READ = 4
"""Pages that are read before a covered answer goes to the person: one page alone is one voice."""
MAX_FOLLOW_UP_SEARCHES = 2
"""Searches that go on from what was found, after the first."""
CLEAR_SHARE = 0.75
"""The share of a plain question that one quote, holding the kind of thing asked for, covers when its answer
is clear: at the usual confidence threshold; another threshold moves it in proportion."""
CLEAR_SHARE_GIVEN_PAGE = 0.3
"""The same on a page that the person named: its subject need not stand in the question."""
COVERED_SHARE = 0.9
"""The share of the question's words that must be covered for the run not to search on."""
USUAL_THRESHOLD = 0.90


class Decision(BaseModel):
    """The next action. `query_or_url` is the query of a search, the address of a crawl, null when the person
    is asked."""

    model_config = ConfigDict(extra="ignore")

    next_action: Literal["search_duckduckgo", "search_google", "crawl_url", "send_to_hitl"]
    query_or_url: str | None = Field(
        default=None, description="the search query, the URL to crawl, or null for send_to_hitl"
    )
    reasoning: str = Field(default="", description="one or two sentences: why this action now")


def hand_over(why: str) -> Decision:
    """The findings go to the person."""
    return Decision(next_action="send_to_hitl", query_or_url=None, reasoning=why)


@dataclass(frozen=True)
class DecisionContext:
    """What a decision looks at. Each question asked of it is answered by a decision, or None when that way is
    closed."""

    question: str
    notes: Sequence[str]
    history: Sequence[Action]
    facts: Sequence[Fact]
    open_leads: Sequence[Lead]
    available_actions: Sequence[str]
    threshold: float
    refusals: Sequence[Refusal] = ()

    @cached_property
    def parsed_question(self) -> ParsedQuestion:
        """The question, taken apart."""
        return parse_question(self.question)

    @cached_property
    def coverage(self) -> Coverage:
        """How much of the question the facts cover."""
        return measure_coverage(self.question, self.facts)

    @cached_property
    def engines(self) -> list[str]:
        """The search actions that are available, the general search before Google."""
        return [action for action in SEARCH_ACTIONS if action in self.available_actions]

    @cached_property
    def searches(self) -> list[Action]:
        """The searches of the history."""
        return [action for action in self.history if action.action in SEARCH_ACTIONS]

    @cached_property
    def done_or_refused(self) -> set[str]:
        """What was done or refused, in one spelling. A search that no engine answered is not done."""
        done = (
            action
            for action in self.history
            if action.action not in SEARCH_ACTIONS or action.outcome in ANSWERED_OUTCOMES
        )
        return {
            _normalize_target(what)
            for what in (
                *(action.query_or_url for action in done),
                *(refusal.what for refusal in self.refusals),
            )
        }

    @cached_property
    def failed_searches(self) -> Counter[tuple[str, str]]:
        """How often each engine did not answer each search, counted against TRIES."""
        failed: Counter[tuple[str, str]] = Counter()
        for action in self.searches:
            if action.outcome not in ANSWERED_OUTCOMES:
                failed[action.action, _normalize_target(action.query_or_url)] += (
                    1 if action.outcome == Outcome.RATE_LIMITED else MAX_TRIES
                )
        return failed

    def _find_engine(self, query: str) -> str:
        """The first engine that has not failed at this search; "" for none."""
        return next(
            (
                engine
                for engine in self.engines
                if self.failed_searches[engine, _normalize_target(query)] < MAX_TRIES
            ),
            "",
        )

    @cached_property
    def leads(self) -> list[Lead]:
        """The leads that can be followed now, best first."""
        return [lead for lead in self.open_leads if self._can_follow(lead)]

    def _can_follow(self, lead: Lead) -> bool:
        able = (
            "crawl_url" in self.available_actions
            if lead.kind == "url"
            else bool(self._find_engine(lead.value))
        )
        return able and _normalize_target(lead.value) not in self.done_or_refused

    def search(self, query: str, why: str) -> Decision | None:
        """A search that was not answered yet."""
        query = " ".join(query.split())
        engine = self._find_engine(query)
        if not engine or not query or _normalize_target(query) in self.done_or_refused:
            return None
        return Decision(next_action=engine, query_or_url=query, reasoning=f"{why} {_explain_engine(engine)}")  # type: ignore[arg-type]

    def crawl(self, url: str, why: str) -> Decision | None:
        """A page that was not read yet."""
        if (
            "crawl_url" not in self.available_actions
            or not url
            or _normalize_target(url) in self.done_or_refused
        ):
            return None
        return Decision(next_action="crawl_url", query_or_url=url, reasoning=why)

    def follow_lead(self, lead: Lead, why: str) -> Decision | None:
        """Follow a lead."""
        return self.crawl(lead.value, why) if lead.kind == "url" else self.search(lead.value, why)

    def follow_note(self) -> Decision | None:
        """What a note asks for and was not done yet, the newest first: an address in it is read, anything
        else searched for."""
        for note in filter(None, map(remove_exclusion_sentences, reversed(self.notes))):
            told = self._crawl_named_url(note, "The person named this address in a note.")
            if not told and not find_urls(note):
                words = extract_keywords(note)[:150]
                told = self.search(
                    f"{extract_keywords(self.question)[: 199 - len(words)]} {words}",
                    f"The person's note comes first: “{note[:120]}”.",
                )
            if told:
                return told
        return None

    def _crawl_named_url(self, text: str, why: str) -> Decision | None:
        """The first address in a person's words that was neither read nor refused."""
        return next(filter(None, (self.crawl(url, why) for url in find_urls(text))), None)

    def decide_first(self) -> Decision:
        """The raw question: an address in it is read at once, else it is searched for."""
        told = self._crawl_named_url(
            self.question, "The question names this address, so it is read before anything is searched for."
        )
        told = told or self.search(
            make_first_query(self.question), "Nothing is known yet: the question itself is the first search."
        )
        if not told and self.leads:
            told = self.follow_lead(
                self.leads[0], "The question itself cannot be searched for, so the best lead is followed."
            )
        told = told or self._search_part()
        return told or hand_over("No search engine is available and the question names no address to read.")

    def decide_next(self) -> Decision:
        """The best lead, then a search for what is open; the person when the question is covered or nothing
        promising is left."""
        pages = sum(bool(action.page_id) for action in self.history)
        given = self.history[0].action == "crawl_url"
        clear = self._is_answer_clear(given)
        enough = clear and (given or self.coverage.share >= COVERED_SHARE)
        floor = (
            MIN_LEAD_SCORE_EARLY
            if pages < MIN_PAGES_READ and not given
            else MIN_LEAD_SCORE_CLEAR
            if clear
            else MIN_LEAD_SCORE_OPEN
        )
        told = (
            self._crawl_named_url(self.question, "The question names this address, too.")
            or self._retry_search()
            or self._open_search_result()
        )
        if (
            not told
            and self.parsed_question.is_multi_hop
            and not enough
            and self._best_lead_score() < MIN_LEAD_SCORE_BEFORE_SEARCH
        ):
            told = self.search_found_name(MAX_FOLLOW_UP_SEARCHES)
        told = (
            told
            or self._follow_lead_above(floor)
            or (
                None
                if enough
                else self.search_found_name(
                    MAX_FOLLOW_UP_SEARCHES if self.parsed_question.is_multi_hop else 0
                )
            )
        )
        if not told and not enough and not given:
            told = self.search(
                make_first_query(self.question), "The question itself was not searched for yet."
            )
        if told:
            return told
        if not self.coverage.share:
            return hand_over("Nothing found bears on the question.")
        read_up = "1 page is read" if pages == 1 else f"{pages} pages are read"
        return hand_over(
            f"{read_up}, {self.coverage.share:.0%} of the question's words are covered, and no promising lead is left."
        )

    def _is_answer_clear(self, given: bool) -> bool:
        """Is the answer clear? Never for a question of several pages: there each link needs its own page."""
        least = CLEAR_SHARE_GIVEN_PAGE if given else min(1.0, CLEAR_SHARE * self.threshold / USUAL_THRESHOLD)
        return self.coverage.best_share >= least and not self.parsed_question.is_multi_hop

    def _best_lead_score(self) -> float:
        return self.leads[0].score if self.leads else 0.0

    def _retry_search(self) -> Decision | None:
        """A search that no engine answered is made again: by the other engine, or when the pause that was
        asked for is over."""
        again = (action.query_or_url for action in self.searches if action.outcome not in ANSWERED_OUTCOMES)
        return next(
            filter(None, (self.search(query, "This search was not answered yet.") for query in again)), None
        )

    def _open_search_result(self) -> Decision | None:
        """A search that went on from a name is looked into: its best result that was not read."""
        last = self.history[-1]
        if (
            last.action not in SEARCH_ACTIONS
            or not last.hits
            or last.query_or_url == self.history[0].query_or_url
        ):
            return None
        mine = [lead for lead in self.leads if lead.found_on == f"search: {last.query_or_url}"]
        return (
            self.follow_lead(mine[0], f"The best new result of that search: {mine[0].text[:120]}.")
            if mine
            else None
        )

    def _follow_lead_above(self, floor: float) -> Decision | None:
        for lead in self.leads[:5]:
            why = (
                f"The most promising lead (relevance {lead.score:.2f}): {lead.text[:100]}; {lead.why[:120]}."
            )
            if lead.score >= floor and (told := self.follow_lead(lead, why)):
                return told
        return None

    def search_found_name(self, most: int) -> Decision | None:
        """A search for a name that a good page gave with the words that are still open; at most so many after
        the first search."""
        if len({_normalize_target(action.query_or_url) for action in self.searches}) > most:
            return None
        for lead in make_bridge_leads(self.question, self.facts):
            why = f"“{lead.text}” is {lead.why[:140]}; it is searched for together with what is still open."
            if told := self.search(lead.value, why):
                return told
        return None

    def escalate(self, rung: str) -> Decision:
        """The rung of the ladder that code chose, or the next one that is not closed."""
        told = None
        if rung == "reframe":
            told = self.search_found_name(MAX_FOLLOW_UP_SEARCHES) or self.search(
                extract_keywords(self.question), "No progress: the same question without its frame."
            )
        if not told and rung in ("reframe", "narrow"):
            told = self._search_part()
        if not told and rung in ("reframe", "narrow", "lead"):
            told = self._follow_any_lead()
        return told or hand_over(
            "The search is stuck: every way to go on was tried, so the findings go to the person."
        )

    def _search_part(self) -> Decision | None:
        for part in split_question(self.question):
            if told := self.search(
                part, f"No progress on the whole: one part of the question alone, “{part[:80]}”."
            ):
                return told
        return None

    def _follow_any_lead(self) -> Decision | None:
        for lead in [*self.leads, *make_bridge_leads(self.question, self.facts)]:
            if told := self.follow_lead(
                lead, f"No progress: an unexplored lead from memory, {lead.text[:100]}."
            ):
                return told
        return None


def _explain_engine(engine: str) -> str:
    """Why this engine, told without a name: what stands behind the general search depends on the world."""
    if engine == "search_google":
        return "Google is asked: the general search is not to be had now, or did not answer this."
    return "The general search is asked: it needs no account."


def _normalize_target(what: str) -> str:
    return canonicalize(what) or lead_id("query", what)
