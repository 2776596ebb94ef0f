"""What several web servers and workers at one PostgreSQL database hold to, on this machine: two servers, three
workers of eight slots.

    python -m bench.cluster [kills person-steps stop pace load rerun exports soak] [--kills 500] [--minutes 60]

Each part prints its figure against its bar. Exit code 1 when one is missed. Runs ask a model server that this
process plays on loopback, which counts what it is asked.

A model call is *asked again* when the process that asked was killed before the answer was recorded: towards
the world a call is made at least once. It is *doubled* when its answer was recorded already, or when whoever
asked first still lived: that must not be."""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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
from agent.settings.config import read_config
from agent.store import tables
from agent.store.database import Store
from agent.types import Settings, Status
from agent.workbenches import Workbenches
from bench import make_parser, write_figures
from bench.kills import KINDS, QUESTIONS, RoundsModel, hash_prompt, told
from bench.local_cluster import Cluster, Member
from bench.sessions import p95
from tests.postgres import create_database, drop_database
from tests.web.model_server import ModelServer, Request

TAG = "zqx"
"""What a run's number in its question begins with; no page holds it, so that all runs of a question are alike."""
RUNS = 50
STARTERS = 8
"""Programs that start runs side by side."""
BAR_S = 60.0
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
    store: Store
    token: str
    clients: list[Touchstone] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.clients = [Touchstone(url, self.token) for url in self.cluster.urls]

    def ask(self, n: int, do: Callable[[Touchstone], Any]) -> Any:
        """Do something at one of the web servers, or another when it does not answer."""
        until = time.monotonic() + 3 * BAR_S
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
        """A run, through a web server; asked for again under the same key until one says that it started."""
        given = settings.model_dump(exclude_unset=True, mode="json")
        run: str = self.ask(n, lambda at: at.start("research", question, key=f"run {n}", **given).id)
        return run

    def positions(self) -> dict[str, tuple[str, int, str, int]]:
        """Owner, token, status and head of all runs."""
        r = tables.runs.c
        with self.store.engine.connect() as connection:
            rows = connection.execute(select(r.id, r.owner, r.token, r.status, r.head)).all()
        return {row.id: (row.owner, row.token, row.status, row.head) for row in rows}

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
def serving(folder: Path, **settings: str) -> Iterator[Bench]:
    """A cluster at a database of its own."""
    address = create_database()
    cluster = Cluster(folder, address, **{"LOG_LEVEL": "WARNING", **settings})
    store = Store(address)
    try:
        cluster.start()
        benches = Workbenches(read_config({"TOUCHSTONE_DATA": str(folder), "DATABASE_URL": address}))
        every = [name for name in SCOPES if name not in ("reply", "messages")]
        token = benches.token_accounts.tokens.create(LOCAL, "bench", every)[1]
        yield Bench(cluster, store, token)
    finally:
        cluster.stop()
        store.engine.dispose()
        drop_database(address)


def ask_numbered(n: int) -> str:
    """A question that no other run has, although its pages are those of others."""
    return f"{QUESTIONS[n % len(QUESTIONS)]} [{TAG}{n:05d}]"


class Killer:
    """Kills members at random moments and starts them again; knows for how long each run had no driver."""

    def __init__(self, bench: Bench, seed: int) -> None:
        self.bench, self.dice = bench, random.Random(seed)
        self.killed: dict[str, float] = {}
        """By process (as the model server knows it) when it was killed."""
        self.waits: list[float] = []
        """Seconds from the kill of a run's driver until another one had it, or it was found at rest."""
        self.without: dict[str, tuple[float, int]] = {}
        """Runs whose driver was killed: when, and under which token it had them."""
        self._is_over = threading.Event()
        self._looking = threading.Thread(target=self._look, daemon=True)
        self._lock = threading.Lock()

    def kill(self, members: Sequence[Member]) -> None:
        """One of them that is up."""
        while not (found := [member for member in members if member.is_up]):
            time.sleep(0.05)
        victim = self.dice.choice(found)
        pid, name = victim.pid, f"{victim.name}.{victim.starts}"
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
    with model.server, serving(folder, **model.settings) as bench:
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
                killer.kill(bench.cluster.members)
                kills += 1
                time.sleep(killer.dice.uniform(0.1, asked.pause))
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
        f"{kills} kills of 5 processes in {took:.0f} s under {asked.runs} runs at a time, {len(runs)} in all: "
        f"{len(lost)} lost, {len(wrong) - len(lost)} other than undisturbed, {double} of {calls} model calls doubled ({again} "
        f"asked again whose asker was killed); {len(killer.waits)} times a run lost its driver, the next had it after "
        f"{statistics.median(killer.waits or [0]):.1f} s in the median, {p95(killer.waits):.1f} s at the 95th percentile, {worst:.1f} s at most (bar {BAR_S:.0f} s)"
    )
    figures = {"kills": kills, "runs": len(runs), "lost": len(lost), "wrong": len(wrong) - len(lost)}
    figures |= {"calls": calls, "doubled": double, "asked_again": again, "taken_over": len(killer.waits)}
    figures |= {"takeover_p95_s": round(p95(killer.waits), 1), "takeover_most_s": round(worst, 1)}
    return Result(told, not wrong and not double and worst <= BAR_S, figures)


def _told(bench: Bench, run: str) -> list[str]:
    """What the steps of a run changed, without times, its number and its id."""
    texts = told(bench.store.ledger.steps(run))
    found = json.loads(texts[0])[2]["question"]
    tag = found[found.rindex(TAG) : -1]
    return [text.replace(tag, TAG).replace(run, "RUN") for text in texts]


PARTS: dict[str, Callable[[Path, Any], Result]] = {
    "kills": measure_kills,
}


def main() -> int:
    """Measure the parts that are asked for."""
    parser = make_parser(__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all without")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--pause", type=float, default=1.5, help="most seconds between two kills")
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
