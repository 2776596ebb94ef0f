"""Cases of load: many people, many runs, a restart under all of them, and an hour of work."""

from __future__ import annotations

import math
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from agent.settings import config as configuration
from agent.types import Settings, Status
from agent.workbench import Workbench
from bench import steps
from bench.long_runs import Writer
from bench.sessions import Visitor, p95
from bench.trust.cases_pages import read_memory
from bench.trust.scorecard import Bench, Result, case
from tests.browser.served import Served

QUESTIONS = (
    "What was the profession of the first person known to climb the mountain that the blue cheese of Älvmora "
    "Mejeri is named after?",
    "How old are the children of the couple who run Älvmora Mejeri?",
    "In which year was Älvmora Mejeri founded?",
    "How many tonnes of milk did Älvmora Mejeri take in during 2025?",
)
SHORT = Settings(world="demo", model="keyless")


def server_mb(server: Served) -> float:
    """Resident memory of the server, without the processes that read documents."""
    assert server.process is not None
    return read_memory(Path(f"/proc/{server.process.pid}/status"), "VmRSS")


def server_cpu_s(server: Served) -> float:
    """CPU time the server has used, in seconds."""
    assert server.process is not None
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_warm(server: Served) -> None:
    """Look at it once, then wait until it rests: what it imports after its start (2 s of a core,
    90 MB) is a cost of the start, not of runs or visits."""
    visit([Visitor(server.url, "", 0.1)], 0.1)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        used = server_cpu_s(server)
        time.sleep(1.0)
        if server_cpu_s(server) - used < 0.1:
            return


def visit(visitors: list[Visitor], over_seconds: float) -> list[str]:
    """Let them all come, evenly spread; returns their troubles."""
    for visitor in visitors:
        visitor.start()
        time.sleep(over_seconds / len(visitors))
    for visitor in visitors:
        visitor.join()
    return [visitor.trouble for visitor in visitors if visitor.trouble]


class Served10:
    """A server with live runs, and the workbench that started them. Their world never answers the question:
    a run takes 44 steps, with 2.2 s between two of them longer than any case looks."""

    def __init__(self, folder: Path, runs: int, **settings: str) -> None:
        self.server = Served(folder, STEP_GAP="2.2", WORKERS=str(max(1, runs)), **settings).start()
        wait_until_warm(self.server)
        self.bench = Workbench(configuration.read_config({"TOUCHSTONE_DATA": str(folder)}))
        world = folder / "world"
        world.mkdir()
        steps.write_world(world)
        endless = Settings(world=str(world), model="keyless", max_steps=200, max_pages=200, until="budget")
        self.runs = [self.bench.start(steps.QUESTION, endless) for _ in range(runs)]
        until = time.monotonic() + 60
        while any(self.bench.snapshot(run).head < 1 for run in self.runs) and time.monotonic() < until:
            time.sleep(0.1)

    def live(self) -> int:
        """Runs still at work."""
        return sum(self.bench.snapshot(run).run.status is Status.RUNNING for run in self.runs)

    def close(self) -> None:
        """Stop all."""
        self.bench.shutdown()
        self.server.stop()


def with_server(runs: int, measure: Callable[[Served10], Result], **settings: str) -> Result:
    """Measure on a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        served = Served10(Path(folder), runs, **settings)
        try:
            return measure(served)
        finally:
            served.close()


@case("S8.1", "50 sessions and 10 live runs", "rerun and poll p95 <= 1 s, first view p95 <= 5 s, <= 100 MB")
def fifty_sessions(bench: Bench) -> Result:
    sessions, seconds = bench.pick(50, 6), bench.pick(60, 6)

    def measure(served: Served10) -> Result:
        before = server_mb(served.server)
        visitors = [
            Visitor(served.server.url, served.runs[n % len(served.runs)], seconds, 20.0)
            for n in range(sessions)
        ]
        troubles = visit(visitors, 20.0)
        polls = [one for visitor in visitors for one in visitor.polls]
        reruns = [one for visitor in visitors for one in visitor.reruns]
        first, grown = p95([visitor.first for visitor in visitors]), server_mb(served.server) - before
        passed = p95(polls) <= 1 and p95(reruns) <= 1 and first <= 5 and grown <= 100 and not troubles
        measured = (
            f"each polls and draws all anew each 20 s: p95 rerun {p95(reruns):.2f} s of {len(reruns)}, poll {p95(polls):.2f} s of {len(polls)}, first view "
            f"{first:.2f} s; +{grown:.0f} MB; {served.live()} runs live at the end"
        )
        return Result(sessions, measured, troubles, passed)

    return with_server(10, measure)


@case("S8.2", "200 sessions that come within a minute", "0 failures, first view p95 <= 10 s")
def two_hundred_sessions(bench: Bench) -> Result:
    def measure(served: Served10) -> Result:
        visitors = [Visitor(served.server.url, "", 1.0) for _ in range(bench.pick(200, 10))]
        troubles = visit(visitors, bench.pick(60, 3))
        first = p95([visitor.first for visitor in visitors])
        return Result(len(visitors), f"first view p95 {first:.2f} s", troubles, first <= 10 and not troubles)

    return with_server(0, measure)


@case("S8.3", "Restart (SIGKILL) under 200 sessions and 10 runs", "all back <= 60 s, no run lost")
def herd(bench: Bench) -> Result:
    def measure(served: Served10) -> Result:
        sessions = bench.pick(200, 8)
        before = [Visitor(served.server.url, served.runs[n % 10], 600.0) for n in range(sessions)]
        for visitor in before:
            visitor.start()
            time.sleep(0.2)
        while any(not visitor.first and not visitor.trouble for visitor in before):
            time.sleep(0.2)
        heads = [served.bench.snapshot(run).head for run in served.runs]
        served.server.kill()
        served.server.start()
        began = time.monotonic()
        after = [Visitor(served.server.url, served.runs[n % 10], 0.0) for n in range(sessions)]
        troubles = visit(after, 0.5)
        seconds = time.monotonic() - began
        until = time.monotonic() + 60
        lost = list(range(10))
        while lost and time.monotonic() < until:
            views = [served.bench.snapshot(run) for run in served.runs]
            lost = [
                n
                for n, view in enumerate(views)
                if view.head <= heads[n] and view.run.status is Status.RUNNING
            ]
            time.sleep(0.2)
        misses = troubles + [f"run {n} did not go on" for n in lost]
        back = sum(bool(visitor.first) for visitor in after)
        measured = f"{back} of {sessions} back in {seconds:.0f} s; {10 - len(lost)} of 10 runs went on"
        return Result(sessions, measured, misses, not misses and seconds <= 60)

    return with_server(10, measure)


@case("S8.4", "Soak: an hour of runs and visits", "<= 5 MB/h after warm-up, 0 stuck runs")
def soak(bench: Bench) -> Result:
    seconds = float(os.environ.get("SOAK_SECONDS", bench.pick(3600, 60)))
    began = time.monotonic()
    points: list[tuple[float, float, int]] = []
    with tempfile.TemporaryDirectory() as folder:
        server = Served(Path(folder), STEP_GAP="0", WORKERS="4").start()
        opened = Workbench(configuration.read_config({"TOUCHSTONE_DATA": folder}))
        runs: list[str] = []
        try:
            assert server.process is not None
            pid = server.process.pid
            while (now := time.monotonic() - began) < seconds:
                runs.append(opened.start(QUESTIONS[len(runs) % 4], SHORT))
                visitors = [Visitor(server.url, run, 3.0, 1.0) for run in runs[-3:]]
                visit(visitors, 0.3)
                threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
                points.append((now, server_mb(server), threads))
                print(f"{now:.0f} s: {points[-1][1]:.1f} MB, {threads} threads, {len(runs)} runs", flush=True)
                time.sleep(1.0)
            time.sleep(20)
            stuck = [run for run in runs if opened.snapshot(run).run.status is not Status.REVIEW]
        finally:
            opened.shutdown()
            server.stop()
    warm = [point for point in points if point[0] >= seconds / 4]
    slope = statistics.linear_regression([at / 3600 for at, _, _ in warm], [mb for _, mb, _ in warm]).slope
    threads_grown = warm[-1][2] - warm[0][2]
    measured = (
        f"{slope:+.1f} MB/h over the last {seconds * 0.75 / 60:.0f} min (linear fit of {len(warm)} points), "
        f"{points[0][1]:.0f} to {points[-1][1]:.0f} MB in all; threads {threads_grown:+d}; {len(stuck)} runs stuck"
    )
    return Result(len(runs), measured, [f"stuck: {run}" for run in stuck], slope <= 5 and not stuck)


@case("S8.5", "A run of 500 pages and 5,000 facts on the screen", "rerun <= 2 s, message <= 5 MB")
def large_run(bench: Bench) -> Result:
    with tempfile.TemporaryDirectory() as folder:
        server = Served(Path(folder)).start()
        opened = Workbench(configuration.read_config({"TOUCHSTONE_DATA": folder}))
        run_id = Writer(opened.store, bench.pick(1000, 50), seed=1).write(Status.REVIEW)
        try:
            visitor = Visitor(server.url, run_id, 20.0, 2.0)
            troubles = visit([visitor], 0.1)
            facts = len(opened.snapshot(run_id).state.facts)
        finally:
            opened.shutdown()
            server.stop()
    slowest, largest = max(visitor.reruns, default=math.nan), visitor.largest / 1e6
    measured = (
        f"{facts:,} facts: first {visitor.first:.2f} s, slowest rerun of {len(visitor.reruns)} {slowest:.2f} s, "
        f"largest message {largest:.2f} MB"
    )
    return Result(len(visitor.reruns), measured, troubles, slowest <= 2 and largest <= 5 and not troubles)


@case("S8.7", "What 10 runs at work cost who looks at the screen", "rerun p95 <= 20 % slower than with none")
def runs_at_work(bench: Bench) -> Result:
    def measure(served: Served10) -> Result:
        with_runs = [Visitor(served.server.url, "", bench.pick(40, 5), 1.0) for _ in range(5)]
        troubles = visit(with_runs, 3.0)
        for run in served.runs:
            served.bench.act(run, "stop")
        while served.live():
            time.sleep(0.2)
        without = [Visitor(served.server.url, "", bench.pick(40, 5), 1.0) for _ in range(5)]
        troubles += visit(without, 3.0)
        busy = p95([one for visitor in with_runs for one in visitor.reruns])
        idle = p95([one for visitor in without for one in visitor.reruns])
        count = sum(len(visitor.reruns) for visitor in (*with_runs, *without))
        measured = f"p95 {busy:.3f} s with 10 runs, {idle:.3f} s with none: {100 * (busy / idle - 1):+.0f} %"
        return Result(count, measured, troubles, busy <= 1.2 * idle and not troubles)

    return with_server(10, measure)
