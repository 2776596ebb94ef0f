"""Cases of what sockets bring: a model's replies, lists of models, answers of engines, a login's provider."""

from __future__ import annotations

import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import websockets.sync.client
from joserfc import jwt
from joserfc.jwk import OctKey
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from agent.errors import ModelUnavailable
from agent.llm.client import ModelClient
from agent.llm.detect import Check
from agent.llm.model import CompletionRequest
from agent.settings import config as configuration
from agent.types import Outcome, Settings
from agent.web.world import open_world
from agent.workbench import Workbench
from bench.trust.cases_engines import FamilyMemory
from bench.trust.cases_pages import read_memory
from bench.trust.hostile_server import HostileServer, hold, list_bombs
from bench.trust.scorecard import Bench, Result, case
from tests.browser.served import Served
from tests.web.site import Reply, Site, sends_to

MOST_MB = 600
"""Memory of the server with its children."""
MOST_MORE_MB = 300
"""What a case that runs in this process may add to the memory of whatever ran before it."""
SCREEN_S = 2.0
SCREENS = ("", "settings", "chat", "site", "collect", "check_text", "reply", "batch")
QUESTION = "In which year was Älvmora Mejeri founded?"
READ_WHOLE = ("deep", "many objects")
"""Answers within the limits: their connection may be used again."""
COOKIE_SECRET = "cookie-secret-of-the-cases-0123456789"


class ServerMemory:
    """The largest memory of a server with its children, in MB, looked at meanwhile."""

    def __init__(self, server: Served) -> None:
        assert server.process is not None
        self.pid, self.mb, self._over = server.process.pid, 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            listed = Path(f"/proc/{self.pid}/task").glob("*/children")
            try:
                pids = {str(self.pid), *(pid for path in listed for pid in path.read_text().split())}
                self.mb = max(self.mb, sum(read_memory(Path(f"/proc/{pid}/status"), "VmRSS") for pid in pids))
            except (OSError, IndexError, StopIteration, ValueError):  # one has just ended
                continue

    def end(self) -> float:
        self._over.set()
        self._thread.join()
        return self.mb


def count_threads(server: Served) -> int:
    """The threads of the server's process."""
    assert server.process is not None
    return len(list(Path(f"/proc/{server.process.pid}/task").iterdir()))


def wait_for(what: Callable[[], bool], seconds: float) -> bool:
    """Whether it comes true within so many seconds."""
    until = time.monotonic() + seconds
    while not (is_true := what()) and time.monotonic() < until:
        time.sleep(0.1)
    return is_true


@contextmanager
def serving(**settings: str) -> Iterator[Served]:
    """The real server with a data folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        server = Served(Path(folder) / "data", EMBEDDING_MODEL="off", **settings).start()
        try:
            yield server
        finally:
            server.stop()


def draw(server: Served, screen: str) -> tuple[float, bool]:
    """Seconds until a screen is drawn for a new visitor, and whether it could be."""
    message = BackMsg()
    message.rerun_script.page_name = screen
    is_well = True
    with websockets.sync.client.connect(
        server.url.replace("http", "ws") + "_stcore/stream",
        subprotocols=["streamlit", "x"],  # type: ignore[list-item]
        max_size=None,
        origin=server.url.rstrip("/"),  # type: ignore[arg-type]
        open_timeout=60,
    ) as socket:
        began = time.perf_counter()
        socket.send(message.SerializeToString())
        while True:
            received = socket.recv(timeout=90)
            is_well = is_well and b"could not be drawn" not in bytes(received)
            answer = ForwardMsg.FromString(received)  # type: ignore[arg-type]
            if answer.WhichOneof("type") == "script_finished":
                return time.perf_counter() - began, is_well


@case(
    "S10.1",
    "Bombs in a model's reply, two research runs on the real server",
    f"<= {MOST_MB} MB with children; no thread, no connection left",
    quick=True,
)
def bombs_in_replies(bench: Bench) -> Result:
    misses, worst, most_threads = [], 0.0, 0
    bombs = bench.thin(list_bombs().items(), 6)
    for name, send in bombs:
        if bench.quick:
            with HostileServer(send) as hostile, FamilyMemory() as memory:
                client = ModelClient(hostile.url, strong="m", timeout_s=0.5, backoff_s=0.01)
                try:
                    client.complete(CompletionRequest([{"role": "user", "content": "?"}], Check))
                    misses.append(f"{name}: a reply")
                except ModelUnavailable:
                    client.close()
                if not wait_for(lambda hostile=hostile: not hostile.open, 60):  # type: ignore[misc]
                    misses.append(f"{name}: {hostile.open} connections left")
            mb = memory.mb
        else:
            with HostileServer(send) as hostile:
                mb, threads, wrong = bomb_runs(hostile, kept=2 if name in READ_WHOLE else 0)
            most_threads = max(most_threads, threads)
            misses += [f"{name}: {told}" for told in wrong]
        worst = max(worst, mb)
        misses += [f"{name}: {mb:.0f} MB"] if mb > (MOST_MORE_MB if bench.quick else MOST_MB) else []
    return Result(len(bombs), f"most {worst:.0f} MB, {most_threads} threads more afterwards", misses)


def bomb_runs(hostile: HostileServer, kept: int) -> tuple[float, int, list[str]]:
    """Two runs whose model answers so, with `kept` connections at the end: the memory, the threads that are left, and what went wrong."""
    wrong = []
    model = {
        "OPENAI_BASE_URL": f"{hostile.url}/v1",
        "OPENAI_API_KEY": "k",
        "MODEL": "m",
        "MODEL_TIMEOUT": "3",
    }
    with serving(**model) as server:
        draw(server, "")
        threads, memory = count_threads(server), ServerMemory(server)
        own = Workbench(configuration.read_config({"TOUCHSTONE_DATA": str(server.data), "OLLAMA_URL": ""}))
        for _ in range(2):
            own.start(QUESTION, Settings(world="demo", flow="research"))
        if not wait_for(lambda: hostile.asked >= 6, 60):
            wrong.append(f"asked {hostile.asked} times only")
        if not wait_for(lambda: hostile.open <= kept, 15):
            wrong.append(f"{hostile.open} connections left")
        wait_for(lambda: count_threads(server) <= threads + 2, 15)
        left = count_threads(server) - threads
        own.shutdown()
        return memory.end(), left, [*wrong, *([f"{left} threads left"] if left > 2 else [])]


@case(
    "S10.2",
    "Bombs in the list of models while all screens open on the real server",
    f"each screen drawn within {SCREEN_S:g} s, <= {MOST_MB} MB with children",
    quick=True,
)
def bombs_in_lists(bench: Bench) -> Result:
    if bench.quick:  # each screen is drawn before the server has answered
        return bench.tests("tests/pages/test_settings.py", "-k", "no_screen_waits or does_not_answer")
    misses, worst, slowest, count = [], 0.0, 0.0, 0
    for name, send in list_bombs().items():
        with HostileServer(send) as hostile, serving(OPENAI_BASE_URL=f"{hostile.url}/v1") as server:
            for _ in range(3):
                draw(
                    server, "library"
                )  # it asks for no model: what the server imports at first is not counted
            misses += [f"{name}: asked too early"] if hostile.asked else []
            memory = ServerMemory(server)
            for screen in SCREENS:
                seconds, is_well = draw(server, screen)
                count, slowest = count + 1, max(slowest, seconds)
                misses += [f"{name}: /{screen} {seconds:.1f} s"] if seconds > SCREEN_S else []
                misses += [] if is_well else [f"{name}: /{screen} could not be drawn"]
            if not wait_for(lambda hostile=hostile: hostile.asked and not hostile.open, 10):  # type: ignore[misc]
                misses.append(f"{name}: {hostile.open} connections left, asked {hostile.asked} times")
            mb = memory.end()
            worst = max(worst, mb)
            misses += [f"{name}: {mb:.0f} MB"] if mb > MOST_MB else []
    return Result(count, f"slowest {slowest:.2f} s, most {worst:.0f} MB", misses)


@case(
    "S10.3",
    "Bombs and redirects in answers of engines with an API, Google's among them",
    f"<= {MOST_MORE_MB} MB more, <= 17 s each; 0 redirects followed",
    quick=True,
)
def bombs_in_answers(bench: Bench) -> Result:
    misses, worst, slowest, count = [], 0.0, 0.0, 0
    engines = {
        "google": {"GOOGLE_API_KEY": "k", "GOOGLE_CSE_ID": "c", "GOOGLE_ENDPOINT": "{}/"},
        "openalex": {"ENGINE_URLS": "openalex={}/works"},
        "searxng": {"SEARXNG_URL": "{}/"},
    }
    shown = {name: send for name, send in list_bombs().items() if not (bench.quick and "drip" in name)}
    slow = ("endless trailer", "endless chunk size")
    for name, send in shown.items():
        for engine, settings in engines.items():
            if bench.quick and (engine == "searxng" or name in slow):
                continue
            with HostileServer(send) as hostile, FamilyMemory() as memory:
                own = {key: value.format(hostile.url) for key, value in settings.items()}
                began = time.monotonic()
                found = open_world("live", configuration.read_config(own)).search(engine, "milk")
                seconds = time.monotonic() - began
            count, worst, slowest = count + 1, max(worst, memory.mb), max(slowest, seconds)
            if memory.mb > MOST_MORE_MB or bench.is_late(seconds, 17):
                misses.append(f"{name} of {engine}: {memory.mb:.0f} MB, {seconds:.0f} s")
            misses += [f"{name} of {engine}: {found.outcome}"] if found.outcome is Outcome.OK else []
            misses += [f"{name} of {engine}: never asked"] if not hostile.asked else []
    with Site({"/inner": Reply(200, b'{"items": [{"link": "https://a.example/", "title": "x"}]}')}) as inner:
        for status in (301, 302, 303, 307, 308):
            for place in (inner.url("/inner"), inner.url("/inner").replace("127.0.0.1", "localhost")):
                for engine, settings in engines.items():
                    pages = {"/customsearch/v1": sends_to(place, status), "/works": sends_to(place, status)}
                    with Site({**pages, "/search": sends_to(place, status)}) as site:
                        own = {key: value.format(site.url("").rstrip("/")) for key, value in settings.items()}
                        found = open_world("live", configuration.read_config(own)).search(engine, "milk")
                    count += 1
                    if inner.asked or found.hits or not site.asked:
                        misses.append(f"{status} of {engine} to {place}")
                    inner.asked.clear()
    return Result(count, f"most {worst:.0f} MB, slowest {slowest:.0f} s", misses)


@case(
    "S10.4",
    "Bombs in what a login's provider says of itself, four sign-ins at once on the real server",
    f"<= {MOST_MB} MB with children, each sign-in refused within 22 s, screens within {SCREEN_S:g} s meanwhile",
    quick=True,
)
def bombs_in_discovery(bench: Bench) -> Result:
    if bench.quick:
        return draw_during_sign_in()
    misses, worst, slowest, count = [], 0.0, 0.0, 0
    for name, send in list_bombs().items():
        with (
            HostileServer(send) as hostile,
            serving_with_login(hostile) as (server, url),
            ThreadPoolExecutor(4) as pool,
        ):
            for _ in range(3):
                draw(server, "")
            memory = ServerMemory(server)
            began = time.monotonic()
            answers = [pool.submit(sign_in, url) for _ in range(4)]
            seconds, _ = draw(server, "")
            codes = [answer.result() for answer in answers]
            took = time.monotonic() - began
            mb = memory.end()
            count, worst, slowest = count + len(codes), max(worst, mb), max(slowest, seconds)
            misses += [f"{name}: {mb:.0f} MB"] if mb > MOST_MB else []
            misses += [f"{name}: the screen took {seconds:.1f} s"] if seconds > SCREEN_S else []
            if set(codes) != {400} or took > 22 or not hostile.asked:
                misses.append(f"{name}: {codes} after {took:.0f} s, asked {hostile.asked} times")
            kept = 4 if name in READ_WHOLE else 0
            if not wait_for(lambda hostile=hostile, kept=kept: hostile.open <= kept, 10):  # type: ignore[misc]
                misses.append(f"{name}: {hostile.open} connections left")
    return Result(count, f"most {worst:.0f} MB, screens {slowest:.2f} s", misses)


@contextmanager
def serving_with_login(provider: HostileServer) -> Iterator[tuple[Served, str]]:
    """The real server with a login, and the address of a step to sign in."""
    claims = {"provider": "default", "exp": int(time.time()) + 3600}
    token = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(COOKIE_SECRET.encode()))
    with serving(
        OIDC_DISCOVERY_URL=f"{provider.url}/.well-known/openid-configuration",
        OIDC_CLIENT_ID="touchstone",
        OIDC_CLIENT_SECRET="known-to-both",
        OIDC_COOKIE_SECRET=COOKIE_SECRET,
        OIDC_REDIRECT_URI="http://127.0.0.1:{port}/oauth2callback",
    ) as server:
        yield server, f"{server.url}auth/login?provider={token}"


def draw_during_sign_in() -> Result:
    """A screen is drawn while four wait for a provider that does not answer. One that took longer than they may
    wait proves nothing, so there are three trials."""
    with (
        HostileServer(hold) as hostile,
        serving_with_login(hostile) as (server, url),
        ThreadPoolExecutor(4) as pool,
    ):
        for _ in range(3):
            waiting, asked = [pool.submit(sign_in, url) for _ in range(4)], hostile.asked
            wait_for(lambda asked=asked: hostile.asked >= asked + 4, 60)  # type: ignore[misc]
            _, is_well = draw(server, "")
            if was_free := not any(answer.done() for answer in waiting):
                break
        hostile.over.set()
        codes = [answer.result() for answer in waiting]
    misses = [] if is_well and was_free else ["no screen was drawn before the sign-ins ended"]
    return Result(5, f"sign-ins: {codes}", misses + ([f"{codes}"] if set(codes) != {400} else []))


def sign_in(url: str) -> int:
    """The status of a step to sign in."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code
