"""The sources of a run: its domains, with how far the signs of their pages are trusted; the striking of a
site or page with all its facts, those that are read from it later included; and what differs between two
versions of a stored page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from agent.actions.commit import ActionContext, PersonStep, edit_step
from agent.answering import fact_view
from agent.engine.run_state import RunState
from agent.engine.snapshots import RunSnapshot
from agent.engine.state import state_after
from agent.errors import UsageError
from agent.evidence.quote_match import has_quote
from agent.evidence.sources import DEFAULT_TRUST, NO_SIGN_REASONS, map_sites_to_sources
from agent.store.pages import PageVersion
from agent.text.diff import DiffPart, diff_texts
from agent.text.plurals import clip, format_count
from agent.text.urls import canonicalize, site
from agent.types import Edit, Fact, Page, PageRef, Sentence


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


Source = Annotated[str, Field(description="a site like example.org, or the address of a page")]


@dataclass(frozen=True)
class StrikeImpact:
    """What striking a source affects: its active facts, the answer's sentences that lose all their support,
    and those that lose a part of it."""

    source: str
    facts: list[Fact]
    sentences: list[Sentence]
    weakened: list[Sentence]


def preview_strike(state: RunState, source: str) -> StrikeImpact:
    """What striking this source (a page's address or a site) would affect. Raises UsageError."""
    name = resolve_source(state, source)
    facts = [
        fact
        for fact in state.facts.values()
        if fact_view.is_from_source(fact.url, name) and fact.decision != "struck"
    ]
    gone = {fact.id for fact in facts}
    sentences = state.answer.sentences if state.answer else []
    cited = [sentence for sentence in sentences if gone.intersection(sentence.fact_ids)]
    unsupported = [
        sentence
        for sentence in cited
        if not any(i in state.facts and state.facts[i].can_support for i in set(sentence.fact_ids) - gone)
    ]
    return StrikeImpact(name, facts, unsupported, [s for s in cited if s not in unsupported])


def resolve_source(state: RunState, source: str) -> str:
    """The source as stored: a page of the run, a site or a host. Raises UsageError for none of the run's."""
    text = source.strip()
    normalized = canonicalize(text) if "://" in text else text.lower().removeprefix("www.").rstrip("/")
    known = {fact.url for fact in state.facts.values() if fact.url}
    known |= {page.final_url or page.url for page in state.pages.values()}
    name = text if text in known or text in map(site, known) else normalized
    if not name or not any(fact_view.is_from_source(url, name) for url in known):
        raise UsageError(
            f"this run has nothing from “{clip(text)}”: name a site like example.org, or the address of a "
            "page it read"
        )
    return name


def strike_source(view: RunSnapshot, source: Source) -> PersonStep:
    """Exclude a site or page with all its facts, those that are read there later included."""
    impact = preview_strike(view.state, source)
    if impact.source in view.state.strikes and not impact.facts:
        raise UsageError(f"{impact.source} is excluded already")
    step, count = view.head + 1, format_count(len(impact.facts), "fact")
    said = Edit(step=step, text=f"excluded the source {impact.source} with {count}")
    return edit_step(view, {"strikes": {impact.source: step}, "edits": [said]})


def restore_source(view: RunSnapshot, source: Source) -> PersonStep:
    """Use an excluded source again, with the facts that went with it."""
    state = view.state
    name = source.strip() if source.strip() in state.strikes else resolve_source(state, source)
    if name not in state.strikes:
        raise UsageError(f"{name} is not excluded")
    facts = state_after(state, {"-strikes": [name]}).facts
    restored = [i for i, fact in facts.items() if state.facts[i].struck_with and not fact.struck_with]
    text = f"restored the source {name} with {format_count(len(restored), 'fact')}"
    return edit_step(view, {"-strikes": [name], "edits": [Edit(step=view.head + 1, text=text)]})


@dataclass(frozen=True)
class VersionDiff:
    """Two versions side by side, and the facts of a run whose quotes are not in the other text."""

    parts: Sequence[DiffPart]
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
    """What differs, and which quotes of `facts` (from either version) are not in the other one."""
    texts = {old.sha256: new.text, new.sha256: old.text}
    lost = [fact for fact in facts if not has_quote(fact.quote, texts.get(fact.sha256, new.text))]
    return VersionDiff(diff_texts(old.text, new.text), lost)
