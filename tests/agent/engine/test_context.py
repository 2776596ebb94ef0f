"""The hands of a run: who may call a step off and with which Signal, what caps keep back for the report,
pages side by side."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agent.engine import context
from agent.engine.context import RunContext
from agent.errors import BudgetSpent, LeaseLost, ModelUnavailable, ShutdownRequested, StopRequested
from agent.llm.model import Completion, CompletionRequest
from agent.roles.reply import DESCRIBE
from agent.store.database import Store
from agent.types import ModelCall, Outcome, Page, Settings, SourceFilter, Step
from tests.agent.engine.equipment import equip
from tests.records import fill

Look = Callable[[str, Callable[[], None]], Page]


class World:
    """A live world whose every page is what `look` makes of it."""

    live, engines, absent = True, {}, {}

    def __init__(self, look: Look) -> None:
        self.look, self.allowed = look, []

    def fetch(self, url: str, *, reach: SourceFilter, checkpoint: Callable[[], None], **_: Any) -> Page:
        self.allowed.append(reach.allowed_domains)
        return self.look(url, checkpoint)


def page(url: str, _check: Any = None) -> Page:
    return Page(url=url, final_url=url, outcome=Outcome.OK, text=url)


@pytest.fixture
def equipped(tmp_path) -> Iterator[Callable[..., RunContext]]:
    store = Store(f"sqlite:///{tmp_path}/t.db")

    def made(look: Look = page, **settings: Any) -> RunContext:
        run_id = store.ledger.create(
            "?", Settings(**settings), fill(Step, name="ask", change={}, next="decide")
        )
        lease = store.ledger.claim(run_id, "me")
        assert lease is not None
        return equip(Settings(**settings), World(look), store, lease)

    yield made
    store.close()


def call(tools: RunContext, n: int, **more: Any) -> None:
    tools.store.calls.record(
        fill(
            ModelCall,
            key=f"k{n}",
            run_id=tools.lease.run_id,
            step=n,
            role="r",
            model="m",
            **{"cost_usd": 0.0, **more},
        )
    )


def test_each_reason_to_rest_is_its_own_signal(equipped):
    tools = equipped(max_seconds=10)
    tools.checkpoint()
    tools.begin_step(1, spent_s=11, closing_up=False)
    with pytest.raises(BudgetSpent, match="working time of 10 s"):
        tools.checkpoint()
    tools.begin_step(2, spent_s=11, closing_up=True)
    tools.checkpoint()
    tools.deadline = time.monotonic() - 1
    with pytest.raises(BudgetSpent, match="time for this request"):
        tools.checkpoint()
    tools.store.ledger.update_run(tools.lease.run_id, control="stop")
    with pytest.raises(StopRequested):
        tools.checkpoint()
    tools.shutdown_event.set()
    with pytest.raises(ShutdownRequested):
        tools.checkpoint()


def test_a_lost_lease_is_noticed_when_it_is_renewed(equipped):
    tools = equipped()
    tools.store.ledger.release(tools.lease)
    assert tools.store.ledger.claim(tools.lease.run_id, "somebody else")
    tools.checkpoint()
    tools._lease_renewed -= context.LEASE_S
    with pytest.raises(LeaseLost):
        tools.checkpoint()


@pytest.mark.parametrize(
    ("caps", "spent", "told"),
    [
        ({"max_calls": 10}, {}, "9 of 10 model calls"),
        ({"max_tokens": 1000}, {"prompt_tokens": 80, "completion_tokens": 20}, "900 of 1,000 tokens"),
        ({"max_cost_usd": 0.65}, {"cost_usd": 0.07}, r"\$0.63 of \$0.65"),
    ],
)
def test_a_tenth_is_kept_back_for_the_report(equipped, caps, spent, told):
    tools = equipped(**caps)
    for n in range(8):
        call(tools, n, **spent)
    assert tools.find_spent_budget() is None
    call(tools, 8, **spent)
    with pytest.raises(BudgetSpent, match=told):
        tools._recall_call("new")
    assert tools._recall_call("k3").key == "k3", "what was paid for is never asked for twice, nor refused"
    tools.is_writing_up = True
    assert tools._recall_call("new") is None
    for n in (9, 10):
        call(tools, n, **spent)
    with pytest.raises(ModelUnavailable, match="of"):
        tools._recall_call("new")


def test_pages_come_in_the_order_asked_for_inside_the_allowed_hosts(equipped, monkeypatch):
    monkeypatch.setattr(context, "MAX_PARALLEL_FETCHES", 3)
    together, most, lock = 0, 0, threading.Lock()
    met = threading.Barrier(3)

    def look(url: str, _check: Any) -> Page:
        nonlocal together, most
        with lock:
            together += 1
            most = max(most, together)
        met.wait(10)  # only passes while three are under way at the same time
        with lock:
            together -= 1
        return page(url)

    tools = equipped(look, allowed_domains=["a.example"])
    urls = [f"https://a.example/{n}" for n in range(9)]
    assert [found.url for found in tools.fetch_many(urls)] == urls and most == 3
    assert tools.world.allowed == [["a.example"]] * 9
    assert tools.fetch_many([]) == []


def test_what_breaks_one_look_is_raised_and_nothing_new_is_begun(equipped, monkeypatch):
    monkeypatch.setattr(context, "MAX_PARALLEL_FETCHES", 2)
    begun: list[str] = []

    def look(url: str, _check: Any) -> Page:
        begun.append(url)
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        equipped(look).fetch_many([f"https://a.example/{n}" for n in range(50)])
    assert len(begun) <= 2


def test_a_rest_between_steps_ends_as_soon_as_a_person_wants_something(equipped):
    tools = equipped()
    tools.step_gap_s = 60
    tools.store.ledger.update_run(tools.lease.run_id, control="pause")
    tools.wait_step_gap()
    tools.store.ledger.update_run(tools.lease.run_id, control="")
    tools.shutdown_event.set()
    tools.wait_step_gap()


class ModelAtItsQuota:
    """While it writes its reply, the quota of the person is used up: by what the call itself has reserved."""

    strong, fast, judge, local = "m", "", "", False

    def __init__(self, tools: RunContext) -> None:
        self.tools = tools

    def context_length(self, _tier: str) -> int:
        return 32_000

    def complete(self, request: CompletionRequest) -> Completion:
        self.tools.find_parent_overrun = lambda _share: BudgetSpent("all is used", cap="quota")
        request.checkpoint()
        return Completion('{"description": "How backups run."}', 10, 5, 0.1, "m")


def test_a_call_is_not_given_up_for_what_it_has_reserved_itself(equipped, monkeypatch):
    monkeypatch.setattr(context, "PARENT_BUDGET_CHECK_S", -1.0)
    tools = equipped()
    tools.client = ModelAtItsQuota(tools)
    blanks = {"title": "Backups", "headings": [], "beginning": "Backups run at two."}
    [judged] = tools.judge_side_by_side([lambda: tools.judge(DESCRIBE, **blanks)])
    assert judged.by == "model" and judged.value.description == "How backups run."
    with pytest.raises(BudgetSpent, match="all is used"):
        tools.checkpoint()
