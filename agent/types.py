"""The nouns that everything passes around. They hold data and know nothing: no store, no web, no model, no clock.

What a step changes is JSON made from these; what the screens draw are these read back. A time is an ISO 8601 string in UTC
("2026-11-21T09:30:00Z"); an offset counts characters of a page's text; a share or score lies between 0 and 1.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Noun(BaseModel):
    """A value: compared by its fields, refused when a field is unknown."""

    model_config = ConfigDict(extra="forbid")


class Outcome(StrEnum):
    """How one look at the world ended. `empty` means it answered and had nothing; `blocked` means it would not answer."""

    OK = "ok"
    EMPTY = "empty"
    RATE_LIMITED = "rate_limited"
    BLOCKED = "blocked"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    REFUSED = "refused"
    """Refused by our own rules: robots.txt, a non-public address, a redirect too many, a domain out of scope."""
    ERROR = "error"


# --- what the web gives -------------------------------------------------------------------------------------------------


class Link(Noun):
    """One `<a href>` of a page, absolute, with its anchor text."""

    url: str
    text: str = ""


class Heading(Noun):
    """A heading and where it starts in the page's text."""

    start: int
    level: int
    text: str


class Table(Noun):
    """A table of a page: its rows stand in the text as lines of cells joined by " | ", from `start` to `end`."""

    start: int
    end: int
    caption: str = ""
    rows: list[list[str]] = Field(default_factory=list)


class Page(Noun):
    """What one fetch gave: the text as read, or why there is none. `url` is the one asked for, `final_url` where it ended."""

    url: str
    final_url: str
    outcome: Outcome
    detail: str = ""
    """A sentence for a person: what went wrong and what can be done."""
    status: int | None = None
    redirects: list[str] = Field(default_factory=list)
    content_type: str = ""
    title: str = ""
    author: str = ""
    published_at: str = ""
    language: str = ""
    text: str = ""
    headings: list[Heading] = Field(default_factory=list)
    tables: list[Table] = Field(default_factory=list)
    links: list[Link] = Field(default_factory=list)
    raw: bytes = Field(default=b"", repr=False)
    """The body as it came (decoded from its transfer encoding), for the store; never executed, never shown."""
    fetched_at: str = ""
    sha256: str = ""
    """SHA-256 of `text` in UTF-8, hex: what a quote is checked against."""


class Hit(Noun):
    """One search result. The snippet is the engine's, not a stored page: nothing may be quoted from it."""

    url: str
    title: str = ""
    snippet: str = ""
    rank: int = 0
    engine: str = ""


class SearchResult(Noun):
    """What one search gave. `retry_after_s` is how long the engine asked us to wait, in seconds."""

    engine: str
    query: str
    outcome: Outcome
    hits: list[Hit] = Field(default_factory=list)
    detail: str = ""
    retry_after_s: float | None = None


class Passage(Noun):
    """A window of a page's text with the headings it stands under. `score` is its bearing on the question, best = 1."""

    id: str
    page_id: str
    url: str
    title: str = ""
    heading: str = ""
    text: str
    start: int
    end: int
    score: float = 0.0
    rows: bool = False
    """True when the passage is table rows; the header row stands in `heading`."""


# --- what a run knows ---------------------------------------------------------------------------------------------------

Origin = Literal["page", "image", "person", "prior_turn"]
Mark = Literal["none", "pinned", "struck"]
Speaker = Literal["model", "keyless", "person", "code"]


class Fact(Noun):
    """A statement with the verbatim quote it stands on. Three independent marks: `verified`, `disputed`, `decision`."""

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
    origin: Origin = "page"
    verified: bool = False
    disputed: bool = False
    decision: Mark = "none"
    step: int = 0
    by: Speaker = "keyless"

    @property
    def usable(self) -> bool:
        """May it support a plain claim of the answer?"""
        return self.decision != "struck" and (self.decision == "pinned" or (self.verified and not self.disputed))


class Lead(Noun):
    """Something not relevant now that could lead somewhere: a URL found on a page or in results, or a name to search for."""

    id: str
    kind: Literal["url", "query"]
    value: str
    text: str = ""
    """The anchor text, title or snippet that speaks for it."""
    why: str = ""
    score: float = 0.0
    prior: float = 0.0
    """What the place it was found at says for it: its rank among results, the bearing of the page or sentence it stands in."""
    found_on: str = ""
    step: int = 0
    status: Literal["open", "taken", "dropped"] = "open"


class PageRef(Noun):
    """A page in a run: which stored text, how the fetch ended, where its address was found and at which step."""

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
    links: list[str] = Field(default_factory=list)
    """Those of its links that point at pages the run knows of, for the graph."""


class Value(Noun):
    """One side of a conflict: what is said, by which facts, from how many independent sites."""

    text: str
    fact_ids: list[str]
    sites: list[str]


class Conflict(Noun):
    """Facts about the same thing that cannot all be true."""

    id: str
    subject: str
    attribute: str
    kind: Literal["number", "date", "name", "polarity"]
    values: list[Value]
    status: Literal["open", "settled"] = "open"
    chosen: str = ""
    reason: str = ""
    found_by: Literal["code", "model"] = "code"
    step: int = 0


class Move(Noun):
    """One reason why the confidence moved, e.g. +0.14: a second, independent site gives the same date."""

    delta: float
    reason: str


class Confidence(Noun):
    """The confidence after a step, with its reasons. `model` is the model's own figure; it can only lower the value."""

    step: int
    value: float
    moves: list[Move] = Field(default_factory=list)
    model: float | None = None
    factors: dict[str, float] = Field(default_factory=dict)
    """What the value was made of: coverage, support, trust, agreement (shares), conflicts (taken off)."""


class Refusal(Noun):
    """An address or query that a role proposed and code would not follow, and why."""

    what: str
    why: str


class Action(Noun):
    """One tool action of the journey: what was done, why, and what it brought."""

    step: int
    action: Literal["search_duckduckgo", "search_google", "crawl_url"]
    query_or_url: str
    reasoning: str = ""
    by: Speaker = "keyless"
    rung: str = ""
    outcome: Outcome = Outcome.OK
    detail: str = ""
    hits: int = 0
    new_facts: int = 0
    page_id: str = ""


class Proposal(Noun):
    """A decision that passed the checks of code: what would be done next and why. `trouble` says why the model did not speak."""

    next_action: Literal["search_duckduckgo", "search_google", "crawl_url", "send_to_hitl"]
    query_or_url: str = ""
    reasoning: str = ""
    by: Speaker = "keyless"
    trouble: str = ""
    rung: str = ""


class Blockage(Noun):
    """The run got stuck: why, and the rung of the ladder that was taken (reframe, narrow, lead, hand_over)."""

    step: int = 0
    rung: Literal["reframe", "narrow", "lead", "hand_over"]
    reason: str


class Note(Noun):
    """A person's word to the run: a constraint that the next decision obeys."""

    step: int
    text: str
    kind: Literal["steer", "send_back"] = "steer"


# --- what the run says --------------------------------------------------------------------------------------------------

Verdict = Literal["answered", "partial", "no_evidence"]
Reason = Literal["none", "off_topic", "not_covered", "needs_clarification", "blocked", "budget", "silent"]


class Sentence(Noun):
    """A sentence of an answer and the facts it cites. `backed` is set by code, never by the one who wrote it."""

    text: str
    fact_ids: list[str] = Field(default_factory=list)
    backed: bool = False


class Source(Noun):
    """A numbered source of an answer, with the quotes it is cited for (`fact_ids` in the order of `quotes`)."""

    n: int
    url: str
    title: str = ""
    quotes: list[str] = Field(default_factory=list)
    fact_ids: list[str] = Field(default_factory=list)
    page_id: str = ""
    sha256: str = ""
    fetched_at: str = ""


class Statements(Noun):
    """How an answer's statements fared: backed by a page, unsupported, and citations dropped because they resolve to nothing."""

    backed: int = 0
    unsupported: int = 0
    dropped: int = 0


class Answer(Noun):
    """What a person reviews. The first is number 1; each send-back makes the next."""

    n: int
    verdict: Verdict
    reason: Reason = "none"
    sentences: list[Sentence] = Field(default_factory=list)
    certainty: str = ""
    missing: str = ""
    journey: str = ""
    sources: list[Source] = Field(default_factory=list)
    statements: Statements = Field(default_factory=Statements)
    confidence: float = 0.0
    by: Speaker = "keyless"
    why_stopped: str = ""
    conflicts: list[str] = Field(default_factory=list)
    """Ids of the open conflicts that the answer names."""
    step: int = 0

    @property
    def text(self) -> str:
        """The sentences alone, without citation marks."""
        return " ".join(s.text for s in self.sentences)


# --- a run and its ledger -----------------------------------------------------------------------------------------------


class Status(StrEnum):
    """Where a run stands. A resting run (all but `running`) costs nothing until a person speaks."""

    RUNNING = "running"
    WAITING = "waiting"
    """A decision waits for a person's approval (step by step)."""
    REVIEW = "review"
    """There is an answer to accept or send back."""
    PAUSED = "paused"
    STOPPED = "stopped"
    DONE = "done"
    FAILED = "failed"


class Turn(Noun):
    """One earlier turn of a conversation: what the person asked, what was answered, and the run that did it."""

    user: str
    bot: str = ""
    run_id: str = ""


class SiteLimits(Noun):
    """The limits of `site` (seed 000). Character limits are windows of a prompt; the full text is stored."""

    max_iterations: int = 5
    """Explorations of one question before the answer is forced."""
    max_pages: int = 100
    content_max_chars: int = 10_000
    links_max_chars: int = 500
    """Characters of one address in a prompt."""
    url_truncation_buffer: int = 10
    """Characters kept free for the mark of a shortened address."""
    max_links_per_page: int = 300
    max_urls_per_iteration: int = 5


class CollectLimits(Noun):
    """The limits of `collect` (seed 001). `max_depth`: nothing at this depth or deeper is visited, the start being 0."""

    max_depth: int = 3
    max_articles: int = 10
    max_links: int = 20
    """Links followed from one listing."""
    use_smart_navigation: bool = True


class Settings(Noun):
    """What a run was started with. Counts are per run; `max_seconds` is working time in seconds, `max_cost_usd` US dollars."""

    flow: str = "research"
    mode: Literal["auto", "step"] = "auto"
    world: str = "live"
    model: str = "auto"
    """A model's name, "keyless", or "auto" for the configured one (keyless when none is)."""
    fast_model: str = ""
    max_steps: int = 12
    """Tool actions: searches and crawls. A person's steps are free."""
    max_pages: int = 12
    max_calls: int = 60
    max_tokens: int = 400_000
    max_cost_usd: float = 2.0
    max_seconds: float = 1800.0
    threshold: float = 0.85
    """Confidence from which an answered question goes to the person."""
    allowed_domains: list[str] = Field(default_factory=list)
    start_urls: list[str] = Field(default_factory=list)
    thread_id: str = ""
    instruction: str = ""
    """How to look and answer (`site`)."""
    site: SiteLimits = Field(default_factory=SiteLimits)
    collect: CollectLimits = Field(default_factory=CollectLimits)


class Step(Noun):
    """One row of the ledger: what was done, what it changed, and where the run goes next."""

    n: int
    name: str
    change: dict[str, Any]
    next: str
    by: Speaker = "code"
    at: str = ""
    seconds: float = 0.0
    cpu_ms: float = 0.0


class Run(Noun):
    """A row of the runs table: enough for a list, never the state itself (that is the fold of the steps)."""

    id: str
    question: str
    status: Status
    settings: Settings
    steps: int = 0
    verdict: str = ""
    confidence: float | None = None
    created_at: str = ""
    updated_at: str = ""
    error: str = ""


class Usage(Noun):
    """What a run has spent. `cost_usd` is None when a price is unknown."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class Call(Noun):
    """One call of a model, readable afterwards: the whole prompt, the raw reply, what it cost and how it ended."""

    key: str
    """SHA-256 of run, step, attempt and prompt: the same call is never paid for twice."""
    run_id: str
    step: int
    role: str
    model: str
    attempt: int = 1
    prompt: list[dict[str, str]] = Field(default_factory=list)
    reply: str = ""
    error: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    """True when the server told no token counts and they were taken as characters / 4."""
    finish: str = ""
    """How the reply ended: "stop", "length" (cut off), "refusal", "content_filter"; empty when no reply came."""
    cost_usd: float | None = None
    seconds: float = 0.0
    at: str = ""
