"""Requests of a run side by side: in order, ahead of need, and let go in the middle."""

from __future__ import annotations

import threading

import pytest

from agent.engine.side_by_side import SideBySide, WebRequest
from agent.errors import BudgetSpent, LeaseLost, StopRequested
from agent.types import Outcome, Page, SearchResult
from tests.records import fill

A, B, C = (f"https://{name}.example/" for name in "abc")


class Web:
    """Sends requests, remembers them, and holds back those in `held` until they are let go."""

    def __init__(self, *held: str) -> None:
        self.asked: list[str] = []
        self.ended: list[str] = []
        self.gates = {name: threading.Event() for name in held}

    def __call__(self, request: WebRequest, check) -> SearchResult | Page:
        self.asked.append(request.target)
        gate = self.gates.get(request.target)
        while gate and not gate.wait(0.005):
            try:
                check()
            except StopRequested:
                self.ended.append(request.target)
                raise
        if request.engine:
            return fill(SearchResult, engine=request.engine, query=request.target, outcome=Outcome.OK)
        return Page(url=request.target, final_url=request.target, outcome=Outcome.OK, text=request.target)

    def wait_until_asked(self, name: str) -> None:
        while name not in self.asked:
            threading.Event().wait(0.001)


def forget(_request: WebRequest, _result: object) -> None:
    """Nothing is stored."""


def nothing() -> None:
    """A checkpoint that lets everything go on."""


def texts(results) -> list[str | None]:
    return [None if one is None else getattr(one, "text", "") or one.query for one in results]


@pytest.mark.parametrize("is_live", [True, False])
def test_the_results_come_in_the_order_of_the_requests(is_live: bool) -> None:
    requests = [WebRequest("ferry", "duckduckgo"), WebRequest(A), WebRequest(B)]
    results, signal = SideBySide(send=Web(), is_live=is_live, keep=forget).run(requests, nothing)
    assert texts(results) == ["ferry", A, B] and signal is None


@pytest.mark.parametrize("signal", [StopRequested("stop"), BudgetSpent("time")])
def test_a_signal_in_the_middle_keeps_what_has_come_and_lets_the_rest_go(signal) -> None:
    web = Web(B)

    def checkpoint() -> None:
        if {A, B} <= set(web.asked):
            raise signal

    results, raised = SideBySide(send=web, is_live=True, keep=forget).run(
        [WebRequest(A), WebRequest(B)], checkpoint
    )
    assert texts(results) == [A, None] and raised is signal
    while B not in web.ended:  # its thread ends by itself
        threading.Event().wait(0.001)


def test_a_signal_before_anything_has_come_is_raised() -> None:
    def checkpoint() -> None:
        raise StopRequested("stop")

    for is_live in (True, False):
        with pytest.raises(StopRequested):
            SideBySide(send=Web(A), is_live=is_live, keep=forget).run([WebRequest(A)], checkpoint)


def test_a_world_without_servers_keeps_what_was_read_before_the_signal() -> None:
    web = Web()

    def checkpoint() -> None:
        if web.asked:
            raise StopRequested("stop")

    results, raised = SideBySide(send=web, is_live=False, keep=forget).run(
        [WebRequest(A), WebRequest(B)], checkpoint
    )
    assert texts(results) == [A, None] and isinstance(raised, StopRequested) and web.asked == [A]


def test_a_lost_lease_is_raised_whatever_has_come() -> None:
    web = Web(B)

    def checkpoint() -> None:
        if {A, B} <= set(web.asked):
            raise LeaseLost("another worker holds this run")

    with pytest.raises(LeaseLost):
        SideBySide(send=web, is_live=True, keep=forget).run([WebRequest(A), WebRequest(B)], checkpoint)


def test_what_was_fetched_ahead_is_not_asked_for_again() -> None:
    web = Web()
    requests = SideBySide(send=web, is_live=True, keep=forget)
    requests.fetch_ahead([A, B], 4)
    requests.search_ahead("duckduckgo", "ferry")
    for name in (A, B, "ferry"):
        web.wait_until_asked(name)
    results, _ = requests.run([WebRequest("ferry", "duckduckgo"), WebRequest(A), WebRequest(C)], nothing)
    assert texts(results) == ["ferry", A, C]
    assert sorted(web.asked) == sorted([A, B, C, "ferry"])


def test_no_more_pages_are_fetched_ahead_than_allowed_and_others_are_dropped() -> None:
    web = Web(A, B, C)
    requests = SideBySide(send=web, is_live=True, keep=forget)
    requests.fetch_ahead([A, B, C], 2)
    web.wait_until_asked(B)
    assert sorted(web.asked) == [A, B]
    requests.fetch_ahead([C], 2)
    web.wait_until_asked(C)
    while sorted(web.ended) != [A, B]:
        threading.Event().wait(0.001)


def test_a_result_is_kept_as_soon_as_it_is_there() -> None:
    web, kept = Web(B), list[str]()

    def keep(request: WebRequest, _result: object) -> None:
        kept.append(request.target)

    def checkpoint() -> None:
        if A in kept:
            raise StopRequested("stop")

    results, _ = SideBySide(send=web, is_live=True, keep=keep).run([WebRequest(A), WebRequest(B)], checkpoint)
    assert texts(results) == [A, None] and kept == [A]


def test_nothing_is_fetched_ahead_where_there_are_no_servers() -> None:
    web = Web()
    requests = SideBySide(send=web, is_live=False, keep=forget)
    requests.fetch_ahead([A], 2)
    requests.search_ahead("duckduckgo", "ferry")
    assert web.asked == []
