"""Earlier and later versions of a stored page, what differs between two, and whether the quotes of one still stand in the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.evidence import quotes
from agent.store.pages import Version
from agent.text.differing import Part, parts
from agent.types import Fact, Page
from agent.urls import canonical
from agent.workbench import Workbench


@dataclass(frozen=True)
class Compared:
    """Two versions side by side. `standing` and `lost` are the facts of a run by whether their quotes stand in the other text."""

    parts: Sequence[Part]
    standing: Sequence[Fact] = ()
    lost: Sequence[Fact] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Lines by how they fared: same, removed, added, changed."""
        return {kind: sum(part.lines for part in self.parts if part.kind == kind) for kind in ("same", "removed", "added", "changed")}


def of(bench: Workbench, page: Page) -> list[Version]:
    """All stored versions of the page's address, the newest first."""
    return bench.store.pages.versions(canonical(page.final_url) or page.url)


def compare(old: Page, new: Page, facts: Iterable[Fact] = ()) -> Compared:
    """What differs, and whether the quotes that `facts` hold from one of the two stand in the other, whichever that is."""
    known = list(facts)
    texts = {old.sha256: new.text, new.sha256: old.text}
    standing = [fact for fact in known if stands(fact, texts.get(fact.sha256, new.text))]
    return Compared(parts(old.text, new.text), standing, [fact for fact in known if fact not in standing])


def stands(fact: Fact, text: str) -> bool:
    """Does a fact's quote stand in this text?"""
    return fact.quote in text or quotes.locate(fact.quote, text) is not None
