"""Where a run stands and what could be done next: the keyless side of the decision. Knows what was found, not how it is fetched.

Leads come already scored on one scale. The best is followed until the question is covered or none is promising; for a question of
several pages a name that was found is searched for together with what is still open. The constants were swept over four question
sets, through the whole loop: pages read against support found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.text.coverage import Coverage, cover
from agent.text.exclusions import wanted
from agent.text.leads import bridges, first_query, lead_id
from agent.text.question import Asked, keywords, parts, read
from agent.types import Action, Fact, Lead, Outcome, Refusal
from agent.urls import canonical, found_in

SEARCHES = ("search_duckduckgo", "search_google")
ANSWERED = (Outcome.OK, Outcome.EMPTY)
TRIES = 2
"""How often an engine is asked the same when it asked for a pause instead of answering; after any other failure it is not asked again."""
FLOOR_HOPS, FLOOR_PLAIN, FLOOR_LOOK = 0.03, 0.15, 0.02
"""The least score of a lead that is followed: while the question is open, when its answer is clear, while few pages are read."""
FLOOR_SEARCH = 0.1
"""Below this a search for a name that was found comes before the leads, as long as there are such searches left."""
LOOK = 4
"""Pages that are read before a covered answer goes to the person: one page alone is one voice."""
GO_ON = 2
"""Searches that go on from what was found, after the first."""
CLEAR = 0.75
"""The share of a plain question that one quote, holding the kind of thing asked for, covers when its answer is clear: at the usual
confidence threshold; another threshold moves it in proportion."""
CLEAR_GIVEN = 0.3
"""The same on a page that the person named: its subject need not stand in the question."""
COVERED = 0.9
"""The share of the question's words that must be covered for the run not to search on."""
USUAL_THRESHOLD = 0.90


class Decision(BaseModel):
    """The next action. `query_or_url` is the query of a search, the address of a crawl, null when the person is asked."""

    model_config = ConfigDict(extra="ignore")

    next_action: Literal["search_duckduckgo", "search_google", "crawl_url", "send_to_hitl"]
    query_or_url: str | None = Field(default=None, description="the search query, the URL to crawl, or null for send_to_hitl")
    reasoning: str = Field(default="", description="one or two sentences: why this action now")


def hand_over(why: str) -> Decision:
    """The findings go to the person."""
    return Decision(next_action="send_to_hitl", query_or_url=None, reasoning=why)


@dataclass(frozen=True)
class Now:
    """What a decision looks at. Each question asked of it is answered by a decision, or None when that way is closed."""

    question: str
    notes: Sequence[str]
    history: Sequence[Action]
    facts: Sequence[Fact]
    open_leads: Sequence[Lead]
    actions: Sequence[str]
    threshold: float
    refused: Sequence[Refusal] = ()

    @cached_property
    def asked(self) -> Asked:
        """The question, taken apart."""
        return read(self.question)

    @cached_property
    def known(self) -> Coverage:
        """How much of the question the facts cover."""
        return cover(self.question, self.facts)

    @cached_property
    def engines(self) -> list[str]:
        """The search actions that are available, the general search before Google."""
        return [action for action in SEARCHES if action in self.actions]

    @cached_property
    def searches(self) -> list[Action]:
        """The searches of the history."""
        return [action for action in self.history if action.action in SEARCHES]

    @cached_property
    def done(self) -> set[str]:
        """What was done or refused, in one spelling. A search that no engine answered is not done."""
        done = (action for action in self.history if action.action not in SEARCHES or action.outcome in ANSWERED)
        return {_spelled(what) for what in (*(action.query_or_url for action in done), *(refusal.what for refusal in self.refused))}

    @cached_property
    def failed(self) -> Counter[tuple[str, str]]:
        """How often each engine did not answer each search, counted against TRIES."""
        failed: Counter[tuple[str, str]] = Counter()
        for action in self.searches:
            if action.outcome not in ANSWERED:
                failed[action.action, _spelled(action.query_or_url)] += 1 if action.outcome == Outcome.RATE_LIMITED else TRIES
        return failed

    def _engine(self, query: str) -> str:
        """The first engine that has not failed at this search; "" for none."""
        return next((engine for engine in self.engines if self.failed[engine, _spelled(query)] < TRIES), "")

    @cached_property
    def leads(self) -> list[Lead]:
        """The leads that can be followed now, best first."""
        return [lead for lead in self.open_leads if self._possible(lead)]

    def _possible(self, lead: Lead) -> bool:
        able = "crawl_url" in self.actions if lead.kind == "url" else bool(self._engine(lead.value))
        return able and _spelled(lead.value) not in self.done

    def search(self, query: str, why: str) -> Decision | None:
        """A search that was not answered yet."""
        query = " ".join(query.split())
        engine = self._engine(query)
        if not engine or not query or _spelled(query) in self.done:
            return None
        return Decision(next_action=engine, query_or_url=query, reasoning=f"{why} {_choice(engine)}")  # type: ignore[arg-type]

    def crawl(self, url: str, why: str) -> Decision | None:
        """A page that was not read yet."""
        if "crawl_url" not in self.actions or not url or _spelled(url) in self.done:
            return None
        return Decision(next_action="crawl_url", query_or_url=url, reasoning=why)

    def take(self, lead: Lead, why: str) -> Decision | None:
        """Follow a lead."""
        return self.crawl(lead.value, why) if lead.kind == "url" else self.search(lead.value, why)

    def from_person(self) -> Decision | None:
        """What a note asks for and was not done yet, the newest first: an address in it is read, anything else searched for."""
        for note in filter(None, map(wanted, reversed(self.notes))):
            told = self._address(note, "The person named this address in a note.")
            if not told and not found_in(note):
                words = keywords(note)[:150]
                told = self.search(f"{keywords(self.question)[: 199 - len(words)]} {words}", f"The person's note comes first: “{note[:120]}”.")
            if told:
                return told
        return None

    def _address(self, text: str, why: str) -> Decision | None:
        """The first address in a person's words that was neither read nor refused."""
        return next(filter(None, (self.crawl(url, why) for url in found_in(text))), None)

    def first(self) -> Decision:
        """The raw question: an address in it is read at once, else it is searched for."""
        told = self._address(self.question, "The question names this address, so it is read before anything is searched for.")
        told = told or self.search(first_query(self.question), "Nothing is known yet: the question itself is the first search.")
        if not told and self.leads:
            told = self.take(self.leads[0], "The question itself cannot be searched for, so the best lead is followed.")
        told = told or self._narrowed()
        return told or hand_over("No search engine is available and the question names no address to read.")

    def onward(self) -> Decision:
        """The best lead, then a search for what is open; the person when the question is covered or nothing promising is left."""
        pages = sum(bool(action.page_id) for action in self.history)
        given = self.history[0].action == "crawl_url"
        clear = self._clear(given)
        enough = clear and (given or self.known.share >= COVERED)
        floor = FLOOR_LOOK if pages < LOOK and not given else FLOOR_PLAIN if clear else FLOOR_HOPS
        told = self._address(self.question, "The question names this address, too.") or self._unanswered() or self._into_search()
        if not told and self.asked.hops and not enough and self._best() < FLOOR_SEARCH:
            told = self.search_on(GO_ON)
        told = told or self._lead_above(floor) or (None if enough else self.search_on(GO_ON if self.asked.hops else 0))
        if not told and not enough and not given:
            told = self.search(first_query(self.question), "The question itself was not searched for yet.")
        if told:
            return told
        if not self.known.share:
            return hand_over("Nothing found bears on the question.")
        read_up = "1 page is read" if pages == 1 else f"{pages} pages are read"
        return hand_over(f"{read_up}, {self.known.share:.0%} of the question's words are covered, and no promising lead is left.")

    def _clear(self, given: bool) -> bool:
        """Is the answer clear? Never for a question of several pages: there each link needs its own page."""
        least = CLEAR_GIVEN if given else min(1.0, CLEAR * self.threshold / USUAL_THRESHOLD)
        return self.known.best >= least and not self.asked.hops

    def _best(self) -> float:
        return self.leads[0].score if self.leads else 0.0

    def _unanswered(self) -> Decision | None:
        """A search that no engine answered is made again: by the other engine, or when the pause that was asked for is over."""
        again = (action.query_or_url for action in self.searches if action.outcome not in ANSWERED)
        return next(filter(None, (self.search(query, "This search was not answered yet.") for query in again)), None)

    def _into_search(self) -> Decision | None:
        """A search that went on from a name is looked into: its best result that was not read."""
        last = self.history[-1]
        if last.action not in SEARCHES or not last.hits or last.query_or_url == self.history[0].query_or_url:
            return None
        mine = [lead for lead in self.leads if lead.found_on == f"search: {last.query_or_url}"]
        return self.take(mine[0], f"The best new result of that search: {mine[0].text[:120]}.") if mine else None

    def _lead_above(self, floor: float) -> Decision | None:
        for lead in self.leads[:5]:
            why = f"The most promising lead (expected use {lead.score:.2f}): {lead.text[:100]}; {lead.why[:120]}."
            if lead.score >= floor and (told := self.take(lead, why)):
                return told
        return None

    def search_on(self, most: int) -> Decision | None:
        """A search for a name that a good page gave with the words that are still open; at most so many after the first search."""
        if len({_spelled(action.query_or_url) for action in self.searches}) > most:
            return None
        for lead in bridges(self.question, self.facts):
            why = f"“{lead.text}” is {lead.why[:140]}; it is searched for together with what is still open."
            if told := self.search(lead.value, why):
                return told
        return None

    def on_rung(self, rung: str) -> Decision:
        """The rung of the ladder that code chose, or the next one that is not closed."""
        told = None
        if rung == "reframe":
            told = self.search_on(GO_ON) or self.search(keywords(self.question), "No progress: the same question without its frame.")
        if not told and rung in ("reframe", "narrow"):
            told = self._narrowed()
        if not told and rung in ("reframe", "narrow", "lead"):
            told = self._from_memory()
        return told or hand_over("The search is stuck: every way to go on was tried, so the findings go to the person.")

    def _narrowed(self) -> Decision | None:
        for part in parts(self.question):
            if told := self.search(part, f"No progress on the whole: one part of the question alone, “{part[:80]}”."):
                return told
        return None

    def _from_memory(self) -> Decision | None:
        for lead in [*self.leads, *bridges(self.question, self.facts)]:
            if told := self.take(lead, f"No progress: an unexplored lead from memory, {lead.text[:100]}."):
                return told
        return None


def _choice(engine: str) -> str:
    """Why this engine, told without a name: what stands behind the general search depends on the world."""
    if engine == "search_google":
        return "Google is asked: the general search is not to be had now, or did not answer this."
    return "The general search is asked: it needs no account."


def _spelled(what: str) -> str:
    return canonical(what) or lead_id("query", what)
