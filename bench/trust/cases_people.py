"""Cases of people and their data: whom a block keeps out, and what stands beside a backup at work."""

from __future__ import annotations

from bench.trust.cases_accounts import PEOPLE
from bench.trust.scorecard import Bench, Result, case


@case("S11.14", "A block holds for the address under every subject", "0 let in, 0 admins", quick=True)
def blocked_addresses(bench: Bench) -> Result:
    return bench.tests(PEOPLE, "-k", "address_of_somebody_blocked")


@case(
    "S6.15",
    "Sweeps between all steps of a backup; three restores within a second",
    "whole; each keeps what was there",
    quick=True,
)
def sweeps_beside(bench: Bench) -> Result:
    return bench.tests("tests/agent/store/test_backup.py", "-k", "sweep_beside or within_a_second")
