"""Versions of a stored page: what differs between two, and whether the quotes of one are in the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.actions.commit import ActionContext
from agent.evidence.quote_match import has_quote
from agent.store.pages import PageVersion
from agent.text.diff import DiffPart, diff_texts
from agent.text.urls import canonicalize
from agent.types import Fact, Page


@dataclass(frozen=True)
class VersionDiff:
    """Two versions side by side; the facts of a run whose quotes are in the other text, and the others."""

    parts: Sequence[DiffPart]
    kept_facts: Sequence[Fact] = ()
    lost_facts: Sequence[Fact] = ()

    @property
    def line_counts(self) -> dict[str, int]:
        """The number of lines that are the same, removed, added and changed."""
        return {
            kind: sum(part.lines for part in self.parts if part.kind == kind)
            for kind in ("same", "removed", "added", "changed")
        }


def list_versions(bench: ActionContext, page: Page) -> list[PageVersion]:
    """All stored versions of the page's address, the newest first."""
    return bench.store.pages.versions(canonicalize(page.final_url) or page.url)


def compare_versions(old: Page, new: Page, facts: Iterable[Fact] = ()) -> VersionDiff:
    """What differs, and which quotes of `facts` (from either version) are in the other one."""
    known = list(facts)
    texts = {old.sha256: new.text, new.sha256: old.text}
    kept = [fact for fact in known if has_quote(fact.quote, texts.get(fact.sha256, new.text))]
    return VersionDiff(diff_texts(old.text, new.text), kept, [fact for fact in known if fact not in kept])
