"""What a `reply` run knows: the conversation, what was decided on the way, and the reply or the silence."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from agent.engine.run_state import FlowState, RunState
from agent.llm.images import format_image_mark
from agent.types import Fact, Turn
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
"""Characters of a question that steps work with: a question is shorter, and whoever sends a book shall not
stop the others."""
MAX_TURNS, MAX_TURN_CHARS = 8, 2_000
"""Earlier turns that a follow-up can mean, and characters of each."""
SPEAKER_LABELS = {"user": "User: ", "bot": "You: "}
"""How a message's speaker stands in every prompt; "You" is the bot itself."""


class ReplyState(FlowState):
    """The record of a `reply` run."""

    compares_within_site: ClassVar[bool] = False

    conversation: Conversation = Field(default_factory=Conversation)
    context: RequestContext = Field(default_factory=RequestContext)
    pictures: list[Picture] = Field(default_factory=list)
    """The pictures people sent, in order, as they were fetched before the run began."""
    gating: GateDecision | None = None
    selection: SourceSelection | None = None
    loaded: list[LoadedSource] = Field(default_factory=list)
    left_out: list[str] = Field(default_factory=list)
    """Sentences of the draft that nothing supports, or for which there was no room."""
    draft: str = ""
    verification: VerificationResult | None = None
    should_reply: bool = False
    reply_text: str = ""
    silence: str = ""
    """Why nothing is said, as a sentence; "" while something may be."""
    trouble: str = ""
    """What failed, when that is why; a failure is never covered up by answering by rule."""

    def full_conversation(self, run: RunState[Any]) -> Conversation:
        """The conversation; of a run that was started with a question alone, that question after its earlier
        turns."""
        if self.conversation.messages:
            return self.conversation
        said = [
            message
            for turn in run.history
            for message in (Message(role="user", text=turn.user), Message(role="bot", text=turn.bot))
        ]
        return Conversation(
            messages=[message for message in said if message.text] + [Message(role="user", text=run.question)]
        )

    def open_question(self, run: RunState[Any]) -> str:
        """What is to be answered: the words nobody answered yet, of very many the last ones (the conversation
        holds them all)."""
        said = self.full_conversation(run).question
        return said if len(said) <= MAX_QUESTION_CHARS else said[-MAX_QUESTION_CHARS:].split(maxsplit=1)[-1]

    def earlier_turns(self, run: RunState[Any]) -> list[Turn]:
        """What was said before that, as much of it as can bear on it: the last turns, long ones shortened."""
        return [
            Turn(user=turn.user[-MAX_TURN_CHARS:], bot=turn.bot[:MAX_TURN_CHARS])
            for turn in self.full_conversation(run).turns[-MAX_TURNS:]
        ]

    def picture_count(self, run: RunState[Any]) -> int:
        """How many pictures the roles are shown; none while pictures are switched off."""
        return len(self.pictures) if run.settings.reply.llm_enable_image else 0

    def transcript(self, run: RunState[Any]) -> str:
        """The whole conversation as every prompt has it: oldest message first, each under its label, pictures
        as their marks.

        The lines of a message after its first are set in, so that no message can pretend to be another one.
        """
        lines, pictures = [], iter(enumerate(self.pictures[: self.picture_count(run)], 1))
        for message in self.full_conversation(run).messages:
            marks = [
                format_image_mark(n, picture.sha256)
                for n, picture in (next(pictures, (0, None)) for _ in _user_images(message))
                if picture
            ]
            text = "\n".join(part for part in (message.text.strip(), *marks) if part)
            lines.append(SPEAKER_LABELS[message.role] + "\n  ".join(text.splitlines()))
        return "\n".join(lines)

    @property
    def result(self) -> AIResult:
        """What is given back."""
        return AIResult(
            should_reply=self.should_reply, reply_text=self.reply_text if self.should_reply else ""
        )

    def fact_sets_for_check(self, run: RunState[Any]) -> list[dict[str, Fact]]:
        """The facts as if none were disputed: a reply is cut to a length, and may keep one side alone."""
        return [{name: fact.model_copy(update={"disputed": False}) for name, fact in run.facts.items()}]


ReplyRun = RunState[ReplyState]


def _user_images(message: Message) -> list[str]:
    return message.images if message.role == "user" else []
