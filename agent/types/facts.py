"""What a run knows and decides: facts, leads, conflicts, confidence, actions, and what a person said."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field

from agent.types.record import Actor, FormerRecord, Outcome, PageOrigin, Publication, Record
from agent.types.web import Page

PersonMark = Literal["none", "pinned", "struck"]
ModelRuling = Literal["contradict", "different_things", "later_replaces", "agree"]


FLAG_NOTE = "part of an order to machines"
"""The mark of a flagged fact."""
QUOTE_JOINT = " … "
"""Joins the stretches of a quote that leaves out what stands between them on the page."""


def make_fact_id(*parts: str) -> str:
    """The id of a fact: a hash of page id (or "a person"), quote and statement. Stored ids rely on it."""
    return "f" + hashlib.sha256("\n".join(parts).encode()).hexdigest()[:7]


class Fact(Record):
    """A statement with the verbatim quote that supports it."""

    id: str
    statement: str
    quote: str
    page_id: str = ""
    url: str = ""
    title: str = ""
    heading: str = ""
    """What stands above the quote on its page: the headings; for a post, who wrote it and when. By code."""
    start: int = -1
    end: int = -1
    """Where the quote begins and ends in the page's text; -1 when it was not found."""
    spans: list[tuple[int, int]] = Field(default_factory=list)
    """Start and end of each stretch of a quote that leaves something out; empty for one stretch."""
    sha256: str = ""
    fetched_at: str = ""
    published_at: str = ""
    subject: str = ""
    attribute: str = ""
    trust: float = 0.5
    relevance: float = 0.0
    part: str = ""
    origin: Literal["page", "image", "person", "prior_turn"] = "page"
    given: PageOrigin = "fetched"
    """Where its page's text came from."""
    verified: bool = False
    """Whether the quote was found in the stored page."""
    disputed: bool = False
    """Whether an open conflict contradicts it."""
    decision: PersonMark = "none"
    marked: int = -1
    """The step at which a person last marked it, -1 for none; its source may be struck later."""
    former: str = ""
    """The statement before a person first corrected it; "" when nobody did."""
    refused_statement: str = ""
    """The writer's statement that code replaced by the quote, because it says otherwise; "" for none."""
    struck_with: str = ""
    """The source (page or site) that a person struck as a whole; "" for none."""
    flagged: str = ""
    """The sentence of the page that gives an order to machines and that the quote belongs to; "" for none."""
    step: int = 0
    by: Actor = "keyless"

    @property
    def places(self) -> list[tuple[int, int]]:
        """Start and end of each stretch of the quote in the page's text; none when it was not found."""
        return self.spans or ([(self.start, self.end)] if 0 <= self.start < self.end else [])

    def read_quote(self, text: str) -> str:
        """The quote as it stands in its page's text; "" when it was not found."""
        return QUOTE_JOINT.join(text[start:end] for start, end in self.places)

    @property
    def is_from_page(self) -> bool:
        """Whether its quote is from a stored page, read in this run or in an earlier one of its thread."""
        return self.origin in ("page", "prior_turn")

    @property
    def is_own_knowledge(self) -> bool:
        """Whether a person stated it and no page says it."""
        return self.origin == "person" and not self.url

    @property
    def is_active(self) -> bool:
        """Whether it counts: it is pinned, or verified, not struck, no part of an order to machines, and from
        a source with some trust."""
        is_clean = self.verified and not self.flagged and self.trust > 0
        return self.decision == "pinned" or (self.decision != "struck" and is_clean)

    @property
    def rests_on_person(self) -> bool:
        """Whether only a person's word supports it: own knowledge, or a correction beyond its quote."""
        return self.is_own_knowledge or (bool(self.former) and not self.verified)

    @property
    def can_support(self) -> bool:
        """Whether it may support an undisputed claim of the answer."""
        return self.is_active and (self.decision == "pinned" or not self.disputed)


class Lead(Record):
    """An address found on a page or in results, or a name to search for, that may be followed later."""

    id: str
    kind: Literal["url", "query"]
    value: str
    text: str
    """The anchor text, title or snippet it was found with."""
    why: str
    score: float
    prior: float
    """Its score from where it was found: its rank among results, the relevance of the page or sentence."""
    found_on: str
    step: int
    status: Literal["open", "taken", "dropped"] = "open"
    publication: Publication | None = None
    """What the engine that found it says of the published work."""


def cite_page(page: Page) -> dict[str, Any]:
    """The fields of a fact that say which page its quote is from."""
    stated = page.model_dump(include={"title", "fetched_at", "published_at"})
    return {**stated, "url": page.final_url or page.url, "given": page.origin}


class PageRef(Record):
    """A page of a run: its stored text, how the fetch ended, where and when its address was found."""

    url: str
    page_id: str
    final_url: str = ""
    title: str
    outcome: Outcome = Outcome.OK
    detail: str = ""
    found_on: str = ""
    """The page or search ("search: …") that its address was found on, or "person"."""
    step: int = 0
    facts: int = 0
    trust: float = -1.0
    """Its trust by its signs, 0 to 1; below 0 when it was not assessed."""
    trust_why: list[str] = Field(default_factory=list)
    origin: PageOrigin = "fetched"
    waiting: bool = False
    """A person supplied it, and it was not analysed yet."""
    links: list[str] = Field(default_factory=list)
    """Its links to other pages of the run, for the graph."""
    shown: list[tuple[int, int]] = Field(default_factory=list)
    """Start and end of each stretch of its text that a model was shown, rising and apart; empty without a
    model."""
    shown_before: list[tuple[int, int]] = Field(default_factory=list)
    """What had been shown when something new was asked, which all of its text may be read again for."""
    length: int = 0
    """Characters of its text."""
    publication: Publication | None = None
    """The published work it is, by its own word and that of the engine that found it."""


class ConflictSide(Record):
    """One side of a conflict: what it says, by which facts and from which independent sites."""

    text: str
    fact_ids: list[str]
    sites: list[str]


class Conflict(Record):
    """Facts about the same thing that cannot all be true."""

    id: str
    subject: str
    attribute: str
    kind: Literal["number", "date", "name", "polarity"]
    values: list[ConflictSide]
    status: Literal["open", "settled"] = "open"
    chosen: str = ""
    reason: str = ""
    found_by: Literal["code", "model"]
    step: int
    asks: bool
    """Whether it is about what the question asks for."""
    ruling: Literal["", "take", "both", "neither", "open"] = ""
    """A person's decision: `chosen` is right, both values hold, neither does, or it stays open."""
    settled_by: Literal["", "person", "evidence", "model"] = ""
    model_ruling: ModelRuling | Literal[""] = ""
    """A model's reading: the values contradict each other, are about different things, the later replaces the
    earlier, or they agree. A person's ruling stands above it."""
    model_reason: str = ""

    @property
    def topic(self) -> str:
        """What it is about, for a sentence."""
        return f"{self.subject or 'the same statement'}{f' ({self.attribute})' if self.attribute else ''}"

    @property
    def model_reading(self) -> str:
        """What the model makes of it, with its reason; "" when it was not asked."""
        later = f"“{self.chosen}”" if self.settled_by == "model" and self.chosen else "the later value"
        readings = {
            "contradict": "the sources contradict each other",
            "different_things": "they are about different things",
            "later_replaces": f"{later} replaces the earlier one",
            "agree": "they agree",
        }
        why = f", because “{self.model_reason}”" if self.model_reason else ""
        return f"{readings[self.model_ruling]}{why}" if self.model_ruling else ""

    @property
    def is_by_program(self) -> bool:
        """Did a program settle it for a person? Its reason says so."""
        return self.settled_by == "person" and self.reason.startswith("by program ")

    @property
    def status_text(self) -> str:
        """Its status for a sentence: open, or who settled it, how, and why."""
        if self.status == "open":
            return f"open (the model's reading: {self.model_reading})" if self.model_reading else "open"
        if self.settled_by == "model":
            return f"settled by the model's reading: {self.model_reading}"
        by = {"person": " by a person", "evidence": " by the count"}.get(self.settled_by, "")
        by = " by a program" if self.is_by_program else by
        held = (
            f" for “{self.chosen}”"
            if self.chosen
            else ": neither is correct"
            if self.ruling == "neither"
            else ": both may hold"
        )
        why = (
            f"because “{self.reason}”"
            if self.settled_by == "person" and self.ruling
            else self.reason or "no reason given"
        )
        return f"settled{by}{held} ({why})"


class Ruling(Record):
    """What a person or a model said of a conflict, with its sides as they were then."""

    conflict: str
    kind: Literal["number", "date", "name", "polarity"]
    values: list[ConflictSide]
    ruling: Literal["take", "both", "neither", "open"] | ModelRuling
    chosen: str
    """Of `take` the value."""
    reason: str
    by: Literal["person", "model"]
    step: int


class Assessment(FormerRecord):
    """What a model said at a step of what was found so far; without one only that something was read."""

    step: int
    model: float | None = Field(default=None, ge=0.0, le=1.0, allow_inf_nan=False)
    """Its own estimate; None where no model gave one."""
    unanswered: list[str] = Field(default_factory=list)
    """The ids of the plan's parts that it does not call answered."""
    sides: list[str] = Field(default_factory=list)
    """The ids of one fact for each side of the inconsistency that it reports; empty for none."""


class ConfidenceChange(Record):
    """One reason why the confidence changed, e.g. +0.14: a second, independent site gives the same date."""

    delta: float = Field(allow_inf_nan=False)
    reason: str


class PartConfidence(Record):
    """What one part of the question adds to the confidence."""

    part: str
    sources: list[str] = Field(default_factory=list)
    """The independent sources that say what its claim says; none while it is open."""
    weight: float = Field(default=0.0, ge=0.0, le=1e6, allow_inf_nan=False)
    """What these count together (see agent.evidence.confidence)."""
    judgement: float = Field(default=0.0, ge=0.0, le=1.0, allow_inf_nan=False)
    """How sure the model is."""
    disputed: bool = False
    """Whether an open conflict contradicts its claim."""
    unanswered: bool = False
    """Whether the model says that what was found, or the answer, does not answer it."""


class Confidence(Record):
    """The confidence after a step, with its reasons."""

    step: int
    value: float = Field(allow_inf_nan=False)
    moves: list[ConfidenceChange] = Field(default_factory=list)
    model: float | None
    """The model's own estimate; None where no model gave one."""
    parts: list[PartConfidence] = Field(default_factory=list)
    """What it is computed from, by part of the question."""


class Refusal(Record):
    """An address or query that a role proposed and code refused, and why."""

    what: str
    why: str
    step: int = 0


class Action(Record):
    """One search or page visit of the journey: what was done, why, and its result."""

    step: int
    """The actions of one round share the step that carried them out."""
    action: str
    """search_<engine>, crawl_url, more, or an `ask` that nobody was there to answer."""
    query_or_url: str
    part: str
    reasoning: str
    by: Actor
    rung: str
    about: str
    """The id of the conflict that it may settle; "" for none."""
    outcome: Outcome = Outcome.OK
    detail: str
    hits: int
    new_facts: int
    page_id: str

    @property
    def is_search(self) -> bool:
        """Whether a search engine was asked."""
        return self.action.startswith("search")


class Proposal(FormerRecord):
    """The next action, checked by code."""

    next_action: str
    """search_<engine>, crawl_url, more (of a page that was read), ask (the person) or send_to_hitl."""
    query_or_url: str
    part: str = ""
    reasoning: str = ""
    by: Actor = "keyless"
    rung: str = ""
    about: str = ""
    """The id of the conflict that it may settle; "" for none."""
    choices: list[str] = Field(default_factory=list)
    """The answers that a question to the person (`ask`) offers; the first is taken where no one is asked."""
    approved: bool = False
    """Whether a person approved it while other actions of its round still wait for them."""
    beside: list[Proposal] = Field(default_factory=list)
    """The other actions of the same round, carried out side by side; each with an empty `beside`."""

    @property
    def actions(self) -> list[Proposal]:
        """All actions of the round, this one first, each without `beside`."""
        return [self.replace(beside=[]), *self.beside]

    @staticmethod
    def join(actions: Sequence[Proposal]) -> Proposal | None:
        """The actions as one round; None for none."""
        return actions[0].replace(beside=list(actions[1:])) if actions else None


class Stall(Record):
    """The run made no progress: why, and the escalation that was chosen."""

    step: int = 0
    rung: Literal["reframe", "narrow", "lead", "hand_over"]
    reason: str


class Note(Record):
    """A person's instruction to the run; the next decision follows it."""

    step: int
    text: str
    kind: Literal["steer", "send_back", "look", "comment"]
    """`look`: words to search for next, to settle the conflict `about`. `comment`: on the sentence or section
    `about` of the newest answer (see `NoteReading`)."""
    about: str = ""
    quoted: str = ""
    """Of a comment the text it is on."""
    private: bool = False
    """Nothing of it goes to search engines or pages, or into what leaves; the model's server gets it."""


class Edit(Record):
    """What a person changed in the run's knowledge, in words ("struck 3 facts of example.org")."""

    step: int
    text: str
    undoes: int = -1
    """The step of the edit that this one undoes; -1 for none."""


def number_step(actions: Sequence[Action], n: int) -> int:
    """How many searches and page visits were made up to the ledger's step `n`: the number of the last one."""
    return sum(action.step <= n for action in actions)


def describe_place(actions: Sequence[Action], n: int) -> str:
    """Where in the journey the ledger's step `n` stands: "after step 12", "before step 1"."""
    return f"after step {number}" if (number := number_step(actions, n)) else "before step 1"
