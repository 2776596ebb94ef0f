"""A run and its ledger: settings, limits, status, steps, model calls, usage."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from agent.types.engines import ENGINE_NAMES
from agent.types.library import LibraryScope
from agent.types.record import Actor, Record
from agent.types.source_filter import SourceFilter


class Status(StrEnum):
    """The state of a run. Only a `running` run costs anything; all others wait for a person or are over."""

    RUNNING = "running"
    WAITING = "waiting"
    """The next step waits for a person's approval."""
    REVIEW = "review"
    """An answer waits to be accepted or sent back."""
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
"""The status for a sentence."""


class Edge(Record):
    """A way from one step of a flow to the next."""

    start: str
    end: str
    label: str = ""
    """Its label in the picture of the flow."""
    rest: str = ""
    """Where the run first waits for a person; "" when it does not."""


class Turn(Record):
    """An earlier turn of a conversation: the question, the answer, and the run that gave it."""

    user: str
    bot: str
    run_id: str
    answered: bool
    """False when the reply asks back or says why there is no answer."""


class SiteLimits(Record, use_attribute_docstrings=True):
    """The limits of `site`. Character limits apply to prompts; the full text is stored."""

    max_iterations: int = 5
    """Rounds of reading at most; then the answer is forced."""
    max_pages: int = 100
    """Pages read at most."""
    content_max_chars: int = 10_000
    """Characters of a page's text in a prompt."""
    links_max_chars: int = 500
    """Characters of one address in a prompt."""
    url_truncation_buffer: int = 10
    """Characters kept free for the mark of a cut address."""
    max_links_per_page: int = 300
    """Links of a page in a prompt."""
    max_urls_per_iteration: int = 5
    """Pages chosen in one round."""
    crawl_ahead: int = 20
    """Pages of a round, with those read ahead; the chosen ones, then the next of the crawl's order."""
    fresh_days: int = 1
    """Days a stored page is used unasked; after that it is fetched if it changed."""


class CollectLimits(Record, use_attribute_docstrings=True):
    """The limits of `collect`."""

    max_depth: int = 3
    """Depth that is not read; a start page has depth 0."""
    max_articles: int = 10
    """Articles and threads at most."""
    max_links: int = 20
    """Links followed from one listing at most."""
    max_pages: int = 60
    """Page requests at most; failures count."""
    min_confidence: float = Field(default=0.4, allow_inf_nan=False)
    """Least confidence of a decision; a lower one ends its branch."""
    use_smart_navigation: bool = True
    """Decide at each page; off: follow all links of the start pages, take each as an article."""


class ReplySettings(Record):
    """The settings of a `reply` run: the keys of `ai_response` except those of model and download."""

    graph_timeout_seconds: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """Seconds from the request to the reply."""
    project_introduction: str = ""
    """A description of the project, shown in every prompt."""
    enable_verification: bool = False
    """Have the model verify the draft once more."""
    gating_prompt: str = ""
    """Replaces the task part of `prompts/gate.md`; empty keeps it, as for the three prompts below."""
    selection_prompt: str = ""
    """Replaces the task part of `prompts/selection.md`."""
    answer_prompt: str = ""
    """Replaces the task part of `prompts/writing.md`."""
    verification_prompt: str = ""
    """Replaces the task part of `prompts/verification.md`."""
    max_sources: int = Field(default=5, ge=1, le=12)
    """Sources loaded for a reply."""
    max_answer_chars: int = Field(default=1500, ge=40)
    """Characters of the answer without its links."""
    include_read_pages: bool = False
    """Answer from the pages that runs read and documents given to runs, too, not only from the knowledge base
    (`kb:`, what was added to the library) and the team's topics (`team:`)."""
    store_conversations: bool = False
    """Store each conversation, its steps and its model calls for audit; off: they are held in memory while
    the reply is made, and written nowhere."""
    llm_enable_image: bool = False
    """Show the pictures of a conversation to the model."""
    llm_image_adapter: Literal["openai", "openai_url"] = "openai"
    """How a picture is sent to the model: `openai` as a data URL, `openai_url` as its address."""


class CheckTextSettings(Record, use_attribute_docstrings=True):
    """What is checked, and the limits of `check_text`."""

    page_id: str = ""
    """The stored text; "" where the question is its address, or the text itself."""
    max_pages: int = 60
    """Sources fetched at most."""
    search_missing: bool = False
    """Search for claims without a source; they are sent to the search engine."""


Cap = Literal["steps", "pages", "calls", "tokens", "cost", "seconds"]
CAP_SETTINGS: dict[Cap, str] = {
    "steps": "max_steps",
    "pages": "max_pages",
    "calls": "max_calls",
    "tokens": "max_tokens",
    "cost": "max_cost_usd",
    "seconds": "max_seconds",
}
"""Each budget of a run and the setting that limits it."""
StopPoint = Literal["step", "conflict", "budget", "review"]


class PauseRequest(Record):
    """Why a run pauses and asks a person: a budget or the person's quota of the day is used up, new conflicts
    were found, a note leaves out most of the facts, another model or server is set up than it had, or its
    recorded replies end."""

    kind: Literal[
        "steps",
        "pages",
        "calls",
        "tokens",
        "cost",
        "seconds",
        "quota",
        "conflict",
        "exclusion",
        "model",
        "recorded",
    ]
    why: str
    used: float = 0.0
    cap: float = 0.0
    """`used` of `cap`, in the unit of the setting."""
    conflicts: list[str] = Field(default_factory=list)
    """Ids of the new conflicts."""
    step: int = 0


class Settings(SourceFilter):
    """The settings of a run. Counts are per run."""

    flow: str = "research"
    """How the question is answered: research, site, collect, reply, chat or check_text; or verify_again."""
    mode: Literal["auto", "step"] = "auto"
    """Without a person (`auto`), or with each decision approved (`step`)."""
    world: str = "live"
    """Where to search and read: `live`, `demo`, or a folder of documents."""
    model: str = "auto"
    """A model's name, "auto" for the configured model, "keyless" for none, or "recorded" for the replies that
    were recorded for the demo's examples."""
    fast_model: str = ""
    """A cheaper model for simple decisions; empty: the model."""
    served_by: str = ""
    """A hash of the model and server that `model` stands for, from the start or the first model call on; a
    run rests where they are others. Empty: none, or not known yet."""
    max_steps: int = 12
    """Searches and page visits. A person's steps do not count."""
    max_pages: int = 12
    """Pages read."""
    max_calls: int = 60
    """Model calls."""
    max_tokens: int = 400_000
    """Model tokens, read and written."""
    max_cost_usd: float = Field(default=2.0, allow_inf_nan=False)
    """US dollars."""
    max_seconds: float = Field(default=1800.0, allow_inf_nan=False)
    """Working time in seconds."""
    threshold: float = Field(default=0.85, allow_inf_nan=False)
    """The confidence from which a part needs no further source. A part that one source answers stays below
    0.85: it earns one further round when the analyzer named what may bring a second."""
    until: StopPoint = "review"
    """When an automatic run stops for its person: with an answer to `review`, at each new open `conflict`, or
    only when a `budget` is used up. "step" equals `mode` "step"; see `stop_point`."""
    at_cap: Literal["ask", "report"] = "report"
    """When a budget is used up: ask the person, or write the report."""
    report: Literal["brief", "standard", "full"] = "standard"
    """How long the answer of a research run is: a lead and what backs it, a standard answer, or a full
    report. A person's note may ask for another."""
    engines: list[str] = Field(default_factory=list)
    """The search engines to use; empty: all that are available."""
    start_urls: list[str] = Field(default_factory=list)
    """Pages to start from (`site`, `collect`)."""
    thread_id: str = ""
    """The first run of the conversation; empty: this run."""
    instruction: str = ""
    """Instructions for reading and answering (`site`, `collect`)."""
    site: SiteLimits = Field(default_factory=SiteLimits)
    collect: CollectLimits = Field(default_factory=CollectLimits)
    reply: ReplySettings = Field(default_factory=ReplySettings)
    check_text: CheckTextSettings = Field(default_factory=CheckTextSettings)
    verifies: str = Field(default="")
    """The run whose newest answer `verify_again` verifies: whether its quotes still stand on their pages."""
    conversational: bool = True
    """In `chat` a turn knows those before it, and a refused draft is searched for again; false: one pass."""
    chat_one_passage: bool = True
    """In `chat` one passage, or two together, that the grader marks as the whole answer are enough."""
    scope: LibraryScope = Field(default_factory=LibraryScope)
    """The library sources that `chat` and `reply` may use; empty: all."""

    @property
    def stop_point(self) -> StopPoint:
        """When the run stops for its person, by `mode` and `until`."""
        return "step" if self.mode == "step" else self.until

    @property
    def source_descriptions(self) -> list[str]:
        """The source filter and the engines in words, a phrase each; empty when nothing is limited."""
        chosen = self.engines if self.world == "live" else []  # any other world has one index of its own
        engines = " and ".join(ENGINE_NAMES.get(name, name) for name in chosen)
        return [*self.filter_phrases, *([f"found with {engines}"] if engines else [])]


class Step(Record):
    """One row of the ledger: the step's name, its change, and the next step."""

    n: int
    name: str
    change: dict[str, Any]
    next: str
    by: Actor
    at: str = ""
    seconds: float = 0.0
    cpu_ms: float = 0.0


class Run(Record):
    """A row of the runs table: enough for a list; the state itself is the fold of the steps."""

    id: str
    question: str
    status: Status
    settings: Settings
    steps: int
    verdict: str
    confidence: float | None
    created_at: str
    updated_at: str
    error: str
    imported: str
    """SHA-256 of the bundle it was imported from; "" for a run of this workbench."""
    forked_from: str
    """The run whose steps 0 to `forked_at` it shares; "" when it is no fork."""
    forked_at: int
    schedule_id: str = Field(default="")
    """The schedule that started it; "" for none."""

    @property
    def is_accepted(self) -> bool:
        """Whether a person accepted its answer; runs of other flows are done when they have spoken."""
        return (
            self.status == "done"
            and self.settings.flow in ("research", "site", "collect")
            and bool(self.verdict)
        )


class Usage(Record):
    """What a run has used. `cost_usd` is None when a price is unknown."""

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class ModelCall(Record):
    """One model call: the whole prompt, the raw reply, its cost and how it ended."""

    key: str
    """SHA-256 of run, step, attempt and prompt, so that the same call is paid once."""
    run_id: str
    step: int
    role: str
    model: str
    attempt: int
    prompt: list[dict[str, str]] = Field(default_factory=list)
    reply: str
    error: str
    prompt_tokens: int
    completion_tokens: int
    estimated: bool
    """True when the server reported no token counts; they are then estimated by the length of the texts."""
    finish: str
    """Why the reply ended: "stop", "length" (cut off), "refusal", "content_filter"; "" when there is none."""
    cost_usd: float | None
    seconds: float
    at: str
    is_spent: bool = False
    """Whether the run rests because of its reply: the step, taken again, asks anew."""
