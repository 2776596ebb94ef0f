"""How long a poll takes with 20 open sessions, each watching a live run of its own.

    python tests/bench/sessions.py [--sessions 20] [--seconds 15]

Starts the real server, starts as many runs of the demo world, opens a WebSocket a run as a browser would, and
answers the timers the server sets. A poll's time goes from sending it to the end of its script. Exit code 1
when the 95th percentile reaches 300 ms."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import websockets.sync.client
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agent import config as configuration  # noqa: E402
from agent.types import Settings, Status  # noqa: E402
from agent.workbench import Workbench  # noqa: E402
from tests.browser.served import Served  # noqa: E402

LIMIT_S = 0.3
QUESTION = "What was the profession of the first person known to climb the mountain that the blue cheese of Älvmora Mejeri is named after?"


class Session(threading.Thread):
    """One open screen. `polls` holds the seconds each poll took, `first` those of the first drawing."""

    def __init__(self, url: str, run_id: str, seconds: float) -> None:
        super().__init__(daemon=True)
        self.address, self.run_id, self.seconds = (
            url.replace("http", "ws") + "_stcore/stream",
            run_id,
            seconds,
        )
        self.polls: list[float] = []
        self.first = 0.0
        self._timer: tuple[float, str] = (0.0, "")

    def run(self) -> None:
        with websockets.sync.client.connect(
            self.address, subprotocols=["streamlit", "x"], max_size=None
        ) as socket:  # type: ignore[list-item]
            self.first = self._ask(socket)
            due = time.monotonic()
            until = due + self.seconds
            while due < until:
                interval, fragment = self._timer
                if not interval:
                    return  # the run rests: the server stopped the timer
                due += interval  # as a browser's interval timer: it does not wait for the former poll's end
                time.sleep(max(0.0, due - time.monotonic()))
                self.polls.append(self._ask(socket, fragment))

    def _ask(self, socket: websockets.sync.client.ClientConnection, fragment: str = "") -> float:
        """Ask for a drawing, and wait until its script has ended."""
        message = BackMsg()
        message.rerun_script.query_string = f"run={self.run_id}"
        message.rerun_script.fragment_id = fragment
        message.rerun_script.is_auto_rerun = bool(fragment)
        began = time.perf_counter()
        socket.send(message.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(socket.recv(timeout=60))  # type: ignore[arg-type]
            kind = answer.WhichOneof("type")
            if kind == "auto_rerun":
                self._timer = (answer.auto_rerun.interval, answer.auto_rerun.fragment_id)
            elif kind == "stop_auto_rerun":
                self._timer = (0.0, "")
            elif kind == "script_finished" and answer.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                return time.perf_counter() - began


def measured(sessions: int, seconds: float, folder: Path) -> list[Session]:
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
        opened = [Session(server.url, run, seconds) for run in runs]
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=15.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        opened = measured(given.sessions, given.seconds, Path(folder))
    polls = sorted(poll for session in opened for poll in session.polls)
    p95 = polls[int(len(polls) * 0.95)]
    print(
        f"first drawing: median {statistics.median(s.first for s in opened):.2f} s, slowest {max(s.first for s in opened):.2f} s"
    )
    print(
        f"{len(polls)} polls: p50 {statistics.median(polls) * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, slowest {polls[-1] * 1000:.0f} ms"
    )
    return int(p95 >= LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
