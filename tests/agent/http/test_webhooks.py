"""Webhooks by programs: each person's own, with a secret shown once, and ended with the token that added them."""

from __future__ import annotations

import json

import pytest
from standardwebhooks import Webhook as ForeignWebhook

from agent.accounts.people import LOCAL
from agent.cli.main import main
from agent.types import Settings
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from tests.agent.engine.receiver import Receiver
from tests.agent.engine.receiver import receiver as receiver  # a fixture
from tests.agent.http.conftest import DEMO, QUESTION, Server
from tests.waiting import wait_for
from tests.web.login import LOGIN, sign_in

pytestmark = pytest.mark.slow

START_WORKERS = Workbench.start_workers


def test_a_program_adds_sees_and_removes_webhooks(serve, receiver: Receiver) -> None:
    local: Server = serve(FETCH_ALLOW="127.0.0.1")
    caller = local.call(local.make_token(name="night job", scopes=["read"]))
    made = caller.post("/webhooks", json={"url": receiver.url, "statuses": ["review"]})
    assert made.status_code == 201 and made.json()["program"] == "night job"
    secret = made.json()["secret"]
    assert secret.startswith("whsec_") and secret not in caller.get("/webhooks").text
    run_id = local.run()
    local.bench().worker.webhooks().send_due((60.0,), lambda: None)
    headers, body = receiver.got[0]
    assert ForeignWebhook(secret).verify(body, headers) and json.loads(body)["data"]["run"] == run_id
    other = local.call(local.make_token(name="other", scopes=["read"]))
    assert [one["url"] for one in other.get("/webhooks").json()] == [receiver.url]
    path = f"/webhooks/{made.json()['id']}"
    refused = other.delete(path)
    assert refused.status_code == 403 and "decide" in refused.json()["detail"]
    assert local.call(local.make_token(scopes=["research"])).get("/webhooks").status_code == 403
    assert caller.delete(path).status_code == 204 and caller.get("/webhooks").json() == []
    assert caller.delete(path).status_code == 404
    inner = caller.post("/webhooks", json={"url": "http://10.0.0.1/"})
    assert inner.status_code == 400 and "FETCH_ALLOW" in inner.json()["detail"]
    assert caller.post("/webhooks", json={"url": receiver.url, "statuses": ["asleep"]}).status_code == 422


def test_a_webhook_ends_with_the_token_that_added_it(serve, receiver: Receiver) -> None:
    local: Server = serve(FETCH_ALLOW="127.0.0.1")
    hooks, tokens = local.bench().worker.webhooks(), local.benches.token_accounts.tokens
    hooks.add(receiver.url)
    local.call(local.make_token()).post("/webhooks", json={"url": receiver.url})
    assert len(hooks.list()) == 2
    assert main(["token", "--revoke", tokens.list(LOCAL)[0].id]) == 0
    assert [hook.program for hook in hooks.list()] == [""], "what a person added stays"


def test_each_person_is_told_of_their_own_runs_by_the_server(serve, receiver: Receiver, monkeypatch) -> None:
    server: Server = serve(**LOGIN, FETCH_ALLOW="127.0.0.1", WORKERS="2")
    monkeypatch.setattr(Workbench, "start_workers", START_WORKERS)
    people = [sign_in(server.benches, name) for name in ("ann", "bo")]
    secrets, runs, bench = [], [], server.bench(people[1])
    for person in people:
        caller = server.call(server.make_token(person))
        asked = {"url": f"{receiver.url}/{person.subject}", "statuses": ["review"]}
        secrets.append(caller.post("/webhooks", json=asked).json()["secret"])
        runs.append(caller.post("/runs", json={"question": QUESTION, "settings": DEMO}).json()["id"])
    wait_for(lambda: len(receiver.got) == 2)
    told = {json.loads(body)["data"]["run"]: (headers, body) for headers, body in receiver.got}
    assert set(told) == set(runs)
    for secret, run_id in zip(secrets, runs, strict=True):
        assert ForeignWebhook(secret).verify(told[run_id][1], told[run_id][0])
    wait_for(lambda: not any(one.worker.is_busy() for one in server.benches.list_open()))
    receiver.answers = [500] * 99
    bench.start(QUESTION, Settings(**DEMO))
    wait_for(lambda: bench.worker.webhooks().list()[0].tries)
    assert server.benches.close_idle(0) == 1 and server.benches.list_open() == [bench], (
        "it has to be told yet"
    )
    server.benches.close()
    receiver.answers = []
    again = Workbenches(server.benches.config)
    again.start()
    wait_for(lambda: len(again.list_open()) == 2)
    again.accounts.people.sign_out_everywhere(people[1], people[1].id)  # type: ignore[union-attr]
    hooks = again.open(people[1]).worker.webhooks()
    hooks.send_due((60.0,), lambda: None)
    assert hooks.list() == [], "the token that added it ended"
    again.close()
