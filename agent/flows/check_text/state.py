"""The record of a `check_text` run: the text, its sentences, and the mark of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field

from agent.answering.view import OnePublisherState
from agent.engine.run_state import ReadText, RunState
from agent.engine.state import Change, upsert
from agent.evidence.support import describe_support
from agent.text.urls import canonicalize
from agent.types import (
    CheckedText,
    Citation,
    MarkedSentence,
    Outcome,
    Overruling,
    PageRef,
    SentenceMark,
    TextSentence,
)


class CheckTextState(OnePublisherState):
    """What a `check_text` run keeps beside the shared part."""

    text_page: str = ""
    """The id of the stored text; "" before it is read."""
    text_url: str = ""
    title: str = ""
    sentences: Annotated[dict[str, TextSentence], upsert] = Field(default_factory=dict)
    sorted_count: int = 0
    """How many sentences a model has looked at for what is no claim."""
    marks: Annotated[dict[str, SentenceMark], upsert] = Field(default_factory=dict)
    overrulings: Annotated[dict[str, Overruling], upsert] = Field(default_factory=dict)

    @property
    def claims(self) -> list[TextSentence]:
        """The sentences that are checked."""
        return [one for one in self.sentences.values() if one.kind == "claim"]

    def list_unaddressed(self) -> dict[str, str]:
        """The cited references without an address."""
        cited = (citation for claim in self.claims for citation in claim.citations if not citation.url)
        return {citation.label or citation.trouble: citation.trouble for citation in cited}

    def place_reference(self, name: str, url: str) -> Change:
        """The sentences that cite it, with the address."""

        def place(one: Citation) -> Citation:
            is_it = not one.url and name == (one.label or one.trouble)
            return one.replace(url=url, trouble="") if is_it else one

        moved = [claim.replace(citations=[place(one) for one in claim.citations]) for claim in self.claims]
        return {"sentences": [new for new, old in zip(moved, self.claims, strict=True) if new != old]}

    def refs_by_address(self, run: RunState[Any]) -> dict[str, PageRef]:
        """The pages that were asked for, by address as `canonicalize` spells it."""
        return {canonicalize(ref.url): ref for ref in run.pages.values()}

    def urls_to_fetch(self, run: RunState[Any]) -> list[str]:
        """The cited addresses that were not asked for, or that a person asked to try again; each once."""
        refs, wanted = self.refs_by_address(run), dict[str, str]()
        again = {canonicalize(asked.query_or_url): asked.step for asked in run.again}
        for name, url in ((canonicalize(url), url) for claim in self.claims for url in claim.urls):
            if name not in refs or again.get(name, -1) > refs[name].step:
                wanted.setdefault(name, refs[name].url if name in refs else url)
        return list(wanted.values())

    def claims_to_search(self, run: RunState[Any]) -> list[TextSentence]:
        """The claims without a source that are still to be searched for."""
        if not run.settings.check_text.search_missing:
            return []
        return [claim for claim in self.claims if not claim.citations and not claim.searched]

    def claims_to_check(self, run: RunState[Any]) -> list[TextSentence]:
        """The claims without a mark, or with one that is older than a page they cite."""
        steps = {name: ref.step for name, ref in self.refs_by_address(run).items()}
        marked = {name: mark.step for name, mark in self.marks.items()}
        return [
            claim
            for claim in self.claims
            if claim.id not in marked
            or any(steps.get(canonicalize(url), -1) > marked[claim.id] for url in claim.urls)
        ]

    def describe_target(self, run: RunState[Any], step: str) -> str:
        """How far the step has come, in numbers."""
        if step == "check":
            claims = len(self.claims)
            return f"{claims - len(self.claims_to_check(run))} of {claims} claims done"
        return f"{len(self.urls_to_fetch(run))} to read" if step == "fetch" else ""

    def export_extra(self, run: RunState[Any], read_text: ReadText = lambda _id: "") -> dict[str, Any]:
        """The text with its marks, for JSON."""
        checked = self.checked_text(run)
        if checked is None:
            return {}
        return {"summary": checked.summary, "checked_text": checked.model_dump(mode="json")}

    def checked_text(self, run: RunState[Any]) -> CheckedText | None:
        """The text with its marks as they are now; None before it is read."""
        if not self.text_page:
            return None
        marked = [self._mark(one, run) for one in self.sentences.values()]
        why = run.why_stopped or (run.answer.why_stopped if run.answer else "")
        about = {"title": self.title, "url": self.text_url, "page_id": self.text_page, "why_stopped": why}
        return CheckedText(**about, sentences=marked)

    def _mark(self, one: TextSentence, run: RunState[Any]) -> MarkedSentence:
        given, overruled = self.marks.get(one.id), self.overrulings.get(one.id)
        automatic = given.mark if given else None if one.kind == "claim" else "no_claim"
        facts = [run.facts[i] for i in given.sentence.fact_ids if i in run.facts] if given else []
        return MarkedSentence(
            sentence=one,
            mark=overruled.mark if overruled else automatic,
            automatic=automatic,
            reason=". ".join(self._list_reasons(one, given, run)) if given else "",
            facts=facts,
            closest=given.closest if given else "",
            overruled=overruled.reason if overruled else "",
            differs=not overruled and bool(given and given.sentence.check == "differs"),
        )

    def _list_reasons(self, one: TextSentence, given: SentenceMark, run: RunState[Any]) -> Iterator[str]:
        """Why a sentence has its mark, in sentences without a full stop."""
        support = describe_support(given.sentence)
        said = support.reason
        if given.sentence.fact_ids and said:
            yield said[:1].upper() + said[1:]
        if one.urls and not given.sentence.fact_ids and not given.unread:
            yield "The page holds nothing that could be quoted"
        if given.mark == "no_source" and one.searched and not one.found:
            yield one.search_trouble.rstrip(".") or "No page was found by a search"
        if one.covered:
            yield "The citation at the end of its paragraph was taken to cover it too"
        if one.found and not one.citations:
            yield "The text cites nothing; a search found the page"
        for citation in one.citations:
            if citation.trouble:
                yield citation.trouble.rstrip(".")
        refs = self.refs_by_address(run) if given.unread else {}
        for url in given.unread:
            ref = refs.get(canonicalize(url))
            if ref is None or ref.outcome is not Outcome.OK:
                why = ref.detail.rstrip(".") if ref else "it was not asked for before the check ended"
                yield f"{url} could not be read: {why}"


CheckTextRun = RunState[CheckTextState]
