"""Schedules: each time starts one run at most, what did not start is told, and what is wrong is refused."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from agent.actions.release import release
from agent.batch import schedules
from agent.engine.schedules import list_times
from agent.errors import ConcurrentChange, NotFound, UsageError
from agent.store import tables
from agent.store.database import Store
from agent.store.ledger import act_as_program
from agent.types import Run, Schedule, Settings, Status, Turn
from agent.workbench import Workbench
from tests.agent.store.conftest import store as store  # a fixture
from tests.conftest import open_postgres
from tests.waiting import wait_for

DEMO = Settings(world="demo", model="keyless", max_pages=3, mode="step", until="conflict", at_cap="ask")
QUESTION = "In which year was Älvmora Mejeri founded?"
DAY = 86_400.0
ROOT = Path(__file__).parents[3]


def at(text: str, zone: str = "Europe/Berlin") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


@dataclass
class Desk:
    """A workbench without workers, on a clock of the test's own."""

    bench: Workbench
    now: float = at("2027-01-04 08:00")

    def make(self, **given: object) -> Schedule:
        asked = {"question": QUESTION, "settings": DEMO} if "repeats" not in given else {}
        return schedules.create(self.bench, **{"when": "daily", "zone": "Europe/Berlin"} | asked | given)  # type: ignore[arg-type]

    def pass_time(self, seconds: float = DAY) -> None:
        self.now += seconds
        self.bench.worker.scheduler.fire_due()

    def get(self, schedule: Schedule) -> Schedule:
        return self.bench.store.schedules.look(schedule.id)[0]

    def runs(self, schedule: Schedule) -> list[Run]:
        return self.bench.runs(schedule_id=schedule.id)

    def end(self, schedule: Schedule, status: Status, **columns: str) -> None:
        self.bench.store.ledger.update_run(self.get(schedule).run_id, status=status, **columns)


def open_desk(store: Store | None = None) -> Iterator[Desk]:
    made = Desk(Workbench(store=store))
    made.bench.store.schedules.clock = lambda _connection: made.now
    yield made
    made.bench.worker.stop()


@pytest.fixture
def desk() -> Iterator[Desk]:
    yield from open_desk()


@pytest.fixture
def either(store: Store) -> Iterator[Desk]:
    """A desk on each of both databases."""
    yield from open_desk(store)


@pytest.mark.slow
def test_each_time_starts_a_run_that_follows_the_last_with_its_own_budget(either: Desk) -> None:
    made = either.make(name=" Founded ")
    assert (made.name, made.cron, made.next_at) == ("Founded", "00 08 * * *", either.now + DAY)
    either.pass_time(DAY - 1)
    assert not either.runs(made), "its time has not come"
    for _ in range(3):
        either.pass_time()
        either.bench.worker.scheduler.fire_due()
        either.end(either.get(made), Status.REVIEW)
    third, second, first = (either.bench.snapshot(run.id).state for run in either.runs(made))
    assert [third.follows, second.follows, first.follows] == [
        *(run.id for run in either.runs(made)[1:]),
        "",
    ]
    assert third.schedule == made.id and third.question == QUESTION and not third.history
    own = third.settings
    assert (own.mode, own.until, own.at_cap) == ("auto", "review", "report"), "nobody is there to be asked"
    assert (own.max_pages, own.model, own.thread_id) == (3, "keyless", "")
    assert either.get(made).fired == 3 and not either.get(made).remark
    run_id = either.runs(made)[0].id
    either.bench.store.ledger.update_run(run_id, status=Status.RUNNING)
    assert either.bench.drive(run_id) is Status.REVIEW, "an ordinary run"


def test_a_time_is_skipped_while_the_last_run_works_or_waits_and_that_is_told(either: Desk) -> None:
    made = either.make()
    either.pass_time()
    for n, status in enumerate((Status.RUNNING, Status.WAITING, Status.PAUSED), 1):
        either.end(made, status)
        either.pass_time()
        told = either.get(made)
        assert told.skipped == n and "Skipped at 2027-01-0" in told.remark and told.run_id in told.remark
    either.end(made, Status.REVIEW)
    either.pass_time()
    told = either.get(made)
    assert (told.fired, told.skipped, told.missed, told.remark) == (2, 3, 0, "")


def test_of_the_times_at_which_no_server_ran_one_is_made_up_for(desk: Desk) -> None:
    made = desk.make()
    desk.pass_time(4.5 * DAY)
    told = desk.get(made)
    assert (told.fired, told.missed, len(desk.runs(made))) == (1, 3, 1)
    assert told.remark == "3 times passed at which it could not start."
    assert told.next_at == at("2027-01-09 08:00")


def test_three_failures_in_a_row_pause_it_until_it_is_resumed(desk: Desk) -> None:
    made = desk.make()
    for n in range(5):
        desk.pass_time()
        desk.end(made, Status.FAILED if n != 1 else Status.DONE, error="the model is away")
        desk.bench.worker.scheduler.fire_due()
    told = desk.get(made)
    assert (told.state, told.fired) == ("paused", 5) and "3 runs in a row failed" in told.remark
    desk.pass_time(3 * DAY)
    assert desk.get(made).fired == 5
    schedules.change(desk.bench, made.id, state="active")
    told = desk.get(made)
    assert (told.state, told.failures, told.missed, told.remark) == ("active", 0, 0, "")
    assert told.next_at == desk.now + DAY, "what was paused is not made up for"


def test_a_quota_holds_it_up_and_counts_neither_as_a_failure_nor_as_done(desk: Desk) -> None:
    made, is_used_up = desk.make(), True

    @contextmanager
    def admit(_store: Store) -> Iterator[None]:
        if is_used_up:
            raise UsageError("2 of 2 pages are used today")
        yield

    desk.bench.worker.scheduler.limits = replace(desk.bench.worker.limits, admit_start=admit)
    desk.pass_time()
    told = desk.get(made)
    assert (told.fired, told.failures, told.skipped, told.missed) == (0, 0, 0, 0)
    assert "2 of 2 pages are used today" in told.remark and told.state == "active"
    desk.pass_time()
    is_used_up = False
    desk.bench.worker.scheduler.fire_due()
    told = desk.get(made)
    assert (told.fired, told.missed) == (1, 1)


def test_a_person_runs_it_now_changes_pauses_and_deletes_it(desk: Desk) -> None:
    made, start = desk.make(), desk.bench.worker.scheduler.start
    first = start(desk.get(made), is_asked=True)
    with pytest.raises(ConcurrentChange, match=f"{first}.*at work: wait"):
        start(desk.get(made), is_asked=True)
    desk.end(made, Status.STOPPED)
    schedules.change(desk.bench, made.id, state="paused")
    assert start(desk.get(made), is_asked=True) != first and desk.get(made).state == "paused"
    changed = schedules.change(desk.bench, made.id, name="Weekly", when="weekly", zone="UTC")
    assert (changed.name, changed.cron, changed.zone) == ("Weekly", "00 07 * * 1", "UTC")
    assert changed.next_at == desk.now + 7 * DAY and changed.question == QUESTION
    for wrong in ({"when": "never"}, {"question": " "}, {"settings": DEMO.replace(max_pages=0)}):
        with pytest.raises(UsageError):
            schedules.change(desk.bench, made.id, **wrong)
    assert desk.get(made) == changed, "nothing is lost"
    schedules.change(desk.bench, made.id, state="deleted")
    assert desk.bench.store.schedules.list_newest() == [] and len(desk.runs(made)) == 2
    with pytest.raises(NotFound, match="no schedule"):
        schedules.change(desk.bench, made.id, name="again")
    desk.pass_time(9 * DAY)
    assert len(desk.runs(made)) == 2


def test_the_verification_of_an_answer_is_repeated(desk: Desk) -> None:
    bench = desk.bench
    origin = bench.start(
        "On what date did the Stenfors bridge reopen to traffic?", Settings(world="demo", model="keyless")
    )
    bench.drive(origin)
    bench.act(origin, "accept")
    verification = str(bench.act(origin, "verify_again"))
    bench.drive(verification)
    made = desk.make(repeats=verification)
    for _ in range(2):
        desk.pass_time()
        bench.drive(desk.get(made).run_id)
    state = bench.snapshot(desk.get(made).run_id).state
    assert state.answers and state.own.standings and desk.get(made).fired == len(desk.runs(made)) == 2
    assert not bench.new_since(desk.get(made).run_id).summary, "every quote still stands"


def test_what_is_private_in_the_run_it_repeats_and_no_model_are_inherited(desk: Desk) -> None:
    bench = desk.bench
    origin = bench.start(QUESTION, DEMO.replace(model="auto"))
    bench.act(origin, "stop")
    bench.drive(origin)
    bench.act(origin, "steer", note="compare it with Project Falcon", private=True)
    bench.act(origin, "steer", note="in Swedish, please")
    bench.drive(origin)
    made = desk.make(repeats=origin)
    bench.store.ledger.update_run(origin, settings=DEMO.model_dump_json(), status=Status.STOPPED)
    desk.pass_time()
    state = bench.snapshot(desk.get(made).run_id).state
    assert state.earlier_private_notes == ["compare it with Project Falcon"] and not state.notes
    assert state.settings.model == "keyless", "it was chosen after the schedule was made"
    assert "Falcon" not in str(release(bench, desk.get(made).run_id)[0].steps)
    desk.end(made, Status.REVIEW)
    step = next(note.step for note in bench.snapshot(origin).state.notes if note.private)
    bench.act(origin, "erase_note", step=step)
    assert "Falcon" not in str(bench.store.ledger.steps(desk.get(made).run_id)), "it is erased there, too"


def test_a_program_that_made_it_stands_in_each_run(desk: Desk) -> None:
    with act_as_program("nightly"):
        made = desk.make()
    desk.pass_time()
    assert made.program == "nightly" == desk.bench.snapshot(desk.get(made).run_id).state.program
    assert desk.bench.snapshot(desk.bench.start(QUESTION, DEMO)).state.program == ""


def test_what_a_program_asks_in_a_persons_schedule_is_its_word(desk: Desk) -> None:
    made = desk.make()
    with act_as_program("nightly"):
        schedules.change(desk.bench, made.id, question="And when did it close?")
    assert desk.get(made).program == "nightly"
    schedules.change(desk.bench, made.id, question=QUESTION)
    assert desk.get(made).program == "", "a person asks again"


def test_processes_that_fire_at_once_start_one_run(either: Desk) -> None:
    made, begin = either.make(), threading.Barrier(6)
    either.now += DAY

    def fire() -> None:
        begin.wait()
        either.bench.worker.scheduler.fire_due()

    threads = [threading.Thread(target=fire) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (either.get(made).fired, len(either.runs(made)), either.get(made).skipped) == (1, 1, 0)


def test_the_workers_of_a_server_fire_it_and_drive_its_run(either: Desk, monkeypatch) -> None:
    monkeypatch.setattr("agent.engine.worker.RECOVER_S", 0.01)
    made = either.make()
    either.bench.worker.start(1)
    either.now += DAY
    wait_for(lambda: [run.status for run in either.runs(made)] == [Status.REVIEW])
    wait_for(lambda: not either.get(made).is_open)
    assert (either.get(made).fired, either.get(made).failures) == (1, 0)


def test_one_that_is_damaged_holds_up_no_other(desk: Desk) -> None:
    lost, made = desk.make(), desk.make()
    with desk.bench.store.writer.begin() as connection:
        own = tables.schedules.update().where(tables.schedules.c.id == lost.id)
        connection.execute(own.values(settings="{"))
    desk.pass_time()
    assert desk.get(made).fired == 1
    assert [one.id for one in desk.bench.store.schedules.list_newest()] == [made.id]


@pytest.mark.parametrize(
    ("when", "zone", "starts_at", "told"),
    [
        ("0 8 * *", "UTC", "", r"4 fields\).*five fields.*“30 7 \* \* 1-5”"),
        ("0 0 8 * * *", "UTC", "", "6 fields"),
        ("61 8 * * *", "UTC", "", "Bad minute"),
        ("0 24 * * *", "UTC", "", "Bad hour"),
        ("0 8 32 * *", "UTC", "", "Bad day-of-month"),
        ("0 8 * 13 *", "UTC", "", "Bad month"),
        ("0 8 * * 5L/2", "UTC", "", "Bad"),
        ("yearly", "UTC", "", "neither hourly, daily, weekly"),
        ("0 8 30 2 *", "UTC", "", "Bad day-of-month|never comes"),
        ("*/5 * * * *", "UTC", "", "more often than every 15 minutes"),
        ("0,50 8,9 1 1 *", "UTC", "", "more often than every 15 minutes"),
        ("daily", "Europe/Atlantis", "", "no time zone “Europe/Atlantis”.*Europe/Berlin"),
        ("daily", "../../etc/passwd", "", "no time zone"),
        ("daily", "Europe", "", "no time zone"),
        ("daily", "", "", "no time zone"),
        ("daily", "Europe/Berlin", "2027-01-04 07:59", "is past in Europe/Berlin"),
        ("daily", "Europe/Berlin", "soon", "is no begin: write it like"),
        ("daily", "America/New_York", "9999-12-31 23:00", "is no begin|ten years"),
        ("daily", "UTC", "9999-12-31T23:00-12:00", "is no begin|ten years"),
        ("daily", "UTC", "0001-01-01T00:00+14:00", "is no begin"),
    ],
)
def test_times_that_cannot_be_are_refused(
    when: str, zone: str, starts_at: str, told: str, desk: Desk
) -> None:
    with pytest.raises(UsageError, match=told):
        desk.make(when=when, zone=zone, starts_at=starts_at)
    assert desk.bench.store.schedules.list_newest() == []


@pytest.mark.parametrize(
    ("cron", "day", "times"),
    [
        ("30 2 * * *", "2027-03-28", ["03-28 03:00+0200"]),
        ("30 2 * * *", "2027-10-31", ["10-31 02:30+0200"]),
        ("30 2,3 * * *", "2027-03-28", ["03-28 03:00+0200", "03-28 03:30+0200"]),
        ("30 * * * *", "2027-10-31", ["02:30+0200", "02:30+0100"]),
        ("0 0 29 2 *", "2028-02-29", ["02-29 00:00+0100"]),
    ],
)
def test_a_time_that_the_clock_leaves_out_or_repeats_comes_once(
    cron: str, day: str, times: list[str]
) -> None:
    zone, found, moment = ZoneInfo("Europe/Berlin"), list[datetime](), at(f"{day} 00:00") - 1
    while not found or found[-1].date() == datetime.fromisoformat(day).date():
        moment = next(list_times(cron, zone.key, moment))
        found.append(datetime.fromtimestamp(moment, zone))
    told = [f"{one:%m-%d %H:%M%z}" for one in found[:-1]]
    if len(times) < len(told):
        told = [one for one in told if " 02:" in one]
    assert [one[-len(times[0]) :] for one in told] == times


def test_it_begins_where_it_is_told_to_and_in_a_summer_that_comes(desk: Desk) -> None:
    made = desk.make(when="daily", starts_at="2027-03-28 02:30")
    assert made.cron == "30 02 * * *" and made.next_at == at("2027-03-28 03:00")
    assert desk.make(when="0 7 * * 1-5", starts_at="2027-06-05T07:00").next_at == at("2027-06-07 07:00")
    assert desk.make(when="0 7 * * *", starts_at="2027-06-05 07:00").next_at == at("2027-06-05 07:00")


def test_a_further_question_and_a_reply_are_refused(desk: Desk) -> None:
    origin = desk.bench.start(QUESTION, DEMO, history=[Turn(user="?", bot="!", run_id="", answered=True)])
    with pytest.raises(UsageError, match="its conversation explains"):
        desk.make(repeats=origin)
    with pytest.raises(UsageError, match="schedule a question instead"):
        desk.make(settings=DEMO.replace(flow="reply"))
    with pytest.raises(NotFound):
        desk.make(repeats="nothing")
    with pytest.raises(UsageError, match="at least one page to start from"):
        desk.make(settings=DEMO.replace(flow="collect"))


def test_one_that_moved_meanwhile_is_looked_at_again(desk: Desk) -> None:
    made, start = desk.make(), desk.bench.worker.scheduler.start
    desk.pass_time()
    desk.end(made, Status.REVIEW)
    desk.now += DAY
    assert start(made) == "", "its last run is another by now"
    with pytest.raises(ConcurrentChange, match="changed at this moment"):
        start(made, is_asked=True)
    assert len(desk.runs(made)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("database", ["", "postgresql"])
def test_processes_that_are_killed_fire_each_time_at_most_once_and_miss_none_untold(database: str) -> None:
    """`python -m bench.schedules` does 1,000 firings and 50 kills."""
    stores = open_postgres() if database else iter(())
    address = next((one.url.render_as_string(hide_password=False) for one in stores), "")
    few = ["--firings", "25", "--kills", "4", "--processes", "2", "--database", address]
    done = subprocess.run(
        [sys.executable, "-m", "bench.schedules", *few],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0 and "4 kills" in done.stdout, done.stdout + done.stderr
    assert next(stores, None) is None
