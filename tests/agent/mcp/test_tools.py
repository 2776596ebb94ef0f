"""The tools through the SDK's client and a foreign one: research, evidence and library of the demo, by programs
with tokens, over HTTP and standard input."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import fastmcp
import httpx2
import pytest
import requests
import uvicorn
from fastmcp.client.transports import StreamableHttpTransport
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette

from agent.accounts.people import LOCAL
from agent.accounts.tokens import SCOPES
from agent.mcp.server import McpHttp
from agent.settings.config import read_config
from agent.types import Settings
from agent.workbenches import Workbenches

pytestmark = pytest.mark.slow

QUESTION = "On what date did the Stenfors bridge reopen?"
EXAMPLE = "How old are the children of the couple who run Älvmora Mejeri?"
ALL = tuple(scope for scope in SCOPES if scope != "decide")
Call = Callable[..., Awaitable[Any]]


@pytest.fixture
def benches(tmp_path: Path) -> Iterator[Workbenches]:
    made = Workbenches(read_config({"TOUCHSTONE_DATA": str(tmp_path)}))
    made.start()
    made.local().worker.model_search.find()  # there is none: examples are answered by recorded replies
    yield made
    made.close()


@pytest.fixture
def address(benches: Workbenches) -> Iterator[str]:
    served = McpHttp(lambda: benches)

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[None]:
        serving = asyncio.create_task(served.serve())
        yield
        serving.cancel()

    app = Starlette(routes=served.routes, lifespan=lifespan)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join(20)


def make_token(benches: Workbenches, *scopes: str) -> str:
    return benches.token_accounts.tokens.create(LOCAL, "Probe", scopes or ALL)[1]


async def read_answer(call: Call) -> None:
    """Research, its evidence and the library, as a program would."""
    begun = await call("research", question=QUESTION, world="demo")
    found, after = {"status": "running"}, 0
    while found["status"] == "running":
        found = await call("get_run", run=begun["run"], after=after, wait_s=25)
        after = found["head"]
    assert found["status"] == "review" and "2 November 2026" in found["answer"]
    assert "send_back" in found["possible"] and "accept" not in found["possible"], "a person accepts"
    told = await call("get_evidence", run=begun["run"], sentence=1)
    quote = told["quotes"][0]
    assert "2 November 2026" in quote["quote"] and quote["verified"] and len(quote["sha256"]) == 64
    hits = (await call("search", query="Stenfors bridge reopened"))["results"]
    page = await call("fetch", id=hits[0]["id"])
    assert page["url"] == hits[0]["url"] and "Stenfors" in page["text"]


async def read_recorded(call: Call) -> None:
    """An example of the demo, answered by recorded replies of a model: each sentence with its quotes."""
    begun = await call("research", question=EXAMPLE, world="demo")
    found = {"status": "running"}
    while found["status"] == "running":
        found = await call("get_run", run=begun["run"], wait_s=25)
    assert found["status"] == "review" and found["sentences"], found["error"]
    for sentence in found["sentences"]:
        told = await call("get_evidence", run=begun["run"], sentence=sentence["sentence"])
        assert told["text"] == sentence["text"] and told["quotes"] and sentence["mark"] != "not supported"
        for quote in told["quotes"]:
            page = await call("fetch", id=quote["page"])
            assert quote["verified"] and quote["quote"] in page["text"] and page["url"] == quote["url"]
    hits = (await call("search", query="Älvmora Mejeri"))["results"]
    assert {hit["url"] for hit in hits} & {source["url"] for source in found["sources"]}


async def call_by_sdk(address: str, token: str, use: Callable[[Call], Awaitable[None]]) -> None:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(address, http_client=http)) as client,
    ):

        async def call(tool: str, **given: Any) -> Any:
            result = await client.call_tool(tool, given)
            if result.is_error:
                raise AssertionError(result.content[0].text)
            return result.structured_content

        await use(call)


def test_a_program_researches_reads_evidence_and_the_library(benches: Workbenches, address: str):
    anyio.run(call_by_sdk, address, make_token(benches), read_answer)
    anyio.run(call_by_sdk, address, make_token(benches), read_recorded)
    run = benches.local().runs()[0]
    assert (run.settings.model, run.verdict) == ("recorded", "answered")
    first = benches.local().snapshot(run.id).steps[0]
    assert first.change["program"] == "Probe", "it never passes as a person's word"


def test_a_foreign_client_does_the_same(benches: Workbenches, address: str):
    async def use() -> None:
        sent = StreamableHttpTransport(address, headers={"authorization": f"Bearer {make_token(benches)}"})
        async with fastmcp.Client(sent) as client:

            async def call(tool: str, **given: Any) -> Any:
                return (await client.call_tool(tool, given)).structured_content

            await read_answer(call)
            await read_recorded(call)

    anyio.run(use)
    assert {run.settings.model for run in benches.local().runs()} == {"auto", "recorded"}


def test_without_a_token_that_holds_nothing_is_told_but_where_to_get_one(benches: Workbenches, address: str):
    made, revoked = benches.token_accounts.tokens.create(LOCAL, "Old", ALL)
    benches.token_accounts.tokens.revoke(LOCAL, made.id)
    for headers in ({}, {"authorization": f"Bearer {revoked}"}, {"authorization": "Basic YTpi"}):
        answer = requests.post(address, json={}, headers=headers, timeout=20)
        told = answer.headers["www-authenticate"]
        assert answer.status_code == 401 and "resource_metadata=" in told
    metadata = requests.get(told.partition('"')[2].rstrip('"'), timeout=20).json()
    assert metadata["resource"] == address and "research" in metadata["scopes_supported"]


def test_a_token_of_another_scope_is_refused_by_every_tool(benches: Workbenches, address: str):
    token, run = make_token(benches, "reply"), benches.local().start(QUESTION, Settings(model="keyless"))

    async def use() -> None:
        async with (
            httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            tools = (await client.list_tools()).tools
            assert len(tools) >= 11
            for tool in tools:
                known = {"string": "demo", "array": ["https://a.example"], "integer": 1, "object": {}}
                named = {"run": run, "act": "stop", "question": QUESTION}
                shapes = tool.input_schema["properties"]
                given = {n: named.get(n, known[shapes[n]["type"]]) for n in tool.input_schema["required"]}
                answer = await client.call_tool(tool.name, given)
                assert answer.is_error and "scope" in answer.content[0].text, tool.name

    anyio.run(use)
    assert [one.id for one in benches.local().runs()] == [run]


def test_what_is_a_persons_to_decide_and_what_is_not_there_is_told_in_words(
    benches: Workbenches, address: str
):
    async def use(call: Call) -> None:
        run = (await call("research", question=QUESTION, world="demo"))["run"]
        while (await call("get_run", run=run, wait_s=25))["status"] == "running":
            pass
        with pytest.raises(AssertionError, match="decide"):
            await call("answer_run", run=run, act="accept")
        with pytest.raises(AssertionError, match="there is no run"):
            await call("get_run", run="0123")
        with pytest.raises(AssertionError, match="they are s1 to s"):
            await call("get_evidence", run=run, sentence=99)
        with pytest.raises(AssertionError, match="not possible now"):
            await call("stop_run", run=run)
        again = await call("answer_run", run=run, act="send_back", parameters={"note": "Which year?"})
        assert again["steps"]

    anyio.run(call_by_sdk, address, make_token(benches), use)


def test_an_act_that_starts_another_flow_needs_its_scope_and_tells_of_its_run(
    benches: Workbenches, address: str
):
    bench = benches.local()
    run_id = bench.start(QUESTION, Settings(world="demo", model="keyless"))
    bench.drive(run_id)
    bench.act(run_id, "accept")

    async def refused(call: Call) -> None:
        with pytest.raises(AssertionError, match="check"):
            await call("answer_run", run=run_id, act="verify_again")

    async def use(call: Call) -> None:
        made = (await call("answer_run", run=run_id, act="verify_again"))["run"]
        assert bench.snapshot(made).run.settings.verifies == run_id

    anyio.run(call_by_sdk, address, make_token(benches, "research", "read"), refused)
    anyio.run(call_by_sdk, address, make_token(benches, "check", "read"), use)


def test_the_tools_over_standard_input(tmp_path: Path):
    told = os.environ | {"TOUCHSTONE_DATA": str(tmp_path), "WORKERS": "1"}
    command = StdioServerParameters(command=sys.executable, args=["-m", "agent", "mcp"], env=told)

    async def use() -> None:
        async with Client(command) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert len(tools) == 11 and all(
                "osts" in tool.description or name == "stop_run" or name == "answer_run"
                for name, tool in tools.items()
            )

            async def call(tool: str, **given: Any) -> Any:
                return (await client.call_tool(tool, given)).structured_content

            await read_answer(call)

    anyio.run(use)
