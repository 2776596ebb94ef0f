"""What an open workbench of one more person costs: memory, threads, files, and the time to open it.

python -m bench.people [PEOPLE]"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from pathlib import Path

from agent.settings.config import read_config
from agent.types import Settings, Status
from agent.workbench import Workbench
from agent.workbenches import Workbenches
from tests.web.login import LOGIN, sign_in


def memory_mb() -> float:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def ask(bench: Workbench) -> None:
    """Ask the demo world, and wait until its worker has answered."""
    run_id = bench.start("When did the Stenfors bridge reopen?", Settings(world="demo", model="keyless"))
    while bench.snapshot(run_id).run.status is Status.RUNNING:
        time.sleep(0.02)


def measure(count: int) -> None:
    """Open this many workbenches, ask one demo question in each, and print what they cost together."""
    with tempfile.TemporaryDirectory() as folder:
        plain = {"TOUCHSTONE_DATA": folder, "OLLAMA_URL": "", "EMBEDDING_MODEL": "off", "CONFIG_FILE": ""}
        benches = Workbenches(read_config({**plain, **LOGIN, "WORKERS": "4"}))
        ask(benches.open(sign_in(benches, "first")))
        people = [sign_in(benches, f"p{n}") for n in range(count)]
        before, threads, began = memory_mb(), threading.active_count(), time.monotonic()
        for person in people:
            benches.open(person)
        opened = time.monotonic() - began
        print(f"open and idle: {(memory_mb() - before) / count:.2f} MB, {opened / count * 1000:.0f} ms, "
              f"{(threading.active_count() - threads) / count:.1f} threads each")  # fmt: skip
        for person in people:
            ask(benches.open(person))
        print(f"after one demo run each: {(memory_mb() - before) / count:.2f} MB each")
        cpu, began = time.process_time(), time.monotonic()
        time.sleep(10)
        print(
            f"idle CPU of all {count + 1}: {(time.process_time() - cpu) / (time.monotonic() - began):.1%} of a core"
        )
        files = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        print(f"disk: {files / 1e6 / count:.2f} MB each")
        benches.close()


if __name__ == "__main__":
    measure(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
