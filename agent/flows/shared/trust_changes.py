"""How far the sources of a run are trusted: what a person's word on a domain changes, and the list a person
looks at. Pure functions.

    trusted(state, step, "forum.example", 0.3, "anyone may write")      the change: its facts count with that trust, confidence recounted
    by_domain(state)                                                    every domain of the run: pages, facts, voice, trust with reasons

At 0 ("not at all") a source is not heard: its facts stay in the list, but support nothing and dispute
nothing; a pinned one still counts. A value below 0 takes the word back: the signs of each page decide again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import UsageError
from agent.evidence.source_independence import map_sites_to_sources
from agent.evidence.source_trust import DEFAULT_TRUST, NO_SIGN_REASONS, describe_rating, trust_label
from agent.flows.shared.recompute import recompute_after_edit
from agent.text.urls import FILE_SCHEME, host, site
from agent.types import Edit, Fact, PageRef, TrustRating

RESET_TRUST = -1.0
"""The value that takes a word back."""
MAX_REASON_CHARS = 300


@dataclass
class DomainTrust:
    """A registrable domain in a run. `copies` are the other domains that carry the same words: all together
    are one voice."""

    name: str
    pages: list[PageRef] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    trust: float = DEFAULT_TRUST
    reasons: list[str] = field(default_factory=list)
    rating: TrustRating | None = None


def normalize_domain(domain: str) -> str:
    """The registrable domain of what a person typed (a host or an address); a document's name as it is.
    Raises UsageError."""
    text = domain.strip()
    address = text if "://" in text or text.startswith(FILE_SCHEME) else f"https://{text}"
    name = site(address)
    if (
        not name
        or not text
        or any(c.isspace() for c in name)
        or ("." not in name and host(address) != "localhost" and not text.startswith(FILE_SCHEME))
    ):
        raise UsageError(f"“{text[:80]}” is no domain: name one like example.org")
    return name


def set_trust(state: RunState, step: int, domain: str, value: float, reason: str = "") -> Change:
    """The change of a person's word: the domain's facts count with this trust from now on. Raises UsageError
    when nothing changes."""
    if not value <= 1:  # what is no number is refused, too
        raise UsageError("trust goes from 0 (not at all) to 1 (fully)")
    value, said = (RESET_TRUST if value < 0 else round(value, 2)), reason.strip()[:MAX_REASON_CHARS]
    before = state.trusts.get(domain)
    facts = [fact for fact in state.facts.values() if fact.url and site(fact.url) == domain]
    changed = [
        now
        for fact in facts
        if (now := fact.model_copy(update={"trust": trust_from_signals(state, fact) if value < 0 else value}))
        != fact
    ]
    if (
        not changed and (before.value, before.reason) == (value, said)
        if before
        else not changed and not facts and not _is_known_domain(state, domain)
    ):
        raise UsageError(
            f"nothing changes: {domain} is trusted like that already"
            if before
            else f"nothing of this run is from {domain}"
        )
    why = f"trust of {domain}: {'as its signs say' if value < 0 else f'{trust_label(value)} ({value:.2f})'}"
    edit = Edit(step=step, text=f"{why}, because {said}" if said else why)
    return {
        **recompute_after_edit(state, step, facts=changed, why=why),
        "edits": [edit],
        "trusts": {domain: TrustRating(domain=domain, value=value, reason=said)},
    }


def _is_known_domain(state: RunState, domain: str) -> bool:
    return any(site(page.final_url or page.url) == domain for page in state.pages.values())


def trust_from_signals(state: RunState, fact: Fact) -> float:
    """What its page's signs say of a fact."""
    refs = (page for page in state.pages.values() if page.page_id == fact.page_id and page.trust >= 0)
    return next((page.trust for page in refs), DEFAULT_TRUST)


def group_by_domain(state: RunState) -> list[DomainTrust]:
    """The domains of the run, those with most facts first."""
    found: dict[str, DomainTrust] = {}
    for page in state.pages.values():
        if page.page_id:
            name = site(page.final_url or page.url)
            found.setdefault(name, DomainTrust(name)).pages.append(page)
    for fact in state.facts.values():
        if fact.url:
            name = site(fact.url)
            found.setdefault(name, DomainTrust(name)).facts.append(fact)
    heads = map_sites_to_sources(fact for fact in state.facts.values() if fact.url and fact.is_active)
    for domain in found.values():
        mine = heads.get(domain.name)
        domain.copies = (
            sorted(name for name, head in heads.items() if head == mine and name != domain.name)
            if mine
            else []
        )
        _set_domain_trust(state, domain)
    return sorted(found.values(), key=lambda domain: (-len(domain.facts), -len(domain.pages), domain.name))


def _set_domain_trust(state: RunState, domain: DomainTrust) -> None:
    """How far it is trusted, and why: a person's word, else its pages' signs."""
    said = state.trusts.get(domain.name)
    values = [fact.trust for fact in domain.facts] or [page.trust for page in domain.pages if page.trust >= 0]
    domain.trust = max(values, default=DEFAULT_TRUST)
    if said and said.value >= 0:
        domain.rating, domain.trust, domain.reasons = said, said.value, [describe_rating(said)]
        return
    signs = dict.fromkeys(
        reason for page in domain.pages for reason in page.trust_why if reason not in NO_SIGN_REASONS
    )
    usual = {page.trust for page in domain.pages if page.trust >= 0}
    domain.reasons = (
        list(signs) if not values or domain.trust in usual or not usual else ["your word, for every run"]
    )
