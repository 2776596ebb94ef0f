"""The plan of a run, its answer with sentences, sources and verdict, and how a note on it was read."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from agent.types.record import Actor, FormerRecord, PageOrigin, Publication, Record

PartStatus = Literal["open", "answered", "found", "disputed", "not_found"]
"""`found`: quotes were found for it, and no model judged whether they answer it."""


class PlanPart(Record):
    """A sub-question. Fields called `part` hold its id ("1", "2" …), "" for none or the whole question."""

    id: str
    question: str
    status: PartStatus = "open"
    confidence: float = 0.0
    after: list[str] = Field(default_factory=list)
    """Ids of the parts whose answers it needs; code ignores unknown ones."""
    answered_by: str = ""
    """What would count as an answer, in the planner's words; "" where nobody said."""
    where: str = ""
    """Where to look, in the planner's words; "" where nobody said."""
    by: Actor = "keyless"
    """Who proposed or last changed it."""


Verdict = Literal["answered", "partial", "passages_found", "no_evidence", "checked"]
"""`passages_found`: no model judged; these are the passages that fit best. `checked`: a text was checked."""
ClaimVerdict = Literal["quoted", "computed", "judged_supported", "differs", "not_supported", "not_checked"]
"""`differs`: code sees a difference to the quotes, and no judge was asked."""
FindingKind = Literal["figure", "unit", "date", "time", "negation", "name"]
SUPPORTED_VERDICTS: frozenset[str] = frozenset({"quoted", "computed", "judged_supported"})
Reason = Literal[
    "none", "off_topic", "not_covered", "unsupported", "needs_clarification", "blocked", "budget", "silent"
]
"""Why there is no answer, or half of one. `unsupported`: nothing of what was drafted is supported by its
quotes."""


class ClaimFinding(FormerRecord):
    """A difference that code saw when it compared a claim with its quotes; a question to the judge."""

    kind: FindingKind
    claimed: str
    """The words of the claim that differ."""
    quoted: str
    """The words of the quotes in their place; "" when there are none."""
    is_absent: bool = False
    """Whether it stands nowhere: in no quote, heading, column head or title, nor in the sentence before or
    the question, in any spelling, and is not computed. It stays visible whatever a judge says."""


BlockKind = Literal["heading", "paragraph", "list", "table", "chart"]
ReportLength = Literal["brief", "standard", "full"]


class AnswerBlock(FormerRecord):
    """A block of an answer. Its sentences, list items and cells are `Answer.sentences` with its id in
    `Sentence.block`, in their order, so that each is checked and cited as any other."""

    id: str
    kind: BlockKind = "paragraph"
    role: Literal["", "lead", "passage", "gap"] = ""
    """What it is in an answer without a model: the passage that fits a part best, those below it, or that
    nothing was found. "" for any other."""
    level: int = 2
    """Of a heading: 2 for a section, 3 below it."""
    text: str = ""
    """Of a heading its words, of a table or chart its caption; no claim, so nothing is checked."""
    heads: list[str] = Field(default_factory=list)
    """Of a table the names of its columns; the first names the things compared."""
    row_labels: list[str] = Field(default_factory=list)
    """Of a table the thing that each row is about."""
    part: str = ""
    by_code: bool = False
    """Whether code wrote it from the ledger (method, limits, bibliography)."""
    lines: list[str] = Field(default_factory=list)
    """Of a block that code wrote its paragraphs or items."""
    shows: str = ""
    """Of a chart the id of the table block whose columns `heads` it draws."""

    def describe_cell(self, row: int, column: int) -> str:
        """Of a table what a cell is about, by its row's label and its column's name; "" outside of it."""
        label = self.row_labels[row] if 0 <= row < len(self.row_labels) else ""
        head = self.heads[column] if 0 <= column < len(self.heads) else ""
        return ": ".join(filter(None, (label, head)))


SectionForm = Literal["prose", "list", "table"]


class OutlineSection(Record):
    """A section of a report before it is written: what it is about and the facts that it alone may use."""

    heading: str
    part: str = ""
    fact_ids: list[str] = Field(default_factory=list)
    form: SectionForm = "prose"


class Outline(Record):
    """The outline of a report; a person may edit it before the sections are written."""

    title: str = ""
    sections: list[OutlineSection] = Field(default_factory=list)
    by: Actor = "keyless"
    step: int = 0
    """The step that made it or in which a person last edited it."""


class Sentence(FormerRecord):
    """A sentence of an answer and the facts it cites."""

    text: str
    fact_ids: list[str] = Field(default_factory=list)
    backed: bool = False
    """Whether its quotes support it (`check` is one of SUPPORTED_VERDICTS); never set by the writer."""
    check: ClaimVerdict | Literal[""] = ""
    """How its support was found; "" for what is no claim."""
    findings: list[ClaimFinding] = Field(default_factory=list)
    """The differences that code saw, but those that an independent judge explained."""
    check_reason: str = ""
    """The judge's reason, or the arithmetic of a computed claim ("1986 − 1961 = 25")."""
    part: str = ""
    heading: str = ""
    """The path of headings its quote stands under, where its block has a role."""
    block: str = ""
    """The id of the block of the answer it stands in; of a drafted quote the role it is to have there."""
    row: int = -1
    column: int = -1
    """Where it stands in a table block, from 0; -1 elsewhere. Column 0 is the row's label."""
    context: str = ""
    """Of a table's cell its row and column ("Lynghaug: Turbines"): with them it is checked as a claim."""
    contradicted: bool = False
    """Whether the judge says that its quotes and it cannot both be true."""
    disputed: str = ""
    """What another source says where an open conflict disputes it ("two.example says “1923”")."""

    @property
    def claim(self) -> str:
        """What it states outside of its table: of a cell with its row and column."""
        return f"{self.context}: {self.text}" if self.context else self.text


class Source(Record):
    """A numbered source of an answer, with the quotes it is cited for."""

    n: int
    url: str
    title: str
    quotes: list[str]
    fact_ids: list[str] = Field(default_factory=list)
    """The facts of `quotes`, in the same order."""
    page_id: str
    sha256: str
    fetched_at: str
    given: PageOrigin
    publication: Publication | None = None
    """The published work it is, as far as it is known."""

    @property
    def page_quotes(self) -> list[str]:
        """The quotes that are from a stored page; what a person knows by themselves is none."""
        return [quote for quote in self.quotes if quote and self.page_id]


class StatementCounts(Record):
    """Sentences that their quotes support, sentences that they do not, citations that resolve to nothing."""

    backed: int = 0
    unsupported: int = 0
    dropped: int = 0
    unchecked: int = 0
    """Of the unsupported ones, those that nobody judged (no model)."""


class Answer(Record):
    """What a person reviews. The first answer of a run is number 1; each send-back makes the next."""

    n: int
    verdict: Verdict
    reason: Reason = "none"
    sentences: list[Sentence] = Field(default_factory=list)
    certainty: str = ""
    missing: str = ""
    """What is not answered, as it is shown: the writer's `open`, else the parts that are left."""
    open: str = ""
    """What of the question the sources do not answer, in the writer's words; "" for nothing."""
    assumed: str = ""
    """The reading or condition that it rests on, in the writer's words; "" for none."""
    judge: Literal["", "writer", "other"] = ""
    """Whether the model that wrote it, or another one, judged its sentences; "" where none did."""
    remark: str = ""
    """A note on how the answer was made, for example an instruction that was not followed."""
    journey: str = ""
    sources: list[Source] = Field(default_factory=list)
    statements: StatementCounts = Field(default_factory=StatementCounts)
    confidence: float | None = None
    """None where no model judged it, or nothing is answered."""
    answered_parts: list[str] | None = None
    """The ids of the plan's parts that its supported sentences answer, as the judge says; None where it did
    not say."""
    by: Actor = "keyless"
    trouble: str = ""
    """Why the model did not write it although it was asked."""
    why_stopped: str = ""
    because: str = ""
    """Why it was written again: what a person edited since the previous answer."""
    conflicts: list[str] = Field(default_factory=list)
    """Ids of the open conflicts that the answer names."""
    title: str = ""
    """The title of a report; "" for none."""
    length: ReportLength = "standard"
    blocks: list[AnswerBlock] = Field(default_factory=list)
    """The blocks of the answer in their order; empty where it has no sentences, and of a
    checked text."""
    parts: list[PlanPart] = Field(default_factory=list)
    """The parts of a compound question and what became of each; empty for one."""
    step: int = 0

    @property
    def text(self) -> str:
        """The main sentences without citation marks; a table's cells with their row and column."""
        return " ".join(f"{s.claim.rstrip('.')}." if s.context else s.text for s in self.main_sentences)

    @property
    def main_sentences(self) -> list[Sentence]:
        """The sentences; leads come before passages."""
        roles = {block.id: block.role for block in self.blocks}
        shown = self.sentences
        leads = [s for s in shown if roles.get(s.block) == "lead"]
        opening = shown.index(leads[0]) if leads else len(shown)
        return [*shown[:opening], *leads, *(s for s in shown[opening:] if roles.get(s.block) != "lead")]

    def citation_numbers(self, sentence: Sentence) -> list[int]:
        """The numbers of the sources that a sentence cites, rising."""
        cited = set(sentence.fact_ids)
        return sorted(source.n for source in self.sources if cited.intersection(source.fact_ids))

    @property
    def is_small_talk(self) -> bool:
        """Whether it only replies to thanks or a greeting; such a reply is no refusal."""
        return self.verdict == "no_evidence" and self.reason == "none" and bool(self.certainty)


class NoteReading(Record):
    """What code applies for the notes since an answer, as a model read them.
    Ids of sentences are "s1", "s2" … in the order of `Answer.sentences`, those of headings "h1" … and tables
    "t1" … in the order of its blocks, those of the empty cells of table t1 "c1.1", "c1.2" …. Fields that only
    earlier versions recorded are left out."""

    model_config = ConfigDict(extra="ignore", defer_build=True)

    note: int
    """The step of the newest note that was read."""
    step: int
    by: Actor
    understood: str
    """The note in the words of the model that read it; "" where none did."""
    excluded_sites: list[str] = Field(default_factory=list)
    """Hosts and addresses; no fact of theirs counts any more."""
    allowed_sites: list[str] = Field(default_factory=list)
    """Those that an earlier note excluded and this one allows again."""
    waits: bool = False
    """Whether the exclusions wait for the person's word: they leave out most of what is known."""
    removed: list[str] = Field(default_factory=list)
    """Ids of the sentences, headings and tables that go, with nothing in their place."""
    about: list[str] = Field(default_factory=list)
    """Ids of the sentences, headings, tables and cells to be written again, and of parts of the plan."""
    only_parts: list[str] = Field(default_factory=list)
    """Ids of the plan's parts that the answer is limited to; empty for all."""
    questions: list[str] = Field(default_factory=list)
    """New sub-questions; each became a part of the plan."""
    searches: list[str] = Field(default_factory=list)
    """What is to be looked for."""
    addresses: list[str] = Field(default_factory=list)
    """What is to be read."""
    length: ReportLength | None
    max_words: int
    form: str
    """The form that is asked for, such as "a table"; "" for none."""
    is_whole: bool = False
    """Whether the whole answer is written again; else what nothing touches is kept word for word."""
    needs_research: bool = False
