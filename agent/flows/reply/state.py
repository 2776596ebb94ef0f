"""The record of a `reply` run: the conversation, the decisions, and the reply or the silence."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agent.answering.view import OnePublisherState
from agent.engine.run_state import RunState
from agent.llm.images import format_image_mark
from agent.types import Fact
from agent.types.reply import (
    AIResult,
    Conversation,
    GateDecision,
    LoadedSource,
    Message,
    Picture,
    RequestContext,
    SourceSelection,
    VerificationResult,
)

MAX_QUESTION_CHARS = 3_000
"""Characters of the open question that the steps work with; of a longer one the last."""


class ReplyState(OnePublisherState):
    """What a `reply` run keeps beside the shared part."""

    conversation: Conversation = Field(default_factory=Conversation)
    context: RequestContext = Field(default_factory=RequestContext)
    pictures: list[Picture] = Field(default_factory=list)
    """The pictures that people sent, in order, downloaded before the run began."""
    gating: GateDecision | None = None
    selection: SourceSelection | None = None
    loaded: list[LoadedSource] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
    """Sentences of the draft that are not supported, or too long."""
    draft: str = ""
    verification: VerificationResult | None = None
    should_reply: bool = False
    reply_text: str = ""
    silence: str = ""
    """Why there is no reply, as a sentence; "" while there may be one."""
    trouble: str = ""
    """The failure that is the reason, if any; with a model, no rule replaces a failed call."""

    def full_conversation(self, run: RunState[Any]) -> Conversation:
        """The conversation; for a run with a question alone, its history and the question."""
        if self.conversation.messages:
            return self.conversation
        messages = [
            message
            for turn in run.history
            for message in (Message(role="user", text=turn.user), Message(role="bot", text=turn.bot))
            if message.text
        ]
        return Conversation(messages=[*messages, Message(role="user", text=run.question)])

    def open_question(self, run: RunState[Any]) -> str:
        """The unanswered messages, shortened to their end if very long."""
        text = self.full_conversation(run).question
        return text if len(text) <= MAX_QUESTION_CHARS else text[-MAX_QUESTION_CHARS:].split(maxsplit=1)[-1]

    def search_texts(self, run: RunState[Any]) -> list[str]:
        """What is searched for: the open question, and in a follow-up the previous one followed by it.
        Passages are ranked by the last."""
        question = run.asked or self.open_question(run)
        previous = self.full_conversation(run).answered_question[-MAX_QUESTION_CHARS:]
        return [question, f"{previous} {question}"] if previous else [question]

    def picture_count(self, run: RunState[Any]) -> int:
        """How many pictures the roles are shown; 0 when pictures are switched off."""
        return len(self.pictures) if run.settings.reply.llm_enable_image else 0

    def transcript(self, run: RunState[Any]) -> str:
        """The conversation for prompts; further lines are indented: no message can imitate another one."""
        lines, pictures = [], iter(enumerate(self.pictures[: self.picture_count(run)], 1))
        for message in self.full_conversation(run).messages:
            sent = [next(pictures, None) for _ in (message.images if message.role == "user" else [])]
            marks = [format_image_mark(n, picture.sha256) for n, picture in filter(None, sent)]
            text = "\n".join(filter(None, (message.text.strip(), *marks)))
            lines.append({"user": "User: ", "bot": "You: "}[message.role] + "\n  ".join(text.splitlines()))
        return "\n".join(lines)

    def shared_blanks(self, run: RunState[Any]) -> dict[str, Any]:
        """What every prompt of the flow shows."""
        return {
            "introduction": run.settings.reply.project_introduction,
            "conversation": self.transcript(run),
            "question": self.open_question(run),
        }

    @property
    def result(self) -> AIResult:
        """The result that is returned."""
        text = self.reply_text if self.should_reply else ""
        return AIResult(should_reply=self.should_reply, reply_text=text)

    def fact_sets_for_check(self, run: RunState[Any]) -> list[dict[str, Fact]]:
        """The facts as if none were disputed: a shortened reply may keep one side of a conflict."""
        return [{name: fact.replace(disputed=False) for name, fact in run.facts.items()}]


ReplyRun = RunState[ReplyState]
