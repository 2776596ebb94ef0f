"""What a run knows and decides: facts, leads, conflicts, confidence, and the actions and words that led
there."""

from __future__ import annotations

from math import isfinite
from typing import Literal

from pydantic import Field, field_validator

from agent.types.record import Outcome, PageOrigin, Record

FactOrigin = Literal["page", "image", "person", "prior_turn"]
PersonMark = Literal["none", "pinned", "struck"]
Actor = Literal["model", "keyless", "person", "code"]


class Fact(Record):
    """A statement with the verbatim quote it stands on. Three independent marks: `verified`, `disputed`,
    `decision`."""

    id: str
    statement: str
    quote: str
    page_id: str = ""
    url: str = ""
    title: str = ""
    start: int = -1
    end: int = -1
    sha256: str = ""
    fetched_at: str = ""
    published_at: str = ""
    subject: str = ""
    attribute: str = ""
    trust: float = 0.5
    relevance: float = 0.0
    part: str = ""
    """Which part of the question it bears on; empty for the whole."""
    origin: FactOrigin = "page"
    given: PageOrigin = "fetched"
    """How its page came: a person may have given the text in place of what could not be read."""
    verified: bool = False
    disputed: bool = False
    decision: PersonMark = "none"
    former: str = ""
    """The statement as it was before a person first corrected it; empty when nobody did."""
    struck_with: str = ""
    """The source (a page or a site) a person struck as a whole; empty when they struck this fact, or none."""
    step: int = 0
    by: Actor = "keyless"

    @property
    def is_own_knowledge(self) -> bool:
        """Is it a person's own knowledge: stated by them, and on no page?"""
        return self.origin == "person" and not self.url

    @property
    def is_active(self) -> bool:
        """Is it heard at all: not struck, found in its page, from a source that is trusted at least a little?
        What is pinned is."""
        return self.decision == "pinned" or (self.decision != "struck" and self.verified and self.trust > 0)

    @property
    def rests_on_person(self) -> bool:
        """Does it rest on a person's word alone: own knowledge, or a correction that its quote does not
        carry? That makes no page surer."""
        return self.is_own_knowledge or (bool(self.former) and not self.verified)

    @property
    def can_support(self) -> bool:
        """May it support a plain claim of the answer?"""
        return self.is_active and (self.decision == "pinned" or not self.disputed)


class Lead(Record):
    """Something not relevant now that could lead somewhere: a URL found on a page or in results, or a name to
    search for."""

    id: str
    kind: Literal["url", "query"]
    value: str
    text: str = ""
    """The anchor text, title or snippet that speaks for it."""
    why: str = ""
    score: float = 0.0
    prior: float = 0.0
    """What the place it was found at says for it: its rank among results, the bearing of the page or sentence
    it stands in."""
    found_on: str = ""
    step: int = 0
    status: Literal["open", "taken", "dropped"] = "open"


class PageRef(Record):
    """A page in a run: which stored text, how the fetch ended, where its address was found and at which
    step."""

    url: str
    page_id: str = ""
    final_url: str = ""
    title: str = ""
    outcome: Outcome = Outcome.OK
    detail: str = ""
    found_on: str = ""
    """The page or search ("search: …") its address was found on, or "person"."""
    step: int = 0
    facts: int = 0
    trust: float = -1.0
    """How far its signs alone let it be trusted, before a person's word; below 0 when nobody looked."""
    trust_why: list[str] = Field(default_factory=list)
    origin: PageOrigin = "fetched"
    waiting: bool = False
    """A person gave it, and it was not weighed yet."""
    links: list[str] = Field(default_factory=list)
    """Those of its links that point at pages the run knows of, for the graph."""


class TrustRating(Record):
    """A person's word on how far a domain is trusted: a share (0 not at all, 1 fully), why, and since
    when."""

    domain: str
    value: float = Field(allow_inf_nan=False)
    reason: str = ""
    at: str = ""


class ConflictSide(Record):
    """One side of a conflict: what is said, by which facts, from how many independent sites."""

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
    found_by: Literal["code", "model"] = "code"
    step: int = 0
    asks: bool = False
    """Is it about the very thing the question asks?"""
    ruling: Literal["", "take", "both", "neither", "open"] = ""
    """What a person ruled: `chosen` stands, both values hold, neither does, or it is to stay open whatever
    the count says."""
    settled_by: Literal["", "person", "evidence"] = ""

    @property
    def topic(self) -> str:
        """What it is about, in words."""
        return f"{self.subject or 'the same statement'}{f' ({self.attribute})' if self.attribute else ''}"

    @property
    def status_text(self) -> str:
        """How it stands, in words: open, or what settled it, how, and why."""
        if self.status == "open":
            return "open"
        by = {"person": " by a person", "evidence": " by the count"}.get(self.settled_by, "")
        held = (
            f" for “{self.chosen}”"
            if self.chosen
            else ": neither holds"
            if self.ruling == "neither"
            else ": both may hold"
        )
        why = (
            f"because “{self.reason}”"
            if self.settled_by == "person" and self.ruling
            else self.reason or "no reason given"
        )
        return f"settled{by}{held} ({why})"


class ConfidenceChange(Record):
    """One reason why the confidence moved, e.g. +0.14: a second, independent site gives the same date."""

    delta: float = Field(allow_inf_nan=False)
    reason: str


_MAX_COUNT = 1e6
BASE_INPUTS = {
    "coverage": (0.0, 1.0),
    "left": (0.0, 1.0),
    "trust": (0.0, 1.0),
    "agreement": (0.0, 1.0),
    "conflicts": (0.0, 1.0),
    "facts": (0.0, _MAX_COUNT),
    "voices": (0.0, _MAX_COUNT),
    "agreeing": (0.0, _MAX_COUNT),
}
"""What is always counted for a confidence, each with its range."""
ANSWER_INPUTS = {
    "told": (0.0, _MAX_COUNT),
    "bearing": (0.0, _MAX_COUNT),
    "opens": (0.0, 1.0),
    "missing": (0.0, 2000.0),
    "joined": (-1.0, 1.0),
    "linked": (0.0, 1.0),
    "chain": (0.0, 1.0),
    "sharp": (0.0, 1.0),
    "closed": (0.0, 1.0),
    "pinned": (0.0, 1.0),
}
"""The figures that a footing gives: all of them or none."""
DEFAULTED_INPUTS = ("opens", "linked", "closed")
"""Those that were not counted at first: nothing spoke for them then."""


class Confidence(Record):
    """The confidence after a step, with its reasons. `model` is the model's own figure; it can only lower the
    value."""

    step: int
    value: float = Field(allow_inf_nan=False)
    moves: list[ConfidenceChange] = Field(default_factory=list)
    model: float | None = None
    factors: dict[str, float] = Field(default_factory=dict)
    """What the value was made of: coverage, alone, support, trust, agreement (shares), conflicts (taken
    off)."""
    basis: dict[str, float] = Field(default_factory=dict)
    """What was counted for it: the formula's inputs, so that it can be computed again (see
    agent.evidence.confidence). Empty: not known."""

    @field_validator("basis")
    @classmethod
    def _check_basis(cls, basis: dict[str, float]) -> dict[str, float]:
        """Raises ValueError when the formula could not be computed from it: a figure that is missing,
        unknown, or out of its range."""
        if not basis:
            return basis
        whole = {**dict.fromkeys(DEFAULTED_INPUTS, 0.0), **basis} if "told" in basis else basis
        ranges = BASE_INPUTS | (ANSWER_INPUTS if "told" in basis else {})
        if set(whole) != set(ranges):
            raise ValueError(
                f"the counts of a confidence are not whole: {', '.join(sorted(set(whole) ^ set(ranges)))[:200]}"
            )
        if wrong := [name for name, (least, most) in ranges.items() if not least <= whole[name] <= most]:
            raise ValueError(f"a count of a confidence is out of its range: {wrong[0]}")
        return whole

    @field_validator("factors")
    @classmethod
    def _check_factors(cls, factors: dict[str, float]) -> dict[str, float]:
        if not all(map(isfinite, factors.values())):
            raise ValueError("a factor of a confidence is no number")
        return factors


class Refusal(Record):
    """An address or query that a role proposed and code would not follow, and why."""

    what: str
    why: str
    step: int = 0


class Action(Record):
    """One tool action of the journey: what was done, why, and what it brought."""

    step: int
    action: Literal["search_duckduckgo", "search_google", "crawl_url"]
    query_or_url: str
    reasoning: str = ""
    by: Actor = "keyless"
    rung: str = ""
    outcome: Outcome = Outcome.OK
    detail: str = ""
    hits: int = 0
    new_facts: int = 0
    page_id: str = ""


class Proposal(Record):
    """A decision that passed the checks of code: what would be done next and why. `trouble` says why the
    model did not speak."""

    next_action: Literal["search_duckduckgo", "search_google", "crawl_url", "send_to_hitl"]
    query_or_url: str = ""
    reasoning: str = ""
    by: Actor = "keyless"
    trouble: str = ""
    rung: str = ""


class Stall(Record):
    """The run got stuck: why, and the rung of the ladder that was taken (reframe, narrow, lead,
    hand_over)."""

    step: int = 0
    rung: Literal["reframe", "narrow", "lead", "hand_over"]
    reason: str


class Note(Record):
    """A person's word to the run: a constraint that the next decision obeys."""

    step: int
    text: str
    kind: Literal["steer", "send_back", "look"] = "steer"
    """`look`: words to search for next, so that the conflict it is `about` may be settled."""
    about: str = ""


class Edit(Record):
    """What a person did to what the run knows, in words ("struck 3 facts of example.org"), and by which step.

    `undoes` is the step of the edit that this one took back; -1 for what is no undoing.
    """

    step: int
    text: str
    undoes: int = -1
