"""When schedules fire, and that each time starts one run at most.

Any process may call `fire_due`, any number of times: what happens is decided under the lock of the schedule,
and the run, whose id is made of schedule and time, starts in the transaction that sets the next time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, pairwise
from typing import Any
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from agent.engine.batch_scheduler import MAX_TRIES
from agent.engine.context import WorkLimits
from agent.engine.loop import Flow
from agent.engine.state import Change, to_jsonable
from agent.errors import ConcurrentChange, CorruptRow, NotFound, UsageError
from agent.store.database import Store
from agent.store.ledger import act_as_program
from agent.text.plurals import clip, format_count
from agent.types import STATUS_PHRASES, Schedule, Settings, Status, Step

log = logging.getLogger(__name__)
MIN_GAP_S = 900
"""Seconds between two times of a schedule at least."""


@dataclass
class Scheduler:
    """Starts the runs of the schedules of a store. `keep_private` gives what a run begins with so that what
    is private in another stays so."""

    store: Store
    flows: Mapping[str, Flow]
    limits: WorkLimits
    choose_model: Callable[[Settings, str], str]
    keep_private: Callable[[str], Change] = lambda run_id: {}

    def fire_due(self) -> None:
        """Do what is due in every schedule. One that cannot be read, or whose run to repeat is gone, holds up
        no other."""
        store = self.store.schedules
        for schedule_id in store.list_due():
            try:
                schedule, last, now = store.look(schedule_id)
                if "due" not in decide(schedule, last, now):
                    store.move(schedule_id, decide)
                    continue
                with act_as_program(schedule.program) if schedule.program else nullcontext():
                    self.start(schedule)
            except (CorruptRow, NotFound, LookupError, TypeError, ValueError) as error:
                log.error("the schedule %s cannot fire: %s", schedule_id, error)
            except UsageError as refused:
                told = {"remark": f"It is due, and starts when that allows it: {refused}."}
                if schedule.remark != told["remark"]:
                    store.move(schedule_id, lambda *_, told=told: told)  # type: ignore[misc]

    def start(self, schedule: Schedule, *, is_asked: bool = False) -> str:
        """Start the run of a schedule that is due, or one that is asked for beside its times; returns its id,
        "" when another process was faster. Raises UsageError when a quota allows none, ConcurrentChange when
        one is asked for while the last works or waits, or the schedule is not this one any more."""
        change, own, asked = Change(), schedule.settings, schedule.question
        own = own.replace(model=self.choose_model(own, asked))
        if schedule.repeats:
            change = dict(self.store.ledger.steps(schedule.repeats)[0].change)
            change = {name: value for name, value in change.items() if name not in ("program", "request")}
            change |= self.keep_private(schedule.repeats)
            if self.store.ledger.get(schedule.repeats).settings.model == "keyless":  # chosen later, too
                own = own.replace(model="keyless")
        change |= {"question": asked, "settings": own, "schedule": schedule.id, "follows": schedule.run_id}
        next = self.flows[own.flow].first_step
        first = Step(n=0, name="ask", change=to_jsonable(change), next=next, by="person")
        with self.limits.admit_start(self.store):
            run_id = self.store.schedules.move(
                schedule.id,
                lambda now, *known: decide(now, *known, is_asked=is_asked) if now == schedule else {},
                first,
            )
        if is_asked and not run_id:
            raise ConcurrentChange("the schedule changed at this moment: look at it, and start it again")
        return run_id


def decide(schedule: Schedule, last: Status | None, now: float, *, is_asked: bool = False) -> dict[str, Any]:
    """What changes now: how the last run ended is counted, three failures pause, a time that has come starts
    a run or is skipped; of several that passed the last is made up for, the others are missed. Raises
    ConcurrentChange when a run is asked for while the last works or waits."""
    values: dict[str, Any] = {}
    is_busy = last in (Status.RUNNING, Status.WAITING, Status.PAUSED)
    if schedule.is_open and not is_busy:
        failures = schedule.failures + 1 if last is Status.FAILED else 0
        values = {"is_open": 0, "failures": failures}
        if failures >= MAX_TRIES and not is_asked:
            remark = f"Paused: {MAX_TRIES} runs in a row failed. See why at the last of them, then resume."
            return values | {"state": "paused", "remark": remark}
    started = {"fired": schedule.fired + 1, "is_open": 1, "remark": ""}
    busy = f"the last run ({schedule.run_id}) is {STATUS_PHRASES[last]}" if last and is_busy else ""
    if is_asked and busy:
        raise ConcurrentChange(f"{busy}: wait, decide, or stop it first")
    if is_asked:
        return values | started | {"due": f"asked {schedule.fired}"}
    if schedule.state != "active" or now < schedule.next_at:
        return values
    due, missed = schedule.next_at, 0
    for upcoming in list_times(schedule.cron, schedule.zone, due):
        values["next_at"] = upcoming
        if upcoming > now:
            break
        due, missed = upcoming, missed + 1
    values["missed"] = schedule.missed + missed
    told = f"{format_count(missed, 'time')} passed at which it could not start." if missed else ""
    if busy:
        at = f"{datetime.fromtimestamp(due, ZoneInfo(schedule.zone)):%Y-%m-%d %H:%M}"
        told = f"{told} Skipped at {at}: {busy}.".strip()
        return values | {"skipped": schedule.skipped + 1, "remark": told}
    return values | started | {"due": due, "remark": told}


def list_times(cron: str, zone: str, after: float) -> Iterator[float]:
    """The times of a cron expression behind a moment, both in seconds since 1970. A time that a change of the
    clock leaves out comes right behind the gap, one that it repeats comes once; but every hour is every hour
    (the rules of Debian's cron)."""
    for moment in CronSim(cron, datetime.fromtimestamp(after, ZoneInfo(zone))):
        if (at := moment.timestamp()) > after:
            after = at
            yield at


def describe_times(cron: str, next_at: float, zone: str, *, is_next: bool = True) -> str:
    """For example "At 08:00 every day, next on Sunday, 2026-11-29 08:00 (Europe/Oslo)"."""
    moment = datetime.fromtimestamp(next_at, ZoneInfo(zone))
    upcoming = f", next on {moment:%A, %Y-%m-%d %H:%M}" if is_next else ""
    return f"{CronSim(cron, moment).explain()}{upcoming} ({zone})"


def plan(now: float, when: str, zone: str, starts_at: str = "") -> tuple[str, float]:
    """The cron expression of hourly, daily or weekly (at the minute, time and weekday of its begin) or this
    one itself, and its first time: from now on, or from a day and time of the zone. Raises UsageError for an
    unknown zone, a begin that is past, a wrong expression, and times too close."""
    try:
        local = datetime.fromtimestamp(now, ZoneInfo(zone))
    except (OSError, LookupError, ValueError) as unknown:
        raise UsageError(
            f"there is no time zone “{clip(zone)}”: name one like Europe/Berlin, America/New_York or UTC"
        ) from unknown
    if starts_at.strip():
        try:
            local = datetime.fromisoformat(starts_at.strip())
            local = local.astimezone(ZoneInfo(zone)) if local.tzinfo else local.replace(tzinfo=ZoneInfo(zone))
            local = min(local, local.replace(fold=1), key=datetime.timestamp)  # also one that is left out
            ahead = local.timestamp() - now
        except (OverflowError, ValueError) as wrong:
            raise UsageError(f"“{clip(starts_at)}” is no begin: write it like 2027-01-31 08:00") from wrong
        if not 0 <= ahead < timedelta(days=3660).total_seconds():
            place = "past" if ahead < 0 else "more than ten years ahead"
            raise UsageError(f"{clip(starts_at)} is {place} in {zone}: name a time to come, or none")
    words = {"hourly": "%M * * * *", "daily": "%M %H * * *", "weekly": "%M %H * * %w"}
    cron = local.strftime(words[when]) if when in words else " ".join(when.split())
    form = "five fields (minute, hour, day of the month, month, day of the week) like “30 7 * * 1-5”"
    try:
        if len(cron.split()) != len(form.split(", ")):
            raise CronSimError(f"{format_count(len(cron.split()), 'field')}")
        times = list(islice(list_times(cron, "UTC", now), 200))  # some days of the closest
    except (CronSimError, AssertionError, OverflowError, TypeError, ValueError) as wrong:
        told = (
            f"“{clip(cron)}” is neither hourly, daily, weekly nor a cron expression ({wrong or 'Bad field'})"
        )
        raise UsageError(f"{told}: that has {form}") from wrong
    if not times:
        raise UsageError(f"“{clip(cron)}” names a day that never comes: choose another")
    if any(later - earlier < MIN_GAP_S for earlier, later in pairwise(times)):
        raise UsageError(f"“{clip(cron)}” comes more often than every {MIN_GAP_S / 60:g} minutes")
    return cron, next(list_times(cron, zone, local.timestamp() - bool(starts_at.strip())))
