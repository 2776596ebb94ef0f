"""Model calls: found again by key, readable in order, summed, and an unknown price kept unknown."""

from __future__ import annotations

from agent.store.model_calls import list_finished_runs
from agent.types import ModelCall, Settings, Status, Step, Usage
from tests.records import fill


def call(key: str = "k", **more) -> ModelCall:
    said = {"prompt": [{"role": "user", "content": "Åh?"}], "reply": "{}", "at": "2026-11-21T09:00:00Z"}
    spent = {"prompt_tokens": 10, "completion_tokens": 5, "cost_usd": 0.25}
    return fill(
        ModelCall,
        **{"key": key, "run_id": "r", "step": 1, "role": "decision", "model": "m", **said, **spent, **more},
    )


def test_a_later_record_of_the_same_key_replaces_it(store):
    store.calls.record(call(error="timed out", prompt_tokens=0))
    store.calls.record(call())
    assert store.calls.list_for_run("r") == [call()] and store.calls.sum_usage("r").llm_calls == 1


def test_calls_of_a_run_in_order(store):
    for key, step, at in (("c", 5, "2"), ("a", 2, "9"), ("b", 5, "1")):
        store.calls.record(call(key, step=step, at=at))
    store.calls.record(call("x", run_id="another"))
    assert [made.key for made in store.calls.list_for_run("r")] == ["a", "b", "c"]


def test_what_was_spent(store):
    assert store.calls.sum_usage("r") == Usage()
    store.calls.record(call("a"))
    store.calls.record(call("b"))
    assert store.calls.sum_usage("r") == Usage(
        llm_calls=2, prompt_tokens=20, completion_tokens=10, cost_usd=0.5
    )
    store.calls.record(call("c", cost_usd=None))
    assert store.calls.sum_usage("r").cost_usd is None, "one unknown price makes the sum unknown"


def test_what_finished_runs_took_is_read_for_estimates(store):
    first = Step(n=0, name="ask", change={"question": "?"}, next="plan", by="person")
    run_id = store.ledger.create("?", Settings(), first)
    store.ledger.append_person_step(run_id, "crawl", {"pages": [{"url": "a"}, {"url": "b"}]})
    store.ledger.append_person_step(run_id, "act", {"pages": [{"url": "c"}]})
    store.ledger.append_person_step(run_id, "steer", {"notes": []})
    store.calls.record(call(run_id=run_id))
    store.ledger.update_run(run_id, status=Status.REVIEW)
    [one] = list_finished_runs(store.engine)
    assert (one.pages, one.usage.llm_calls) == (3, 1)
