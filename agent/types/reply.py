"""The nouns of `reply`: the conversation that is answered, where it came from, and what is given back. They
hold data and know nothing."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.types.facts import Actor
from agent.types.record import Record
from agent.types.runs import Turn


class Message(Record):
    """One message. `images` are addresses, in the order they were sent; `at` is ISO 8601, "" when unknown."""

    role: Literal["user", "bot"]
    text: str = ""
    images: list[str] = Field(default_factory=list)
    at: str = ""


class Conversation(Record):
    """A conversation on any platform, oldest message first."""

    messages: list[Message] = Field(default_factory=list)

    @property
    def unanswered_messages(self) -> list[Message]:
        """What nobody answered yet: the messages since the bot spoke last."""
        last = max((n for n, message in enumerate(self.messages) if message.role == "bot"), default=-1)
        return self.messages[last + 1 :]

    @property
    def question(self) -> str:
        """The words that are to be answered, one message a line."""
        return "\n".join(message.text.strip() for message in self.unanswered_messages if message.text.strip())

    @property
    def turns(self) -> list[Turn]:
        """What was said before that, as turns: neighbouring messages of one side count as one."""
        turns: list[Turn] = []
        for message in self.messages[: len(self.messages) - len(self.unanswered_messages)]:
            text, last = message.text.strip(), turns[-1] if turns else None
            if message.role == "bot":
                if last:
                    turns[-1] = last.model_copy(update={"bot": f"{last.bot}\n{text}".strip()})
            elif last is None or last.bot:
                turns.append(Turn(user=text))
            else:
                turns[-1] = last.model_copy(update={"user": f"{last.user}\n{text}".strip()})
        return turns

    @property
    def images(self) -> list[str]:
        """The pictures that people sent, in the order they were sent."""
        return [url for message in self.messages if message.role == "user" for url in message.images]


class RequestContext(Record):
    """Where a conversation came from; for the log and the record, never for the answer."""

    platform: str = ""
    channel: str = ""
    user: str = ""
    message_id: str = ""


class AIResult(Record):
    """What is given back: may it be posted, and what. Without a reply the text is empty."""

    should_reply: bool = False
    reply_text: str = ""


class Picture(Record):
    """A picture as a run knows it: its address and what came of it. The bytes are held only while the request
    lives."""

    url: str
    media_type: str = ""
    sha256: str = ""
    size: int = 0
    """Bytes."""
    detail: str = ""
    """Why it could not be had; "" when it was."""


class GateDecision(Record):
    """What the gate decided, and why."""

    should_reply: bool
    reasoning: str = ""
    by: Actor = "code"


class SourceSelection(Record):
    """Which entries of the index were shown, and which were chosen. `shown` is less than `entries` when words
    chose beforehand."""

    entries: int = 0
    shown: list[str] = Field(default_factory=list)
    prefiltered: bool = False
    selected_source_ids: list[str] = Field(default_factory=list)
    reasoning: str = ""
    by: Actor = "code"


class LoadedSource(Record):
    """A chosen source: where its whole text is stored, or why it could not be loaded."""

    source_id: str
    page_id: str = ""
    url: str = ""
    title: str = ""
    characters: int = 0
    detail: str = ""


class VerificationResult(Record):
    """What the last check said of the draft."""

    verification: bool
    reasoning: str = ""
    by: Actor = "code"
