"""Schedules as a person handles them: a question, or a run that is repeated, again and again.

    made = create(bench, "What does Sundal Data charge?", settings, when="daily", zone="Europe/Oslo")
    made = create(bench, repeats=run_id, when="30 7 * * 1-5", zone="Europe/Oslo")

Each time is an ordinary run (`Ledger.list(schedule_id=…)`), which a server's workers start and drive, without
a person up to its answer. Of the run it repeats it knows what is private, and nothing else."""

from __future__ import annotations

from typing import Any

from agent.actions import validation
from agent.engine.run_settings import normalize_settings
from agent.engine.schedules import plan
from agent.errors import UsageError
from agent.flows import FLOWS
from agent.store.ledger import name_program, new_id, utc_timestamp
from agent.text.plurals import clip
from agent.types import Schedule, Settings
from agent.workbench import Workbench


def create(
    bench: Workbench, question: str = "", settings: Settings | None = None, *, repeats: str = "", **times: str
) -> Schedule:
    """Schedule a question with these settings, or the run `repeats` with its own. Of the `times` (see `plan`)
    it takes `when`, `zone` and `starts_at`, and a `name`. Raises UsageError, NotFound."""
    times = {"when": "daily", "zone": "UTC"} | times
    name = times.pop("name", "").strip()
    if repeats:
        view = bench.snapshot(repeats)
        if view.state.history or bench.store.ledger.is_deleted(repeats):
            raise UsageError(
                f"run {repeats} is in the bin, or a further question that only its conversation explains: "
                "restore it, or ask in full, and schedule that"
            )
        question, settings = view.run.question, view.run.settings
        settings = validation.clamp_imported_settings(settings) if view.run.imported else settings
    question, settings = question.strip(), check(bench, question.strip(), settings or Settings())
    with bench.store.engine.connect() as connection:
        cron, next_at = plan(bench.store.schedules.clock(connection), **times)
    values: dict[str, Any] = dict.fromkeys(("is_open", "fired", "skipped", "missed", "failures"), 0)
    values |= {"question": question, "settings": settings, "repeats": repeats, "state": "active"}
    values |= {"cron": cron, "zone": times["zone"], "next_at": next_at, "run_id": "", "remark": ""}
    values |= {"id": new_id(), "name": clip(name or question), "created_at": utc_timestamp()}
    made = Schedule(**values, program=str(name_program({}).get("program", "")))
    bench.store.schedules.add(made)
    return made


def check(bench: Workbench, question: str, settings: Settings) -> Settings:
    """The settings of each run of a schedule. Raises UsageError."""
    own = {"mode": "auto", "until": "review", "at_cap": "report", "thread_id": "", "served_by": ""}
    settings = normalize_settings(settings.model_copy(update=own))
    validation.check_new_run(question, settings)
    validation.check_engines(settings.engines, bench.worker.world(settings.world))
    if FLOWS[settings.flow].is_one_shot:
        raise UsageError(f"a {settings.flow} run answers one conversation: schedule a question instead")
    return settings


def change(bench: Workbench, schedule_id: str, **given: Any) -> Schedule:
    """Change the `name`, `question`, `settings`, `when`, `zone`, `starts_at` or `state` of a schedule. It is
    paused, active again (from its next time on: those of the pause are not made up for) or deleted for good;
    its runs stay. Returns it as it is then; raises UsageError, NotFound."""
    schedule, _, now = bench.store.schedules.look(schedule_id)
    values: dict[str, Any] = {"name": clip(given.get("name", "").strip() or schedule.name)}
    if given.keys() & {"question", "settings"}:
        question = given.get("question", schedule.question).strip()
        settings = check(bench, question, given.get("settings", schedule.settings))
        values |= {"question": question, "settings": settings.model_dump_json()}
        values |= {"program": str(name_program({}).get("program", ""))}  # whose word its runs are from now on
    if state := given.get("state"):
        values |= {"state": state, "failures": 0, "remark": "Paused by hand." if state == "paused" else ""}
    if given.keys() & {"when", "zone", "starts_at"} or (state == "active" and schedule.state != "active"):
        zone = given.get("zone", schedule.zone)
        cron, next_at = plan(now, given.get("when", schedule.cron), zone, given.get("starts_at", ""))
        values |= {"cron": cron, "zone": zone, "next_at": next_at}
    bench.store.schedules.move(schedule_id, lambda *_: values)
    return schedule if state == "deleted" else bench.store.schedules.look(schedule_id)[0]
