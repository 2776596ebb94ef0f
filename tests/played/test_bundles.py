"""The bundles of recorded runs: they hold, and what a forger adds to a judged sentence is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.export import bundle
from agent.workbench import Workbench
from tests.played import replay as recorded
from tests.played.scenario import Outcome, Scenario, drive_scenario, load_scenarios
from tests.tables import by_table

pytestmark = pytest.mark.slow
SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}


def export_all(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bundles of the runs that a recorded scenario makes."""
    made = list[bytes]()

    def drive(bench: Workbench, scenario: Scenario, **more: Any) -> Outcome:
        outcome = drive_scenario(bench, scenario, **more)
        made.extend(export_run(bench, run.id, "bundle") for run in bench.runs())
        return outcome

    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path))
    monkeypatch.setattr(recorded, "drive_scenario", drive)
    recorded.replay(SCENARIOS[name])
    return made


@by_table
def test_an_honest_bundle_of_a_recorded_run_holds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundles = export_all(name, tmp_path, monkeypatch)
    assert bundles
    for made in bundles:
        assert not verify_bundle(made).problems


def test_a_judgement_on_what_stands_nowhere_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [made] = export_all("r01-founder-born", tmp_path, monkeypatch)
    contents = bundle.read_bundle(made)
    steps = [step.model_copy(deep=True) for step in contents.steps]
    said = [s for step in steps for answer in step.change.get("answers", []) for s in answer["sentences"]]
    forged = {"text": "She was fined 4,711 euros in 1913.", "check": "judged_supported", "findings": []}
    said[0].update({**forged, "backed": True})
    found = verify_bundle(bundle.write_bundle(replace(contents, steps=steps)))
    assert any("does not carry it" in problem for problem in found.problems)
