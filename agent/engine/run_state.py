"""The state of a run: one shared part for all flows, and in `own` the record of what its flow alone keeps.

A change stays one flat dictionary: a key that the flow's record declares goes there, any other to the shared
part. Each field says how a change reaches it (see agent.engine.state)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar, Generic

from pydantic import Field
from typing_extensions import TypeVar

from agent.engine.state import Change, State, append, merge_dict, upsert, upsert_by_step
from agent.types import (
    Action,
    Answer,
    Assessment,
    CheckedText,
    Confidence,
    Conflict,
    Edit,
    Fact,
    Note,
    NoteReading,
    PageRef,
    PauseRequest,
    PlanPart,
    Proposal,
    Record,
    Refusal,
    Ruling,
    Settings,
    Stall,
    ToolAction,
    Turn,
)

ReadText = Callable[[str], str]
"""The id of a stored page -> its text."""


class RetryRequest(Record):
    """A search or an address that a person asked to try again, at this step of theirs."""

    step: int
    action: ToolAction
    query_or_url: str


class FlowState(State):
    """What one flow keeps beside the shared part. A flow's record overrides what differs for it; every method
    gets the whole state as `run`."""

    compares_within_site: ClassVar[bool] = True
    """Whether facts of one site can contradict each other."""
    asks_one_publisher: ClassVar[bool] = False
    """Whether it asks one publisher, or a library that a person chose: one source is enough then."""

    def describe_target(self, run: RunState[Any], step: str) -> str:
        """What the step that is being taken works on: queries or addresses; "" for nothing to name."""
        if not run.pending or step != "act":
            return ""
        return " · ".join(action.query_or_url for action in run.pending.actions)

    def export_extra(self, run: RunState[Any], read_text: ReadText = lambda _id: "") -> dict[str, Any]:
        """What a JSON export holds beside the shared fields. `read_text` gives the text of a stored page."""
        return {}

    def checked_text(self, run: RunState[Any]) -> CheckedText | None:
        """The text that was checked, with its marks; None where none was."""
        return None

    def describe_fact(self, fact_id: str) -> str:
        """What it found out of a fact beside its statement; "" for nothing."""
        return ""

    def list_unaddressed(self) -> dict[str, str]:
        """The references that name no address: what each is called, and why there is none."""
        return {}

    def place_reference(self, name: str, url: str) -> Change:
        """The change that gives the reference of this name an address."""
        return {}

    def extra_sources(self, run: RunState[Any]) -> list[PageRef]:
        """Pages a bibliography lists beside the sources of the answer."""
        return []

    def relevance_question(self, run: RunState[Any]) -> str:
        """The text that facts are weighed by."""
        return run.question

    def comparison_questions(self, run: RunState[Any]) -> Sequence[str]:
        """The questions by which the answers of sources are compared; none where many small matters are
        gathered, or one site is asked."""
        return ()

    def fact_sets_for_check(self, run: RunState[Any]) -> list[dict[str, Fact]]:
        """Further sets of facts that an answer may have been checked against."""
        return []

    def count_pages(self, actions: list[Action]) -> int:
        """How many pages of the page budget these actions used: those that were asked for, read or not."""
        return sum(action.action == "crawl_url" for action in actions)

    def derive_view(self, run: RunState[Any], change: Change, step: int) -> None:
        """Work out what follows from the run's state and is not stored, after this change of this step."""

    def fork_change(self) -> dict[str, Any]:
        """What a fork resets."""
        return {}


Own = TypeVar("Own", bound=FlowState, default=Any)


class RunState(State, Generic[Own]):
    """The state of a run of any flow."""

    no_step_changes: ClassVar[frozenset[str]] = frozenset("own head conflicts confidence derived".split())

    own: Own = Field(default_factory=FlowState)  # type: ignore[assignment]
    """What its flow alone keeps."""
    question: str = ""
    asked: str = ""
    """The question as it stands alone, with what the conversation adds to it; "" before that is known."""
    plan_parts: list[PlanPart] = Field(default_factory=list)
    """The plan as it was last recorded; empty before that. See `plan`."""
    settings: Settings = Field(default_factory=Settings)
    history: list[Turn] = Field(default_factory=list)
    """The earlier turns of the conversation, oldest first."""
    notes: Annotated[list[Note], append] = Field(default_factory=list)
    earlier_private_notes: list[str] = Field(default_factory=list)
    """The private notes of the earlier turns, and those that were undone: no word of them leaves either."""
    file_words: Annotated[list[str], append] = Field(default_factory=list)
    """The words of the files that a person added, of earlier turns too; they are as private."""
    readings: Annotated[list[NoteReading], append] = Field(default_factory=list)
    """What the notes on an answer were understood as."""
    actions: Annotated[list[Action], upsert_by_step] = Field(default_factory=list)
    facts: Annotated[dict[str, Fact], upsert] = Field(default_factory=dict)
    pages: Annotated[dict[str, PageRef], upsert] = Field(default_factory=dict)
    rulings: Annotated[list[Ruling], append] = Field(default_factory=list)
    """What persons and models said of conflicts, oldest first."""
    assessments: Annotated[list[Assessment], append] = Field(default_factory=list)
    """What models said of what was found, by step."""
    refusals: Annotated[list[Refusal], append] = Field(default_factory=list)
    blockages: Annotated[list[Stall], append] = Field(default_factory=list)
    answers: Annotated[list[Answer], append] = Field(default_factory=list)
    edits: Annotated[list[Edit], append] = Field(default_factory=list)
    """What a person changed in the facts and conflicts, oldest first."""
    strikes: Annotated[dict[str, int], merge_dict] = Field(default_factory=dict)
    """The sites and pages a person struck, with the step; facts read from them later are struck too."""
    again: Annotated[list[RetryRequest], append] = Field(default_factory=list)
    rewriting: int = -1
    """The step at which a person gave or asked for a page after the answer, which is written again."""
    pending: Proposal | None = None
    """The decision that waits for a person or runs next."""
    cooling: dict[str, str] = Field(default_factory=dict)
    """Rate-limited engines: name -> until when (ISO 8601)."""
    why_stopped: str = ""
    stop_reason: str = ""
    """"budget", "blocked", "enough", "asked" or "hand_over"."""
    control: str = ""
    """A person's last command: paused, resumed, stopped, accepted, forked, left."""
    program: str = Field(default="")
    """The program that a person's step was last taken by: a change that names one was not made by hand."""
    request: str = Field(default="")
    """The Idempotency-Key with which it did, and what it asked, as hashes."""
    schedule: str = Field(default="")
    """The schedule that started this run; "" for none."""
    follows: str = Field(default="")
    """The run before this one of that schedule, which asked the same; "" for none."""
    halt: PauseRequest | None = None
    """Why the run paused by itself to ask; None once a person answered."""
    met: Annotated[list[str], append] = Field(default_factory=list)
    """Ids of the conflicts that a person was asked about."""
    forked_at: int = -1
    """The step at which this run forked from another; budgets count from there. -1 for no fork."""
    head: int = -1
    """The number of the last recorded step."""
    conflicts: dict[str, Conflict] = Field(default_factory=dict)
    """Derived: the conflicts among the facts that count, by id."""
    confidence: list[Confidence] = Field(default_factory=list)
    """Derived: the confidence after each step that changed it, oldest first."""
    derived: Any = Field(default=None, exclude=True)
    """What the derivation keeps from step to step."""

    def derive(self, change: Change, step: int | None = None) -> None:
        """Derive what the flow's record derives; see `State.derive`."""
        self.own.derive_view(self, change, self.head + 1 if step is None else step)
        self.head = self.head if step is None else step

    def summary(self) -> dict[str, Any]:
        """The columns of the run's row that follow from its state."""
        latest = self.answer
        verdict = latest.verdict if latest and not latest.is_small_talk else ""
        return {"actions": len(self.actions), "verdict": verdict, "confidence": self.shown_confidence}

    @property
    def plan(self) -> list[PlanPart]:
        """The question in parts, never empty: as recorded, else the question as one part."""
        return self.plan_parts or [PlanPart(id="1", question=self.full_question)]

    @property
    def full_question(self) -> str:
        """The question as the conversation completed it, else as it was typed."""
        return self.asked or self.question

    @property
    def standalone_question(self) -> str:
        """The question as the conversation completed it; "" when it opens one, or stays as it was typed."""
        return self.asked if self.history and self.asked != self.question else ""

    @property
    def skipped(self) -> set[str]:
        """The queries and addresses that a person skipped."""
        return {refusal.what for refusal in self.refusals if refusal.why.startswith("skipped")}

    @property
    def current_confidence(self) -> float:
        """The latest confidence, 0 before anything was read."""
        return self.confidence[-1].value if self.confidence else 0.0

    @property
    def shown_confidence(self) -> float | None:
        """The latest confidence as a person is shown it; None where no model judged what is shown."""
        is_unjudged = self.answer and self.answer.confidence is None and not self.actions_this_round
        return self.confidence[-1].value if self.confidence and not is_unjudged else None

    @property
    def answer(self) -> Answer | None:
        """The newest answer."""
        return self.answers[-1] if self.answers else None

    @property
    def edits_since_answer(self) -> list[Edit]:
        """A person's edits since the last answer."""
        since = self.answers[-1].step if self.answers else -1
        return [edit for edit in self.edits if edit.step > since]

    @property
    def needs_rewrite(self) -> bool:
        """Whether the answer is written again once what a person supplied is analyzed, without a search."""
        return bool(self.answers) and self.rewriting >= self.answers[-1].step

    @property
    def actions_this_round(self) -> list[Action]:
        """The tool actions since the last answer or the fork: what the step budget counts."""
        since = max(self.answers[-1].step if self.answers else -1, self.forked_at)
        return [action for action in self.actions if action.step > since]

    @property
    def pages_read_count(self) -> int:
        """How many pages were read."""
        return sum(1 for page in self.pages.values() if page.page_id)
