"""What a run says: an answer with its sentences, sources and verdict."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from agent.types.facts import Actor
from agent.types.record import PageOrigin, Record

Verdict = Literal["answered", "partial", "no_evidence"]
Reason = Literal["none", "off_topic", "not_covered", "needs_clarification", "blocked", "budget", "silent"]


class Sentence(Record):
    """A sentence of an answer and the facts it cites. `backed` is set by code, never by the one who wrote
    it."""

    text: str
    fact_ids: list[str] = Field(default_factory=list)
    backed: bool = False


class Source(Record):
    """A numbered source of an answer, with the quotes it is cited for (`fact_ids` in the order of
    `quotes`)."""

    n: int
    url: str
    title: str = ""
    quotes: list[str] = Field(default_factory=list)
    fact_ids: list[str] = Field(default_factory=list)
    page_id: str = ""
    sha256: str = ""
    fetched_at: str = ""
    given: PageOrigin = "fetched"


class StatementCounts(Record):
    """How an answer's statements fared: backed by a page, unsupported, and citations dropped because they
    resolve to nothing."""

    backed: int = 0
    unsupported: int = 0
    dropped: int = 0


class Answer(Record):
    """What a person reviews. The first is number 1; each send-back makes the next."""

    n: int
    verdict: Verdict
    reason: Reason = "none"
    sentences: list[Sentence] = Field(default_factory=list)
    certainty: str = ""
    missing: str = ""
    remark: str = ""
    """What to know of how it was made: an instruction that was not followed."""
    journey: str = ""
    sources: list[Source] = Field(default_factory=list)
    statements: StatementCounts = Field(default_factory=StatementCounts)
    confidence: float = 0.0
    by: Actor = "keyless"
    trouble: str = ""
    """Why the model did not write it although it was asked."""
    why_stopped: str = ""
    because: str = ""
    """Why it was written anew: what a person edited since the former answer."""
    conflicts: list[str] = Field(default_factory=list)
    """Ids of the open conflicts that the answer names."""
    step: int = 0

    @property
    def text(self) -> str:
        """The sentences alone, without citation marks."""
        return " ".join(s.text for s in self.sentences)

    @property
    def is_small_talk(self) -> bool:
        """Is it only a word in kind to thanks or a greeting? Nothing was asked then, so nothing was
        refused."""
        return self.verdict == "no_evidence" and self.reason == "none" and bool(self.certainty)

    @property
    def side_notes(self) -> list[tuple[str, str]]:
        """What stands beside the sentences, each with its name; some may be empty."""
        why = [("Why it stopped", self.why_stopped), ("Written anew", self.because)]
        return [("Certainty", self.certainty), ("Missing", self.missing), *why, ("Remark", self.remark)]
