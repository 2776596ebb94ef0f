"""Who may what: every route without a token, with one of somebody else, one for other things, a revoked one."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from fastapi.routing import iter_route_contexts
from mcp import Client

from agent.accounts.people import LOCAL
from agent.accounts.tokens import SCOPES, ApiToken
from agent.actions.export import FORMATS
from agent.http.programs import Program
from agent.mcp.tools import build_server
from tests.agent.engine.receiver import Receiver
from tests.agent.engine.receiver import receiver as receiver  # a fixture
from tests.agent.http.conftest import EVERY, QUESTION, Server
from tests.web.login import LOGIN

pytestmark = pytest.mark.slow

SECRET_SCOPES = ["messages"]
"""Scopes that no route is for."""


def make_sample(shape: dict[str, Any], contract: dict[str, Any]) -> Any:
    """A value of this shape, as small as can be."""
    if "$ref" in shape:
        return make_sample(contract["components"]["schemas"][shape["$ref"].rpartition("/")[2]], contract)
    if "anyOf" in shape:
        return make_sample(shape["anyOf"][0], contract)
    if "enum" in shape or "const" in shape:
        return shape.get("const", shape.get("enum", [None])[0])
    if shape.get("type") == "object":
        needed = shape.get("required", ())
        return {name: make_sample(shape["properties"][name], contract) for name in needed}
    return {"string": "x", "integer": 1, "number": 1.0, "boolean": True, "array": []}[shape["type"]]


def list_requests(contract: dict[str, Any], **ids: str) -> list[tuple[str, str, dict[str, Any]]]:
    """A valid request to every route about what has these ids: method, address, options."""
    made = []
    known = {"sentence": "s1", "name": "md", "act": "stop", **ids}
    for path, methods in contract["paths"].items():
        for method, route in methods.items():
            needed = [p for p in route.get("parameters", ()) if p["in"] == "query" and p.get("required")]
            options: dict[str, Any] = {"params": {one["name"]: "x" for one in needed}}
            content = route.get("requestBody", {}).get("content", {})
            if "application/json" in content:
                options["json"] = make_sample(content["application/json"]["schema"], contract)
                if path == "/runs":
                    options["json"] = {
                        "question": QUESTION,
                        "settings": {"world": "demo", "model": "keyless"},
                    }
            elif content:
                options["content"] = b"text"
            made.append((method, path.format(**known), options))
    return made


def test_no_route_is_open_to_whom_it_is_not_for(shared) -> None:
    server, ann, bo = shared
    run_id = server.run(ann)
    reader = server.call(server.make_token(ann))
    made = reader.post("/batches", json={"table": "question\nWhere?\n", "settings": {"world": "demo"}})
    assert made.status_code == 201
    hook = reader.post("/webhooks", json={"url": "https://8.8.8.8/hook"}).json()["id"]
    schedule = reader.post("/schedules", json={"repeats": run_id}).json()["id"]
    ids = {"run_id": run_id, "batch_id": made.json()["id"], "hook_id": hook, "schedule_id": schedule}
    contract = reader.get("/openapi.json").json()
    requests = list_requests(contract, **ids)  # a new kind of id in a path: make one of Ann's above
    routes = list(iter_route_contexts(server.app.routes))
    served = {(method.lower(), route.path) for route in routes for method in route.methods}
    told_of = {(method, path) for path, methods in contract["paths"].items() for method in methods}
    assert {path for method, path in served - told_of if method != "head"} == {"/openapi.json", "/docs"}
    assert len(requests) > 45 and QUESTION in reader.get(f"/runs/{run_id}").text
    steps = server.bench(ann).snapshot(run_id).head
    tokens = server.benches.token_accounts.tokens
    revoked = server.make_token(ann)
    tokens.revoke(ann, tokens.list(ann)[0].id)
    callers = {
        "no token": (server.call(), {401}),
        "a wrong token": (server.call("tst_wrong"), {401}),
        "a revoked token": (server.call(revoked), {401}),
        "wrong scopes": (server.call(server.make_token(ann, SECRET_SCOPES)), {403}),
        "of another": (server.call(server.make_token(bo)), {404}),
    }
    told = 0
    for who, (caller, right) in callers.items():
        for method, path, options in requests:
            is_own = who == "of another" and not any(one in path for one in ids.values())
            answer = caller.request(method, path, **options)
            assert is_own or answer.status_code in right, (who, method, path, answer.text)
            leaked = [one for one in ids.values() if one in answer.text.replace(path, "")]
            assert not leaked or answer.status_code == 404, (who, path)
            assert "2 November 2026" not in answer.text and not answer.is_server_error, (who, path)
            told += 1
    assert told >= 180 and server.bench(ann).snapshot(run_id).head == steps
    assert [run.id for run in server.bench(ann).runs() if run.id == run_id]
    assert len(server.bench(ann).worker.webhooks().list()) == 1


def test_a_token_is_for_the_flows_of_its_scopes_and_decides_only_with_decide(local) -> None:
    run_id = local.run()
    site = local.call(local.make_token(scopes=["site"]))
    assert site.get(f"/runs/{run_id}").status_code == 403 and site.get("/runs").json()["runs"] == []
    assert site.get("/runs?flow=research").status_code == 403
    reader = local.call(local.make_token(scopes=["read"]))
    assert reader.get(f"/runs/{run_id}/answer").status_code == 200
    assert reader.post("/runs", json={"question": "Why?"}).status_code == 403
    assert reader.post(f"/runs/{run_id}/acts/pause").status_code == 403
    asker = local.call(local.make_token(scopes=["research"]))
    refused = asker.post(f"/runs/{run_id}/acts/accept")
    assert refused.status_code == 403 and "decide" in refused.json()["detail"]
    decider = local.call(local.make_token(scopes=["research", "decide"]))
    assert decider.post(f"/runs/{run_id}/acts/accept").json()["status"] == "done"


def test_this_machine_is_no_exception_and_a_token_of_another_kind_of_server_does_not_hold(
    local, serve
) -> None:
    refused = local.call().get("/runs")
    assert refused.status_code == 401 and "./touchstone token" in refused.json()["detail"]
    assert refused.headers["www-authenticate"] == "Bearer"
    token = local.make_token()
    assert local.call(token).get("/runs").status_code == 200
    assert serve(**LOGIN).call(token).get("/runs").status_code == 401


def test_private_notes_do_not_leave(serve, receiver: Receiver) -> None:
    """By no route, export, event, tool or webhook, for a program with every scope."""
    local: Server = serve(FETCH_ALLOW="127.0.0.1")
    run_id, secret = local.run(), "the mayor Quibbleworth told us of zinc-plated bolts"
    bench, reader, told = local.bench(), local.call(local.make_token()), list[str]()
    reader.post("/webhooks", json={"url": receiver.url})
    bench.act(run_id, "send_back", note=f"Look for {secret}", private=True)
    bench.drive(run_id)
    bench.act(run_id, "comment", target="s1", text=f"As {secret}", private=True)
    bench.drive(run_id)
    branch = str(bench.act(run_id, "fork", step=bench.snapshot(run_id).head))
    bench.drive(branch)
    sentences = len(bench.snapshot(run_id).state.answer.sentences)
    contract = reader.get("/openapi.json").json()
    no = dict.fromkeys(("batch_id", "hook_id", "schedule_id"), "none")
    for one in (run_id, branch):
        for method, path, options in list_requests(contract, **no | {"run_id": one}):
            if method == "get":
                told.append(reader.get(path, **options).text)
        told += [str(reader.get(f"/runs/{one}/exports/{name}").content) for name in FORMATS]
        told += [reader.get(f"/runs/{one}/evidence/s{n}").text for n in range(1, sentences + 1)]
    told += [reader.get("/library/search", params={"q": word}).text for word in ("Quibbleworth", "zinc")]
    told.append(reader.post(f"/runs/{run_id}/acts/steer", json={"text": "Go on."}).text)
    bench.worker.webhooks().send_due((60.0,), lambda: None)
    assert receiver.got
    told += [body for _, body in receiver.got]
    token = ApiToken("", LOCAL.id, "reader", tuple(SCOPES), "", "", "")
    server = build_server(lambda _ctx: Program(token, bench, lambda: True))

    async def use() -> None:
        async with Client(server) as client:
            for name, given in (
                ("get_run", {"run": run_id}),
                ("get_run", {"run": branch}),
                *(("get_evidence", {"run": run_id, "sentence": n}) for n in range(1, sentences + 1)),
                *((tool, {"query": "Quibbleworth zinc"}) for tool in ("search", "search_library")),
            ):
                answer = await client.call_tool(name, given)
                assert not answer.is_error, answer.content
                told.append(str(answer))

    anyio.run(use)
    assert len(told) > 2 * len(FORMATS) and any("Stenfors" in text for text in told)
    for text in told:
        assert "Quibbleworth" not in text and "zinc" not in text, text[:400]


def test_too_many_requests_and_a_quota_say_when_to_come_again(serve) -> None:
    server = serve(API_RATE="2")
    reader = server.call(server.make_token())
    answers = [reader.get("/runs") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert 1 <= int(answers[2].headers["retry-after"]) <= 30
    assert "ask again in" in answers[2].json()["detail"]


def test_the_quota_of_the_person_holds(shared) -> None:
    server, ann, _ = shared
    asked = {"question": QUESTION, "settings": {"world": "demo", "model": "keyless"}}
    caller = server.call(server.make_token(ann))
    most = server.benches.token_accounts.quotas.get(ann.id).runs
    assert [caller.post("/runs", json=asked).status_code for _ in range(most)] == [201] * most
    over = caller.post("/runs", json=asked)
    assert over.status_code == 429 and "your quota" in over.json()["detail"]


def test_every_scope_is_used(local) -> None:
    for scope in EVERY:
        assert local.call(local.make_token(scopes=[scope])).get("/nowhere").status_code == 404
