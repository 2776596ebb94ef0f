"""What several web servers and workers at one PostgreSQL database hold to, on this machine: two servers, three
workers of eight slots.

    python -m bench.cluster [kills person-steps stop pace load rerun exports soak] [--kills 500] [--minutes 60]

Each part prints its figure against its bar. Exit code 1 when one is missed. Runs ask a model server that this
process plays on loopback, which counts what it is asked.

A model call is *asked again* when the process that asked was killed before the answer was recorded: towards
the world a call is made at least once. It is *doubled* when its answer was recorded already, or when whoever
asked first still lived: that must not be."""

from __future__ import annotations

import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
from sqlalchemy import select

from agent.accounts.people import LOCAL
from agent.accounts.tokens import SCOPES
from agent.bot.http import RequestRefused
from agent.client import Touchstone
from agent.errors import ConcurrentChange
from agent.settings.config import read_config
from agent.store import tables
from agent.store.database import Store
from agent.types import Settings, Status
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from bench import make_parser, steps, write_figures
from bench.kills import KINDS, QUESTIONS, RoundsModel, hash_prompt, told
from bench.local_cluster import SLOTS, WEB_SERVERS, WORKERS, Cluster, Member
from bench.sessions import Visitor, p95
from bench.trust.cases_load import visit
from bench.trust.cases_pages import read_memory
from tests.played.scenario import REPLIES, Scenario, load_scenarios
from tests.postgres import create_database, drop_database
from tests.web.model_server import ModelServer, Request
from tests.web.site import Asked, Reply, Site

TAG = "zqx"
"""What a run's number in its question begins with; no page holds it, so that all runs of a question are alike."""
RUNS = 50
STARTERS = 8
"""Programs that start runs side by side."""
BAR_S = 60.0
GAP_S, JITTER_S = 0.5, 0.1
"""Seconds between two requests to a host, and by how much two may come closer on their way: a slot is given by
the database's clock, and the request leaves when its process has the processor."""
RECORDS = """
CREATE TABLE recorded (key text, at float);;
CREATE FUNCTION note_record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.tokens_in > 0 THEN INSERT INTO recorded VALUES (NEW.key, extract(epoch FROM clock_timestamp())); END IF;
  RETURN NEW; END $$;;
CREATE TRIGGER noted AFTER INSERT OR UPDATE ON calls FOR EACH ROW EXECUTE FUNCTION note_record()
"""


@dataclass
class Result:
    """What a part measured, in words, whether its bar holds, and its figures."""

    told: str
    is_met: bool
    figures: dict[str, Any]


class FakeModel:
    """A model whose replies follow from the prompt alone, after `seconds`; it knows who asked what, and when."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds, self.mind = seconds, RoundsModel()
        self.asked: dict[str, list[tuple[float, str]]] = defaultdict(list)
        """By prompt when it arrived (as the clock says) and from which process."""
        self.server = ModelServer(self)
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Any:
        self.server.requests.clear()
        self.server._site.asked.clear()
        who = request.headers["authorization"].removeprefix("Bearer ")
        with self._lock:
            self.asked[hash_prompt(request.body["messages"])].append((time.time(), who))
        self.server.closing.wait(self.seconds)
        shape: Any = SimpleNamespace(__name__=request.body["response_format"]["json_schema"]["name"])
        return self.mind(request.body["messages"], shape)

    @property
    def settings(self) -> dict[str, str]:
        """The settings of whoever asks it."""
        named = {"OPENAI_BASE_URL": self.server.url, "OPENAI_API_KEY": "{member}", "MODEL": "served"}
        return named | {"EMBEDDING_MODEL": "off", "OLLAMA_URL": ""}


@dataclass
class Bench:
    """A cluster at work, and how it is asked and looked into."""

    cluster: Cluster
    here: Workbench
    """One that drives nothing."""
    token: str
    clients: list[Touchstone] = field(default_factory=list)

    @property
    def store(self) -> Store:
        """The store of all."""
        return self.here.store

    def __post_init__(self) -> None:
        self.clients = [Touchstone(url, self.token) for url in self.cluster.urls]

    def ask(self, n: int, do: Callable[[Touchstone], Any]) -> Any:
        """Do something at one of the web servers, or another when it does not answer."""
        until = time.monotonic() + 10 * BAR_S
        while True:
            try:
                return do(self.clients[n % len(self.clients)])
            except (httpx2.TransportError, RequestRefused) as error:
                is_there = isinstance(error, RequestRefused) and error.status < 500
                if is_there or time.monotonic() > until:
                    raise
                n += 1
                time.sleep(0.05)

    def start(self, n: int, question: str, settings: Settings) -> str:
        """A run, through a web server; asked for again under the same key until one says that it started.
        Without any server it is put into the store."""
        if not self.clients:
            return self.here.start(question, settings)
        given = settings.model_dump(exclude_unset=True, mode="json")
        run: str = self.ask(n, lambda at: at.start("research", question, key=question[-10:], **given).id)
        return run

    def positions(self) -> dict[str, tuple[str, int, str, int]]:
        """Owner, token, status and head of all runs."""
        r = tables.runs.c
        with self.store.engine.connect() as connection:
            rows = connection.execute(select(r.id, r.owner, r.token, r.status, r.head)).all()
        return {row.id: (row.owner, row.token, row.status, row.head) for row in rows}

    def count_steps(self, runs: Sequence[str]) -> int:
        """How many steps these runs have."""
        return sum(head for *_, head in map(self.positions().__getitem__, runs))

    def sum_waits(self, run: str) -> float:
        """The seconds that a run waited for its model: calls that were made side by side count once."""
        began = {call.step: call.seconds for call in self.store.calls.list_for_run(run)}
        steps = {step.n: step.seconds for step in self.store.ledger.steps(run)}
        calls = Counter(call.step for call in self.store.calls.list_for_run(run))
        return float(sum(min(calls[n], int(steps[n])) if steps.get(n) else calls[n] for n in began))

    def read_totals(self) -> tuple[int, int]:
        """Transactions and bytes of the database so far."""
        query = "SELECT xact_commit, pg_database_size(datname) FROM pg_stat_database WHERE datname = current_database()"
        with self.store.engine.connect() as connection:
            row = connection.exec_driver_sql(query).one()
        return int(row[0]), int(row[1])

    def count_records(self) -> None:
        """Note from now on when each model call is recorded with its answer, in the transaction that does."""
        with self.store.engine.begin() as connection:
            for statement in RECORDS.split(";;"):
                connection.exec_driver_sql(statement)

    def read_records(self) -> dict[str, list[float]]:
        """When each call was recorded with its answer, by key."""
        found = defaultdict(list)
        with self.store.engine.connect() as connection:
            for key, at in connection.exec_driver_sql("SELECT key, at FROM recorded ORDER BY at"):
                found[key].append(at)
        return found

    def describe(self, run: str) -> str:
        """Who has a run, and its tickets."""
        with self.store.engine.connect() as connection:
            row = connection.execute(select(tables.runs).where(tables.runs.c.id == run)).mappings().one()
            tickets = connection.exec_driver_sql(
                "SELECT id, status, queueing_lock, worker_id, scheduled_at, attempts FROM procrastinate_jobs "
                f"WHERE args->>'run_id' = '{run}'"
            ).all()
        held = {
            name: row[name]
            for name in ("owner", "lease_until", "token", "control", "next", "head", "updated_at")
        }
        return f"{held}, tickets {tickets}"

    def wait_at_rest(self, runs: Sequence[str], seconds: float) -> list[str]:
        """The runs that still work after so many seconds; empty as soon as all rest."""
        until = time.monotonic() + seconds
        while True:
            now = self.positions()
            working = [run for run in runs if now[run][2] == Status.RUNNING]
            if not working or time.monotonic() > until:
                return working
            time.sleep(0.05)


@contextmanager
def serving(
    folder: Path, *, web: int = WEB_SERVERS, workers: int = WORKERS, **settings: str
) -> Iterator[Bench]:
    """A cluster at a database of its own."""
    address = create_database()
    cluster = Cluster(folder, address, web=web, workers=workers, **{"LOG_LEVEL": "WARNING", **settings})
    here = Workbench(read_config(cluster.settings))
    try:
        cluster.start()
        every = [name for name in SCOPES if name not in ("reply", "messages")]
        token = Workbenches(here.config).token_accounts.tokens.create(LOCAL, "bench", every)[1]
        yield Bench(cluster, here, token)
    finally:
        cluster.stop()
        here.shutdown()
        drop_database(address)


def ask_numbered(n: int) -> str:
    """A question that no other run has, although its pages are those of others."""
    return f"{QUESTIONS[n % len(QUESTIONS)]} [{TAG}{n:05d}]"


class Killer:
    """Kills members at random moments and starts them again; knows for how long each run had no driver."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self.bench, self.dice = bench, random.Random(seed)
        self.due: dict[str, float] = {}
        """By process when its time is over."""
        self.killed: dict[str, float] = {}
        """By process (as the model server knows it) when it was killed."""
        self.waits: list[float] = []
        """Seconds from the kill of a run's driver until another one had it, or it was found at rest."""
        self.without: dict[str, tuple[float, int]] = {}
        """Runs whose driver was killed: when, and under which token it had them."""
        self._is_over = threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._lock = threading.Lock()

    def kill_next(self, life: float) -> None:
        """Wait until the time of a member is over, and kill it: it has a random one, up to so many seconds
        from when it serves."""
        while True:
            for member in self.bench.cluster.members:
                name = f"{member.name}.{member.starts}"
                if name not in self.due and member.is_up:
                    self.due[name] = time.monotonic() + self.dice.uniform(0, life)
                if self.due.get(name, math.inf) < time.monotonic():
                    return self._kill(member, name)
            time.sleep(0.02)

    def _kill(self, victim: Member, name: str) -> None:
        pid = victim.pid
        victim.kill()
        at = self.killed[name] = time.time()
        held = self.bench.positions()
        with self._lock:
            for run, (owner, token, status, _) in held.items():
                if status == Status.RUNNING and f"|{pid}|" in owner:
                    self.without.setdefault(run, (at, token))
        victim.start()

    def __enter__(self) -> Killer:
        self._looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._looking.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.1):
            now = self.bench.positions()
            with self._lock:
                for run, (at, token) in [*self.without.items()]:
                    if now[run][1] != token or now[run][2] != Status.RUNNING:
                        self.waits.append(time.time() - at)
                        del self.without[run]


def measure_kills(folder: Path, asked: Any) -> Result:
    """SIGKILL of random workers and servers, while there are always 50 runs."""
    model = FakeModel(0.1)
    with model.server, serving(folder, web=asked.web, workers=asked.workers, **model.settings) as bench:
        rounds = KINDS["rounds"]
        alone = [bench.start(n, ask_numbered(n), rounds) for n in range(len(QUESTIONS))]
        assert not bench.wait_at_rest(alone, 120)
        expected = [_told(bench, run) for run in alone]
        runs: dict[int, str] = {}
        numbers = iter(range(len(QUESTIONS), 1_000_000))
        began, kills = time.monotonic(), 0
        is_over = threading.Event()
        bench.count_records()

        def start(n: int) -> None:
            runs[n] = bench.start(n, ask_numbered(n), rounds)

        def keep_starting() -> None:
            with ThreadPoolExecutor(STARTERS) as pool:
                while not is_over.wait(0.05):
                    now = bench.positions()
                    working = sum(now[run][2] == Status.RUNNING for run in runs.values())
                    wanted = [next(numbers) for _ in range(min(STARTERS, asked.runs - working))]
                    list(pool.map(start, wanted))

        with Killer(bench, asked.seed) as killer, ThreadPoolExecutor(1) as pool:
            starting = pool.submit(keep_starting)
            while len(runs) < asked.runs and not starting.done():
                time.sleep(0.05)
            while kills < asked.kills and not starting.done():
                killer.kill_next(asked.life)
                kills += 1
            took = time.monotonic() - began
            is_over.set()
            starting.result()
            lost = bench.wait_at_rest([*runs.values()], 4 * BAR_S)
            time.sleep(0.3)  # the last are looked at once more
        wrong = [f"{run}: it still works: {bench.describe(run)}" for run in lost]
        now = bench.positions()
        unknown = set(now) - {*alone, *runs.values()}
        wrong += [f"{run}: started twice" for run in unknown]
        double, again, calls, recorded = 0, 0, 0, bench.read_records()
        for n, run in runs.items():
            got, want = _told(bench, run), expected[n % len(QUESTIONS)]
            if now[run][2] != Status.REVIEW or got != want:
                at = next((i for i, (a, b) in enumerate(zip(got, want, strict=False)) if a != b), len(got))
                wrong.append(
                    f"{run}: {now[run][2]}, {len(got)} steps of {len(want)}, differs from step {at} on"
                )
            answered = Counter(
                hash_prompt(call.prompt)
                for call in bench.store.calls.list_for_run(run)
                for _ in recorded[call.key]
            )
            twice = [f"{run}: a call was recorded twice" for times in answered.values() if times > 1]
            calls += len(answered)
            for call in bench.store.calls.list_for_run(run):
                if call.prompt_tokens:
                    arrived = model.asked.pop(hash_prompt(call.prompt), [])
                    assert arrived, f"{run}: an answered prompt never reached the server"
                    again += len(arrived) - 1
                    [paid_at, *_] = recorded[call.key]
                    for (_, first), (at, _) in pairwise(arrived):
                        if at > paid_at or killer.killed.get(first, at + 1) > at:
                            twice.append(
                                f"{run}: step {call.step}, {call.role}: asked again {at - paid_at:+.3f} s after it was recorded"
                            )
            double += len(twice)
            wrong += twice
    worst = max(killer.waits, default=0.0)
    for line in wrong[:20]:
        print("  ", line)
    told = (
        f"{kills} kills of {asked.web} servers and {asked.workers} workers in {took:.0f} s under {asked.runs} runs at a time, {len(runs)} in all: "
        f"{len(lost)} lost, {len(wrong) - len(lost)} other than undisturbed, {double} of {calls} model calls doubled ({again} "
        f"asked again whose asker was killed); {len(killer.waits)} times a run lost its driver, the next had it after "
        f"{statistics.median(killer.waits or [0]):.1f} s in the median, {p95(killer.waits):.1f} s at the 95th percentile, {worst:.1f} s at most (bar {BAR_S:.0f} s)"
    )
    figures = {"kills": kills, "runs": len(runs), "lost": len(lost), "wrong": len(wrong) - len(lost)}
    figures["compared"] = len(runs)
    figures |= {"calls": calls, "doubled": double, "asked_again": again, "taken_over": len(killer.waits)}
    figures |= {"takeover_p95_s": round(p95(killer.waits), 1), "takeover_most_s": round(worst, 1)}
    return Result(told, not wrong and not double and worst <= BAR_S, figures)


def _told(bench: Bench, run: str) -> list[str]:
    """What the steps of a run changed, without times, its number, its id and the key of the request that
    started it."""
    first, *others = bench.store.ledger.steps(run)
    question = first.change["question"]
    tag = question[question.rindex(TAG) : -1]
    first = first.replace(change={name: one for name, one in first.change.items() if name != "request"})
    return [text.replace(tag, TAG).replace(run, "RUN") for text in told([first, *others])]


def measure_person_steps(folder: Path, asked: Any) -> Result:
    """Guidance for runs at work, at both web servers side by side."""
    with serving(folder, STEP_GAP="0.2") as bench:
        runs = start_endless(bench, SLOTS * WORKERS)
        refused, numbers, working = list[str](), list[int](), Counter[Status]()

        def steer(n: int) -> None:
            run = runs[n % len(runs)]
            try:
                did = bench.clients[n % 2].open(run).act("steer", note=f"Note {n}: look at the archive, too.")
            except (RequestRefused, httpx2.HTTPError) as error:
                refused.append(f"{n}: {error}")
            else:
                numbers.append(did.step)
                working[did.status] += 1

        before, began = bench.count_steps(runs), time.monotonic()
        with ThreadPoolExecutor(STARTERS) as pool:
            list(pool.map(steer, range(asked.steps)))
        took = time.monotonic() - began
        now, after = bench.positions(), bench.count_steps(runs)
        steps = {run: bench.store.ledger.steps(run) for run in runs}
    failed = [run for run in runs if now[run][2] == Status.FAILED]
    notes = sum(step.name == "steer" for run in runs for step in steps[run])
    torn = [run for run in runs if [step.n for step in steps[run]] != list(range(len(steps[run])))]
    for line in refused[:10]:
        print("  ", line)
    told = (
        f"{asked.steps} notes for {len(runs)} runs in {took:.0f} s, {working[Status.RUNNING]} of them while theirs worked, which took "
        f"{after - before - len(numbers)} steps of its own meanwhile: {len(refused)} refused, {len(failed)} runs failed, {notes} notes recorded, {len(torn)} ledgers with a gap"
    )
    figures = {"steps": asked.steps, "refused": len(refused), "failed": len(failed), "recorded": notes}
    is_met = not refused and not failed and not torn and notes == asked.steps
    return Result(told, is_met, figures)


def start_endless(bench: Bench, count: int) -> list[str]:
    """Runs without a model that work for minutes, each held by a worker."""
    world = bench.cluster.folder / "world"
    world.mkdir()
    steps.write_world(world)
    settings = {"world": str(world), "model": "keyless", "max_steps": 200, "max_pages": 200}
    runs = [bench.here.start(steps.QUESTION, Settings(**settings, until="budget")) for _ in range(count)]
    until = time.monotonic() + BAR_S
    while any(bench.positions()[run][3] < 2 for run in runs) and time.monotonic() < until:
        time.sleep(0.1)
    return runs


def measure_stop(folder: Path, asked: Any) -> Result:
    """From the request to stop a run, in the middle of a model call, until the run is stopped."""
    model = FakeModel(5.0)
    times, wrong = list[float](), list[str]()
    with model.server, serving(folder, **model.settings) as bench:
        count = SLOTS * WORKERS
        for turn in range(3):
            runs = [
                bench.start(n, ask_numbered(turn * count + n), Settings(world="demo")) for n in range(count)
            ]
            while sum(bool(owner) for owner, *_ in map(bench.positions().get, runs)) < count:  # type: ignore[misc]
                time.sleep(0.05)
            time.sleep(0.5)  # each is in its first call, of five seconds
            for n, run in enumerate(runs):
                began = time.monotonic()
                bench.clients[n % 2].open(run).act("stop")
                while bench.store.ledger.get(run).status is Status.RUNNING:
                    time.sleep(0.01)
                times.append(time.monotonic() - began)
                if (status := bench.store.ledger.get(run).status) is not Status.STOPPED:
                    wrong.append(f"{run}: {status}")
    told = (
        f"{len(times)} runs in a model call of 5 s: stopped after {statistics.median(times):.2f} s in the median, "
        f"{p95(times):.2f} s at the 95th percentile (bar 1 s), {max(times):.2f} s at most; {len(wrong)} otherwise"
    )
    figures = {"runs": len(times), "p50_s": round(statistics.median(times), 3), "p95_s": round(p95(times), 3)}
    return Result(told, p95(times) <= 1 and not wrong, figures)


def measure_pace(folder: Path, asked: Any) -> Result:
    """Twelve runs of three workers at one host, which notes when it is asked."""
    arrived = list[tuple[float, str]]()
    lock = threading.Lock()

    def page(got: Asked) -> Reply:
        with lock:
            arrived.append((time.monotonic(), got.path))
        if got.path == "/robots.txt":
            return Reply(404)
        here = int(got.path.strip("/") or 0)
        links = "".join(
            f'<li><a href="/{here * 7 + n}">harbour ledger {here * 7 + n}</a>' for n in range(1, 8)
        )
        words = "The harbour keeps a ledger of every ship that called since the year it was dug. " * 8
        text = (
            f"<title>Harbour {here}</title><main><h1>Harbour {here}</h1><p>{words}</p><ul>{links}</ul></main>"
        )
        return Reply(200, f"<!doctype html>{text}".encode(), {"Content-Type": "text/html; charset=utf-8"})

    with (
        Site({}) as site,
        serving(folder, FETCH_ALLOW="127.0.0.1", FETCH_GAP=str(GAP_S), WORKERS="0") as bench,
    ):
        site.missing = page
        limits = {"max_pages": 60, "max_steps": 60}
        runs = [
            bench.here.start(
                "Which ships does the harbour ledger name?",
                Settings(flow="site", model="keyless", start_urls=[site.url(f"/{n}")], **limits),  # type: ignore[arg-type]
            )
            for n in range(12)
        ]
        time.sleep(asked.seconds)
        owners = {owner for owner, *_ in map(bench.positions().__getitem__, runs) if owner}
    gaps = [later - sooner for (sooner, _), (later, _) in pairwise(arrived)]
    shortest, took = min(gaps), arrived[-1][0] - arrived[0][0]
    early = [gap for gap in gaps if gap < GAP_S - JITTER_S]
    rate = (len(arrived) - 1) / took
    told = (
        f"{len(arrived)} requests of {len(runs)} runs held by {len(owners)} workers in {took:.0f} s, {rate * GAP_S:.2f} of what a gap of "
        f"{GAP_S} s allows; the shortest time between two is {shortest:.3f} s, {len(early)} are under {GAP_S - JITTER_S:.2f} s"
    )
    figures = {"requests": len(arrived), "workers": len(owners), "shortest_s": round(shortest, 3)}
    figures |= {"early": len(early), "share_of_allowed": round(rate * GAP_S, 3)}
    return Result(told, rate * GAP_S <= 1 and not early and len(owners) == WORKERS, figures)


def measure_load(folder: Path, asked: Any) -> Result:
    """Many runs at once, with a model of one second a call."""
    model = FakeModel(1.0)
    with model.server, serving(folder, **model.settings) as bench:
        alone = [bench.start(n, ask_numbered(n), KINDS["rounds"]) for n in range(len(QUESTIONS))]
        assert not bench.wait_at_rest(alone, 300)
        ideal_of_one = [bench.sum_waits(run) for run in alone]
        before, cpu = bench.read_totals(), bench.cluster.cpu_seconds()
        began = time.monotonic()
        runs = [bench.here.start(ask_numbered(100 + n), KINDS["rounds"]) for n in range(asked.many)]
        started = time.monotonic() - began
        late = bench.wait_at_rest(runs, 540)
        took = time.monotonic() - began
        cpu = bench.cluster.cpu_seconds() - cpu
        transactions, size = (now - then for now, then in zip(bench.read_totals(), before, strict=True))
        ledger = bench.count_steps(runs)
    ideal = sum(ideal_of_one[n % len(QUESTIONS)] for n in range(100, 100 + asked.many)) / (SLOTS * WORKERS)
    told = (
        f"{asked.many} runs (started within {started:.1f} s) took {took:.0f} s, {took / ideal:.2f} times what {SLOTS * WORKERS} slots need for "
        f"the seconds of the model alone ({ideal:.0f} s; bar 1.15); {len(late)} not at rest; the five processes used {cpu:.0f} s of "
        f"CPU, {cpu / asked.many:.2f} s a run; a run took {ledger / asked.many:.0f} steps, {transactions / asked.many:.0f} transactions and {size / asked.many / 1000:.0f} kB"
    )
    figures = {
        "runs": asked.many,
        "seconds": round(took, 1),
        "ideal_s": round(ideal, 1),
        "ratio": round(took / ideal, 2),
    }
    figures |= {"cpu_s_a_run": round(cpu / asked.many, 2), "steps_a_run": round(ledger / asked.many, 1)}
    figures |= {
        "transactions_a_run": round(transactions / asked.many),
        "bytes_a_run": round(size / asked.many),
    }
    return Result(told, took <= 1.15 * ideal and not late, figures)


def measure_rerun(folder: Path, asked: Any) -> Result:
    """A screen drawn anew each second by five visitors, in turns with ten runs at work and with none."""
    times: dict[bool, list[float]] = {True: [], False: []}
    troubles = list[str]()
    with serving(folder, STEP_GAP="2.2") as bench:
        runs = start_endless(bench, 10)
        visit([Visitor(url + "/", "", 5.0, 1.0) for url in bench.cluster.urls], 0.1)  # what is imported
        time.sleep(10)
        for turn in range(4):
            is_busy = turn % 2 == 0
            for run in runs:
                with suppress(ConcurrentChange):
                    bench.here.act(run, "resume" if is_busy else "pause")
            until = time.monotonic() + 30
            while is_busy == bool(bench.wait_at_rest(runs, 0)) is False and time.monotonic() < until:
                time.sleep(0.1)
            visitors = [Visitor(bench.cluster.urls[n % 2] + "/", "", asked.look, 1.0) for n in range(5)]
            troubles += visit(visitors, 3.0)
            times[is_busy] += [one for visitor in visitors for one in visitor.reruns]
    busy, idle = p95(times[True]), p95(times[False])
    told = (
        f"p95 {busy:.3f} s of {len(times[True])} with ten runs at work, {idle:.3f} s of {len(times[False])} with none, in turns: "
        f"{busy / idle:.2f} times (bar 1.2); median {statistics.median(times[True]):.3f} and {statistics.median(times[False]):.3f} s"
    )
    figures = {"busy_p95_s": round(busy, 3), "idle_p95_s": round(idle, 3), "ratio": round(busy / idle, 2)}
    return Result(told, busy <= 1.2 * idle and not troubles, figures)


def measure_soak(folder: Path, asked: Any) -> Result:
    """Runs and visits for a long time: what each process grows by."""
    model = FakeModel(0.05)
    points: dict[str, list[tuple[float, float]]] = defaultdict(list)
    runs, seconds = list[str](), asked.minutes * 60
    with model.server, serving(folder, **model.settings) as bench:
        began = time.monotonic()
        while (now := time.monotonic() - began) < seconds:
            runs += [
                bench.start(n, ask_numbered(n), KINDS["rounds"]) for n in range(len(runs), len(runs) + 4)
            ]
            visit(
                [Visitor(bench.cluster.urls[n % 2] + "/", run, 3.0, 1.0) for n, run in enumerate(runs[-2:])],
                0.3,
            )
            model.asked.clear()
            for member in bench.cluster.members:
                points[member.name].append((now, read_memory(Path(f"/proc/{member.pid}/status"), "VmRSS")))
            time.sleep(1)
        stuck = bench.wait_at_rest(runs, 120)
    slopes = {}
    for name, all_points in points.items():
        warm = [point for point in all_points if point[0] >= seconds / 4]
        fit = statistics.linear_regression([at / 3600 for at, _ in warm], [mb for _, mb in warm])
        slopes[name] = round(fit.slope, 1)
    ends = {name: f"{found[0][1]:.0f} to {found[-1][1]:.0f}" for name, found in points.items()}
    short = "" if asked.minutes >= 60 else f"SHORT, {asked.minutes} min instead of 60: "
    told = (
        f"{short}{len(runs)} runs; MB/h over the last three quarters (linear fit; bar 5): "
        f"{', '.join(f'{name} {slope:+.1f}' for name, slope in slopes.items())}; MB in all: {ends}; {len(stuck)} stuck"
    )
    figures = {
        "minutes": asked.minutes,
        "runs": len(runs),
        "mb_an_hour": slopes,
        "most": max(slopes.values()),
    }
    return Result(told, max(slopes.values()) <= 5 and not stuck, figures)


def measure_exports(folder: Path, asked: Any) -> Result:
    """Recorded runs replayed on SQLite and on PostgreSQL, clock and ids stopped: their exports byte by byte."""
    recorded = [
        one for one in load_scenarios() if (REPLIES / f"{one.id}.jsonl").exists() and one.flow != "reply"
    ]
    recorded = recorded[: asked.recorded]
    differing, files = list[str](), 0
    for scenario in recorded:
        made = []
        for kind in ("sqlite", "postgresql"):
            address = create_database() if kind == "postgresql" else ""
            data = folder / scenario.id / kind
            made.append(export_frozen(scenario, data, address))
            if address:
                drop_database(address)
        one, other = made
        files += len(one)
        differing += [f"{scenario.id}: {name}" for name in one | other if one.get(name) != other.get(name)]
    for line in differing[:20]:
        print("  ", line)
    told = f"{len(recorded)} runs, {files} files in all formats: {len(differing)} differ"
    figures = {"runs": len(recorded), "files": files, "differing": len(differing)}
    return Result(told, not differing and len(recorded) >= 20, figures)


def export_frozen(scenario: Scenario, data: Path, address: str) -> dict[str, bytes]:
    """The files of a replayed run in every format, by format; the clock and the dice stand still meanwhile."""
    told = subprocess.run(
        [sys.executable, "-m", "bench.frozen_exports", scenario.id, str(data)],
        env=os.environ
        | {"DATABASE_URL": address, "TOUCHSTONE_DATA": str(data / "data"), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode:
        raise RuntimeError(f"{scenario.id} {address}: {told.stderr[-2000:]}")
    return {file.name: file.read_bytes() for file in sorted((data / "exports").iterdir())}


PARTS: dict[str, Callable[[Path, Any], Result]] = {
    "kills": measure_kills,
    "person-steps": measure_person_steps,
    "stop": measure_stop,
    "pace": measure_pace,
    "load": measure_load,
    "rerun": measure_rerun,
    "exports": measure_exports,
    "soak": measure_soak,
}


def main() -> int:
    """Measure the parts that are asked for."""
    parser = make_parser(__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all without")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--web", type=int, default=WEB_SERVERS, help="servers under kills")
    parser.add_argument("--workers", type=int, default=WORKERS, help="under kills")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--life", type=float, default=5.0, help="most seconds that a process serves")
    parser.add_argument("--steps", type=int, default=1000, help="of persons")
    parser.add_argument("--seconds", type=float, default=90.0, help="that the pace is looked at")
    parser.add_argument("--many", type=int, default=200, help="runs at once")
    parser.add_argument("--look", type=float, default=30.0, help="seconds of each of four looks")
    parser.add_argument("--recorded", type=int, default=20, help="runs that are exported")
    parser.add_argument("--minutes", type=float, default=60.0, help="of the soak")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    figures, missed = {}, 0
    for name in asked.parts or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            result = PARTS[name](Path(folder), asked)
        print(f"{name}: {'holds' if result.is_met else 'MISSED'}: {result.told}", flush=True)
        figures[name] = {**result.figures, "is_met": result.is_met}
        missed += not result.is_met
        write_figures(asked.json, figures)
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
