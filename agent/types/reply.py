"""The records of `reply`: the conversation that is answered, where it came from, and the result."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from agent.types.record import Actor, FormerRecord, Record

ShortText = Annotated[str, StringConstraints(max_length=200)]


class Message(Record):
    """One message. `images` are addresses, in the order they were sent; `at` is ISO 8601, "" when unknown."""

    role: Literal["user", "bot"]
    text: str = ""
    images: list[str] = Field(default_factory=list)
    at: ShortText = ""


class Conversation(Record):
    """A conversation on any platform, oldest message first."""

    messages: list[Message] = Field(default_factory=list)

    @property
    def unanswered_messages(self) -> list[Message]:
        """The messages since the bot's last one."""
        last = max((n for n, message in enumerate(self.messages) if message.role == "bot"), default=-1)
        return self.messages[last + 1 :]

    @property
    def question(self) -> str:
        """The text of the unanswered messages, one message a line."""
        return "\n".join(message.text.strip() for message in self.unanswered_messages if message.text.strip())

    @property
    def answered_question(self) -> str:
        """The text of the messages that the bot's last one answered, one message a line; "" for none."""
        earlier = self.messages[: len(self.messages) - len(self.unanswered_messages)]
        while earlier and earlier[-1].role == "bot":
            earlier = earlier[:-1]
        return Conversation(messages=earlier).question

    @property
    def images(self) -> list[str]:
        """The addresses of the pictures that people sent, in order."""
        return [url for message in self.messages if message.role == "user" for url in message.images]


class RequestContext(Record):
    """Where a conversation came from; for the log and the record, not for the answer."""

    platform: ShortText = ""
    channel: ShortText = ""
    user: ShortText = ""
    message_id: ShortText = ""


class AIResult(Record):
    """The result: whether to post a reply, and its text; "" without a reply."""

    should_reply: bool = False
    reply_text: str = ""


class Picture(FormerRecord):
    """A picture of a run and its download. Its bytes are kept only for the time of the request."""

    url: str
    media_type: str
    sha256: str
    size: int
    """Bytes."""


class GateDecision(Record):
    """What the gate decided, and why."""

    should_reply: bool
    reasoning: str
    by: Actor = "code"


class SourceSelection(FormerRecord):
    """Which entries of the index were shown to the role, and which it chose."""

    entries: int
    shown: list[str]
    """The best by words where the index was too large; else none."""
    selected_source_ids: list[str]
    reasoning: str
    by: Actor


class LoadedSource(Record):
    """A chosen source: its stored text, or why it could not be loaded."""

    source_id: str
    page_id: str = ""
    url: str = ""
    title: str = ""
    characters: int = 0
    detail: str = ""


class VerificationResult(Record):
    """The result of the last check of the draft."""

    verification: bool
    reasoning: str
    by: Actor
