"""A run and its ledger: settings, limits, status, steps, model calls, what was spent."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from agent.text.urls import is_blocked, is_in_scope
from agent.types.facts import Actor
from agent.types.library import LibraryScope
from agent.types.record import Record
from agent.types.source_filter import SourceFilter


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


STATUS_PHRASES = {
    Status.RUNNING: "at work",
    Status.WAITING: "waiting for a decision",
    Status.REVIEW: "waiting for a review of its answer",
    Status.PAUSED: "paused",
    Status.STOPPED: "stopped",
    Status.DONE: "complete",
    Status.FAILED: "failed",
}
"""How a run stands, for a sentence."""


class Edge(Record):
    """One way from a step of a flow to the next, with the words it is drawn with. `rest`: where the run waits
    first, for a person."""

    start: str
    end: str
    label: str = ""
    rest: str = ""


class Turn(Record):
    """One earlier turn of a conversation: what the person asked, what was answered, and the run that did
    it."""

    user: str
    bot: str = ""
    run_id: str = ""
    answered: bool = True
    """False when what was said in reply is no answer, but asks back or says why there is none."""


class SiteLimits(Record):
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


class CollectLimits(Record):
    """The limits of `collect` (seed 001). `max_depth`: nothing at this depth or deeper is visited, the start
    being 0."""

    max_depth: int = 3
    max_articles: int = 10
    max_links: int = 20
    """Links followed from one listing."""
    max_pages: int = 60
    """Pages asked for in one run, failures included."""
    min_confidence: float = Field(default=0.4, allow_inf_nan=False)
    """A decision below this ends its branch."""
    use_smart_navigation: bool = True
    """False: the plain way, all links of the start pages up front and each taken as an article; for
    comparison."""


class ReplySettings(Record):
    """What a `reply` run works by (seed 002's keys of `ai_response`, without the model's and the download's).
    Limits hold by code."""

    graph_timeout_seconds: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """Seconds from the request to the reply, in all."""
    project_introduction: str = ""
    """Stands in the prompt of every step."""
    enable_verification: bool = False
    gating_prompt: str = ""
    """The four prompts take the place of the task part of `prompts/<role>.md`; empty: what stands there."""
    selection_prompt: str = ""
    answer_prompt: str = ""
    verification_prompt: str = ""
    max_sources: int = Field(default=5, ge=1, le=12)
    max_answer_chars: int = Field(default=1500, ge=40)
    """Characters of the answer, the links not counted."""
    llm_enable_image: bool = False
    llm_image_adapter: Literal["openai", "openai_url"] = "openai"
    """How a picture stands in a request: `openai` sends its bytes as a data URL, `openai_url` its address."""


Cap = Literal["steps", "pages", "calls", "tokens", "cost", "seconds"]
CAP_SETTINGS: dict[Cap, str] = {
    "steps": "max_steps",
    "pages": "max_pages",
    "calls": "max_calls",
    "tokens": "max_tokens",
    "cost": "max_cost_usd",
    "seconds": "max_seconds",
}
"""Each budget of a run with the setting that caps it."""
StopPoint = Literal["step", "conflict", "budget", "review"]


class PauseRequest(Record):
    """Why a run rests of itself and asks: a cap is reached (`used` of `cap`, in the setting's unit), or a
    conflict came up (`conflicts`: ids)."""

    kind: Literal["steps", "pages", "calls", "tokens", "cost", "seconds", "conflict"]
    why: str
    used: float = 0.0
    cap: float = 0.0
    conflicts: list[str] = Field(default_factory=list)
    step: int = 0


ENGINE_NAMES = {"duckduckgo": "DuckDuckGo", "google": "Google"}
"""Search engines as a reader knows them."""


class Settings(Record):
    """What a run was started with. Counts are per run; `max_seconds` is working time in seconds,
    `max_cost_usd` US dollars."""

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
    max_cost_usd: float = Field(default=2.0, allow_inf_nan=False)
    max_seconds: float = Field(default=1800.0, allow_inf_nan=False)
    threshold: float = Field(default=0.90, allow_inf_nan=False)
    """Confidence from which an answered question goes to the person: one voice alone stays below it (see
    agent.evidence.confidence)."""
    until: StopPoint = "review"
    """Where an automatic run comes to its person: with an answer to review; at each new open `conflict`; or
    only when a `budget` is used, however sure it is before. "step" is the same as `mode` "step"; see
    `stops_at`."""
    at_cap: Literal["ask", "report"] = "report"
    """At a cap: rest and ask the person, or write up what was found."""
    allowed_domains: list[str] = Field(default_factory=list)
    blocked_domains: list[str] = Field(default_factory=list)
    """Each with all below it; they go before the allowed ones."""
    since: str = ""
    """Pages published from this day on (ISO 8601); "" for any."""
    before: str = ""
    """Pages published before this day."""
    dated_only: bool = False
    """Leave out pages without a date, too, where a time is asked for."""
    language: str = ""
    """Pages in this language (ISO 639-1)."""
    engines: list[str] = Field(default_factory=list)
    """The search engines that may be asked; empty: all there are."""
    start_urls: list[str] = Field(default_factory=list)
    thread_id: str = ""
    instruction: str = ""
    """How to look and answer (`site`)."""
    site: SiteLimits = Field(default_factory=SiteLimits)
    collect: CollectLimits = Field(default_factory=CollectLimits)
    reply: ReplySettings = Field(default_factory=ReplySettings)
    scope: LibraryScope = Field(default_factory=LibraryScope)
    """Which of the library's sources `chat` and `reply` may answer from; empty: all."""

    @property
    def stop_point(self) -> StopPoint:
        """Where the run comes to its person, whichever of `mode` and `until` says so."""
        return "step" if self.mode == "step" else self.until

    @property
    def source_filter(self) -> SourceFilter:
        """Which sources the run may use."""
        return SourceFilter(
            allowed=self.allowed_domains,
            blocked=self.blocked_domains,
            since=self.since,
            before=self.before,
            dated=self.dated_only,
            language=self.language,
        )

    def allows(self, url: str) -> bool:
        """Does the choice of domains let this address in?"""
        return is_in_scope(url, self.allowed_domains) and not is_blocked(url, self.blocked_domains)

    @property
    def source_descriptions(self) -> list[str]:
        """The choice of sources in words, a phrase each; none when anything goes."""
        return [
            *self.source_filter.descriptions,
            *(
                [f"found with {' and '.join(ENGINE_NAMES.get(name, name) for name in self.engines)}"]
                if self.engines
                else []
            ),
        ]


class Step(Record):
    """One row of the ledger: what was done, what it changed, and where the run goes next."""

    n: int
    name: str
    change: dict[str, Any]
    next: str
    by: Actor = "code"
    at: str = ""
    seconds: float = 0.0
    cpu_ms: float = 0.0


class Run(Record):
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
    imported: str = ""
    """SHA-256 of the bundle it came in; "" for a run of this workbench."""
    forked_from: str = ""
    """The run whose steps 0 to `forked_at` it shares; "" for a run that began with its question."""
    forked_at: int = -1


class Usage(Record):
    """What a run has spent. `cost_usd` is None when a price is unknown."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class ModelCall(Record):
    """One call of a model, readable afterwards: the whole prompt, the raw reply, what it cost and how it
    ended."""

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
    """How the reply ended: "stop", "length" (cut off), "refusal", "content_filter"; empty when no reply
    came."""
    cost_usd: float | None = None
    seconds: float = 0.0
    at: str = ""
