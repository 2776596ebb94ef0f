"""What a turn of a chat knows beyond a research run: its routes and rewrites, the passages found and their
grades, the draft.

The fields of seed 004's AgentState are here by their names, as fields or methods (`messages`, `draft_answer`,
`final_answer`, `sources`); `confidence` is the curve of every flow, `export_extra()` gives the seed's single
figure. Texts stay in the stored pages."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from agent.engine.run_state import FlowState, RunState
from agent.engine.state import append, merge_dict
from agent.types import Actor, Answer, Fact, PassageRef, Record, Sentence


class Draft(Record):
    """An answer before it is validated: cited sentences, what is missing, and the caveat when it is a best
    effort."""

    sentences: list[Sentence] = Field(default_factory=list)
    missing: str = ""
    caveat: str = ""
    confidence: float = 0.0
    by: Actor = "keyless"
    trouble: str = ""
    step: int = 0

    @property
    def text(self) -> str:
        """The sentences alone."""
        return " ".join(sentence.text for sentence in self.sentences)


class Grounding(Record):
    """What the validation said of a draft."""

    grounded: bool
    reason: str = ""
    by: Actor = "code"
    trouble: str = ""
    step: int = 0


class StepJudge(Record):
    """Who made the judgement of a step; `trouble` says why the model did not although it was asked."""

    by: Actor = "code"
    trouble: str = ""


class QueryRewrite(Record):
    """A question put in other words: why, and who did it."""

    step: int
    query: str
    why: str = ""
    reasoning: str = ""
    by: Actor = "keyless"
    trouble: str = ""


class FacilityHit(Record):
    """A facility of an answer, its distance in kilometres (None when none was asked for) and the fact that
    quotes its row."""

    name: str
    kind: str
    address: str = ""
    latitude: float
    longitude: float
    km: float | None = None
    fact_id: str = ""


class FacilitySearch(Record):
    """What a facility search understood and found. `origin` is the point that distances are measured from."""

    kind: str = ""
    near: str = ""
    origin: tuple[float, float] | None = None
    rows: list[FacilityHit] = Field(default_factory=list)


class ChatState(FlowState):
    """The record of one turn of a chat. Earlier turns are runs of their own, read through `history`."""

    compares_within_site: ClassVar[bool] = False

    original_query: str = ""
    rewritten_query: str | None = None
    """What is searched for when it is not the question itself."""
    queries: Annotated[list[str], append] = Field(default_factory=list)
    """Everything that was searched for, in order."""
    retrieved_docs: list[PassageRef] = Field(default_factory=list)
    doc_relevance_scores: list[float] = Field(default_factory=list)
    """One grade for each retrieved passage, 0..1; empty until they are graded."""
    doc_reasons: list[str] = Field(default_factory=list)
    searched_by: str = ""
    """How the library was searched, and why not by meaning when it was not."""
    likelihood: float = 0.0
    """The estimate, by counting words, that the passages answer."""
    lacking: list[str] = Field(default_factory=list)
    """Words of the question that the best page found does not hold."""
    draft: Draft | None = None
    groundings: Annotated[list[Grounding], append] = Field(default_factory=list)
    route_decision: str = ""
    route_reasoning: str = ""
    speakers: Annotated[dict[str, StepJudge], merge_dict] = Field(default_factory=dict)
    """Who judged at each step, the latest time it was taken."""
    rewrites: Annotated[list[QueryRewrite], append] = Field(default_factory=list)
    retry_count: int = 0
    needs_clarification: str | None = None
    """The question to the person; None when nothing needs to be asked."""
    choices: list[str] = Field(default_factory=list)
    """Answers to it that may be picked."""
    responses: Annotated[list[str], append] = Field(default_factory=list)
    """What the person answered, in order."""
    prior: list[Fact] = Field(default_factory=list)
    """The facts that earlier answers of the conversation stand on, the newest turn's first."""
    prior_docs: list[PassageRef] = Field(default_factory=list)
    """The passages they stand in."""
    located: FacilitySearch | None = None

    def messages(self, run: RunState[Any]) -> list[dict[str, str]]:
        """The whole conversation, this turn's clarifying questions and answers included."""
        told = [
            message
            for turn in run.history
            for message in (_message("user", turn.user), _message("assistant", turn.bot))
        ]
        told.append(_message("user", run.question))
        for n, answer in enumerate(run.answers):
            told.append(_message("assistant", render_answer_text(answer)))
            told += [_message("user", text) for text in self.responses[n : n + 1]]
        return [message for message in told if message["content"]]

    @property
    def draft_answer(self) -> str | None:
        """The draft's text; None when there is no draft."""
        return self.draft.text if self.draft else None

    def final_answer(self, run: RunState[Any]) -> str | None:
        """What the person was told last; None while nothing was."""
        return render_answer_text(run.answer) if run.answer else None

    def sources(self, run: RunState[Any]) -> list[dict[str, Any]]:
        """The numbered sources of the last answer, each with the quotes it is cited for."""
        return [source.model_dump(mode="json") for source in run.answer.sources] if run.answer else []

    def export_extra(self, run: RunState[Any]) -> dict[str, Any]:
        """The turn by the names of the AgentState of seed 004."""
        docs = [doc.model_dump(mode="json") for doc in self.retrieved_docs]
        turn = {
            "messages": self.messages(run),
            "original_query": self.original_query,
            "rewritten_query": self.rewritten_query,
            "retrieved_docs": docs,
            "doc_relevance_scores": self.doc_relevance_scores,
            "draft_answer": self.draft_answer,
            "final_answer": self.final_answer(run),
            "sources": self.sources(run),
            "route_decision": self.route_decision,
            "retry_count": self.retry_count,
            "needs_clarification": self.needs_clarification,
            "confidence": run.current_confidence,
        }
        return {"chat": turn}


ChatRun = RunState[ChatState]


def render_answer_text(answer: Answer) -> str:
    """What an answer tells a person: its sentences, or why there are none."""
    return answer.text or answer.certainty


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
