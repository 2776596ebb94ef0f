"""Cases of people who share a server: what one of them saves, uses and deletes, and what the others notice."""

from __future__ import annotations

from bench.trust.scorecard import Bench, Result, case


@case(
    "S9.10",
    "A key is typed, another admin moves the address, then it is saved",
    "not saved, with a sentence; 0 keys arrive",
    quick=True,
)
def moved(bench: Bench) -> Result:
    screen, rule = "tests/pages/test_settings.py", "tests/agent/settings/test_key_addresses.py"
    return bench.tests(screen, rule, "-k", "typed_for_one_address or its_field_named")


@case(
    "S11.15",
    "Check in Settings pressed again and again, with a quota that is spent",
    "0 calls beyond quota and rate",
    quick=True,
)
def checks(bench: Bench) -> Result:
    return bench.tests("tests/agent/test_workbenches_quotas.py", "-k", "check")


@case(
    "S11.16",
    "One person deletes their data, a workbench opens slowly: the others meanwhile",
    "0 wait; nothing of the data is opened",
    quick=True,
)
def deletion(bench: Bench) -> Result:
    files = "tests/agent/test_workbenches.py", "tests/agent/bot/test_http.py"
    return bench.tests(*files, "-k", "nobody_else_waits or waits_for_no_workbench")


@case("S9.11", "A password in a saved address, on the screen of another admin", "0 shown", quick=True)
def passwords(bench: Bench) -> Result:
    settings = "tests/agent/actions/test_engine_settings.py"
    return bench.tests(settings, "tests/pages/test_settings.py", "-k", "password")
