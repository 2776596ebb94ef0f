"""The routes of batches: many questions from one table, within one budget."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from agent.batch import jobs
from agent.batch.csv_input import BATCH_FLOWS, read_sheet
from agent.errors import UsageError
from agent.http.programs import Caller, Program
from agent.types import Batch, BatchBudget, BatchState, Record, Settings, Usage
from agent.workbench import Workbench

ROUTER = APIRouter(tags=["batches"])


class BatchRequest(Record, defer_build=False):
    """A batch to start."""

    name: str = Field("")
    table: str = Field(
        examples=["question\nOn what date did the Stenfors bridge reopen?\n"],
        description="CSV; its first line names the columns, one of them “question”",
    )
    settings: Settings = Field(default_factory=Settings)
    budget: BatchBudget = Field(default_factory=BatchBudget, description="of all runs together")


class BatchRecord(Record):
    """A batch as it is now."""

    id: str
    name: str
    state: BatchState
    rows: dict[str, int] = Field(description="how many rows are in which state")
    runs: list[str] = Field(description="the ids of its runs, in the order of the rows")
    usage: Usage
    created_at: str
    updated_at: str


def _describe(program: Program, batch_id: str) -> BatchRecord:
    now = jobs.get_status(program.bench, batch_id)
    return BatchRecord(
        **now.batch.model_dump(include={"id", "name", "state", "created_at", "updated_at"}),
        rows={str(state): count for state, count in now.state_counts.items()},
        runs=[row.run_id for row in now.rows if row.run_id],
        usage=now.usage,
    )


def _open(program: Program, batch_id: str, *others: str) -> None:
    """Raise NotFound, or RequestRefused (403) without the scopes of all its flows or one of the others."""
    program.require("research", "site", "collect", "check", *others)
    now = jobs.get_status(program.bench, batch_id)
    for flow in jobs.list_flows(now.rows, now.batch.settings):
        program.require_flow(flow, *others)


@ROUTER.post("/batches", status_code=HTTPStatus.CREATED)
def start_batch(asked: BatchRequest, program: Caller) -> BatchRecord:
    """Start a batch. Its name says which program did."""
    program.require("research", "site", "collect", "check")
    if asked.settings.world not in ("live", "demo"):
        raise UsageError("a program's runs search and read the world live or demo")
    sheet = read_sheet(asked.table.encode(), asked.settings)
    for flow in jobs.list_flows(sheet.rows, asked.settings) & set(BATCH_FLOWS):
        program.require_flow(flow)
    program.check_quota()
    name = f"{asked.name.strip() or 'Batch'} (by program {program.token.name})"
    with program.acting():
        batch_id = jobs.create(program.bench, name, sheet, asked.settings, asked.budget)
    return _describe(program, batch_id)


@ROUTER.get("/batches")
def list_batches(program: Caller) -> list[Batch]:
    """The batches of the person, newest first."""
    program.require("read")
    return program.bench.store.batches.list_newest()


@ROUTER.get("/batches/{batch_id}")
def get_batch(batch_id: str, program: Caller) -> BatchRecord:
    """A batch as it is now."""
    _open(program, batch_id, "read")
    return _describe(program, batch_id)


@ROUTER.post("/batches/{batch_id}/stop")
def stop_batch(batch_id: str, program: Caller) -> BatchRecord:
    """Stop a batch and its runs."""
    return _change(program, batch_id, jobs.stop)


@ROUTER.post("/batches/{batch_id}/resume")
def resume_batch(batch_id: str, program: Caller) -> BatchRecord:
    """Go on with a batch."""
    return _change(program, batch_id, jobs.resume)


def _change(program: Program, batch_id: str, change: Callable[[Workbench, str], None]) -> BatchRecord:
    _open(program, batch_id)
    with program.acting():
        change(program.bench, batch_id)
    return _describe(program, batch_id)


@ROUTER.get(
    "/batches/{batch_id}/export",
    response_class=Response,
    responses={str(int(HTTPStatus.OK)): {"content": {"text/csv": {}, "application/json": {}}}},
)
def export_batch(
    batch_id: str, program: Caller, form: Annotated[Literal["csv", "json"], Query()] = "csv"
) -> Response:
    """The table with the answers beside the questions."""
    _open(program, batch_id, "read")
    if form == "json":
        return Response(jobs.export_json(program.bench, batch_id), media_type="application/json")
    return Response(jobs.export_csv(program.bench, batch_id), media_type="text/csv")
