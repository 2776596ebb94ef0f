"""The real server as `make run` starts it, on a free port, with a data folder of its own; it can be killed
and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from agent.settings import config
from agent.store.database import Store
from agent.types import Settings, Status
from agent.workbench import Workbench
from tests.web.engine_answers import NOWHERE

STARTS_S = 120.0
"""Seconds a start may take on a busy machine."""


def free_port() -> int:
    """A port nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Served:
    """`streamlit run app.py` as a process. `settings` are environment settings such as STEP_GAP."""

    def __init__(self, data: Path, **settings: str) -> None:
        self.data, self.port = data, free_port()
        self.settings = {
            "TOUCHSTONE_DATA": str(data),
            "DDG_ENDPOINT": "http://127.0.0.1:9/",
            "ENGINE_URLS": NOWHERE,
            "OLLAMA_URL": "",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            **settings,
        }
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """All settings: what is not set is empty, whatever is set on this machine."""
        empty = {name: "" for name in config.SETTINGS if name.endswith(("_KEY", "_ID", "_URL", "MODEL"))}
        return empty | self.settings

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def start(self) -> Served:
        """Start it and wait until it answers."""
        self.data.mkdir(parents=True, exist_ok=True)
        self._launch(["run", "app.py", "--server.port", str(self.port)], self.environment)
        self._wait()
        return self

    def _launch(self, arguments: list[str], settings: dict[str, str]) -> None:
        surroundings = {name: value for name, value in os.environ.items() if name not in config.SETTINGS}
        with (self.data / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", *arguments],
                cwd=config.ROOT,
                env=surroundings | settings,
                stdout=log,
                stderr=log,
            )

    def _has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def kill(self) -> None:
        """SIGKILL: nothing is tidied up."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """SIGTERM: it should end by itself."""
        self._end(signal.SIGTERM)

    def log(self) -> str:
        """What it wrote."""
        return (self.data / "server.log").read_text(encoding="utf-8", errors="replace")

    def answered(self, question: str) -> str:
        """A run on the demo with its answer to review, driven by this process."""
        bench = Workbench(config.read_config(self.environment))
        try:
            run_id = bench.start(question, Settings(world="demo"))
            assert bench.drive(run_id) is Status.REVIEW
            return run_id
        finally:
            bench.shutdown()

    def wait_for_draft(self, text: str, key: str = "question") -> None:
        """Wait until this unsent text is kept."""
        store = Store(f"sqlite:///{self.data / 'touchstone.db'}")
        until = time.monotonic() + 60
        while store.draft(key) != text:
            assert time.monotonic() < until, f"the draft is still {store.draft(key)!r}"
            time.sleep(0.05)
        store.close()

    def _end(self, how: signal.Signals) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError("the server did not end within 30 seconds of being asked to") from None
            self.process = None

    def _wait(self) -> None:
        until = time.monotonic() + STARTS_S
        while time.monotonic() < until:
            assert not self._has_ended(), f"the server ended at once:\n{self.log()[-2000:]}"
            try:
                with urllib.request.urlopen(f"{self.url}healthz", timeout=5) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        raise AssertionError(f"the server did not answer within {STARTS_S:g} seconds:\n{self.log()[-2000:]}")
