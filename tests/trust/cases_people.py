"""Cases of people: whom a block keeps out."""

from __future__ import annotations

from tests.trust.cases_accounts import PEOPLE
from tests.trust.scorecard import Bench, Result, case


@case("S11.9", "A block holds for the address under every subject", "0 let in, 0 admins", quick=True)
def blocked_addresses(bench: Bench) -> Result:
    return bench.tests(PEOPLE, "-k", "address_of_somebody_blocked")
