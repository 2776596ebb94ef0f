"""Roles of `chat`, named as the nodes of seed 004; READ_SECTION reads a document from end to end."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.roles.role import Role, RoleReply, Share, WriterReply, optional_list, optional_text
from agent.roles.site import DraftSentence

Route = Literal[
    "DIRECT_ANSWER",
    "RETRIEVE",
    "REWRITE_THEN_RETRIEVE",
    "ASK_CLARIFICATION",
    "LOCATION_SEARCH",
    "READ_DOCUMENT",
]
PARTS = "the questions asked at once, each by itself; empty for one"


class RouterReply(RoleReply):
    """The way a turn goes, and the question to ask back when it goes no way."""

    route: Route = "RETRIEVE"
    reasoning: str = optional_text("one short sentence")
    confidence: Share = 0.5
    asks_nothing: bool = Field(
        default=False, description="true for thanks, a greeting and the like: nothing to answer or search"
    )
    message: str = optional_text("with asks_nothing only: a short friendly reply")
    clarifying_question: str = optional_text(
        "with ASK_CLARIFICATION only: what you ask the person, in their own terms"
    )
    document: int = Field(default=0, description="with READ_DOCUMENT only: the number of the document")
    parts: list[str] = optional_list(PARTS)


ROUTER = Role(name="router", reply=RouterReply, tier="fast")
"""Chooses the way of a turn of a chat: answer from what is known, search, complete and search, ask back, find
a place, or read a document. The first five routes are those of seed 004."""


class RewriteReply(RoleReply):
    """The question in other words."""

    query: str = optional_text("one question or search that can be understood without the conversation")
    parts: list[str] = optional_list(f"of a question that stands alone: {PARTS}")
    reasoning: str = optional_text("one short sentence: what was filled in, or what is different now")


REWRITE = Role(name="rewrite", reply=RewriteReply, tier="fast")
"""Puts a turn of a conversation into a question that stands alone, or a search that failed into other
words."""


MIN_RELEVANT_SCORE = 0.5
"""The score from which a passage counts as relevant."""


class PassageGrade(RoleReply):
    """The verdict on one passage."""

    passage_id: str
    score: float = Field(
        ge=0.0, le=1.0, description="0 nothing to do with it, 0.5 helps to answer, 1 answers it"
    )
    reason: str = optional_text("a few words")
    answers_alone: bool = Field(
        default=False, description="true only when this passage by itself states the whole answer"
    )
    answers_together: bool = Field(
        default=False,
        description="true only for the two passages that together, and neither alone, state all of it",
    )


class GradeReply(RoleReply):
    """One verdict for each passage."""

    grades: list[PassageGrade] = Field(default_factory=list)


GRADE = Role(name="grade", reply=GradeReply, tier="fast", cut=("passages",))
"""Scores how relevant each passage is to the question, all in one batch."""


class GenerateReply(WriterReply):
    """An answer of cited sentences; none when the passages answer nothing of the question."""

    answer: list[DraftSentence] = optional_list("empty when the passages answer nothing of the question")
    confidence: Share = 0.0


GENERATE = Role(name="generate", reply=GenerateReply, on_failure="rest", cut=("passages", "history"))
"""Writes the answer of a chat from passages, with quotes for every sentence, or writes nothing."""


class ReadSectionReply(RoleReply):
    """The main points of a section, in its order."""

    answer: list[DraftSentence] = optional_list("the main points, six at most")


READ_SECTION = Role(name="read_section", reply=ReadSectionReply, tier="fast", cut=("passages",))
"""Says what a section of a document says, with quotes; all sections of it are asked side by side."""


MAX_CHOICES = 4


class ClarifyReply(RoleReply):
    """The question, and what may be picked as an answer instead of typing one."""

    question: str = optional_text("one friendly question, two sentences at most")
    choices: list[str] = optional_list(
        f"up to {MAX_CHOICES} short answers that would help; empty when none can be named"
    )


CLARIFY = Role(name="clarify", reply=ClarifyReply, tier="fast")
"""Asks the person back: one question, with choices where there are some."""


DEFAULT_COUNT, MAX_COUNT = 5, 20
"""Facilities that are listed when no number is given, and at most."""


class LocationReply(RoleReply):
    """What is looked for. `near`: a place in the person's words or a pair of coordinates; or empty."""

    kind: str = optional_text(
        "one of the kinds there are, spelled as there; empty when none of them is meant"
    )
    near: str = ""
    is_by_distance: bool = Field(default=False, description="true when the nearest is wanted, or a distance")
    most: int = Field(default=DEFAULT_COUNT, ge=1, le=MAX_COUNT)


LOCATION = Role(name="location", reply=LocationReply, tier="fast")
"""Reads what kind of facility is asked for, and near what. Where things are, code looks up afterwards."""
