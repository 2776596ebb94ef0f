"""The door for a person's trust in domains: for every run from now on, and within one run as a step that
recounts what follows.

trust(bench, "forum.example", 0.3, "anyone may write")                       # what is read from now on
trust_in_run(bench, run_id, "forum.example", 0.3, "...", always=True)        # and the facts this run has of
it"""

from __future__ import annotations

from agent.actions.commit import commit_edit
from agent.engine.run_state import RunState
from agent.engine.state import Change
from agent.errors import NotFound, UsageError
from agent.flows.shared.trust_changes import MAX_REASON_CHARS, RESET_TRUST, normalize_domain, set_trust
from agent.store.ledger import utc_timestamp
from agent.types import TrustRating
from agent.workbench import Workbench


def set_trust_rating(bench: Workbench, domain: str, value: float, reason: str = "") -> TrustRating:
    """Keep a person's word on a domain, for whatever is read from now on; returns it. Raises UsageError."""
    if not 0 <= value <= 1:
        raise UsageError("trust goes from 0 (not at all) to 1 (fully)")
    name = normalize_domain(domain)
    rating = TrustRating(
        domain=name, value=round(value, 2), reason=reason.strip()[:MAX_REASON_CHARS], at=utc_timestamp()
    )
    bench.store.trust_ratings.put(name, rating)
    return rating


def delete_trust_rating(bench: Workbench, domain: str) -> None:
    """Take the word back: the signs of each page decide again. Raises NotFound when nothing was said of the
    domain."""
    if not bench.store.trust_ratings.drop(normalize_domain(domain)):
        raise NotFound(f"nothing was said of {normalize_domain(domain)}")


def list_trust_ratings(bench: Workbench) -> list[TrustRating]:
    """What was said, in the order of the domains."""
    return list(bench.store.trust_ratings.all().values())


def set_trust_in_run(
    bench: Workbench,
    run_id: str,
    domain: str,
    value: float,
    reason: str = "",
    *,
    always: bool = False,
    head: int | None = None,
) -> int:
    """A person's word on a domain within a run: a step that changes its facts and recounts; returns its
    number.

    A value below 0 takes the word back. With `always` it holds for every run from now on. An answer that is
    out of date then is written anew by itself. Raises UsageError, NotFound, Overtaken."""
    name = normalize_domain(domain)

    def change(state: RunState, step: int) -> Change:
        return set_trust(state, step, name, value, reason)

    step = commit_edit(bench, run_id, "trust", change, head)
    if always and value < 0:
        bench.store.trust_ratings.drop(name)
    elif always:
        set_trust_rating(bench, name, value, reason)
    return step


__all__ = [
    "RESET_TRUST",
    "delete_trust_rating",
    "list_trust_ratings",
    "normalize_domain",
    "set_trust_in_run",
    "set_trust_rating",
]
