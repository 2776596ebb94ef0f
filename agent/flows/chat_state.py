"""What a turn of a chat knows beyond a research run: its routes and rewrites, the passages found and their grades, the draft.

The fields of seed 004's AgentState are here by their names, as fields or as properties (`messages`, `draft_answer`, `final_answer`,
`sources`); `confidence` is the curve of every flow, `agent_state()` gives the seed's single figure. Texts stay in the stored pages.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from agent.flows.state import Research
from agent.state import append, enter
from agent.text.manners import courtesy
from agent.types import Answer, Fact, Noun, Passage, Sentence, Speaker, Turn


class Doc(Noun):
    """A retrieved passage: where it stands. Its text is the stored page's."""

    id: str
    page_id: str
    source_id: str = ""
    url: str
    title: str = ""
    heading: str = ""
    start: int
    end: int
    rows: bool = False

    @classmethod
    def of(cls, passage: Passage) -> Doc:
        """The place of a passage."""
        return cls(**{name: getattr(passage, name) for name in cls.model_fields})

    def passage(self, text: str, score: float = 0.0) -> Passage:
        """The passage again, from its page's text."""
        return Passage(**self.model_dump(), text=text[self.start : self.end], score=score)


class Draft(Noun):
    """An answer before it is validated: cited sentences, what is missing, and the caveat when it is a best effort."""

    sentences: list[Sentence] = Field(default_factory=list)
    missing: str = ""
    caveat: str = ""
    confidence: float = 0.0
    by: Speaker = "keyless"
    trouble: str = ""
    step: int = 0

    @property
    def text(self) -> str:
        """The sentences alone."""
        return " ".join(sentence.text for sentence in self.sentences)


class Grounding(Noun):
    """What the validation said of a draft."""

    grounded: bool
    reason: str = ""
    by: Speaker = "code"
    trouble: str = ""
    step: int = 0


class Spoken(Noun):
    """Who made the judgement of a step; `trouble` says why the model did not although it was asked."""

    by: Speaker = "code"
    trouble: str = ""


class Rewrite(Noun):
    """A question put in other words: why, and who did it."""

    step: int
    query: str
    why: str = ""
    reasoning: str = ""
    by: Speaker = "keyless"
    trouble: str = ""


class Nearby(Noun):
    """A facility of an answer, its distance in kilometres (None when none was asked for) and the fact that quotes its row."""

    name: str
    kind: str
    address: str = ""
    latitude: float
    longitude: float
    km: float | None = None
    fact_id: str = ""


class Located(Noun):
    """What a facility search understood and found. `origin` is the point that distances are measured from."""

    kind: str = ""
    near: str = ""
    origin: tuple[float, float] | None = None
    rows: list[Nearby] = Field(default_factory=list)


class Chat(Research):
    """The state of one turn of a chat. Earlier turns are runs of their own, read through `history`."""

    original_query: str = ""
    asked: str = ""
    """The question as it stands alone: what passages and drafts are measured by."""
    rewritten_query: str | None = None
    """What is searched for when it is not the question itself."""
    queries: Annotated[list[str], append] = Field(default_factory=list)
    """Everything that was searched for, in order."""
    retrieved_docs: list[Doc] = Field(default_factory=list)
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
    speakers: Annotated[dict[str, Spoken], enter] = Field(default_factory=dict)
    """Who judged at each step, the latest time it was taken."""
    rewrites: Annotated[list[Rewrite], append] = Field(default_factory=list)
    retry_count: int = 0
    needs_clarification: str | None = None
    """The question to the person; None when nothing needs to be asked."""
    choices: list[str] = Field(default_factory=list)
    """Answers to it that may be picked."""
    responses: Annotated[list[str], append] = Field(default_factory=list)
    """What the person answered, in order."""
    prior: list[Fact] = Field(default_factory=list)
    """The facts that earlier answers of the conversation stand on, the newest turn's first."""
    prior_docs: list[Doc] = Field(default_factory=list)
    """The passages they stand in."""
    located: Located | None = None

    @property
    def talk(self) -> list[Turn]:
        """The earlier turns without those that were only thanks or greetings: what a turn can lean on."""
        return [turn for turn in self.history if not courtesy(turn.user)]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The whole conversation, this turn's clarifying questions and answers included."""
        told = [message for turn in self.history for message in (_message("user", turn.user), _message("assistant", turn.bot))]
        told.append(_message("user", self.question))
        for n, answer in enumerate(self.answers):
            told.append(_message("assistant", said(answer)))
            told += [_message("user", text) for text in self.responses[n : n + 1]]
        return [message for message in told if message["content"]]

    @property
    def draft_answer(self) -> str | None:
        """The draft's text; None when there is no draft."""
        return self.draft.text if self.draft else None

    @property
    def final_answer(self) -> str | None:
        """What the person was told last; None while nothing was."""
        return said(self.answer) if self.answer else None

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The numbered sources of the last answer, each with the quotes it is cited for."""
        return [source.model_dump(mode="json") for source in self.answer.sources] if self.answer else []

    def agent_state(self) -> dict[str, Any]:
        """The turn in the words of the state it was specified with, for exports."""
        docs = [doc.model_dump(mode="json") for doc in self.retrieved_docs]
        return {
            "messages": self.messages, "original_query": self.original_query, "rewritten_query": self.rewritten_query, "retrieved_docs": docs,
            "doc_relevance_scores": self.doc_relevance_scores, "draft_answer": self.draft_answer, "final_answer": self.final_answer,
            "sources": self.sources, "route_decision": self.route_decision, "retry_count": self.retry_count,
            "needs_clarification": self.needs_clarification, "confidence": self.level,
        }  # fmt: skip


def said(answer: Answer) -> str:
    """What an answer tells a person: its sentences, or why there are none."""
    return answer.text or answer.certainty


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}
