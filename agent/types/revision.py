"""What a person's note on an answer was understood as."""

from __future__ import annotations

from pydantic import Field

from agent.types.answers import ReportLength
from agent.types.record import Actor, Record


class NoteReading(Record):
    """The constraints that code applies for the notes since an answer. Ids of sentences are "s1", "s2" … in
    the order of `Answer.sentences`, those of headings "h1" … and tables "t1" … in the order of its blocks."""

    note: int
    """The step of the newest note that was read."""
    step: int
    by: Actor = "keyless"
    trouble: str = ""
    """Why no model read it although one was asked."""
    understood: str = ""
    """The note in the words of the model that read it; "" where rules read it."""
    excluded_sites: list[str] = Field(default_factory=list)
    """Hosts and addresses; no fact of theirs counts any more."""
    excluded_topics: list[str] = Field(default_factory=list)
    about: list[str] = Field(default_factory=list)
    """Ids of the sentences, headings and tables to be written again, and of parts of the plan."""
    only_parts: list[str] = Field(default_factory=list)
    """Ids of the plan's parts that the answer is limited to; empty for all."""
    questions: list[str] = Field(default_factory=list)
    """New sub-questions; each became a part of the plan."""
    searches: list[str] = Field(default_factory=list)
    """What is to be looked for."""
    addresses: list[str] = Field(default_factory=list)
    """What is to be read."""
    length: ReportLength | None = None
    max_words: int = 0
    form: str = ""
    """The form that is asked for, such as "a table"; "" for none."""
    is_whole: bool = False
    """Whether the whole answer is written again; else what nothing touches is kept word for word."""
    needs_research: bool = False
    not_understood: list[str] = Field(default_factory=list)
    """The sentences of the notes that no rule understands."""
