"""The numbers of a run's searches and page visits, as its journey counts them from 1: what a person sees, on
every surface, instead of the ledger's numbers."""

from __future__ import annotations

from collections.abc import Sequence

from agent.types.facts import Action


def number_step(actions: Sequence[Action], n: int) -> int:
    """How many searches and page visits were made up to the ledger's step `n`: the number of the last one."""
    return len({action.step for action in actions if action.step <= n})


def describe_place(actions: Sequence[Action], n: int) -> str:
    """Where in the journey the ledger's step `n` stands: "after step 12", "before step 1"."""
    return f"after step {number}" if (number := number_step(actions, n)) else "before step 1"
