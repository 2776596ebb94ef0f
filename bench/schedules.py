"""Fires schedules in several processes under a moved clock, kills these with SIGKILL at random moments, and counts.

    python -m bench.schedules [--firings 1000] [--kills 50] [--processes 3] [--seed 1] [--database URL]

The clock goes on by an hour at a time, at times by three, and each schedule is hourly. Runs are not driven: they
come to rest, fail once in a while, or stay at work over the next time. In the end each run must be that of a time
of its own, each schedule must have the runs that it counts, and the times that passed must be those that it
fired, skipped and missed: none twice, none lost without being told. Exit code 1 when any of this fails."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from sqlalchemy import select

from agent.batch import schedules
from agent.engine.schedules import list_times
from agent.settings import config as configuration
from agent.store import tables
from agent.store.database import Store
from agent.types import Schedule, Settings, Status
from agent.workbench import Workbench
from bench import make_parser, write_figures

START, HOUR_S = 1_800_000_000.0, 3600.0
SETTINGS = Settings(world="demo", model="keyless")
SCHEDULES = 20


class Scene:
    """A store, and a clock that stands in a file and is the same for all processes."""

    def __init__(self, folder: str, database: str) -> None:
        self.clock = Path(folder) / "clock"
        own = {"TOUCHSTONE_DATA": folder, "OLLAMA_URL": "", "DATABASE_URL": database, "CONFIG_FILE": ""}
        self.config = configuration.read_config(own)
        self.set(START)

    def set(self, now: float) -> None:
        """Move the clock for all at once."""
        made = self.clock.with_suffix(".new")
        made.write_text(str(now))
        made.replace(self.clock)

    def open(self) -> Workbench:
        """The workbench of a process, which goes by this clock."""
        bench = Workbench(self.config)
        bench.store.schedules.clock = lambda _connection: float(self.clock.read_text())
        return bench

    def fork(self, store: Store) -> int:
        """A process that fires what is due until it is killed; returns its id. It shares no connection of this
        one's `store`."""
        store.engine.dispose()
        if pid := os.fork():
            return pid
        scheduler = self.open().worker.scheduler
        while True:
            scheduler.fire_due()
            time.sleep(random.uniform(0.0, 0.03))


def rest(store: Store, dice: random.Random) -> None:
    """Let most runs come to rest, one in twenty failed, but never three of a schedule in a row: that pauses it."""
    failures = {one.id: one.failures for one in store.schedules.list_newest()}
    for run in store.ledger.list(status=Status.RUNNING):
        if dice.random() < 0.9:
            fails = dice.random() < 0.05 and not failures[run.schedule_id]
            store.ledger.update_run(run.id, status=Status.FAILED if fails else Status.REVIEW)


def check(store: Store, found: list[Schedule], now: float) -> list[str]:
    """What is wrong with the schedules at the end; nothing, if all is well."""
    wrong = []
    columns = tables.runs.c
    with store.engine.connect() as connection:
        rows = connection.execute(select(columns.id, columns.schedule_id)).all()
    made = Counter(row.schedule_id for row in rows)
    for one in found:
        times = 0
        for at in list_times(one.cron, one.zone, START):
            if at > now:
                break
            times += 1
        if made[one.id] != one.fired:
            wrong.append(f"{one.id}: {made[one.id]} runs, and {one.fired} are counted")
        if times != one.fired + one.skipped + one.missed:
            told = f"{one.fired} fired, {one.skipped} skipped, {one.missed} missed"
            wrong.append(f"{one.id}: {times} times passed, and it tells of {told}")
        followed = [
            store.ledger.steps(row.id)[0].change["follows"] for row in rows if row.schedule_id == one.id
        ]
        if len(set(followed)) != len(followed):
            wrong.append(f"{one.id}: two runs follow the same one")
    return wrong


def main(arguments: list[str]) -> int:
    """Fire, kill, count; prints one line of figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--firings", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", default="", help="a database of its own [default: a new SQLite file]")
    options = parser.parse_args(arguments)
    dice, kills, within, now = random.Random(options.seed), 0, 0, START
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(folder, options.database)
        bench = scene.open()
        store = bench.store
        for _ in range(SCHEDULES):
            schedules.create(bench, "Who?", SETTINGS, when="hourly", zone="Europe/Berlin")
        children = [scene.fork(store) for _ in range(options.processes)]
        try:
            while True:
                found = store.schedules.list_newest()
                due = store.schedules.list_due()
                if not due:
                    if sum(one.fired for one in found) >= options.firings and kills >= options.kills:
                        break
                    rest(store, dice)
                    now += HOUR_S * dice.choice((1, 1, 1, 1, 3))
                    scene.set(now)
                if dice.random() < 0.5 and kills < options.kills:
                    time.sleep(dice.uniform(0.0, 0.1))
                    at_work = bool(store.schedules.list_due())
                    victim = children.pop(dice.randrange(len(children)))
                    os.kill(victim, signal.SIGKILL)
                    os.waitpid(victim, 0)
                    kills, within = kills + 1, within + at_work
                    children.append(scene.fork(store))
                time.sleep(0.005)
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        found = store.schedules.list_newest()
        wrong = check(store, found, now)
        bench.shutdown()
    fired, skipped, missed = (
        sum(getattr(one, name) for one in found) for name in ("fired", "skipped", "missed")
    )
    print(
        f"{fired} firings of {len(found)} schedules in {options.processes} processes, {kills} kills ({within} with "
        f"something due), {skipped} skipped and {missed} missed as told, {len(wrong)} wrong"
    )
    for line in wrong[:20]:
        print(" ", line)
    figures = {"firings": fired, "kills": kills, "skipped": skipped, "missed": missed, "wrong": len(wrong)}
    write_figures(options.json, figures)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
