"""What a research run knows: the state that its steps change. Each field says how a change reaches it (see
agent.engine.state)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from agent.engine.state import State, append, merge_dict, upsert, upsert_by_step
from agent.types import (
    Action,
    Answer,
    Confidence,
    Conflict,
    Edit,
    Fact,
    Lead,
    Note,
    PageRef,
    PauseRequest,
    Proposal,
    Record,
    Refusal,
    SearchHit,
    Settings,
    Stall,
    TrustRating,
    Turn,
)


class Observation(Record):
    """What a tool brought and nobody has analysed yet: a stored page, or search results."""

    source: str
    """The page's address, or "search: …"."""
    page_id: str = ""
    outcome: str = "ok"
    hits: list[SearchHit] = Field(default_factory=list)


class RetryRequest(Record):
    """A search or an address that a person asked to try again, at this step of theirs."""

    step: int
    action: Literal["search_duckduckgo", "search_google", "crawl_url"]
    query_or_url: str


class RunState(State):
    """The state of a research run."""

    question: str = ""
    settings: Settings = Field(default_factory=Settings)
    history: list[Turn] = Field(default_factory=list)
    """The earlier turns of the conversation, oldest first."""
    notes: Annotated[list[Note], append] = Field(default_factory=list)
    actions: Annotated[list[Action], upsert_by_step] = Field(default_factory=list)
    facts: Annotated[dict[str, Fact], upsert] = Field(default_factory=dict)
    leads: Annotated[dict[str, Lead], upsert] = Field(default_factory=dict)
    pages: Annotated[dict[str, PageRef], upsert] = Field(default_factory=dict)
    trusts: Annotated[dict[str, TrustRating], merge_dict] = Field(default_factory=dict)
    """A person's word in this run on how far a domain is trusted, by domain; a value below 0: as its signs
    say."""
    conflicts: Annotated[dict[str, Conflict], upsert] = Field(default_factory=dict)
    confidence: Annotated[list[Confidence], append] = Field(default_factory=list)
    refusals: Annotated[list[Refusal], append] = Field(default_factory=list)
    blockages: Annotated[list[Stall], append] = Field(default_factory=list)
    answers: Annotated[list[Answer], append] = Field(default_factory=list)
    edits: Annotated[list[Edit], append] = Field(default_factory=list)
    """What a person changed in the facts and conflicts, oldest first."""
    struck_sources: list[str] = Field(default_factory=list)
    """The sites and pages a person struck: what is read from them later is struck, too."""
    again: Annotated[list[RetryRequest], append] = Field(default_factory=list)
    rewriting: int = -1
    """The step at which a person gave or asked for a page after the answer was written: it is read, and the
    answer written again."""
    pending: Proposal | None = None
    """The decision that waits for a person, or runs next."""
    looking: Observation | None = None
    report: dict[str, Any] | None = None
    """The analyzer's last report: its six fields, and `by` and `trouble`."""
    cooling: dict[str, str] = Field(default_factory=dict)
    """Engines that asked us to wait: name -> until when (ISO 8601)."""
    why_stopped: str = ""
    stop_reason: str = ""
    """"budget", "blocked", "enough", "asked" or "hand_over"."""
    control: str = ""
    """The last word of a person about the run's going: paused, resumed, stopped, accepted, forked."""
    halt: PauseRequest | None = None
    """Why it rests of itself and asks; None once a person has answered."""
    met: Annotated[list[str], append] = Field(default_factory=list)
    """Ids of the conflicts it has come to its person with."""
    forked_at: int = -1
    """The step with which it went on from another run's: budgets count from there on."""

    @property
    def standalone_question(self) -> str:
        """The question as the conversation made it whole; "" when it opens one, or stands as it was typed."""
        asked = str(getattr(self, "asked", ""))
        return asked if self.history and asked != self.question else ""

    @property
    def current_confidence(self) -> float:
        """The confidence as it stands, 0 before anything was read."""
        return self.confidence[-1].value if self.confidence else 0.0

    @property
    def answer(self) -> Answer | None:
        """The newest answer."""
        return self.answers[-1] if self.answers else None

    @property
    def edits_since_answer(self) -> list[Edit]:
        """A person's edits since the last answer was written: what the next one is written anew for."""
        since = self.answers[-1].step if self.answers else -1
        return [edit for edit in self.edits if edit.step > since]

    @property
    def needs_rewrite(self) -> bool:
        """Is the answer to be written again as soon as what a person gave is weighed? Then nothing is
        searched for beside."""
        return bool(self.answers) and self.rewriting >= self.answers[-1].step

    @property
    def actions_this_round(self) -> list[Action]:
        """The tool actions since the last answer, or since it was forked (all of them before that): what the
        step budget counts."""
        since = max(self.answers[-1].step if self.answers else -1, self.forked_at)
        return [action for action in self.actions if action.step > since]

    @property
    def pages_read_count(self) -> int:
        """How many pages were read."""
        return sum(1 for page in self.pages.values() if page.page_id)
