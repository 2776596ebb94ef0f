"""The record of a chat turn. The fields of seed 004's AgentState keep their names, here or in the export."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from agent.answering.claim_checks import WrittenDraft
from agent.answering.view import OnePublisherState
from agent.engine.run_state import ReadText, RunState
from agent.engine.state import append, merge_dict
from agent.roles.chat import MIN_RELEVANT_SCORE
from agent.types import Actor, Fact, PassageRef, Record
from agent.types.record import FormerRecord


class StepJudge(Record):
    """Who made a judgement; `trouble` says why the model did not although it was asked."""

    by: Actor = "code"
    trouble: str = ""


class Draft(WrittenDraft, FormerRecord):
    """An answer before it is validated; a best effort has a `caveat`."""

    caveat: str = ""
    step: int = 0


class Grounding(StepJudge):
    """Whether a draft follows from its quotes and answers, by its check, and why."""

    grounded: bool
    reason: str = ""
    drafted: int
    """Sentences that were drafted, those that were left out included."""
    refused: list[str] = Field(default_factory=list)
    """The sentences that go beyond their quotes."""
    step: int


class PassageGrade(Record):
    """The grade of a passage, 0..1, its reason, and whether it answers the question by itself."""

    score: float = 0.0
    reason: str = "It was not graded."
    answers_alone: bool = False
    answers_together: bool = False
    """Whether it does so with another one."""


class QueryRewrite(StepJudge, FormerRecord):
    """Another wording of the question to search for, and why it was needed."""

    step: int
    query: str
    why: str


class FacilityHit(Record):
    """A facility in an answer; `km` is its distance, None when none was asked for."""

    name: str
    kind: str
    address: str
    latitude: float
    longitude: float
    km: float | None
    fact_id: str
    """The fact that quotes its row."""


class FacilitySearch(Record):
    """What a facility search looked for and found. Distances are measured from `origin`."""

    kind: str = ""
    near: str = ""
    origin: tuple[float, float] | None = None
    rows: list[FacilityHit] = Field(default_factory=list)


class ChatState(OnePublisherState):
    """What a chat turn keeps beside the shared part. Earlier turns are runs of their own."""

    rewritten_query: str | None = None
    """What is searched for when it is not the question itself."""
    queries: Annotated[list[str], append] = Field(default_factory=list)
    """All searches, in order."""
    retrieved_docs: list[PassageRef] = Field(default_factory=list)
    doc_relevance_scores: list[float] = Field(default_factory=list)
    """The grade of each retrieved passage, 0..1; empty until they are graded."""
    grades: dict[str, PassageGrade] = Field(default_factory=dict)
    """The grades of all passages that were graded for the question as it is now, by id."""
    searched_by: str = ""
    """How the library was searched, and why without vectors."""
    draft: Draft | None = None
    groundings: Annotated[list[Grounding], append] = Field(default_factory=list)
    route_decision: str = ""
    route_reasoning: str = ""
    document: str = ""
    """The source that is read from end to end."""
    asks_nothing: bool = False
    """Whether the turn is small talk."""
    message: str = ""
    """The reply to it."""
    speakers: Annotated[dict[str, StepJudge], merge_dict] = Field(default_factory=dict)
    """Who judged at each step, the last time it was taken."""
    rewrites: Annotated[list[QueryRewrite], append] = Field(default_factory=list)
    retry_count: int = 0
    needs_clarification: str | None = None
    """The question to the person; None when there is none."""
    choices: list[str] = Field(default_factory=list)
    """Answers to it that can be picked."""
    responses: Annotated[list[str], append] = Field(default_factory=list)
    """What the person answered, in order."""
    prior: list[Fact] = Field(default_factory=list)
    """The facts that earlier answers of the conversation cite, the newest turn's first."""
    prior_docs: list[PassageRef] = Field(default_factory=list)
    """The passages with those facts."""
    located: FacilitySearch | None = None

    @property
    def relevant_count(self) -> int:
        """How many of the retrieved passages are relevant."""
        return sum(score >= MIN_RELEVANT_SCORE for score in self.doc_relevance_scores)

    def export_extra(self, run: RunState[Any], read_text: ReadText = lambda _id: "") -> dict[str, Any]:
        """The turn by the field names of seed 004's AgentState; `messages` are the whole conversation."""
        said = [text for turn in run.history for text in (("user", turn.user), ("assistant", turn.bot))]
        said.append(("user", run.question))
        for n, answer in enumerate(run.answers):
            said.append(("assistant", answer.text or answer.certainty))
            said += [("user", response) for response in self.responses[n : n + 1]]
        texts = {page_id: read_text(page_id) for page_id in {doc.page_id for doc in self.retrieved_docs}}
        docs = [doc.to_passage(texts[doc.page_id]) for doc in self.retrieved_docs]
        draft = " ".join(sentence.text for sentence in self.draft.held) if self.draft else None
        sources = run.answer.sources if run.answer else []
        turn = {
            "messages": [{"role": role, "content": text} for role, text in said if text],
            "original_query": run.question,
            "rewritten_query": self.rewritten_query,
            "retrieved_docs": [doc.model_dump(mode="json", exclude={"score"}) for doc in docs],
            "doc_relevance_scores": self.doc_relevance_scores,
            "draft_answer": draft,
            "final_answer": (run.answer.text or run.answer.certainty) if run.answer else None,
            "sources": [source.model_dump(mode="json") for source in sources],
            "route_decision": self.route_decision,
            "retry_count": self.retry_count,
            "needs_clarification": self.needs_clarification,
            "confidence": run.shown_confidence,
        }
        return {"chat": turn}


ChatRun = RunState[ChatState]
