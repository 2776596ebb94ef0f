"""Roles of the site flow: SITE_DECISION chooses between answering and exploring, DRAFT writes the answer or
refuses."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from agent.roles.role import Role, RoleReply, Share, WriterReply, optional_list, optional_text
from agent.types import Record


class SitePage(Record):
    """A visited page, with the text of it that is shown; "" for none."""

    index: int
    url: str
    title: str = ""
    text: str = ""


class UnvisitedUrl(Record):
    """An address that could be explored, and its link text."""

    index: int
    url: str
    text: str = ""


class AgentDecision(RoleReply):
    """What to do next."""

    decision: Literal["answer", "explore"] = "answer"
    reasoning: str = optional_text("one or two sentences: why, and what is still missing")
    selected_url_indices: list[int] = optional_list(
        "with explore: unvisited addresses, the most promising first"
    )
    useful_visited_indices: list[int] = optional_list(
        "indices of the visited pages that help to answer, best first"
    )
    search_words: str = optional_text("words to find the answer's place by, in the language of the site")
    parts: list[str] = optional_list("the questions asked at once, each by itself; empty for one")
    standalone_question: str = optional_text("in a conversation: the question with what it adds; else empty")


SITE_DECISION = Role(
    name="site_decision", reply=AgentDecision, on_failure="rest", cut=("pages", "unvisited", "history")
)
"""Decides whether the pages read are enough to answer, or which addresses to read next."""


class DraftQuote(RoleReply):
    """Verbatim words of one passage."""

    passage_id: str
    quote: str = Field(description="copied character by character from that passage")


class DraftSentence(RoleReply):
    """One sentence of the answer and the words of the pages that state it."""

    text: str
    quotes: list[DraftQuote] = Field(default_factory=list)
    part: str = optional_text("where parts are listed, the number of the one it answers")


class DraftReply(WriterReply):
    """An answer, or a refusal with a polite message."""

    refusal: Literal["none", "off_topic", "not_covered", "needs_clarification"] = "none"
    answer: list[DraftSentence] = optional_list("empty when refusing")
    message: str = optional_text(
        "when refusing: one or two polite sentences to the person, or the question to ask back"
    )
    confidence: Share = 0.0

    @model_validator(mode="after")
    def drop_refused_sentences(self) -> Self:
        """A refusal without sentences."""
        self.answer = [] if self.refusal != "none" else self.answer
        return self


DRAFT = Role(name="draft", reply=DraftReply, on_failure="rest", cut=("passages", "history", "former"))
"""Writes the answer to a question about a site from passages of its pages, or refuses it politely."""
