"""The contract, tried with values made from it: no server error, and no answer that it does not promise."""

from __future__ import annotations

import re

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.agent.http.conftest import DEMO, QUESTION, Server

pytestmark = pytest.mark.slow

schemathesis.checks.load_all_checks()
PROMISED = ["2xx", "400", "401", "403", "404", "409", "429"]
"""What may answer a request that fits the contract: 400 tells that it cannot be done all the same."""


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_every_answer_is_one_that_the_contract_promises(method: str, local: Server) -> None:
    run_id = local.run()
    headers = {"authorization": f"Bearer {local.make_token()}"}
    app = Starlette(routes=[Mount("/api/v1", app=local.app)])
    accepted = {"positive_data_acceptance": {"expected-statuses": PROMISED}}
    config = schemathesis.Config.from_dict({"checks": accepted})
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, config=config)
    batch = local.call(local.make_token()).post(
        "/batches", json={"table": f"question\n{QUESTION}\n", "settings": DEMO}
    )
    schedule = local.call(local.make_token()).post("/schedules", json={"repeats": run_id})
    known = {"run_id": run_id, "batch_id": batch.json()["id"], "schedule_id": schedule.json()["id"]}
    statuses = list[int]()
    operations = [one.ok() for one in schema.get_all_operations()]
    for operation in operations:
        if operation.method.upper() != method:
            continue

        @settings(
            max_examples=3,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            case.path_parameters |= {name: one for name, one in known.items() if name in case.path_parameters}
            if "wait" in (case.query or {}):
                case.query["wait"] = 0
            response = case.call(headers=headers)
            statuses.append(int(response.status_code))
            case.validate_response(response, headers=headers)

        ask()
    assert len(statuses) >= (3 if method == "PATCH" else 20) and 200 in statuses and max(statuses) < 500


def test_the_page_tells_every_route_and_loads_nothing(local: Server) -> None:
    caller = local.call()
    page, contract = caller.get("/docs").text, caller.get("/openapi.json").json()
    assert contract["openapi"].startswith("3.1")
    for path in contract["paths"]:
        assert f"/api/v1{path}</code>" in page
    assert not re.findall(r"<script|<link|<img|https?://", page)


def test_a_whole_number_may_have_a_point(local: Server) -> None:
    asked = {"question": "Why?", "settings": {**DEMO, "max_steps": 7.0}}
    made = local.call(local.make_token()).post("/runs", json=asked)
    assert made.status_code == 201 and made.json()["settings"]["max_steps"] == 7


def test_what_is_sent_wrong_is_a_problem_that_says_what_to_do(local: Server) -> None:
    caller = local.call(local.make_token())
    for answer in (
        caller.post("/runs", content=b"{", headers={"content-type": "application/json"}),
        caller.post("/runs", json={"nonsense": 1}),
        caller.post("/runs", json={"question": ""}),
        caller.post(
            "/runs", content=b'{"question": "\\ud800"}', headers={"content-type": "application/json"}
        ),
        caller.post("/runs/x/acts/stop", content=b"NaN", headers={"content-type": "application/json"}),
        caller.post("/runs", content=b"[" * 99_999, headers={"content-type": "application/json"}),
        caller.get("/runs?limit=0"),
        caller.delete("/runs"),
        caller.put("/runs/x/acts/stop"),
        caller.post("/runs", json={"question": "Why?", "settings": {"max_steps": True}}),
        caller.post("/batches", json={"table": "question", "budget": {"max_calls": "7"}}),
        caller.post("/batches/x/export"),
        caller.get("/nowhere"),
    ):
        told = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert 400 <= answer.status_code == told["status"] < 500 and len(told["detail"]) > 15
    assert caller.delete("/runs").headers["allow"] == "GET, POST"
    assert caller.post("/batches/x/export").headers["allow"] == "GET"
