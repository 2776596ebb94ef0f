"""Cases of people: what a sign-in may claim, whose it is, and when it and its tokens end."""

from __future__ import annotations

from bench.trust.scorecard import Bench, Result, case

PEOPLE, SIGN_IN = "tests/agent/accounts/test_people.py", "tests/agent/accounts/test_sign_in.py"


@case(
    "S11.1",
    "What a sign-in claims: addresses x email_verified, times, names",
    "only proven addresses count; a sentence for the rest, 0 crashes",
    quick=True,
)
def claims(bench: Bench) -> Result:
    return bench.tests(SIGN_IN, "-k", "address or time or subject or trusted or to_come")


@case("S11.2", "An address leads to no account of another subject", "0 rebound", quick=True)
def rebinding(bench: Bench) -> Result:
    return bench.tests(PEOPLE, "-k", "another_subject or another_person")


@case(
    "S11.3",
    "Tokens end: signed out everywhere, blocked, data deleted, in flight",
    "0 found after",
    quick=True,
)
def tokens(bench: Bench) -> Result:
    return bench.tests(
        PEOPLE, "tests/agent/accounts/test_tokens.py", "tests/test_isolation.py", "-k", "token"
    )


@case(
    "S11.4",
    "Quotas side by side: 20 starts, 16 replies, 50 fetches; calls of any size in 8 threads",
    "starts and pages exact, <= 1 model call over",
    quick=True,
)
def quotas(bench: Bench) -> Result:
    return bench.tests("tests/agent/test_workbenches_quotas.py", "tests/agent/accounts/test_quotas.py")


@case("S11.5", "A sign-in ends as a setting or the provider says", "0 held after", quick=True)
def ends(bench: Bench) -> Result:
    return bench.tests(SIGN_IN, PEOPLE, "-k", "ends or signing_out")


@case("S11.6", "The first admin: one in every race, blocked by nobody", "1 owner, 0 blocked", quick=True)
def first_admin(bench: Bench) -> Result:
    return bench.tests(PEOPLE, "-k", "first")
