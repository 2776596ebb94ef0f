"""What a research run with a model may spend, and that nothing is paid for twice."""

from __future__ import annotations

from typing import Any

import pytest

from agent.actions.bundles import verify_bundle
from agent.actions.export import export_run
from agent.types import Settings, Status
from tests.web.model_server import ModelServer, Request
from tests.web.researching_model import ASK, ROOF, SOLAR, Script, crawl, driven, role_of, run, workbench
from tests.web.scripted import ScriptedModel

pytestmark = pytest.mark.slow


def test_what_was_paid_for_before_a_crash_is_not_paid_again():
    class Crash(BaseException):
        pass

    with ModelServer(Script(ASK, crawl(ROOF)).served) as server, workbench(server) as bench:
        run_id = bench.start(SOLAR, Settings(world="demo"))
        commit, crashes = bench.store.ledger.commit, []

        def crashing(lease: Any, step: Any, *more: Any) -> None:
            if step.name in ("decide", "analyze", "report") and step.n not in crashes:
                crashes.append(step.n)
                raise Crash
            commit(lease, step, *more)

        bench.store.ledger.commit = crashing  # type: ignore[method-assign]
        for _ in range(20):
            try:
                done = bench.drive(run_id)
                break
            except Crash:
                continue
        assert done is Status.REVIEW and len(crashes) == 8
        assert len(server.requests) == 5 == len(bench.calls(run_id))
        assert bench.snapshot(run_id).state.answer.by == "model"


@pytest.mark.parametrize("cap", [1, 2, 3, 5])
def test_the_budget_of_calls_is_never_overdrawn(cap):
    script = Script(*[{**ASK, "query_or_url": f"dairy {n} solar"} for n in range(20)])
    view, server, calls = driven(script, max_calls=cap)
    assert len(server.requests) == len(calls) <= cap
    assert view.state.stop_reason == "budget" and "model calls" in view.state.why_stopped
    assert view.state.answer.verdict in ("partial", "no_evidence")


def test_the_budget_of_money_is_kept(bench):
    model = ScriptedModel(Script(ASK, crawl(ROOF)).scripted, strong="gpt-4o-mini")
    model.local = False
    bench.worker.model_client = lambda name, fast="": (model, "")
    view = run(bench, max_cost_usd=1e-9)
    assert view.usage.cost_usd and view.state.stop_reason == "budget" and "$" in view.state.why_stopped
    assert model.calls == 1


def test_at_a_cap_on_calls_it_asks_and_a_raise_pays_for_no_call_twice():
    with ModelServer(Script(ASK, crawl(ROOF)).served) as server, workbench(server) as bench:
        rests = run(bench, rests=Status.PAUSED, max_calls=4, at_cap="ask")
        assert (rests.state.halt.kind, rests.state.halt.used, rests.state.halt.cap) == ("calls", 3, 4)
        before = len(server.requests)
        bench.act(rests.run.id, "raise", rests.head, caps={"calls": 20})
        assert bench.drive(rests.run.id) is Status.REVIEW
        view = bench.snapshot(rests.run.id)
        assert view.state.answer.verdict == "answered" and view.usage.llm_calls == len(server.requests) == 5
        assert before == 3
        new = bench.act(view.run.id, "fork", step=rests.head - 1)
        assert len(server.requests) == 5 and len(bench.calls(new)) == 3, (
            "what the prefix asked is not asked again"
        )
        assert verify_bundle(
            export_run(bench, new, "bundle") if bench.drive(new) is Status.REVIEW else b""
        ).is_valid


@pytest.mark.parametrize("how", ["a cap", "a stop"])
def test_a_step_that_was_let_go_in_the_middle_pays_for_no_call_twice(how):
    first, script = [{"next_action": "dance"}], Script(ASK, crawl(ROOF))
    asked: list[str] = []

    def served(request: Request) -> Any:
        if role_of(request.prompt) == "plan":
            return script.served(request)
        asked.append(request.prompt)
        if how == "a stop" and len(asked) == 1:
            bench.act(run_id, "stop")
        return first.pop() if first else script.served(request)

    with ModelServer(served) as server, workbench(server) as bench:
        caps = {"max_calls": 3, "at_cap": "ask"} if how == "a cap" else {}
        run_id = bench.start(SOLAR, Settings(world="demo", **caps))
        assert (
            bench.drive(run_id) in (Status.PAUSED, Status.STOPPED) and bench.snapshot(run_id).next == "decide"
        )
        bench.act(run_id, "raise", caps={"calls": 30})
        if how == "a stop":
            bench.act(run_id, "resume")
        assert (
            bench.drive(run_id) is Status.REVIEW and bench.snapshot(run_id).state.answer.verdict == "answered"
        )
        assert asked.count(asked[0]) == 1, "the reply that had to be repaired is known still"
        assert sum(call.prompt_tokens > 0 for call in bench.calls(run_id)) == len(asked) + 1
