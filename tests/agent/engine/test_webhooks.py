"""Webhooks against a real receiver that checks signatures with another's library: nothing is lost, nothing is
told that is private."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from standardwebhooks import Webhook as ForeignWebhook

from agent.engine.webhooks import Webhooks
from agent.engine.worker import Worker
from agent.errors import NotFound, ShutdownRequested, UsageError
from agent.flows import FLOWS
from agent.settings.config import read_config
from agent.store.database import Store
from agent.store.ledger import utc_timestamp
from agent.types import Settings, Status, Step
from tests.agent.engine.receiver import Receiver
from tests.agent.engine.receiver import receiver as receiver  # a fixture
from tests.agent.store.conftest import store as store  # a fixture
from tests.waiting import wait_for

pytestmark = pytest.mark.slow

FIRST = Step(n=0, name="ask", change={"question": "?"}, next="plan", by="person")


@pytest.fixture
def hooks(store: Store, tmp_path) -> Webhooks:
    return Webhooks(store, read_config({"FETCH_ALLOW": "127.0.0.1", "TOUCHSTONE_DATA": str(tmp_path)}))


def rest(store: Store, status: Status = Status.REVIEW) -> str:
    """A run that comes to rest."""
    run_id = store.ledger.create("How tall?", Settings(world="demo", model="keyless"), FIRST)
    lease = store.ledger.claim(run_id, "o")
    store.ledger.commit(
        lease, Step(n=1, name="write", change={}, next="review", by="code", at=""), status, {}
    )
    store.ledger.release(lease)
    wait_for(lambda: utc_timestamp() > store.ledger.get(run_id).updated_at)  # the next comes later
    return run_id


def test_each_rest_is_told_once_signed_and_in_order(hooks: Webhooks, store: Store, receiver: Receiver):
    before = rest(store)
    _, secret = hooks.add(receiver.url)
    runs = [rest(store) for _ in range(5)]
    hooks.send_due((60.0,), lambda: None)
    hooks.send_due((60.0,), lambda: None)
    told = [json.loads(body) for _, body in receiver.got]
    assert [one["data"]["run"] for one in told] == runs and before not in str(told)
    assert {one["type"] for one in told} == {"run.review"}
    for headers, body in receiver.got:
        assert ForeignWebhook(secret).verify(body, headers)
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 5
    lease = store.ledger.claim(runs[0], "o")
    store.ledger.commit(lease, Step(n=2, name="x", change={}, next="done", by="code", at=""), Status.DONE, {})
    hooks.send_due((60.0,), lambda: None)
    assert [json.loads(body)["type"] for _, body in receiver.got[5:]] == ["run.done"]


def test_what_was_not_taken_is_told_again_with_the_same_id_and_nothing_is_lost(
    hooks: Webhooks, store: Store, receiver: Receiver
):
    hooks.add(receiver.url, ("review", "failed"))
    receiver.answers = [500, 404]
    runs = [rest(store), rest(store, Status.FAILED)]
    rest(store, Status.DONE)
    hooks.send_due((0.0,), lambda: None)
    assert "status 500" in hooks.list()[0].trouble and hooks.list()[0].tries == 1
    hooks.send_due((60.0,), lambda: None)
    assert len(receiver.got) == 2
    hooks.send_due((60.0,), lambda: None)
    assert len(receiver.got) == 2, "it waits for the pause"
    store.webhooks.put(hooks.list()[0].id, hooks.list()[0].replace(next_at=0.0).model_dump_json())
    hooks.send_due((60.0,), lambda: None)
    assert [json.loads(body)["data"]["run"] for _, body in receiver.got] == [runs[0]] * 3 + [runs[1]]
    assert len({headers["webhook-id"] for headers, _ in receiver.got[:3]}) == 1
    assert hooks.list()[0].trouble == ""


def test_a_process_that_ends_amid_messages_leaves_the_rest_to_the_next(
    hooks: Webhooks, store: Store, receiver: Receiver
):
    hooks.add(receiver.url)
    runs = [rest(store) for _ in range(3)]

    def end() -> None:
        if receiver.got:
            raise ShutdownRequested("ending")

    with pytest.raises(ShutdownRequested):
        hooks.send_due((60.0,), end)
    hooks.send_due((60.0,), lambda: None)
    assert len(receiver.got) == 1, "another process may have it in hand"
    store.webhooks.put(hooks.list()[0].id, hooks.list()[0].replace(next_at=0.0).model_dump_json())
    hooks.send_due((60.0,), lambda: None)
    assert [json.loads(body)["data"]["run"] for _, body in receiver.got] == runs


def test_a_run_in_the_background_is_told(hooks: Webhooks, store: Store, receiver: Receiver, tmp_path):
    hooks.add(receiver.url)
    worker = Worker(hooks._config, store, FLOWS)
    worker.start(1)
    run_id = store.ledger.create("?", Settings(world="demo", model="keyless"), FIRST)
    wait_for(lambda: receiver.got)
    worker.stop()
    assert json.loads(receiver.got[0][1])["data"] == {
        "run": run_id,
        "step": store.ledger.position(run_id)[0],
        "status": "review",
        "question": "?",
    }


def test_bad_addresses_and_statuses_are_refused_in_words(hooks: Webhooks):
    for url in ("http://10.0.0.1/x", "ftp://a.example", "http://localhost/x"):
        with pytest.raises(UsageError, match="FETCH_ALLOW"):
            hooks.add(url)
    with pytest.raises(UsageError, match="there is no status asleep"):
        hooks.add("http://127.0.0.1/x", ("asleep",))
    with pytest.raises(NotFound, match="webhook"):
        hooks.remove("0123")


def test_one_that_never_answers_is_given_up_in_time_and_tried_again_later(
    hooks: Webhooks, store: Store, receiver: Receiver
):
    receiver.silent.set()
    hooks.add(receiver.url)
    hooks.policy = replace(hooks.policy, seconds=0.3)
    run_id = rest(store)
    for tries in (1, 2):
        hooks.send_due((0.0, 60.0), lambda: None)
        assert hooks.list()[0].tries == tries and "0.3" in hooks.list()[0].trouble and hooks.has_due()
    receiver.silent.clear()
    hooks.send_due((60.0,), lambda: None)
    assert hooks.list()[0].tries == 2, "it waits for the pause"
    store.webhooks.put(hooks.list()[0].id, hooks.list()[0].replace(next_at=0.0).model_dump_json())
    hooks.send_due((60.0,), lambda: None)
    assert [json.loads(body)["data"]["run"] for _, body in receiver.got] == [run_id] * 3
    assert hooks.list()[0].trouble == "" and not hooks.has_due()
