"""The bench that switches off one rule after the other names rules that are there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.ablations import Rules, list_claim_rules, list_finder_rules, list_run_rules, switch_off


@pytest.mark.parametrize("list_rules", [list_claim_rules, list_run_rules, list_finder_rules])
def test_every_rule_that_is_switched_off_exists(list_rules: Callable[[], Rules]) -> None:
    for rule in list_rules().values():
        with switch_off(rule):
            pass
