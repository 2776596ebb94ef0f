"""Earlier and later versions of a stored page, what differs between two, and whether the quotes of one still
stand in the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.evidence import quote_match
from agent.store.pages import PageVersion
from agent.text.diff import DiffPart, diff_texts
from agent.text.urls import canonicalize
from agent.types import Fact, Page
from agent.workbench import Workbench


@dataclass(frozen=True)
class VersionDiff:
    """Two versions side by side. `standing` and `lost` are the facts of a run by whether their quotes stand
    in the other text."""

    parts: Sequence[DiffPart]
    kept_facts: Sequence[Fact] = ()
    lost_facts: Sequence[Fact] = ()

    @property
    def line_counts(self) -> dict[str, int]:
        """Lines by how they fared: same, removed, added, changed."""
        return {
            kind: sum(part.lines for part in self.parts if part.kind == kind)
            for kind in ("same", "removed", "added", "changed")
        }


def list_versions(bench: Workbench, page: Page) -> list[PageVersion]:
    """All stored versions of the page's address, the newest first."""
    return bench.store.pages.versions(canonicalize(page.final_url) or page.url)


def compare_versions(old: Page, new: Page, facts: Iterable[Fact] = ()) -> VersionDiff:
    """What differs, and whether the quotes that `facts` hold from one of the two stand in the other,
    whichever that is."""
    known = list(facts)
    texts = {old.sha256: new.text, new.sha256: old.text}
    standing = [fact for fact in known if has_quote_in(fact, texts.get(fact.sha256, new.text))]
    return VersionDiff(
        diff_texts(old.text, new.text), standing, [fact for fact in known if fact not in standing]
    )


def has_quote_in(fact: Fact, text: str) -> bool:
    """Does a fact's quote stand in this text?"""
    return fact.quote in text or quote_match.find_quote(fact.quote, text) is not None
