"""A model whose replies to one question are of no use: the run rests, asks anew, and goes on with the first good
reply."""

from __future__ import annotations

import json

import pytest

from agent.roles.role import INSTRUCTIONS_IN_REPLY
from agent.types import Settings, Status
from tests.agent.engine.test_model_outage import Outage, failing
from tests.tables import by_table
from tests.waiting import wait_for
from tests.web import model_server as web
from tests.web.model_server import ModelServer, Request
from tests.web.researching_model import SOLAR, role_of, workbench

pytestmark = pytest.mark.slow


class Misbehaving(Outage):
    """A research model of which one role says what is of no use, as long as `is_down`."""

    def __init__(self, role: str, kind: str = "garbage") -> None:
        super().__init__(role)
        self.kind = kind

    def __call__(self, request: Request) -> web.Reply:
        if not self.is_down or role_of(request.prompt) != self.role:
            return self.script.served(request)
        self.refused += 1
        if self.kind == "repeats":
            told = str(request.body["messages"][0]["content"])
            line = next(line.strip() for line in told.splitlines() if len(line.strip()) >= 80)
            said = {"reasoning": line, "next_action": "send_to_hitl", "query_or_url": None}
            return web.says(json.dumps(said, ensure_ascii=False))
        return web.says("Sorry, no.", finish="content_filter" if self.kind == "declines" else "stop")


@by_table
def test_what_made_a_run_rest_is_asked_anew(role: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Misbehaving(role, kind)
    with failing(monkeypatch, model) as (bench, _):
        run_id = bench.start(SOLAR, Settings(world="demo"))
        wait_for(lambda: bench.worker.rests.describe(run_id))
        told, asked = bench.worker.rests.describe(run_id), model.refused
        assert (INSTRUCTIONS_IN_REPLY in told) == (kind == "repeats")
        bench.worker.try_model_now(run_id)
        wait_for(lambda: model.refused == 2 * asked)  # it is as bad as before
        wait_for(lambda: "Tried 2 times" in bench.worker.rests.describe(run_id))
        model.is_down = False
        bench.worker.try_model_now(run_id)
        wait_for(lambda: bench.snapshot(run_id).run.status is Status.REVIEW)
        assert bench.snapshot(run_id).state.answer.by == "model"


def test_a_run_that_paused_for_an_unusable_reply_asks_anew_when_it_is_resumed() -> None:
    model = Misbehaving("analyzer")
    with ModelServer(model) as server, workbench(server) as bench:
        run_id = bench.start(SOLAR, Settings(world="demo"))
        assert bench.drive(run_id) is Status.PAUSED
        model.is_down = False
        bench.act(run_id, "resume")
        assert bench.drive(run_id) is Status.REVIEW
