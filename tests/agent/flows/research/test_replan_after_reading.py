"""The plan is changed after pages were read: what was open may be what is dropped."""

from __future__ import annotations

import pytest

from agent.types import Settings, Status
from tests.web.model_server import ModelServer
from tests.web.researching_model import ASK, ROOF, SOLAR, TOUR, Script, crawl, workbench

pytestmark = pytest.mark.slow


class AnswersPartOne(Script):
    """An analyst who calls the first part answered, and no other."""

    def analyzer(self, prompt):
        return {**super().analyzer(prompt), "answered_parts": ["1"]}


def test_a_run_goes_on_when_the_part_that_was_open_is_dropped():
    plan = {"parts": [{"question": SOLAR}, {"question": "Who paid for the solar panels of Älvmora Mejeri?"}]}
    script = AnswersPartOne(ASK, crawl(ROOF), crawl(TOUR), plan=plan)
    with ModelServer(script.served) as server, workbench(server) as bench:
        run_id = bench.start(SOLAR, Settings(world="demo", mode="step"))
        for _ in range(8):
            if bench.drive(run_id) is not Status.WAITING:
                break
            view = bench.snapshot(run_id)
            if view.state.facts and len(view.state.plan) > 1:
                bench.act(run_id, "replan", view.head, parts=[SOLAR])
            else:
                bench.act(run_id, "approve", view.head)
        assert bench.snapshot(run_id).run.status is not Status.FAILED
