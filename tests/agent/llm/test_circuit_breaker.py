"""A dead server is left alone but for one request a minute, for all who ask it, and found again."""

from __future__ import annotations

import pytest

from agent.errors import ModelUnavailable
from agent.llm import detect
from agent.llm import server as server_module
from agent.llm.client import ModelClient
from agent.llm.model import CompletionRequest
from agent.llm.server import MAX_TRIES, PROBE_S, CircuitBreaker
from tests.web import model_server as web
from tests.web.model_server import ModelServer


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of every breaker that is made from now on."""
    made = Clock()
    monkeypatch.setattr(server_module, "CircuitBreaker", lambda: CircuitBreaker(clock=made))
    return made


def connect(server: ModelServer, key: str = "") -> ModelClient:
    return ModelClient(server.url, strong="big", key=key, timeout_s=5.0, backoff_s=0.001)


def ask(client: ModelClient) -> str:
    return client.complete(CompletionRequest([{"role": "user", "content": "?"}], detect.Check)).text


def test_ten_minutes_of_outage_cost_one_request_a_minute(clock: Clock) -> None:
    """Trust case S5.4: a stalled server was asked 24 times in one run."""
    with ModelServer(lambda _: web.status(503)) as server:
        one, other = connect(server), connect(server).with_models("another")
        for second in range(600):
            clock.now = 1000.0 + second
            for client in (one, other):
                with pytest.raises(ModelUnavailable):
                    ask(client)
        assert len(server.requests) == MAX_TRIES + 9
        server.replies = lambda _: {"ok": True}
        clock.now += PROBE_S
        assert ask(other) == ask(one) == '{"ok": true}' and not one.breaker.is_open


@pytest.mark.parametrize("answer", [web.status(401), web.status(429, retry_after=500), web.status(400)])
def test_a_server_that_answers_is_not_dead(clock: Clock, answer: web.Answer) -> None:
    with ModelServer(lambda _: answer) as server:
        client = connect(server)
        for _ in range(2 * MAX_TRIES):
            with pytest.raises(ModelUnavailable):
                ask(client)
        assert not client.breaker.is_open


def test_an_account_that_fails_slows_nobody_who_has_another(clock: Clock) -> None:
    """A gateway answers 502 for an account that is used up; others have their answers from it."""

    def answer(request: web.Request) -> web.Reply:
        return web.status(502) if "used-up" in request.headers["authorization"] else {"ok": True}

    with ModelServer(answer) as server:
        bo, ann, again = connect(server, "used-up"), connect(server, "anns"), connect(server, "used-up")
        with pytest.raises(ModelUnavailable):
            ask(bo)
        assert bo.breaker.is_open and again.breaker is bo.breaker
        assert not ann.breaker.is_open and ask(ann) == '{"ok": true}'
        assert bo.breaker.is_open, "what another account hears says nothing of this one"


def test_failures_side_by_side_that_a_retry_mends_open_nothing() -> None:
    breaker = CircuitBreaker()
    for _ in range(2 * MAX_TRIES):
        breaker.record(is_outage=True)
    assert breaker.admit() and not breaker.is_open, "nobody gave up"
    breaker.record(is_outage=True, is_last=True)
    assert breaker.is_open and not breaker.admit()


def test_who_asks_a_person_s_question_is_let_through(clock: Clock) -> None:
    with ModelServer([web.status(500)] * MAX_TRIES) as server:
        client = connect(server)
        with pytest.raises(ModelUnavailable):
            ask(client)
        assert client.breaker.is_open
        server.replies = [{"ok": True}]
        assert not detect.check_model(client)[0], "the program itself waits for its minute"
        client.breaker.ask_at_once()
        assert detect.check_model(client)[0] and not client.breaker.is_open
