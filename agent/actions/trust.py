"""How far the domains of a run are trusted, and a person's rating of a domain: for every run from now on, or
within one run as a step that recomputes what follows.

    set_trust_rating(bench, "forum.example", 0.3, "anyone may write")
    set_trust_in_run(bench, run_id, "forum.example", 0.3, "anyone may write", always=True)

At 0 the facts of a source stay in the list, but support and dispute nothing; a pinned one still counts. A
value below 0 removes the rating: the signals of each page decide again."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.actions.commit import commit_edit
from agent.actions.context import ActionContext
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.evidence.source_independence import map_sites_to_sources
from agent.evidence.source_trust import DEFAULT_TRUST, NO_SIGN_REASONS, describe_rating, trust_label
from agent.flows.shared.recompute import recompute_after_edit
from agent.store.ledger import utc_timestamp
from agent.text.urls import FILE_SCHEME, host, site
from agent.types import Edit, Fact, PageRef, TrustRating

RESET_TRUST = -1.0
"""The value that removes a rating."""
MAX_REASON_CHARS = 300


def set_trust_rating(bench: ActionContext, domain: str, value: float, reason: str = "") -> TrustRating:
    """Store a rating for whatever is read from now on; returns it. Raises UsageError."""
    rating = TrustRating(
        domain=normalize_domain(domain),
        value=_check_value(value),
        reason=reason.strip()[:MAX_REASON_CHARS],
        at=utc_timestamp(),
    )
    bench.store.trust_ratings.put(rating.domain, rating)
    return rating


def delete_trust_rating(bench: ActionContext, domain: str) -> None:
    """Remove a rating: the signals of each page decide again. Raises NotFound when there is none."""
    if not bench.store.trust_ratings.drop(normalize_domain(domain)):
        raise NotFound(f"there is no trust rating of {normalize_domain(domain)}")


def list_trust_ratings(bench: ActionContext) -> list[TrustRating]:
    """The ratings for every run, in the order of the domains."""
    return list(bench.store.trust_ratings.all().values())


def set_trust_in_run(
    bench: ActionContext,
    run_id: str,
    domain: str,
    value: float,
    reason: str = "",
    *,
    always: bool = False,
    head: int | None = None,
) -> int:
    """Rate a domain within a run, and with `always` for every run from now on; a value below 0 removes the
    rating. Returns the step's number. Raises UsageError, NotFound, ConcurrentChange."""
    name = normalize_domain(domain)
    step = commit_edit(
        bench, run_id, "trust", lambda state, n: set_trust(state, n, name, value, reason), head
    )
    if always and value < 0:
        bench.store.trust_ratings.drop(name)
    elif always:
        set_trust_rating(bench, name, value, reason)
    return step


@dataclass
class DomainTrust:
    """A registrable domain in a run. `copies` are other domains with the same text: all are one source."""

    name: str
    pages: list[PageRef] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    trust: float = DEFAULT_TRUST
    reasons: list[str] = field(default_factory=list)
    rating: TrustRating | None = None


def normalize_domain(domain: str) -> str:
    """The registrable domain of a typed host or address; a document's name unchanged. Raises UsageError."""
    text = domain.strip()
    address = text if "://" in text or text.startswith(FILE_SCHEME) else f"https://{text}"
    name = site(address)
    if (
        not name
        or not text
        or any(c.isspace() for c in name)
        or ("." not in name and host(address) != "localhost" and not text.startswith(FILE_SCHEME))
    ):
        raise UsageError(f"“{text[:80]}” is not a domain: name one like example.org")
    return name


def set_trust(state: RunState, step: int, domain: str, value: float, reason: str = "") -> Change:
    """The change of a rating, from now on. Raises UsageError when nothing changes."""
    value, reason = _check_value(value, least=None), reason.strip()[:MAX_REASON_CHARS]
    before = state.trusts.get(domain)
    facts = [fact for fact in state.facts.values() if fact.url and site(fact.url) == domain]
    rated = [fact.replace(trust=trust_from_signals(state, fact) if value < 0 else value) for fact in facts]
    changed = [new for new, old in zip(rated, facts, strict=True) if new != old]
    if before and not changed and (before.value, before.reason) == (value, reason):
        raise UsageError(f"nothing changes: {domain} has that trust already")
    read = {site(page.final_url or page.url) for page in state.pages.values()}
    if not before and not facts and domain not in read:
        raise UsageError(f"this run has nothing from {domain}")
    why = f"trust of {domain}: {'as its signals say' if value < 0 else f'{trust_label(value)} ({value:.2f})'}"
    return {
        **recompute_after_edit(state, step, facts=changed, why=why),
        "edits": [Edit(step=step, text=f"{why}, because {reason}" if reason else why)],
        "trusts": {domain: TrustRating(domain=domain, value=value, reason=reason)},
    }


def _check_value(value: float, least: float | None = 0.0) -> float:
    """The value, rounded; RESET_TRUST for one below 0 where `least` is None. Raises UsageError."""
    if not value <= 1 or (least is not None and value < least):  # NaN is refused, too
        raise UsageError("trust goes from 0 (not at all) to 1 (fully)")
    return RESET_TRUST if value < 0 else round(value, 2)


def trust_from_signals(state: RunState, fact: Fact) -> float:
    """The trust that the signals of its page give a fact."""
    refs = (page for page in state.pages.values() if page.page_id == fact.page_id and page.trust >= 0)
    return next((page.trust for page in refs), DEFAULT_TRUST)


def group_by_domain(state: RunState) -> list[DomainTrust]:
    """The domains of the run, those with the most facts first."""
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
    """Set its trust with reasons: a person's rating, else the signals of its pages."""
    rating = state.trusts.get(domain.name)
    values = [fact.trust for fact in domain.facts] or [page.trust for page in domain.pages if page.trust >= 0]
    domain.trust = max(values, default=DEFAULT_TRUST)
    if rating and rating.value >= 0:
        domain.rating, domain.trust, domain.reasons = rating, rating.value, [describe_rating(rating)]
        return
    signs = dict.fromkeys(
        reason for page in domain.pages for reason in page.trust_why if reason not in NO_SIGN_REASONS
    )
    usual = {page.trust for page in domain.pages if page.trust >= 0}
    domain.reasons = (
        list(signs) if not values or domain.trust in usual or not usual else ["your rating, for every run"]
    )
