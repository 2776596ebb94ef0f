"""Roles of the reply flow, in their order: GATE, SELECTION, WRITING, VERIFICATION; and DESCRIBE, which writes
the index that SELECTION reads. Where one of them fails, there is no reply."""

from __future__ import annotations

from pydantic import Field

from agent.retrieval.passages import MAX_DESCRIPTION_CHARS
from agent.roles.role import Role, RoleReply, Share, WriterReply, optional_list, optional_text
from agent.roles.site import DraftSentence


class GateReply(RoleReply):
    """Whether a reply should be prepared, and to what."""

    should_reply: bool = False
    reasoning: str = optional_text("one short sentence")
    parts: list[str] = optional_list("what is asked, each question in a few words of its own; usually one")


GATE = Role(name="gate", reply=GateReply, tier="fast")
"""The gate of `reply`: does a conversation end in something to be answered? Knows words alone."""


class SelectionReply(RoleReply):
    """The chosen sources, best first."""

    selected_source_ids: list[str] = optional_list("ids of the index, the best first; empty when none fits")
    reasoning: str = optional_text("one short sentence")


SELECTION = Role(name="selection", reply=SelectionReply)
"""Chooses from the library's index the sources that are loaded for an answer. Knows entries of the index, not
the texts behind them."""


class WritingSentence(DraftSentence):
    """One sentence of the reply and the words that state it."""

    pictures: list[int] = optional_list("numbers of the pictures it rests on; usually empty")


class WritingReply(WriterReply):
    """A reply, or none."""

    answer: list[WritingSentence] = optional_list("empty when the sources do not answer")
    confidence: Share = 0.0


WRITING = Role(name="writing", reply=WritingReply)
"""Writes the reply to a question from the chosen sources, or nothing."""


class VerificationReply(RoleReply):
    """Approved or not."""

    verification: bool = Field(default=False, description="true: the draft may be posted as it is")
    reasoning: str = optional_text("one short sentence")


VERIFICATION = Role(name="verification", reply=VerificationReply)
"""The last check of a drafted reply: may it be posted?"""


BEGINNING_CHARS = 12_000
"""Characters of a document that are shown."""


class DescribeReply(RoleReply):
    """What the source is about."""

    description: str = optional_text(
        f"one or two plain sentences, at most {MAX_DESCRIPTION_CHARS} characters"
    )


DESCRIBE = Role(name="describe", reply=DescribeReply, tier="fast")
"""Says in a line what a source of the library is about, for whoever chooses from the index. Knows a
document's beginning, not its place."""
