"""How long a poll takes with 20 open sessions, each watching a live run of its own.

    python -m bench.sessions [--sessions 20] [--seconds 15]

Starts the real server, starts as many runs of the demo world, opens a WebSocket a run as a browser would, and
answers the timers the server sets. A poll's time goes from sending it to the end of its script. Exit code 1
when the 95th percentile reaches 300 ms."""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import websockets.sync.client
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from agent.settings import config as configuration
from agent.types import Settings, Status
from agent.workbench import Workbench
from bench import make_parser, write_figures
from tests.browser.served import Served

LIMIT_S = 0.3
QUESTION = "What was the profession of the first person known to climb the mountain that the blue cheese of Älvmora Mejeri is named after?"


class Visitor(threading.Thread):
    """A browser without a screen: it opens one address of the server, answers the timers the server sets and
    draws the whole page again every `rerun_every` seconds. Times are in seconds."""

    def __init__(self, url: str, run_id: str, seconds: float, rerun_every: float = math.inf) -> None:
        super().__init__(daemon=True)
        self.address = url.replace("http", "ws") + "_stcore/stream"
        self.origin = url.rstrip("/")
        self.run_id, self.seconds, self.rerun_every = run_id, seconds, rerun_every
        self.first, self.polls, self.reruns = 0.0, list[float](), list[float]()
        self.largest = 0
        self.trouble = ""
        self._timer = (0.0, "")

    def run(self) -> None:
        try:
            with websockets.sync.client.connect(
                self.address,
                subprotocols=["streamlit", "x"],  # type: ignore[list-item]
                max_size=None,
                origin=self.origin,  # type: ignore[arg-type]
                open_timeout=60,
            ) as socket:
                self.first = self._ask(socket)
                self._stay(socket)
        except Exception as error:
            self.trouble = f"{type(error).__name__}: {error}"

    def _stay(self, socket: websockets.sync.client.ClientConnection) -> None:
        due_rerun = time.monotonic() + self.rerun_every
        until = time.monotonic() + self.seconds
        due_poll = time.monotonic() + (self._timer[0] or math.inf)
        while (now := time.monotonic()) < until:
            if now >= due_rerun:
                self.reruns.append(self._ask(socket))
                due_rerun += self.rerun_every
            elif now >= due_poll:
                self.polls.append(self._ask(socket, self._timer[1]))
            else:
                time.sleep(max(0.0, min(due_rerun, due_poll, until) - now))
                continue
            due_poll = max(due_poll, now) + self._timer[0] if self._timer[0] else math.inf
            if due_poll == math.inf and self._timer[0]:
                due_poll = time.monotonic() + self._timer[0]

    def _ask(self, socket: websockets.sync.client.ClientConnection, fragment: str = "") -> float:
        """Ask for a drawing and wait until its script has ended; seconds."""
        message = BackMsg()
        message.rerun_script.query_string = f"run={self.run_id}" if self.run_id else ""
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = bool(fragment)
        began = time.perf_counter()
        socket.send(message.SerializeToString())
        while True:
            received = socket.recv(timeout=90)
            self.largest = max(self.largest, len(received))
            answer = ForwardMsg.FromString(received)  # type: ignore[arg-type]
            kind = answer.WhichOneof("type")
            if kind == "auto_rerun":
                self._timer = (answer.auto_rerun.interval, answer.auto_rerun.fragment_id)
            elif kind == "stop_auto_rerun":
                self._timer = (0.0, "")
            elif kind == "script_finished" and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return time.perf_counter() - began


def p95(times: Sequence[float]) -> float:
    """The 95th percentile; NaN of nothing."""
    return sorted(times)[int(len(times) * 0.95)] if times else math.nan


def measured(sessions: int, seconds: float, folder: Path) -> list[Visitor]:
    """Runs, server and sessions, until the time is over."""
    server = Served(folder, STEP_GAP="1.2", WORKERS=str(sessions)).start()
    bench = Workbench(configuration.read_config({"TOUCHSTONE_DATA": str(folder)}))
    runs = [
        bench.start(QUESTION, Settings(world="demo", model="keyless", max_steps=40, max_pages=40))
        for _ in range(sessions)
    ]
    try:
        while any(bench.snapshot(run).head < 1 for run in runs):  # the server takes them up by itself
            time.sleep(0.1)
        opened = [Visitor(server.url, run, seconds) for run in runs]
        for session in opened:
            session.start()
            time.sleep(1 / sessions)  # people do not open their screens at the same moment
        for session in opened:
            session.join()
        live = sum(bench.snapshot(run).run.status is Status.RUNNING for run in runs)
        print(f"runs still live at the end: {live} of {sessions}")
    finally:
        bench.shutdown()
        server.stop()
    return opened


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=15.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        opened = measured(given.sessions, given.seconds, Path(folder))
    polls = sorted(poll for session in opened for poll in session.polls)
    print(
        f"first drawing: median {statistics.median(s.first for s in opened):.2f} s, slowest {max(s.first for s in opened):.2f} s"
    )
    print(
        f"{len(polls)} polls: p50 {statistics.median(polls) * 1000:.0f} ms, p95 {p95(polls) * 1000:.0f} ms, slowest {polls[-1] * 1000:.0f} ms"
    )
    ms = {"p50_ms": statistics.median(polls) * 1000, "p95_ms": p95(polls) * 1000}
    write_figures(
        given.json, {"sessions": given.sessions, **{name: round(each) for name, each in ms.items()}}
    )
    return int(p95(polls) >= LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
