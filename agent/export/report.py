"""Everything an export may need of a run: data only, no store and no file format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from agent.evidence.block_layout import prune_blocks
from agent.export.hiding import is_withheld
from agent.types import (
    Action,
    Answer,
    CheckedText,
    Confidence,
    Conflict,
    Edit,
    Fact,
    Note,
    NoteReading,
    Page,
    PageRef,
    PlanPart,
    Refusal,
    Run,
    Stall,
    Step,
    Usage,
)


@dataclass(frozen=True)
class Report:
    """A run and its results. `answer` is the newest, `former_answers` are those before it, oldest first."""

    run: Run
    plan: Sequence[PlanPart]
    answer: Answer | None
    checked: CheckedText | None
    """A text that was checked, in the place of an answer."""
    former_answers: Sequence[Answer]
    facts: Sequence[Fact]
    conflicts: Sequence[Conflict]
    confidence: Sequence[Confidence]
    actions: Sequence[Action]
    pages: Sequence[PageRef]
    refusals: Sequence[Refusal]
    blockages: Sequence[Stall]
    notes: Sequence[Note]
    readings: Sequence[NoteReading]
    """What the notes on an answer were understood as."""
    edits: Sequence[Edit]
    """What a person changed in the facts and conflicts, oldest first."""
    struck_sources: Sequence[str]
    usage: Usage
    steps: Sequence[Step]
    stored_pages: Mapping[str, Page]
    """The stored pages by their ids, as far as the export needs them."""
    gathered: Sequence[PageRef] = ()
    """What a run was to collect."""

    @property
    def to_read(self) -> Report:
        """What a reader of the answer needs: nothing of how it was made, and no mark of what was withheld."""
        run = self.run.replace(id="", imported="", forked_from="", error="")
        kept = ("checked", "facts", "pages", "stored_pages", "gathered")
        shown: dict[str, Any] = {
            one.name: getattr(self, one.name) if one.name in kept else () for one in fields(self)
        }
        answer = self.answer and drop_withheld(self.answer)
        return Report(**shown | {"run": run, "answer": answer, "usage": Usage()})

    @property
    def all_pages(self) -> list[PageRef]:
        """The pages of the run, then those it cites from the library or an earlier turn."""
        known = {page.page_id for page in self.pages}
        found = {
            fact.page_id: PageRef(url=fact.url, page_id=fact.page_id, title=fact.title, step=fact.step)
            for fact in self.facts
            if fact.page_id
        }
        for source in self.answer.sources if self.answer else ():
            found.setdefault(
                source.page_id, PageRef(url=source.url, page_id=source.page_id, title=source.title)
            )
        kept = Counter(fact.page_id for fact in self.facts)
        more = [ref for ref in found.values() if ref.page_id and ref.page_id not in known]
        return [*self.pages, *(ref.replace(facts=kept[ref.page_id]) for ref in more)]


def drop_withheld(answer: Answer) -> Answer | None:
    """The answer without its withheld texts and what they leave empty; None where no sentence is left."""
    shown = Answer.model_validate(_clear(answer.model_dump()))
    kept = [said for said in shown.sentences if said.text]
    blocks = [block for block in shown.blocks if block.text or block.kind != "heading"]
    if len(kept) < len(answer.sentences):
        blocks, kept = prune_blocks(blocks, kept)
    return shown.replace(blocks=blocks, sentences=kept) if kept or not answer.sentences else None


def _clear(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _clear(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_clear(inner) for inner in value]
    return "" if isinstance(value, str) and is_withheld(value) else value
