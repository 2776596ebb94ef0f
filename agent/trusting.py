"""The door for a person's trust in domains: for every run from now on, and within one run as a step that recounts what follows.

    trust(bench, "forum.example", 0.3, "anyone may write")                       # what is read from now on
    trust_in_run(bench, run_id, "forum.example", 0.3, "...", always=True)        # and the facts this run has of it
"""

from __future__ import annotations

from agent.correcting import correct
from agent.errors import NotFound, UsageError
from agent.flows.state import Research
from agent.flows.trusting import BACK, LONGEST, named, trusted
from agent.state import Change
from agent.types import Trusted
from agent.workbench import Workbench


def trust(bench: Workbench, domain: str, value: float, reason: str = "") -> Trusted:
    """Keep a person's word on a domain, for whatever is read from now on; returns it. Raises UsageError."""
    if not 0 <= value <= 1:
        raise UsageError("trust goes from 0 (not at all) to 1 (fully)")
    return bench.store.trusts.put(named(domain), round(value, 2), reason.strip()[:LONGEST])


def forget(bench: Workbench, domain: str) -> None:
    """Take the word back: the signs of each page decide again. Raises NotFound when nothing was said of the domain."""
    if not bench.store.trusts.drop(named(domain)):
        raise NotFound(f"nothing was said of {named(domain)}")


def trusts(bench: Workbench) -> list[Trusted]:
    """What was said, in the order of the domains."""
    return list(bench.store.trusts.all().values())


def trust_in_run(
    bench: Workbench, run_id: str, domain: str, value: float, reason: str = "", *, always: bool = False, head: int | None = None
) -> int:
    """A person's word on a domain within a run: a step that changes its facts and recounts; returns its number.

    A value below 0 takes the word back. With `always` it holds for every run from now on. An answer that is out of date then is written
    anew by itself. Raises UsageError, NotFound, Overtaken.
    """
    name = named(domain)

    def change(state: Research, step: int) -> Change:
        return trusted(state, step, name, value, reason)

    step = correct(bench, run_id, "trust", change, head)
    if always and value < 0:
        bench.store.trusts.drop(name)
    elif always:
        trust(bench, name, value, reason)
    return step


__all__ = ["BACK", "forget", "named", "trust", "trust_in_run", "trusts"]
