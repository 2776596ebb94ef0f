"""The routes of runs: start, list, read, wait, watch, act."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from http import HTTPStatus
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal
from uuid import UUID, uuid5

from fastapi import APIRouter, Header, Path, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from agent import api
from agent.actions import acts
from agent.actions.acts import ACTS, Act
from agent.actions.export import FORMATS, export_run
from agent.actions.new_since import NewSince
from agent.actions.release import release
from agent.answering import fact_view
from agent.bot.http import RequestRefused
from agent.engine.snapshots import CACHE_SIZE, RunSnapshot
from agent.errors import ConcurrentChange, NotFound, UsageError
from agent.http.programs import DECIDING_ACTS, FLOW_SCOPES, Caller, NotPossible, Program
from agent.http.records import (
    AnswerRecord,
    Evidence,
    RunRecord,
    RunSummary,
    StepEvent,
    describe_run,
    read_answer,
    read_evidence,
)
from agent.types import Fact, Record, Settings, Status

ROUTER = APIRouter(tags=["runs"])
WAIT_S = 25.0
"""Seconds that a request may wait for a run to come to rest."""
StartedFlow = Literal["research", "site", "collect", "check_text", "chat"]


class RunRequest(Record, defer_build=False):
    """A run to start."""

    flow: StartedFlow = Field("research", description="how it is answered")
    question: str = Field(
        "",
        examples=["On what date did the Stenfors bridge reopen to traffic?"],
        description="the question; of check_text the address of the text to check",
    )
    text: str = Field("", description="of check_text: the text itself, as Markdown")
    follows: str = Field(
        "", description="a run that this is a further question to: its flow and settings hold"
    )
    settings: Settings = Field(
        default_factory=Settings,
        examples=[{"world": "demo"}],
        description="what is otherwise than by default",
    )


class RunPage(Record):
    """Runs, newest first. `next` is the cursor of the next page; empty on the last."""

    runs: list[RunSummary]
    next: str


class ActResult(Record):
    """What became of an act: the run (of a branch the new one), its last step, and how it is now."""

    run: str
    step: int
    status: Status
    possible: list[str]


@ROUTER.post(
    "/runs",
    status_code=HTTPStatus.CREATED,
    responses={str(int(HTTPStatus.OK)): {"model": RunRecord, "description": "started before with this key"}},
)
def start_run(
    asked: RunRequest,
    program: Caller,
    response: Response,
    idempotency_key: Annotated[str, Header(max_length=CACHE_SIZE)] = "",
) -> RunRecord:
    """Start a run. The same Idempotency-Key again gives the run that it started, and starts none."""
    flow: str = asked.flow
    if asked.follows:
        flow = program.open_run(asked.follows).run.settings.flow
    program.require_flow(flow)
    if asked.settings.world not in ("live", "demo"):
        raise UsageError("a program's run searches and reads the world live or demo")
    key = uuid5(UUID(program.token.id), idempotency_key).hex if idempotency_key else ""
    content = hashlib.sha256(asked.model_dump_json().encode()).hexdigest()
    known = _find_started(program, asked.follows, key, content)
    if known is None:
        program.check_quota()
        try:
            with program.acting(key, content):
                run_id = _start(program, flow, asked)
        except ConcurrentChange:
            known = _find_started(program, asked.follows, key, content)  # by the same request meanwhile
            if known is None:
                raise
    if known:
        response.status_code = HTTPStatus.OK
        return known
    response.headers["location"] = f"/api/v1/runs/{run_id}"
    return describe_run(program.bench, program.bench.snapshot(run_id))


def _find_started(program: Program, follows: str, key: str, content: str) -> RunRecord | None:
    """The run that a request of this key started, or the chat `follows` that it answered; None when it did
    neither. Raises UsageError when it asked something else."""
    views = list[RunSnapshot]()
    for run_id in filter(None, (key, key and follows)):
        with suppress(NotFound):
            views.append(program.bench.snapshot(run_id))
    asked = [(view, step.change.get("request", "").split()) for view in views for step in view.steps]
    for view, request in asked:
        if request[:1] == [key] and request[1] != content:
            raise UsageError("this Idempotency-Key started another run: give each request one of its own")
        if request[:1] == [key]:
            return describe_run(program.bench, program.open_run(view.run.id))
    return None


def _start(program: Program, flow: str, asked: RunRequest) -> str:
    bench, question = program.bench, asked.question
    settings = asked.settings.model_copy(update={"flow": flow, "thread_id": "", "served_by": ""})
    if asked.follows and flow == "chat":
        return bench.send_chat_message(asked.follows, question, None)
    if asked.follows:
        chosen = {name: getattr(settings, name) for name in asked.settings.model_fields_set}
        chosen = {
            name: value
            for name, value in chosen.items()
            if name not in ("thread_id", "served_by", "verifies")
        }
        return bench.follow_up(asked.follows, question, Settings(**chosen, flow=flow) if chosen else None)
    if flow == "check_text" and asked.text:
        return api.start_text_check(bench, api.PASTED_NAME, asked.text.encode(), settings)
    if flow == "check_text":
        return api.start_address_check(bench, question, settings)
    if flow == "collect":
        return api.start_collect_run(bench, question, settings.start_urls, settings)
    return bench.start(question, settings)


@ROUTER.get("/runs")
def list_runs(
    program: Caller,
    limit: Annotated[int, Query(ge=1, le=CACHE_SIZE)] = CACHE_SIZE,
    cursor: Annotated[str, Query(description="`next` of the page before")] = "",
    flow: Annotated[StartedFlow | Literal["reply", "verify_again", ""], Query()] = "",
    status: Annotated[Status | None, Query()] = None,
) -> RunPage:
    """The runs of the person, newest first: those of the flows that the token is for, with `read` all."""
    program.require(*FLOW_SCOPES.values(), "read")
    if flow:
        program.require_flow(flow, "read")
    mine = [name for name, scope in FLOW_SCOPES.items() if scope in program.token.scopes]
    flows = [flow] if flow else [] if "read" in program.token.scopes else mine
    found = program.bench.runs(status=status, flows=flows, behind=cursor, limit=limit + 1)
    shown = [RunSummary.of(run) for run in found[:limit]]
    return RunPage(runs=shown, next=shown[-1].id if len(found) > limit else "")


@ROUTER.get("/runs/{run_id}")
async def get_run(
    run_id: str,
    program: Caller,
    wait: Annotated[
        float, Query(ge=0, le=WAIT_S, description="seconds to wait for a run at work to come to rest")
    ] = 0,
) -> RunRecord:
    """A run as it is now, or when it rests: it waits for a decision, has an answer, paused or ended."""
    until = time.monotonic() + wait
    await run_in_threadpool(program.open_run, run_id, "read")
    ledger = program.bench.store.ledger
    while time.monotonic() < until and (await run_in_threadpool(ledger.get, run_id)).status is Status.RUNNING:
        await asyncio.sleep(1 / 2)
    view = await run_in_threadpool(program.open_run, run_id, "read")
    return await run_in_threadpool(describe_run, program.bench, view)


@ROUTER.get(
    "/runs/{run_id}/events",
    response_class=StreamingResponse,
    responses={
        str(int(HTTPStatus.OK)): {"content": {"text/event-stream": {}}},
        str(int(HTTPStatus.NO_CONTENT)): {"description": "it rests, and all of it was told"},
    },
)
async def watch_run(
    run_id: str,
    program: Caller,
    last_event_id: Annotated[int, Header(ge=-1, description="the last step that was told; -1 for none")] = -1,
) -> Response:
    """The steps of a run as server-sent events until it rests, each once; the id of an event is the number of
    its step, with which a reader goes on. The last event, `rest`, is the status it rests in."""
    view = await run_in_threadpool(program.open_run, run_id, "read")
    if last_event_id > view.head:
        raise UsageError(f"step {last_event_id} has not come yet: the last is {view.head}; go on from there")
    if last_event_id == view.head and view.run.status is not Status.RUNNING:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(
        _tell(program, run_id, last_event_id), headers=headers, media_type="text/event-stream"
    )


async def _tell(program: Program, run_id: str, last: int) -> AsyncIterator[str]:
    ledger = program.bench.store.ledger
    while await run_in_threadpool(program.still_holds):
        run = await run_in_threadpool(ledger.get, run_id)  # first: what is recorded later is told next time
        for step in await run_in_threadpool(ledger.steps, run_id, last):
            yield f"id: {step.n}\nevent: step\ndata: {StepEvent.of(step).model_dump_json()}\n\n"
            last = step.n
        if run.status is not Status.RUNNING and last >= run.steps:
            yield f"event: rest\ndata: {json.dumps({'status': run.status})}\n\n"
            return
        yield ":\n\n"  # tells that this lives, and finds out whether it is still read
        await asyncio.sleep(1 / 2)


@ROUTER.get("/runs/{run_id}/answer")
def get_answer(run_id: str, program: Caller) -> AnswerRecord:
    """The newest answer, sentence by sentence, each with how it was checked and what it cites."""
    program.open_run(run_id, "read")
    return read_answer(program.bench, run_id)


@ROUTER.get("/runs/{run_id}/facts")
def list_facts(run_id: str, program: Caller) -> list[Fact]:
    """The facts of a run, each with the quote that supports it."""
    program.open_run(run_id, "read")
    return fact_view.all_facts(release(program.bench, run_id)[0].state)


@ROUTER.get("/runs/{run_id}/new-since")
def list_new(
    run_id: str, program: Caller, since: Annotated[str, Query(description="a run that asked the same")] = ""
) -> NewSince:
    """The facts that are new, changed or gone since the run before it of its schedule, or since another."""
    for one in filter(None, (run_id, since)):
        program.open_run(one, "read")
    told: NewSince = program.bench.new_since(run_id, since)
    return told


@ROUTER.get("/runs/{run_id}/evidence/{sentence}")
def get_evidence(
    run_id: str, sentence: Annotated[str, Path(description="s1, s2 … of the answer")], program: Caller
) -> Evidence:
    """What a sentence of the answer rests on: quotes with their context, pages and hashes."""
    program.open_run(run_id, "read")
    return read_evidence(program.bench, run_id, sentence)


@ROUTER.get(
    "/runs/{run_id}/exports/{name}",
    response_class=Response,
    responses={
        str(int(HTTPStatus.OK)): {
            "description": "the file",
            "content": {one.mime: {} for one in FORMATS.values()},
        }
    },
)
def export(
    run_id: str, name: Annotated[str, Path(json_schema_extra={"enum": list(FORMATS)})], program: Caller
) -> Response:
    """A run as a file."""
    program.open_run(run_id, "read")
    if name not in FORMATS:
        raise NotFound(f"there is no such format; there are {', '.join(FORMATS)}")
    try:
        made = export_run(program.bench, run_id, name)
    except NotFound:
        raise
    except UsageError as refused:
        raise RequestRefused(HTTPStatus.CONFLICT, str(refused)) from refused
    file = f'attachment; filename="{run_id}.{FORMATS[name].extension}"'
    return Response(made, media_type=FORMATS[name].mime, headers={"content-disposition": file})


def _make_route(act: Act) -> Callable[..., ActResult]:
    """The function of the route of an act: its body is the act's parameters."""

    def do(run_id: str, program: Program, head: int | None, given: Any) -> ActResult:
        view = program.open_run(run_id, *["read"] * bool(act.starts))
        if act.name in DECIDING_ACTS:
            program.require("decide")
        if act.starts:
            program.require_flow(act.starts)
            program.check_quota()
        values = program.sign(given.model_dump(exclude_unset=True) if given else {})
        act.read(values)
        try:
            act.check(view)
            with program.acting():
                done = acts.perform(program.bench, run_id, act.name, head, values)
        except NotFound:
            raise
        except UsageError as refused:
            if not isinstance(refused, ConcurrentChange) and acts.is_possible(act.name, view):
                raise
            now = program.bench.snapshot(run_id)
            raise NotPossible(str(refused), [one.name for one in acts.list_possible(now)]) from refused
        after = program.bench.snapshot(done if isinstance(done, str) else run_id)
        possible = [one.name for one in acts.list_possible(after)]
        return ActResult(run=after.run.id, step=after.head, status=after.run.status, possible=possible)

    is_needed = any(field.is_required() for field in act.parameters.model_fields.values())
    seen = Query(description="the last step that you saw: 409 when the run moved since")
    of_all: dict[str, tuple[Any, Any]] = {
        "run_id": (str, Parameter.empty),
        "program": (Caller, Parameter.empty),
        "head": (Annotated[int | None, seen], None),
        "given": (act.parameters, Parameter.empty) if is_needed else (act.parameters | None, None),
    }
    do.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for name, (kind, default) in of_all.items()
        ],
        return_annotation=ActResult,
    )
    return do


for _act in ACTS.values():
    ROUTER.add_api_route(
        f"/runs/{{run_id}}/acts/{_act.name}",
        _make_route(_act),
        methods=["POST"],
        operation_id=f"act_{_act.name}",
        summary=_act.label,
        description=_act.help,
        tags=["acts"],
    )
