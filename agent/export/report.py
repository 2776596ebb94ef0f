"""Everything an export may need of a run, gathered by the one who exports. Holds data; knows neither the store nor a file format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.types import (
    Action,
    Answer,
    Blockage,
    Call,
    Confidence,
    Conflict,
    Fact,
    Note,
    Outcome,
    PageRef,
    Refusal,
    Run,
    Sentence,
    Settings,
    Step,
    Usage,
)


@dataclass(frozen=True)
class Report:
    """A run as it stands. `answer` is the newest, `former` the ones before it, oldest first."""

    run: Run
    settings: Settings
    answer: Answer | None = None
    former: Sequence[Answer] = ()
    facts: Sequence[Fact] = ()
    conflicts: Sequence[Conflict] = ()
    confidence: Sequence[Confidence] = ()
    actions: Sequence[Action] = ()
    pages: Sequence[PageRef] = ()
    refusals: Sequence[Refusal] = ()
    blockages: Sequence[Blockage] = ()
    notes: Sequence[Note] = ()
    usage: Usage = field(default_factory=Usage)
    steps: Sequence[Step] = ()
    calls: Sequence[Call] = ()

    @property
    def unread(self) -> list[PageRef]:
        """The pages that could not be read."""
        return [page for page in self.pages if page.outcome != Outcome.OK]


def cited(sentence: Sentence, answer: Answer) -> list[int]:
    """The numbers of an answer's sources that a sentence cites, rising."""
    wanted = set(sentence.fact_ids)
    return sorted(source.n for source in answer.sources if wanted.intersection(source.fact_ids))
