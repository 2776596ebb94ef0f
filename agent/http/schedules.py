"""The routes of schedules: a question, or a run that is repeated, again and again."""

from __future__ import annotations

from http import HTTPStatus
from typing import Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from agent.batch import schedules
from agent.errors import UsageError
from agent.http.programs import FLOW_SCOPES, Caller, Program
from agent.http.records import RunRecord, describe_run
from agent.types import Record, Schedule, Settings

ROUTER = APIRouter(tags=["schedules"])


class ScheduleRequest(Record, defer_build=False):
    """A schedule to make, or what to change of one (not `repeats`)."""

    name: str = Field("", description="empty: the question")
    question: str = Field("")
    settings: Settings = Field(default_factory=Settings, description="those of each run, with its budget")
    repeats: str = Field("", description="a run to repeat: its question and settings hold")
    when: str = Field("daily", description="hourly, daily, weekly, or a cron expression of five fields")
    zone: str = Field("UTC", description="the time zone of it, like Europe/Berlin")
    starts_at: str = Field("", description="before this day and time nothing fires, like 2027-01-31 08:00")
    state: Literal["active", "paused"] = Field("active", description="to change it: paused, or active again")


def _open(program: Program, schedule_id: str, *others: str) -> Schedule:
    """Raise NotFound, or RequestRefused (403) without the scope of its flow or one of the others."""
    program.require(*FLOW_SCOPES.values(), *others)
    schedule = program.bench.store.schedules.look(schedule_id)[0]
    program.require_flow(schedule.settings.flow, *others)
    return schedule


def _allow(program: Program, settings: Settings) -> None:
    """Raise UsageError, or RequestRefused (403), for settings of runs that a program may not start."""
    program.require(*FLOW_SCOPES.values())
    if settings.world not in ("live", "demo") or settings.flow not in FLOW_SCOPES:
        raise UsageError("a program's runs have a known flow, and the world live or demo")
    program.require_flow(settings.flow)
    if settings.verifies:
        program.open_run(settings.verifies, "read")


@ROUTER.post("/schedules", status_code=HTTPStatus.CREATED)
def make_schedule(asked: ScheduleRequest, program: Caller) -> Schedule:
    """Schedule a question, or a run. Each of its runs says which program made it."""
    _allow(program, program.open_run(asked.repeats).run.settings if asked.repeats else asked.settings)
    with program.acting():
        return schedules.create(program.bench, **{k: v for k, v in asked if k != "state"})


@ROUTER.get("/schedules")
def list_schedules(program: Caller) -> list[Schedule]:
    """The schedules of the person, newest first: of the flows that the token is for, with `read` all."""
    program.require(*FLOW_SCOPES.values(), "read")
    mine, found = set(program.token.scopes), program.bench.store.schedules.list_newest()
    return [one for one in found if mine & {FLOW_SCOPES.get(one.settings.flow), "read"}]


@ROUTER.get("/schedules/{schedule_id}")
def get_schedule(schedule_id: str, program: Caller) -> Schedule:
    """A schedule as it stands."""
    return _open(program, schedule_id, "read")


@ROUTER.patch("/schedules/{schedule_id}")
def change_schedule(schedule_id: str, asked: ScheduleRequest, program: Caller) -> Schedule:
    """Change what is given of a schedule."""
    _open(program, schedule_id)
    given = {name: getattr(asked, name) for name in asked.model_fields_set - {"repeats"}}
    if "settings" in given:
        _allow(program, asked.settings)
    with program.acting():
        return schedules.change(program.bench, schedule_id, **given)


@ROUTER.post("/schedules/{schedule_id}/runs", status_code=HTTPStatus.CREATED)
def run_schedule(schedule_id: str, program: Caller) -> RunRecord:
    """Start a run of a schedule now, beside its times."""
    schedule = _open(program, schedule_id)
    program.check_quota()
    with program.acting():
        run_id = program.bench.worker.scheduler.start(schedule, is_asked=True)
    return describe_run(program.bench, program.bench.snapshot(run_id))


class FeedAddress(Record):
    """Where the feed of a schedule stands: this path on the server, whose last part is secret."""

    path: str


@ROUTER.post("/schedules/{schedule_id}/feed", status_code=HTTPStatus.CREATED)
def renew_feed(schedule_id: str, program: Caller) -> FeedAddress:
    """Give the feed of a schedule a new secret address, told this once; the one before ends."""
    schedule = _open(program, schedule_id)
    assert program.renew_feed
    return FeedAddress(path=f"/{program.renew_feed(schedule.id)}")


@ROUTER.delete("/schedules/{schedule_id}", status_code=HTTPStatus.NO_CONTENT, response_class=Response)
def delete_schedule(schedule_id: str, program: Caller) -> None:
    """Fire never again. Its runs stay."""
    _open(program, schedule_id)
    schedules.change(program.bench, schedule_id, state="deleted")
