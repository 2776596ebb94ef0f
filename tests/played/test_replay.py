"""Replaying recorded runs: which reply a prompt gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.types import ModelCall
from bench.recordings import compare_outcome
from tests.played import replay as recorded
from tests.played.replay import record_replies, replay
from tests.played.scenario import REPLIES, load_scenarios
from tests.records import fill


def test_a_cue_tells_prompts_apart_that_a_step_asked_side_by_side() -> None:
    calls = [
        _call(4, "section", "Sections:\n- Berths (this one)\n- Fees", "berths"),
        _call(4, "section", "Sections:\n- Berths\n- Fees (this one)", "fees"),
        _call(5, "summary", "Sections:\n- Berths", "both"),
    ]
    assert record_replies(calls) == [
        {"role": "section", "cue": "- Berths (this one)", "reply": "berths"},
        {"role": "section", "cue": "- Berths", "reply": "fees"},
        {"role": "summary", "reply": "both"},
    ]


@pytest.mark.slow
def test_sections_that_come_in_another_order_get_their_own_replies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = next(each for each in load_scenarios() if each.id == "r16-full-report")
    rows = (REPLIES / f"{scenario.id}.jsonl").read_text("utf-8").splitlines()
    side_by_side = [n for n, row in enumerate(rows) if json.loads(row)["role"] == "section"][:5]
    for here, there in zip(side_by_side, reversed(side_by_side[:]), strict=True):
        if here < there:
            rows[here], rows[there] = rows[there], rows[here]
    (tmp_path / f"{scenario.id}.jsonl").write_text("\n".join(rows), "utf-8")
    monkeypatch.setattr(recorded, "REPLIES", tmp_path)
    monkeypatch.setenv("TOUCHSTONE_DATA", str(tmp_path / "data"))
    assert not compare_outcome(scenario, replay(scenario))


def _call(step: int, role: str, prompt: str, reply: str) -> ModelCall:
    shown = [{"role": "user", "content": prompt}]
    return fill(ModelCall, key=reply, run_id="r", step=step, role=role, model="m", prompt=shown, reply=reply)
