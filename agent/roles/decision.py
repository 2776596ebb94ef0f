"""What to do next: search, read a page, or hand the findings to the person. Knows what was found, not how it is fetched.

The reply is the contract of the research flow: `next_action`, `query_or_url`, `reasoning`. The keyless side reads leads that
are already scored on one scale and takes the best, unless the question is covered or nothing promising is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from agent.roles.analyzer import AnalyzerReply
from agent.roles.role import Role
from agent.text.coverage import cover
from agent.text.leads import bridges, first_query, lead_id
from agent.text.question import keywords, parts, read
from agent.types import Action, Fact, Lead, Refusal
from agent.urls import canonical, found_in

SEARCHES = ("search_duckduckgo", "search_google")
FLOOR_HOPS, FLOOR_PLAIN, FLOOR_LOOK = 0.03, 0.15, 0.02
"""The least score of a lead that is followed: for a question of several pages, for a plain one, and while few pages are read."""
FLOOR_SEARCH = 0.1
"""Below this a search for a name that was found comes before the leads, as long as there are such searches left."""
LOOK = 4
"""Pages that are read before a covered answer goes to the person: one page alone is one voice."""
GO_ON = 2
"""Searches that go on from what was found, after the first."""
CLEAR = 0.75
"""The share of a plain question that one quote, holding the kind of thing asked for, covers when its answer is clear."""
CLEAR_GIVEN = 0.3
"""The same on a page that the person named: its subject need not stand in the question."""
COVERED = 0.9
"""The share of the question's words that must be covered for the run not to search on."""


class Decision(BaseModel):
    """The next action. `query_or_url` is the query of a search, the address of a crawl, null when the person is asked."""

    model_config = ConfigDict(extra="ignore")

    next_action: Literal["search_duckduckgo", "search_google", "crawl_url", "send_to_hitl"]
    query_or_url: str | None = Field(default=None, description="the search query, the URL to crawl, or null for send_to_hitl")
    reasoning: str = Field(default="", description="one or two sentences: why this action now")


def shape(*, actions: list[str], **_: Any) -> type[BaseModel]:
    """The reply with only those actions that are available now: what is not there leaves the schema."""
    return _narrowed(tuple(dict.fromkeys([*actions, "send_to_hitl"])))


@lru_cache(maxsize=32)
def _narrowed(actions: tuple[str, ...]) -> type[BaseModel]:
    return create_model("Decision", __base__=Decision, next_action=(Literal[actions], ...))  # type: ignore[arg-type]


def keyless(
    *,
    question: str,
    notes: list[str],
    report: AnalyzerReply | None,
    history: list[Action],
    facts: list[Fact],
    leads: list[Lead],
    actions: list[str],
    blockage: Any | None,
    threshold: float,
    remaining: int,
    level: float = 0.0,
    refused: Sequence[Refusal] = (),
) -> Decision:
    """The next action by rule: the person's word, the blockage's rung, the first search, then the best lead until covered."""
    now = _Now(
        question=question, notes=notes, history=history, facts=facts, leads=leads, actions=actions, threshold=threshold, report=report
    )  # fmt: skip
    if remaining <= 0:
        return _hand_over("The run's tool actions are used up; what was found goes to the person.")
    told = now.from_person()
    if told:
        return told
    if blockage is not None:
        return now.on_rung(str(getattr(blockage, "rung", blockage)))
    return now.first() if not history else now.onward()


class _Now:
    """The blanks of one decision, asked from several sides."""

    def __init__(
        self, *, question: str, notes: list[str], history: list[Action], facts: list[Fact], leads: list[Lead], actions: list[str],
        threshold: float, report: AnalyzerReply | None,
    ) -> None:  # fmt: skip
        self.question, self.notes, self.history, self.facts = question, notes, history, facts
        self.threshold, self.report = threshold, report
        self.engine = next((action for action in SEARCHES if action in actions), "")
        self.can_crawl = "crawl_url" in actions
        self.done = {canonical(action.query_or_url) or lead_id("query", action.query_or_url) for action in history}
        self.leads = [lead for lead in leads if self._possible(lead)]

    def _possible(self, lead: Lead) -> bool:
        if lead.kind == "url":
            return self.can_crawl and canonical(lead.value) not in self.done
        return bool(self.engine) and lead.id not in self.done

    def search(self, query: str, why: str) -> Decision | None:
        """A search that was not made yet, or None."""
        query = " ".join(query.split())
        if not self.engine or not query or lead_id("query", query) in self.done:
            return None
        return Decision(next_action=self.engine, query_or_url=query, reasoning=f"{why} {_tool(self.engine)}")  # type: ignore[arg-type]

    def crawl(self, url: str, why: str) -> Decision | None:
        """A page that was not read yet, or None."""
        if not self.can_crawl or not url or canonical(url) in self.done:
            return None
        return Decision(next_action="crawl_url", query_or_url=url, reasoning=why)

    def take(self, lead: Lead, why: str) -> Decision | None:
        """Follow a lead."""
        return self.crawl(lead.value, why) if lead.kind == "url" else self.search(lead.value, why)

    def from_person(self) -> Decision | None:
        """What the newest note asks for and was not done yet: an address in it is read, anything else is searched for."""
        for note in reversed(self.notes):
            for url in found_in(note):
                told = self.crawl(url, "The person named this address in a note.")
                if told:
                    return told
            words = keywords(note)
            told = self.search(f"{keywords(self.question)} {words}"[:200], f"The person's note comes first: “{note[:120]}”.")
            if told and self.history and not found_in(note):
                return told
        return None

    def first(self) -> Decision:
        """The raw question: an address in it is read at once, else it is searched for."""
        for url in found_in(self.question):
            told = self.crawl(url, "The question names this address, so it is read before anything is searched for.")
            if told:
                return told
        told = self.search(first_query(self.question), "Nothing is known yet: the question itself is the first search.")
        best = self.leads[0] if self.leads else None
        told = told or (self.take(best, "There is no search engine, so the start address is read.") if best else None)
        return told or _hand_over("No search engine is available and the question names no address to read.")

    def onward(self) -> Decision:
        """The best lead, then a search for what is open; the person when the question is covered or nothing promising is left."""
        asked = read(self.question)
        known = cover(self.question, self.facts)
        pages = sum(bool(action.page_id) for action in self.history)
        given = bool(self.history) and self.history[0].action == "crawl_url"
        clear = known.best >= (CLEAR_GIVEN if given else CLEAR) and not asked.hops
        floor = FLOOR_LOOK if pages < LOOK and not given else FLOOR_PLAIN if clear else FLOOR_HOPS
        enough = clear and (given or known.share >= COVERED)
        told = self._into_search()
        if asked.hops and not enough and not told and (not self.leads or self.leads[0].score < FLOOR_SEARCH):
            told = self._search_on(hops=True)
        told = told or self._lead_above(floor) or (None if enough else self._search_on(asked.hops))
        if told:
            return told
        if not known.share:
            return _hand_over("Nothing found bears on the question.")
        return _hand_over(f"{pages} pages are read, {known.share:.0%} of the question's words are covered, and no promising lead is left.")

    def _into_search(self) -> Decision | None:
        """A search that went on from a name is looked into: its best result that was not read."""
        last = self.history[-1]
        if last.action not in SEARCHES or not last.hits or len(self.history) == 1:
            return None
        mine = [lead for lead in self.leads if lead.found_on == f"search: {last.query_or_url}"]
        return self.take(mine[0], f"The best new result of that search: {mine[0].text[:120]}.") if mine else None

    def _lead_above(self, floor: float) -> Decision | None:
        for lead in self.leads[:5]:
            if lead.score >= floor:
                told = self.take(lead, f"The most promising lead (expected use {lead.score:.2f}): {lead.text[:100]}; {lead.why[:120]}.")
                if told:
                    return told
        return None

    def _search_on(self, hops: bool) -> Decision | None:
        """A search for a name that a good page gave, together with the words that are still open."""
        searches = sum(action.action in SEARCHES for action in self.history)
        if searches > (GO_ON if hops else 0):
            return None
        for lead in bridges(self.question, self.facts):
            told = self.search(lead.value, f"“{lead.text}” is {lead.why[:140]}; it is searched for together with what is still open.")
            if told:
                return told
        return None

    def on_rung(self, rung: str) -> Decision:
        """The rung of the ladder that code chose."""
        if rung == "reframe":
            told = self._search_on(hops=True) or self.search(keywords(self.question), "No progress: the same question in other words, without its frame.")
            if told:
                return told
        if rung in ("reframe", "narrow"):
            for part in parts(self.question):
                told = self.search(part, f"No progress on the whole: one part of the question alone, “{part[:80]}”.")
                if told:
                    return told
        if rung in ("reframe", "narrow", "lead"):
            for lead in [*self.leads, *bridges(self.question, self.facts)]:
                told = self.take(lead, f"No progress: an unexplored lead from memory, {lead.text[:100]}.")
                if told:
                    return told
        return _hand_over("The search is stuck: every way to go on was tried, so the findings go to the person.")


def _tool(engine: str) -> str:
    return "Google is asked." if engine == "search_google" else "DuckDuckGo is asked: a general search, no account."


def _hand_over(why: str) -> Decision:
    return Decision(next_action="send_to_hitl", query_or_url=None, reasoning=why)


DECISION = Role(name="decision", reply=Decision, keyless=keyless, tier="strong", shape=shape)
