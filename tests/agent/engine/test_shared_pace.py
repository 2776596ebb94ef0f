"""Processes that share a PostgreSQL database share the pace of every host, and a killed one frees its slots."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path

import pytest
from sqlalchemy import text

from agent.engine.shared_pace import SharedHostRateLimiter
from agent.errors import StoreError
from agent.net.deadline import AllBusy, Deadline
from agent.settings.config import read_config
from agent.store.database import Store
from agent.web.engines.http_api import ApiEngine
from agent.workbench import Workbench
from tests import postgres
from tests.conftest import open_postgres
from tests.waiting import wait_for
from tests.web.site import Asked, Reply, Site

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
READER = """
import sys
from agent.engine.shared_pace import SharedHostRateLimiter
from agent.settings.config import read_config
from agent.store.database import open_engine
from agent.web.world import open_world
database, gap, *urls = sys.argv[1:]
pace = SharedHostRateLimiter(open_engine(database), float(gap))
world = open_world("live", read_config({"FETCH_ALLOW": "127.0.0.1"}), pace)
print("ready", flush=True)
sys.stdin.readline()
for url in urls:
    print(world.fetch(url).outcome, flush=True)
"""


@pytest.fixture(scope="module")
def database() -> Iterator[Store]:
    yield from open_postgres()


def start_reader(database: Store, gap: float, *urls: str) -> subprocess.Popen:
    """A process that fetches these addresses once it is told to."""
    address = database.url.render_as_string(hide_password=False)
    made = subprocess.Popen(
        [sys.executable, "-c", READER, address, str(gap), *urls],
        cwd=ROOT,
        env=os.environ | {"TOUCHSTONE_DATA": ""},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert made.stdout and made.stdout.readline() == "ready\n"
    return made


@pytest.mark.slow
def test_three_processes_never_ask_a_host_faster_than_the_gap(database: Store):
    gap, arrived = 0.3, []

    def answer(asked: Asked) -> Reply:
        arrived.append(time.monotonic())
        return Reply(404 if asked.path == "/robots.txt" else 200, b"<p>A page of words about a heron.")

    with Site({}) as site:
        site.missing = answer
        readers = [
            start_reader(database, gap, *[site.url(f"/{n}/{page}") for page in range(3)]) for n in range(3)
        ]
        for reader in readers:
            assert reader.stdin
            reader.stdin.write("go\n")
            reader.stdin.flush()
        said = [reader.communicate(timeout=120)[0].split() for reader in readers]
    assert said == [["ok"] * 3] * 3
    assert len(arrived) == 12
    late = 2 * gap  # what may lie between the first turn and its arrival on a busy machine
    assert arrived[-1] - arrived[0] > 11 * gap - late, [b - a for a, b in pairwise(arrived)]


def test_a_killed_process_frees_its_slots(database: Store):
    with Site({"/slow": Reply(ends="silent"), "/robots.txt": Reply(404)}) as site:
        held = [start_reader(database, 0.001, site.url("/slow")) for _ in range(2)]
        for reader in held:
            assert reader.stdin
            reader.stdin.write("go\n")
            reader.stdin.flush()
        wait_for(lambda: site.paths() == ["/slow", "/slow"])
        with closing(SharedHostRateLimiter(database.engine, 0.001)) as pace:
            host = site.url().split("/")[2].partition(":")[0]
            with pytest.raises(AllBusy), pace.hold_slot(host, Deadline(60, patience=1)):
                pass
            for reader in held:
                reader.kill()
                reader.communicate()
            with pace.hold_slot(host, Deadline(60, patience=60)):
                pass


def test_threads_of_a_process_and_another_share_two_slots_and_the_rest_a_host_asked_for(database: Store):
    with (
        closing(SharedHostRateLimiter(database.engine, 0.0)) as here,
        closing(SharedHostRateLimiter(database.engine, 0.0)) as there,
        ExitStack() as held,
    ):
        held.enter_context(here.hold_slot("a", Deadline(60)))
        held.enter_context(here.hold_slot("a", Deadline(60)))
        for pace in (here, there):
            with pytest.raises(AllBusy), pace.hold_slot("a", Deadline(60, patience=0)):
                pass
        with there.hold_slot("b", Deadline(60)):
            held.close()
        with there.hold_slot("a", Deadline(60)):
            pass
        here.pause_host("a", 3000)
        there.pause_host("a", 5)
        assert 2900 < there.remaining_pause("a") <= 3000
        assert here.remaining_pause("b") == 0
    with database.engine.begin() as connection:
        assert "a" not in connection.scalars(text("SELECT host FROM hosts")).all()


def test_the_pace_waits_for_a_database_that_comes_back(database: Store):
    address = postgres.create_database()
    store = Store(address)
    with closing(SharedHostRateLimiter(store.engine, 0.0)) as pace, pace.hold_slot("a", Deadline(60)):
        with database.engine.begin() as connection:
            gone = text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = :name")
            connection.execute(gone, {"name": store.url.database})
        with pytest.raises(StoreError, match="could not be used"):
            pace.remaining_pause("a")
        with pace.hold_slot("a", Deadline(60)):
            pass
    store.close()
    postgres.drop_database(address)


def test_a_workbench_on_postgresql_shares_its_pace(database: Store, tmp_path: Path):
    address = database.url.render_as_string(hide_password=False)
    shared, alone = (
        Workbench(read_config({"TOUCHSTONE_DATA": str(tmp_path / name), "DATABASE_URL": url}))
        for name, url in (("shared", address), ("alone", ""))
    )
    assert isinstance(shared.worker.limits.pace, SharedHostRateLimiter)
    assert alone.worker.limits.pace is None
    for bench in (shared, alone):
        bench.shutdown()


def test_a_service_is_asked_by_one_at_a_time_of_all_processes(database: Store):
    with (
        closing(SharedHostRateLimiter(database.engine, 1000.0)) as here,
        closing(SharedHostRateLimiter(database.engine, 1000.0)) as there,
        ExitStack() as held,
    ):
        engines = [ApiEngine(read_config({"ENGINE_URLS": "arxiv=http://a.test"}), "arxiv", here)]
        assert engines[0].client._pace is here
        held.enter_context(here.hold_slot("search a.test", Deadline(60), alone=0.0))
        with pytest.raises(AllBusy), there.hold_slot("search a.test", Deadline(60, patience=0), alone=0.0):
            pass
        held.close()
        with there.hold_slot("search a.test", Deadline(60), alone=1000.0):
            pass
        with pytest.raises(AllBusy), here.hold_slot("search a.test", Deadline(60, patience=0), alone=0.0):
            pass
