"""The domains of a run, with what they gave and how far the signs of their pages are trusted."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.engine.run_state import RunState
from agent.evidence.sources import DEFAULT_TRUST, NO_SIGN_REASONS, map_sites_to_sources
from agent.text.urls import site
from agent.types import Fact, PageRef


@dataclass
class SourceDomain:
    """A registrable domain in a run. `copies` are other domains with the same text: all are one source."""

    name: str
    pages: list[PageRef] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)

    @property
    def trust(self) -> float:
        """The best trust of its facts, else of its pages, 0 to 1."""
        values = [fact.trust for fact in self.facts] or [page.trust for page in self.pages if page.trust >= 0]
        return max(values, default=DEFAULT_TRUST)

    @property
    def reasons(self) -> list[str]:
        """The signs its pages are trusted by, each once; those that say nothing are left out."""
        signs = dict.fromkeys(reason for page in self.pages for reason in page.trust_why)
        return [reason for reason in signs if reason not in NO_SIGN_REASONS]


def group_by_domain(state: RunState) -> list[SourceDomain]:
    """The domains of the run, those with the most facts first."""
    found: dict[str, SourceDomain] = {}
    for page in state.pages.values():
        if page.page_id:
            name = site(page.final_url or page.url)
            found.setdefault(name, SourceDomain(name)).pages.append(page)
    for fact in state.facts.values():
        if fact.url:
            name = site(fact.url)
            found.setdefault(name, SourceDomain(name)).facts.append(fact)
    heads = map_sites_to_sources(fact for fact in state.facts.values() if fact.url and fact.is_active)
    for domain in found.values():
        if mine := heads.get(domain.name):
            domain.copies = sorted(
                name for name, head in heads.items() if head == mine and name != domain.name
            )
    return sorted(found.values(), key=lambda domain: (-len(domain.facts), -len(domain.pages), domain.name))
