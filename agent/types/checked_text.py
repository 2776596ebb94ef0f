"""A text to check against the sources it cites: its sentences, their marks, a person's word on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from agent.types.answers import Sentence
from agent.types.facts import Fact
from agent.types.record import Record

ClaimMark = Literal[
    "supported", "not_supported", "contradicted", "unavailable", "no_source", "not_checked", "no_claim"
]
MARK_LABELS: dict[ClaimMark, str] = {
    "supported": "supported",
    "contradicted": "source says otherwise",
    "not_supported": "not in its sources",
    "unavailable": "source unavailable",
    "no_source": "no source",
    "not_checked": "not checked",
    "no_claim": "no claim",
}
"""The marks in words, in the order of a summary."""
MARK_COUNT_LABELS: dict[ClaimMark, str] = {
    **MARK_LABELS,
    "contradicted": "contradicted by the source",
    "not_supported": "not supported",
    "no_source": "without a source",
}
"""The marks behind a number."""
MARK_SIGNS: dict[ClaimMark, str] = {
    "supported": "✓",
    "contradicted": "≠",
    "not_supported": "✗",
    "unavailable": "⊘",
    "no_source": "⊘",
    "not_checked": "⊘",
    "no_claim": "",
}
"""A sign for each, the same as in answers, so that none is told by its colour alone."""
PROBLEM_MARKS: frozenset[str] = frozenset({"contradicted", "not_supported", "unavailable", "no_source"})
SentenceKind = Literal["claim", "heading", "question", "reference", "code", "label", "opinion"]
"""`label`: a line of few words that is no sentence; `reference`: of the list of references; `opinion`: a
model says that it states no fact that could be checked. All but `claim` stay unmarked."""


class Citation(Record):
    """What a sentence cites: an address, or why the mark leads to none."""

    url: str = ""
    label: str = ""
    """The mark as it is written: "[3]", "Smith 2020"; "" for a link."""
    trouble: str = ""


class TextSentence(Record):
    """A sentence of the text, from `start` to `end`, without the marks of its citations in `text`."""

    id: str
    start: int
    end: int
    text: str
    kind: SentenceKind
    paragraph: int = 0
    """Sentences of one number stand in one paragraph, item or row."""
    level: int = 0
    """The level of a heading."""
    citations: list[Citation] = Field(default_factory=list)
    covered: bool = False
    """Whether the citation stands at the end of the paragraph and is taken to cover this sentence too."""
    found: list[str] = Field(default_factory=list)
    """Pages that a search found for it, because it cites none."""
    searched: bool = False
    search_trouble: str = ""
    """Why no engine answered the search for it; "" when one did."""

    @property
    def urls(self) -> list[str]:
        """The addresses it is checked against."""
        return [citation.url for citation in self.citations if citation.url] + self.found


class SentenceMark(Record):
    """What the check made of a sentence. `sentence` has its evidence (`fact_ids`) and how it was judged."""

    id: str
    mark: ClaimMark
    sentence: Sentence
    unread: list[str]
    """Cited addresses that could not be read."""
    closest: str = ""
    """The sentence of its evidence that comes closest; the first fact holds it."""
    step: int


class Overruling(Record):
    """A person's word on a sentence, which stands above its mark."""

    id: str
    mark: ClaimMark
    reason: str
    step: int


class MarkedSentence(Record):
    """A sentence with its mark as it is shown: a person's, else the check's; None while it is not checked."""

    sentence: TextSentence
    mark: ClaimMark | None
    automatic: ClaimMark | None
    reason: str
    facts: list[Fact]
    """The evidence: what supports it, or what comes closest."""
    closest: str
    """The sentence of the first fact that comes closest."""
    overruled: str
    """A person's reason; "" where the mark is the check's own."""
    differs: bool
    """Whether code found a difference between it and its quotes that nobody has judged."""

    @property
    def is_problem(self) -> bool:
        """Whether somebody should look at it."""
        return self.mark in PROBLEM_MARKS or self.differs

    @property
    def label(self) -> str:
        """Its mark in words; "" while it is not checked."""
        return (MARK_LABELS[self.mark] if self.mark else "") + (
            ", differs from its source" if self.differs else ""
        )


class CheckedText(Record):
    """The whole text with its marks."""

    title: str
    url: str
    page_id: str
    why_stopped: str
    """Why it was ended before everything was read and judged; "" where it was not."""
    sentences: list[MarkedSentence]

    @property
    def claims(self) -> list[MarkedSentence]:
        """The sentences that state something, and those whose mark a person set."""
        return [one for one in self.sentences if one.sentence.kind == "claim" or one.overruled]

    @property
    def paragraphs(self) -> list[list[MarkedSentence]]:
        """The sentences by paragraph."""
        grouped: dict[int, list[MarkedSentence]] = {}
        for one in self.sentences:
            grouped.setdefault(one.sentence.paragraph, []).append(one)
        return list(grouped.values())

    @property
    def summary(self) -> str:
        """For example "31 claims: 22 supported, 4 not supported, 5 source unavailable"."""
        return summarize_marks((one.mark for one in self.claims), sum(one.differs for one in self.claims))


def summarize_marks(marks: Iterable[ClaimMark | None], differing: int = 0) -> str:
    """How many claims have which mark; `differing` of the unchecked ones differ from their source."""
    counts: Counter[str | None] = Counter(mark for mark in marks if mark != "no_claim")
    total = counts.total()
    if not total:
        return "No claims"
    labels = dict(MARK_COUNT_LABELS)
    if differing:
        labels["not_checked"] += f", {differing} of them differing from the source"
    parts = [f"{counts[mark]} {label}" for mark, label in labels.items() if counts[mark]]
    parts += [f"{counts[None]} to check"] if counts[None] else []
    return f"{total} claim{'s' * (total != 1)}: {', '.join(parts)}"
